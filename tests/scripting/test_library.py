"""The scenarios that come with the package: each is found, sound, told well, and does all that it says."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager

import jsonschema
import pytest
import yaml

from engy_mock import EngyMock, MockError
from engy_mock.cli import main
from engy_mock.scripting import library
from engy_mock.scripting.fault import told
from engy_mock.scripting.library import Library, shipped
from engy_mock.scripting.scenario import Scenario
from engy_mock.scripting.schema import schema
from engy_mock.serving.limits import Limits
from tests.doors.raw import PATIENCE
from tests.scripting.captured import Capture
from tests.scripting.meeting import everywhere, made_to_measure, rules_of

NAMES = sorted(path.stem for path in shipped().iterdir())

LEAST = 45
"""So many scenarios have been promised at least."""

CROWDS = {"crowded": 6, "full-queue": 6}
"""How many answers are under way meanwhile, where that matters."""


def test_there_are_enough():
    """All files are scenarios, and the library finds each by its name."""
    assert len(NAMES) >= LEAST
    assert Library().names() == NAMES
    assert {path.suffix for path in shipped().iterdir()} == {".yaml"}


@pytest.mark.slow
def test_they_are_checked_and_listed(capsys: pytest.CaptureFixture[str]):
    """`engy-mock check` finds nothing wrong, `engy-mock scenarios list` tells each in a line."""
    assert main(["check", *NAMES]) == 0
    assert capsys.readouterr().out == "".join(f"{name}: good\n" for name in NAMES)
    assert main(["scenarios", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == NAMES
    assert all(len(line.split()) > 8 for line in lines)


@pytest.mark.parametrize("name", ["v1.2", "a_b", "-x", "_", ".x", "a" * 64, "1..2", "x.yaml"])
def test_a_name_may_have_dots_and_underscores(tmp_path, name):
    """Q-26: the whole name of the file but its ending; also to those that include it, and over HTTP."""
    (tmp_path / f"{name}.yaml").write_text("description: x\nrules: [{reply: found}]\n")
    (tmp_path / "around.yaml").write_text(f"description: x\ninclude: ['{name}']\n")
    found = Library([tmp_path])
    assert name in found.names()
    assert found.find(name).name == name
    assert [part.name for part in found.with_included(found.find("around"))] == ["around", name]
    engy = EngyMock(control=True, scenario_folders=[tmp_path])
    with engy.http_client() as client:
        answer = client.put(f"/_mock/scenarios/{name}", json={}, headers={"X-Engy-Mock-Control": "1"})
        assert (answer.status_code, answer.json()["name"]) == (200, name)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "...", "a/b", "../x", "A", "a b", "a\n", "a\0", "ä", "a" * 65, "a\\b"]
)
def test_what_is_no_name(tmp_path, name):
    """Q-26: no path, nothing but dots, and nothing that is long; no file is looked for."""
    (tmp_path / "..yaml").write_text("description: x\n")
    (tmp_path / "...yaml").write_text("description: x\n")
    with pytest.raises(MockError, match="is no name of a scenario"):
        Library([tmp_path]).find(name)
    (tmp_path / "around.yaml").write_text(f"description: x\ninclude: [{json.dumps(name)}]\n")
    with pytest.raises(MockError, match=r"around\.yaml, line 2"):
        Library([tmp_path]).find("around")


def test_an_odd_file_hides_no_others(tmp_path, capsys, monkeypatch):
    """Each is told in a line of its own, where the others are listed."""
    monkeypatch.setattr(library, "shipped", lambda: tmp_path / "nowhere")
    (tmp_path / "v1.2.yaml").write_text("description: Good.\n")
    (tmp_path / "My File.yaml").write_text("description: Good.\n")
    (tmp_path / "broken.yaml").write_text("description: [\n")
    (tmp_path / "folder.yaml").mkdir()
    assert main(["scenarios", "list", "--scenarios", str(tmp_path)]) == 1
    listed = capsys.readouterr()
    assert [line.split()[0] for line in listed.out.splitlines()] == ["v1.2"]
    for name in ("My File", "broken.yaml", "folder"):
        assert sum(name in line for line in listed.err.splitlines()) == 1
    engy = EngyMock(control=True, scenario_folders=[tmp_path])
    with engy.http_client() as client:
        answer = client.get("/_mock/scenarios", headers={"X-Engy-Mock-Control": "1"})
    broken = {one["name"] for one in answer.json()["scenarios"] if one["complaint"] is not None}
    assert broken == {"My File", "broken", "folder"}


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema())


@pytest.mark.parametrize("name", NAMES)
def test_it_is_told_well(name: str, validator: jsonschema.Draft202012Validator):
    """It says what happens and what a good client does, in sentences, and editors agree with its form."""
    scenario = Library().find(name)
    for text in (scenario.description, scenario.good_client):
        assert len(text.split()) >= 8, text
        assert text[0].isupper() or text[0] == "x" or text.startswith(("glm", "qwen"))
        assert text.endswith("."), text
    assert scenario.description != scenario.good_client
    document = yaml.safe_load((shipped() / f"{name}.yaml").read_text(encoding="utf-8"))
    assert [error.message for error in validator.iter_errors(document)] == []


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[EngyMock, EngyMock]]:
    """Two mocks of one seed in which nothing takes long."""
    limits = Limits(stall_seconds=0.02)
    with (
        EngyMock(time_scale=0.001, limits=limits) as here,
        EngyMock(time_scale=0.001, limits=limits) as there,
    ):
        yield here, there


WITHOUT_A_PLACE = {"drifting-logprobs": "drifting-logprobs", "long-thinking": "reply reasoning"}
"""What some requests have no place for: those without log probabilities, and routes where nobody thinks."""


@pytest.mark.parametrize("name", NAMES)
def test_it_does_what_it_says(served: tuple[EngyMock, EngyMock], name: str):
    """D-1, D-8: every rule takes part, every fault finds a place, the books are right; twice to the byte."""
    here, there = served
    scenario = Library().find(name)
    seen = played(here, scenario)
    entries = list(here.journal)
    met = {rule for entry in entries for rule in (entry.rule or "").split(" + ")}
    rules = rules_of(scenario)
    assert [rule.name for rule in rules if rule.name not in met] == []
    applied = {own for entry in entries for own in entry.faults}
    assert [told(own) for rule in rules for own in rule.faults if told(own) not in applied] == []
    # A page has no pieces, and no model that has made it: what is for these finds no place in it.
    asked = [entry for entry in entries if entry.request is not None]
    missed = {own.partition(" by=")[0] for entry in asked for own in entry.not_applied}
    assert missed == ({WITHOUT_A_PLACE[name]} if name in WITHOUT_A_PLACE else set())
    again = played(there, scenario)
    assert [one.status for one in again] == [one.status for one in seen]
    assert [
        place for place, (one, other) in enumerate(zip(seen, again, strict=True)) if not is_same(one, other)
    ] == []
    if not rules:
        calm = played(there, scenario, is_calm=True)
        assert [one.body for one in calm] != [one.body for one in seen]


def played(engy: EngyMock, scenario: Scenario, *, is_calm: bool = False) -> list[Capture]:
    """What clients get to see while a scenario is under way, or without it, round by round."""
    engy.reset()
    if not is_calm:
        engy.scenario(scenario.name)
    seen = []
    for seconds in (*[phase.seconds or 0 for phase in scenario.phases], 61, 0):
        with crowd(engy, CROWDS.get(scenario.name, 0)):
            seen += [asking.sent(engy) for asking in (*made_to_measure(scenario), *everywhere())]
        engy.clock.advance(seconds)
    settled(engy)
    return seen


@contextmanager
def crowd(engy: EngyMock, size: int) -> Iterator[None]:
    """So many answers are under way meanwhile, begun and not read."""
    begun = [engy.gateway.answer(everywhere()[0].call(engy)) for _ in range(size)]
    for steps in begun:
        next(steps)
    yield
    for steps in begun:
        for _ in steps:
            pass


def settled(engy: EngyMock) -> None:
    """Nothing is held, or soon is not, since answers without an end are over with their connection; no defect."""
    end = time.monotonic() + PATIENCE
    while engy.gateway.accounts.default.held_micro:
        assert time.monotonic() < end, "a hold is never settled"
        time.sleep(0.005)
    assert engy.gateway.defects == []


def is_same(one: Capture, other: Capture) -> bool:
    """Whether two captures are equal; how often an endless sign of life came is left to time."""
    if one.raw == other.raw:
        return one.ending == other.ending
    return not (one.is_complete or other.is_complete) and (
        one.raw.startswith(other.raw) or other.raw.startswith(one.raw)
    )
