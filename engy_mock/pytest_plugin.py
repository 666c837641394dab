"""The pytest plugin: fixtures `engy`, `engy_env` and `engy_factory`, marker `engy`; free until one is used."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from engy_mock.mock import EngyMock

KEYS = ("ENGY_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "SGP_API_KEY")
BASE_URLS = ("ENGY_BASE_URL", "OPENAI_BASE_URL")
ORIGINS = ("ANTHROPIC_BASE_URL", "SGP_CLIENT_BASE_URL")
PROXY_EXCEPTIONS = ("NO_PROXY", "no_proxy")
LOOPBACK = "127.0.0.1,localhost,::1"
FOREIGN_KEYS = ("ANTHROPIC_AUTH_TOKEN",)
"""The variables by which official clients find service and key; in a test they lead to the mock (Q-42)."""

OWN_MOCK = (
    "clock",
    "control",
    "control_token",
    "host",
    "limits",
    "port",
    "scenario_folders",
    "seed",
    "time_scale",
    "tls",
)
"""What cannot be changed about a mock that runs: a test that asks for it gets one of its own."""

OF_THE_MARKER = (
    *OWN_MOCK,
    "cassette",
    "replay",
    "scenario",
    "scenarios",
    "settings",
    "strict",
    "verdict",
    "verify",
)
"""What the marker `engy` takes: the words of EngyMock, and how bad a verdict may be."""

OF_ONE_KIND: dict[str, type] = {"strict": bool, "verdict": str, "verify": bool}
"""What the marker's own words take; EngyMock looks at the others."""

_MOCKS = pytest.StashKey[list["EngyMock"]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--engy-seed` and `--engy-scenario`."""
    group = parser.getgroup("engy_mock", "a pretend LLM inference service")
    group.addoption(
        "--engy-seed",
        type=int,
        default=0,
        metavar="N",
        help="seed of everything that the `engy` fixture makes up (default: 0)",
    )
    group.addoption(
        "--engy-scenario",
        action="append",
        default=[],
        metavar="SCENARIO",
        help="let this scenario take part in all tests that name none, by name or path; may be repeated",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        "engy(scenario=, cassette=, replay=, seed=, strict=, verify=, verdict=, clock=, settings=, limits=, "
        "time_scale=, ...): how the pretend service of this test is, in the words of EngyMock; scenario is a "
        "name, a path or a list, cassette a path, clock 'wall' or a clock",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Show beside a test that failed what reached its mocks."""
    report = yield
    if report.when == "call" and report.failed:
        for engy in item.stash.get(_MOCKS, ()):
            report.sections.append(("engy_mock: what reached the mock", str(engy.journal)))
    return report


@pytest.fixture(scope="session")
def _engy_for_all_tests(pytestconfig: pytest.Config) -> Iterator[EngyMock]:
    from engy_mock.mock import EngyMock

    folder = pytestconfig.rootpath / "scenarios"
    folders = [folder] if folder.is_dir() else []
    with EngyMock(seed=pytestconfig.getoption("engy_seed"), scenario_folders=folders) as engy:
        yield engy


@pytest.fixture
def engy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[EngyMock]:
    """A pretend inference service, as new: an EngyMock that runs in a thread of its own.

    Clients made without an address or a key find it by themselves. A test in which the mock itself fails, or
    a function of a rule, fails with it. The marker `engy` says how it is; in a `unittest.TestCase` it is
    `self.engy` too.
    """
    asked = _asked(request)
    if asked.keys() & set(OWN_MOCK):
        engy = _own(request, asked)
        try:
            yield from _lent(engy, asked, request, monkeypatch)
        finally:
            engy.stop()
    else:
        engy = request.getfixturevalue("_engy_for_all_tests")
        if not engy.is_running:
            # The test before took it down, as an outage is told.
            engy.stop()
            engy.start()
        engy.reset()
        yield from _lent(engy, asked, request, monkeypatch)


@pytest.fixture
def engy_env(engy: EngyMock) -> dict[str, str]:
    """The variables by which clients find `engy`, as they are set while the test runs: for other processes."""
    names = (*KEYS, *BASE_URLS, *ORIGINS, *PROXY_EXCEPTIONS)
    return {name: os.environ[name] for name in names}


@pytest.fixture
def engy_factory(request: pytest.FixtureRequest) -> Iterator[Callable[..., EngyMock]]:
    """Makes mocks that run, with the arguments of EngyMock; they stop with the test."""
    from engy_mock.mock import EngyMock

    made: list[EngyMock] = []

    def make(*arguments: Any, **named: Any) -> EngyMock:
        engy = EngyMock(*arguments, **named).start()
        made.append(engy)
        request.node.stash.setdefault(_MOCKS, []).append(engy)
        return engy

    yield make
    for engy in made:
        engy.stop()
    for engy in made:
        if engy.gateway.defects:
            raise engy.gateway.defects[0]


def _asked(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the markers of a test say, the nearest first; raises MockError for a word that there is not."""
    asked: dict[str, Any] = {}
    for marker in request.node.iter_markers("engy"):
        from engy_mock.vocabulary.errors import MockError, did_you_mean

        if marker.args:
            raise MockError(f"the marker engy takes words like scenario=, got {marker.args[0]!r:.80}")
        for word, value in marker.kwargs.items():
            if word not in OF_THE_MARKER:
                hint = did_you_mean(word, OF_THE_MARKER) or f" Known are {', '.join(OF_THE_MARKER)}."
                raise MockError(f"the marker engy has no {word!r}.{hint}")
            if word in OF_ONE_KIND and not isinstance(value, OF_ONE_KIND[word]):
                kind = OF_ONE_KIND[word].__name__
                raise MockError(f"the marker engy: {word}= takes a {kind}, got {value!r:.80}")
            asked.setdefault(word, value)
    return asked


def _own(request: pytest.FixtureRequest, asked: dict[str, Any]) -> EngyMock:
    """A mock for one test alone, running."""
    from engy_mock.mock import EngyMock
    from engy_mock.vocabulary.errors import MockError

    words = {word: asked[word] for word in OWN_MOCK if word in asked}
    words.setdefault("seed", request.config.getoption("engy_seed"))
    folder = request.config.rootpath / "scenarios"
    try:
        words.setdefault("scenario_folders", [folder] if folder.is_dir() else [])
        engy = EngyMock(**words)
    except MockError as error:
        raise MockError(f"the marker engy: {error}") from None
    return engy.start()


def _lent(
    engy: EngyMock, asked: dict[str, Any], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[EngyMock]:
    """The mock while a test has it: set up as asked, found by clients, looked after at the end."""
    from engy_mock.vocabulary.errors import MockError

    item = request.node
    item.stash.setdefault(_MOCKS, []).append(engy)
    _settle(engy, asked)
    named: list[str] = [word for word in ("scenario", "scenarios") if word in asked]
    if not named:
        asked = {**asked, "--engy-scenario": request.config.getoption("engy_scenario")}
    for word in named or ["--engy-scenario"]:
        scenarios = asked[word]
        for scenario in scenarios if isinstance(scenarios, list | tuple) else [scenarios]:
            try:
                engy.scenario(scenario)
            except MockError as error:
                place = f"the marker engy, {word}=" if named else word
                raise MockError(f"{place}: {error}") from None
    if "cassette" in asked:
        # A path is seen from the test's own folder, wherever pytest was started.
        engy.play(request.path.parent / asked["cassette"], asked.get("replay", "strict"))
    for name in PROXY_EXCEPTIONS:
        others = os.environ.get(name)
        monkeypatch.setenv(name, f"{others},{LOOPBACK}" if others else LOOPBACK)
    for names, value in ((KEYS, engy.api_key), (BASE_URLS, engy.base_url), (ORIGINS, engy.origin)):
        for name in names:
            monkeypatch.setenv(name, value)
    for name in FOREIGN_KEYS:
        monkeypatch.delenv(name, raising=False)
    if request.instance is not None and hasattr(request.instance, "assertEqual"):
        request.instance.engy = engy
    failures = request.session.testsfailed
    yield engy
    if engy.gateway.defects:
        raise engy.gateway.defects[0]
    if asked.get("verify") and request.session.testsfailed == failures:
        engy.verify()
    if "verdict" in asked and request.session.testsfailed == failures:
        engy.verdict(fail_level=asked["verdict"]).check()


def _settle(engy: EngyMock, asked: dict[str, Any]) -> None:
    """Change the settings as the marker says; raises MockError for one that there is not, or cannot be so."""
    from dataclasses import replace

    from engy_mock.gateway import Settings
    from engy_mock.vocabulary.errors import MockError

    if "settings" in asked:
        try:
            engy.gateway.settings = replace(Settings.of(asked["settings"]))
        except MockError as error:
            raise MockError(f"the marker engy: {error}") from None
    if "strict" in asked:
        engy.settings.strict = asked["strict"]
