"""Scenarios on and off, their phases, and the rules in force."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import Field

from engy_mock.scripting import notation
from engy_mock.scripting.fault import told
from engy_mock.scripting.library import LETTERS, MAX_NAME, NAME, Library
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.rules import Rule
from engy_mock.scripting.scenario import Scenario, from_file, from_sheet
from engy_mock.scripting.stage import Scene
from engy_mock.serving.control.form import Form
from engy_mock.serving.control.house import House, Order, Refused
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.files import read_text
from engy_mock.vocabulary.generation import Reply

MAX_TEXT = 1024 * 1024
MOST_SHOWN = 60
"""So many characters of a reply are shown."""


class ScenarioForm(Form):
    """One scenario; `complaint` says why it cannot be used, `phase` where it is."""

    name: str
    description: str
    good_client: str
    include: list[str]
    phases: list[str]
    is_on: bool
    phase: str | None
    complaint: str | None


class ScenarioDetail(ScenarioForm):
    """The same with its text, where it stands in a file or has come as one."""

    text: str | None


class ScenarioList(Form):
    """All that can be found, and all that are under way."""

    scenarios: list[ScenarioForm]


class Begin(Form):
    """Where to begin; `text` is a whole scenario in the words of its files, for one that stands in none."""

    phase: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    text: Annotated[str, Field(max_length=MAX_TEXT)] | None = None


class RuleForm(Form):
    """One rule: where it comes from, how often it has been used, and its faults as scenario files write them.

    `answer` is what it says, in the words of journals: `refuse 429`, `reply "One two."`; null if it only mars.
    """

    name: str
    description: str
    scenario: str | None
    used: int
    times: int | None
    rate: float
    faults: list[str]
    answer: str | None


class RuleList(Form):
    """The rules in force, in the order in which they are tried."""

    rules: list[RuleForm]


class RulesToAdd(Form):
    """Rules in the words of scenario files."""

    rules: Annotated[list[dict[str, object]], Field(min_length=1, max_length=1000)]


def reading(library: Library) -> Iterator[str]:
    """Read all scenarios ahead of whoever asks for them, one at each step: it takes most of a second."""
    for name in library.names():
        with suppress(MockError, OSError):
            _from_library(library, name)
        yield name


def listed(house: House, order: Order) -> ScenarioList:
    """All scenarios by name."""
    library = house.gateway.scenes.library
    scenes = {scene.name: scene for scene in house.gateway.scenes.stage.scenes}
    found: list[ScenarioForm] = []
    for name in sorted({*library.names(), *scenes}):
        try:
            found.append(_form(_scenario(house, name), scenes.get(name)))
        except MockError as error:
            found.append(_broken(name, str(error)))
    return ScenarioList(scenarios=found)


def show(house: House, order: Order) -> ScenarioDetail:
    """One of them."""
    name = _checked(order.name)
    scenario = _scenario(house, name)
    path = Path(scenario.source)
    of, text = house.texts.get(name, (None, None))
    if of is not scenario:
        text = read_text(path) if path.is_file() else None
    return ScenarioDetail(**_form(scenario, _scene(house, name)).model_dump(), text=text)


def read_all(house: House, order: Order) -> None:
    """Read what has been saved since somebody asked."""
    for _ in reading(house.gateway.scenes.library):
        pass


def read_one(house: House, order: Order) -> Scenario:
    """The scenario of this name."""
    return _scenario(house, _checked(order.name))


def read_wanted(house: House, order: Order) -> Scenario | None:
    """What is to begin; None if nothing is, but one goes to another phase."""
    name, wish = _checked(order.name), order.body
    if wish.text is not None:
        return from_sheet(notation.read(wish.text.encode("utf-8", "replace"), name), name)
    return _scenario(house, name) if wish.phase is None or _scene(house, name) is None else None


def begin(house: House, order: Order) -> ScenarioDetail:
    """Let one take part, or go to a phase."""
    scenes, wish = house.gateway.scenes, order.body
    scene = _scene(house, order.name) if order.read is None else scenes.begin(order.read)
    if wish.text is not None:
        under_way = {id(one.scenario) for one in scenes.stage.scenes}
        house.texts = {known: own for known, own in house.texts.items() if id(own[0]) in under_way}
        house.texts[order.name] = (order.read, wish.text)
    if scene is None:
        raise Refused(404, f"scenario {order.name} is not under way")  # somebody has ended it meanwhile
    if wish.phase is not None:
        scene.go(wish.phase)
    return show(house, order)


def end(house: House, order: Order) -> ScenarioDetail:
    """Let one take part no longer."""
    scene = _scene(house, _checked(order.name))
    if scene is None:
        raise Refused(404, f"scenario {order.name} is not under way")
    detail = show(house, order)
    scene.end()
    return detail.model_copy(update={"is_on": False, "phase": None})


def rules(house: House, order: Order) -> RuleList:
    """All rules in force."""
    gateway = house.gateway
    staged = gateway.scenes.stage.rules()
    owners = {id(rule): scene.name for scene in gateway.scenes.stage.scenes for rule in scene.rules}
    return RuleList(
        rules=[
            *[_rule(rule, None) for rule in tuple(gateway.script.rules)],
            *[_rule(rule, owners.get(id(rule))) for rule in staged],
        ]
    )


def read_rules(house: House, order: Order) -> tuple[Rule, ...]:
    """The rules that are to be added."""
    document = {"description": "rules over HTTP", "rules": order.body.rules}
    return from_sheet(notation.read(json.write(document), "the body"), "over-http").rules


def add_rules(house: House, order: Order) -> RuleList:
    """Put rules behind the others."""
    script = house.gateway.script
    for rule in order.read:
        number = len(script.rules) + 1
        script.add(replace(rule, name="", description=f"rule {number}, over HTTP"))
    return rules(house, order)


def clear_rules(house: House, order: Order) -> RuleList:
    """Forget the rules that no scenario has."""
    house.gateway.script.clear()
    return rules(house, order)


def _checked(name: str) -> str:
    """The name of a scenario; it never becomes a path before it is known to be one (Q-26)."""
    if len(name) > MAX_NAME or not NAME.fullmatch(name):
        raise Refused(400, f"a scenario's name is of {LETTERS}, at most {MAX_NAME}")
    return name


def _scene(house: House, name: str) -> Scene | None:
    return next((scene for scene in house.gateway.scenes.stage.scenes if scene.name == name), None)


def _scenario(house: House, name: str) -> Scenario:
    """The scenario under way, or the one in the library; raises MockError or Refused."""
    scene = _scene(house, name)
    if scene is not None:
        return scene.scenario
    library = house.gateway.scenes.library
    if name not in library.names():
        raise Refused(404, f"there is no scenario {name}")
    return _from_library(library, name)


def _from_library(library: Library, name: str) -> Scenario:
    path = library.path_of(name)
    status = path.stat()
    return _read(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=512)
def _read(path: Path, changed: int, size: int) -> Scenario:
    """What a file says that has not changed since."""
    return from_file(path)


def _form(scenario: Scenario, scene: Scene | None) -> ScenarioForm:
    return ScenarioForm(
        name=scenario.name,
        description=scenario.description,
        good_client=scenario.good_client,
        include=list(scenario.include),
        phases=[phase.name for phase in scenario.phases],
        is_on=scene is not None,
        phase=None if scene is None else scene.phase,
        complaint=None,
    )


def _broken(name: str, complaint: str) -> ScenarioForm:
    return ScenarioForm(
        name=name,
        description="",
        good_client="",
        include=[],
        phases=[],
        is_on=False,
        phase=None,
        complaint=complaint,
    )


def _rule(rule: Rule, scenario: str | None) -> RuleForm:
    return RuleForm(
        name=rule.name,
        description=rule.description,
        scenario=scenario,
        used=rule.used,
        times=rule.times,
        rate=rule.rate,
        faults=[told(own) for own in rule.faults],
        answer=_answer(rule),
    )


def _answer(rule: Rule) -> str | None:
    """What a rule says: its first answer, and how many follow."""
    if not rule.answers:
        return None
    first, more = rule.answers[0], len(rule.answers) - 1
    if isinstance(first, Refusal):
        said = f"refuse {first.status}"
        said += "" if first.retry_after is None else f" retry_after={first.retry_after}"
    elif isinstance(first, Reply):
        said = f"reply {_said(first)}"
    elif rule.lets_through:
        said = "let_through"
    else:
        said = f"reply by {getattr(first, '__name__', 'a function')}"
    return f"{said}, then {more} more" if more else said


def _said(reply: Reply) -> str:
    """A reply on one line, cut where it is long."""
    if reply.tool_calls:
        return ", ".join([f"{call.name}({call.arguments})" for call in reply.tool_calls])[:MOST_SHOWN]
    if reply.text is None:
        return "in the model's own words"
    text = " ".join(reply.text.split())
    return f'"{text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"}"'
