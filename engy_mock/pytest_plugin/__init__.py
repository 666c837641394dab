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
    from engy_mock.pytest_plugin.looking_after import Lent

RUN = "_engy_run"
"""The fixture that an item of a campaign has its run from."""

MOCKS = pytest.StashKey[list["Lent"]]()
"""Where a test keeps the mocks that it has."""

HAS_FAILED = pytest.StashKey[bool]()


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
    if run_of(item) is None:
        return None
    from engy_mock.campaigns.in_pytest import perform

    perform(item, nextitem)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    """Show beside a test that failed what reached its mocks."""
    report = yield
    if run_of(item) is not None:
        from engy_mock.campaigns.in_pytest import note

        note(item, call, report)
    mocks = item.stash.get(MOCKS, None)
    if mocks and report.failed:
        from engy_mock.pytest_plugin.looking_after import sections

        item.stash[HAS_FAILED] = True
        report.sections += sections(mocks, is_setting_up=report.when == "setup")
    if mocks is not None and report.when == "teardown":
        del item.stash[MOCKS]  # items stay to the end of the session, journals need not
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
    from engy_mock.pytest_plugin.lending import lent

    yield from lent(request, monkeypatch)


@pytest.fixture
def engy_env(engy: EngyMock) -> dict[str, str]:
    """The variables by which clients find `engy`, as they are set while the test runs: for other processes."""
    from engy_mock.mock.environment import NAMES

    return {name: os.environ[name] for name in NAMES}


@pytest.fixture
def engy_factory(request: pytest.FixtureRequest) -> Iterator[Callable[..., EngyMock]]:
    """Makes mocks that run, with the arguments of EngyMock; they stop with the test.

    What the arguments leave open is as the marker and the options of the command line say; `verdict` can be said
    here too. With `verify=True` and with `verdict` they are looked at when the test ends, unless it has failed.
    """
    from engy_mock.pytest_plugin.lending import factory

    yield from factory(request)


def run_of(item: pytest.Item) -> Run | None:
    """The run of a campaign that an item is; None if it is an ordinary test."""
    callspec = getattr(item, "callspec", None)
    return None if callspec is None else callspec.params.get(RUN)
