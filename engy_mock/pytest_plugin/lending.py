"""A mock while a test has it: set up as asked, found by clients, looked after at the end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from engy_mock.mock import EngyMock
from engy_mock.mock.arguments import check_known
from engy_mock.mock.environment import FOREIGN_KEYS, variables
from engy_mock.pytest_plugin import HAS_FAILED, MOCKS, run_of
from engy_mock.pytest_plugin.asked import OF_THE_FACTORY, OWN_MOCK, asked_by, check_verdict, further, made_with
from engy_mock.pytest_plugin.looking_after import Lent, check
from engy_mock.vocabulary.errors import MockError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest


def lent(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[EngyMock]:
    """The mock of a test: the one that all tests have, as new, or one of its own where it asks for that."""
    asked = asked_by(request)
    if asked.keys() & set(OWN_MOCK):
        engy = _own(request, asked)
        try:
            yield from _set_up(engy, asked, request, monkeypatch)
        finally:
            engy.stop()
        return
    of_all = "_engy_for_all_tests" if run_of(request.node) is None else "_engy_for_campaigns"
    engy = request.getfixturevalue(of_all)
    if not engy.is_running:
        # The test before took it down, as an outage is told.
        engy.stop()
        engy.start()
    engy.prepare_by(None)
    engy.reset()
    yield from _set_up(engy, asked, request, monkeypatch)


def _own(request: pytest.FixtureRequest, asked: dict[str, Any]) -> EngyMock:
    """A mock for one test alone, running."""
    try:
        engy = EngyMock(**made_with(request, asked))
    except MockError as error:
        raise MockError(f"the marker engy: {error}") from None
    return engy.start()


def _set_up(
    engy: EngyMock, asked: dict[str, Any], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[EngyMock]:
    item = request.node
    own = Lent(
        engy=engy,
        name=f"engy, at {engy.base_url}",
        verifies=asked.get("verify", False),
        fail_level=asked.get("verdict", "never"),
    )
    item.stash.setdefault(MOCKS, []).append(own)
    item.stash[HAS_FAILED] = False
    engy.prepare_by(lambda engy: _prepare(engy, asked, request))
    run = run_of(item)
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
    check([own], has_failed=_has_failed(request, failures), has_others=len(item.stash[MOCKS]) > 1)


def _prepare(engy: EngyMock, asked: dict[str, Any], request: pytest.FixtureRequest) -> None:
    """Let a mock that runs be as the marker says; raises MockError."""
    _settle(engy, asked)
    _begin_scenarios(engy, asked, request)
    if "cassette" in asked:
        try:
            engy.play(asked["cassette"], asked.get("replay", "strict"))
        except MockError as error:
            raise MockError(f"the marker engy, cassette=: {error}") from None


def _settle(engy: EngyMock, asked: dict[str, Any]) -> None:
    """Change the settings as the marker says; raises MockError for one that there is not, or cannot be so."""
    if "settings" in asked:
        from engy_mock.gateway import Settings

        try:
            engy.gateway.settings = Settings.of(asked["settings"])
        except MockError as error:
            raise MockError(f"the marker engy: {error}") from None
    if "strict" in asked:
        engy.settings.strict = asked["strict"]


def _begin_scenarios(engy: EngyMock, asked: dict[str, Any], request: pytest.FixtureRequest) -> None:
    """Let those take part that the marker names, or else those of the command line; raises MockError."""
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


def factory(request: pytest.FixtureRequest) -> Iterator[Callable[..., EngyMock]]:
    """What makes further mocks for a test; they end with it."""
    made: list[Lent] = []
    asked = asked_by(request)
    item = request.node
    item.stash[HAS_FAILED] = False
    failures = request.session.testsfailed

    def make(*arguments: Any, **named: Any) -> EngyMock:
        for word in named:
            check_known("engy_factory", word, OF_THE_FACTORY)
        level = named.pop("verdict", asked.get("verdict", "never"))
        check_verdict("engy_factory", level)
        words = further(request, asked, arguments, named)
        engy = EngyMock(*arguments, **words).__enter__()
        name = f"mock {len(made) + 1} of engy_factory, at {engy.base_url}"
        own = Lent(engy=engy, name=name, verifies=words.get("verify", False), fail_level=level)
        made.append(own)
        item.stash.setdefault(MOCKS, []).append(own)
        return engy

    yield make
    for one in made:
        one.engy.stop()
    mocks = item.stash.get(MOCKS, ())
    check(made, has_failed=_has_failed(request, failures), has_others=len(mocks) > 1)


def _has_failed(request: pytest.FixtureRequest, failures: int) -> bool:
    """Whether a test has failed, before which there had been so many failures."""
    # A run of a campaign is counted later, a part of a test that has failed at once.
    has_failed: bool = request.node.stash[HAS_FAILED]
    return has_failed or request.session.testsfailed != failures
