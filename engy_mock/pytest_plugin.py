"""The pytest plugin: fixtures `engy`, `engy_env`, `engy_factory`, two markers; free until one is used."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from engy_mock.campaigns.in_pytest import Run
    from engy_mock.campaigns.summary import Summary
    from engy_mock.mock import EngyMock

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

RUN = "_engy_run"
"""The fixture that an item of a campaign has its run from."""

_MOCKS = pytest.StashKey[list["EngyMock"]]()
_HAS_FAILED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--engy-seed`, `--engy-scenario` and `--engy-save-plan`."""
    group = parser.getgroup("engy_mock", "a pretend LLM inference service")
    group.addoption(
        "--engy-seed",
        type=int,
        default=None,
        metavar="N",
        help="seed of all that the `engy` fixture makes up (default: 0); of a campaign, the run of this seed",
    )
    group.addoption(
        "--engy-scenario",
        action="append",
        default=[],
        metavar="SCENARIO",
        help="let this scenario take part in all tests that name none, by name or path; may be repeated",
    )
    group.addoption(
        "--engy-save-plan",
        metavar="DIR",
        help="write what made a run of a campaign fail into this folder, as a scenario file",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        "engy(scenario=, cassette=, replay=, seed=, strict=, verify=, verdict=, clock=, settings=, limits=, "
        "time_scale=, ...): how the pretend service of this test is, in the words of EngyMock; scenario is a "
        "name, a path or a list, cassette a path, clock 'wall' or a clock",
    )
    config.addinivalue_line(
        "markers",
        "engy_campaign(seeds=100, profile='stormy', shrink=40): run this test under so many plans of faults, each "
        "drawn from its seed; profile is a name or a path, shrink how often one that fails is run again",
    )
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Campaigns(), "engy_mock_campaigns")


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make of a test with the marker `engy_campaign` one item for each seed."""
    marker = metafunc.definition.get_closest_marker("engy_campaign")
    if marker is not None:
        from engy_mock.campaigns.in_pytest import parametrize

        parametrize(metafunc, marker)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run the items of campaigns, which may take several runs."""
    if _run_of(item) is None:
        return None
    from engy_mock.campaigns.in_pytest import perform

    perform(item, nextitem)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    """Show beside a test that failed what reached its mocks."""
    report = yield
    if _run_of(item) is not None:
        from engy_mock.campaigns.in_pytest import note

        note(item, call, report)
    if report.when == "call" and report.failed:
        item.stash[_HAS_FAILED] = True
        for engy in item.stash.get(_MOCKS, ()):
            report.sections.append(("engy_mock: what reached the mock", str(engy.journal)))
    return report


class _Campaigns:
    """Counts the runs of campaigns where reports are shown, and tells at the end how they went."""

    summary: Summary | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a run."""
        told = getattr(report, "engy_campaign", None)
        if told is None:
            return
        if self.summary is None:
            from engy_mock.campaigns.summary import Summary

            self.summary = Summary()
        self.summary.add(report, told)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Tell how they went."""
        if self.summary is not None:
            terminalreporter.section("engy_mock: campaigns")
            for line in self.summary.lines():
                terminalreporter.line(line)


@pytest.fixture(scope="session")
def _engy_for_all_tests(pytestconfig: pytest.Config) -> Iterator[EngyMock]:
    from engy_mock.mock import EngyMock

    folder = pytestconfig.rootpath / "scenarios"
    folders = [folder] if folder.is_dir() else []
    with EngyMock(seed=pytestconfig.getoption("engy_seed") or 0, scenario_folders=folders) as engy:
        yield engy


@pytest.fixture(scope="session")
def _engy_for_campaigns(pytestconfig: pytest.Config) -> Iterator[EngyMock]:
    # The seed on the command line draws plans there: what the mock makes up stays the same in all runs.
    from engy_mock.campaigns.in_pytest import SILENCE
    from engy_mock.mock import EngyMock
    from engy_mock.serving.limits import Limits

    folder = pytestconfig.rootpath / "scenarios"
    folders = [folder] if folder.is_dir() else []
    with EngyMock(limits=Limits(stall_seconds=SILENCE), scenario_folders=folders) as engy:
        yield engy


@pytest.fixture
def _engy_run(request: pytest.FixtureRequest) -> Any:
    return request.param


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
        engy = request.getfixturevalue(
            "_engy_for_all_tests" if _run_of(request.node) is None else "_engy_for_campaigns"
        )
        if not engy.is_running:
            # The test before took it down, as an outage is told.
            engy.stop()
            engy.start()
        engy.reset()
        yield from _lent(engy, asked, request, monkeypatch)


@pytest.fixture
def engy_env(engy: EngyMock) -> dict[str, str]:
    """The variables by which clients find `engy`, as they are set while the test runs: for other processes."""
    from engy_mock.mock.environment import NAMES

    return {name: os.environ[name] for name in NAMES}


@pytest.fixture
def engy_factory(request: pytest.FixtureRequest) -> Iterator[Callable[..., EngyMock]]:
    """Makes mocks that run, with the arguments of EngyMock; they stop with the test.

    With `verify=True`, here or in the marker, they are verified at its end, unless it has failed.
    """
    from engy_mock.mock import EngyMock

    made: list[EngyMock] = []
    verified: list[EngyMock] = []
    verifies = _asked(request).get("verify", False)
    item = request.node
    item.stash[_HAS_FAILED] = False
    failures = request.session.testsfailed

    def make(*arguments: Any, **named: Any) -> EngyMock:
        engy = EngyMock(*arguments, **{"verify": verifies, **named}).__enter__()
        made.append(engy)
        if named.get("verify", verifies):
            verified.append(engy)
        item.stash.setdefault(_MOCKS, []).append(engy)
        return engy

    yield make
    for engy in made:
        engy.stop()
        item.stash[_MOCKS].remove(engy)
    for engy in made:
        if engy.gateway.defects:
            raise engy.gateway.defects[0]
    if not _has_failed(request, failures):
        for engy in verified:
            engy.verify()


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
    is_run = _run_of(request.node) is not None
    words.setdefault("seed", 0 if is_run else request.config.getoption("engy_seed") or 0)
    if is_run:
        from engy_mock.campaigns.in_pytest import SILENCE
        from engy_mock.serving.limits import Limits

        words.setdefault("limits", Limits(stall_seconds=SILENCE))
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
    from engy_mock.mock.environment import FOREIGN_KEYS, variables
    from engy_mock.vocabulary.errors import MockError

    item = request.node
    item.stash.setdefault(_MOCKS, []).append(engy)
    item.stash[_HAS_FAILED] = False
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
        try:
            engy.play(request.path.parent / asked["cassette"], asked.get("replay", "strict"))
        except MockError as error:
            raise MockError(f"the marker engy, cassette=: {error}") from None
    elif "replay" in asked:
        raise MockError("the marker engy: replay= says how a cassette= is played, and there is none")
    run = _run_of(item)
    if run is None and item.get_closest_marker("engy_campaign") is not None:
        raise MockError(
            "the marker engy_campaign is not for a unittest.TestCase: pytest makes one item of its tests"
        )
    if run is not None:
        from engy_mock.campaigns.in_pytest import begin

        begin(item, run, engy)
    for name, value in variables(engy.base_url, engy.origin, engy.api_key, os.environ).items():
        monkeypatch.setenv(name, value)
    for name in FOREIGN_KEYS:
        monkeypatch.delenv(name, raising=False)
    if request.instance is not None and hasattr(request.instance, "assertEqual"):
        request.instance.engy = engy
    failures = request.session.testsfailed
    yield engy
    item.stash[_MOCKS].remove(engy)
    if engy.gateway.defects:
        raise engy.gateway.defects[0]
    has_failed = _has_failed(request, failures)
    if asked.get("verify") and not has_failed:
        engy.verify()
    if "verdict" in asked and not has_failed:
        engy.verdict(fail_level=asked["verdict"]).check()


def _has_failed(request: pytest.FixtureRequest, failures: int) -> bool:
    """Whether a test has failed, before which there had been so many failures."""
    # A run of a campaign is counted later, a part of a test that has failed at once.
    has_failed: bool = request.node.stash[_HAS_FAILED]
    return has_failed or request.session.testsfailed != failures


def _run_of(item: pytest.Item) -> Run | None:
    """The run of a campaign that an item is; None if it is an ordinary test."""
    callspec = getattr(item, "callspec", None)
    return None if callspec is None else callspec.params.get(RUN)


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
