"""What a test asks of its mocks: by markers, by options, and what follows for each mock that it gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engy_mock.mock.arguments import WORDS, check_known
from engy_mock.pytest_plugin import run_of
from engy_mock.vocabulary.errors import MockError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

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

OF_THE_FACTORY = (*WORDS, "verdict")
"""What `engy_factory` takes: all words of EngyMock, and how bad a verdict may be."""

OF_ONE_KIND: dict[str, type] = {"strict": bool, "verdict": str, "verify": bool}
"""What the marker's own words take; EngyMock looks at the others."""

OF_ONE_MOCK = frozenset({"port"})
"""What further mocks of a test cannot share with the first."""

POSITIONAL = ("seed", "port", "host")
"""What EngyMock takes without a name, in this order."""

SCENARIOS = frozenset({"scenario", "scenarios"})


def asked_by(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the markers of a test say, the nearest first; raises MockError for a word that there is not."""
    asked: dict[str, Any] = {}
    for marker in request.node.iter_markers("engy"):
        if marker.args:
            raise MockError(f"the marker engy takes words like scenario=, got {marker.args[0]!r:.80}")
        for word, value in marker.kwargs.items():
            check_known("the marker engy", word, OF_THE_MARKER)
            if word in OF_ONE_KIND and not isinstance(value, OF_ONE_KIND[word]):
                kind = OF_ONE_KIND[word].__name__
                raise MockError(f"the marker engy: {word}= takes a {kind}, got {value!r:.80}")
            asked.setdefault(word, value)
    if "verdict" in asked:
        check_verdict("the marker engy", asked["verdict"])
    if "cassette" in asked:
        # A path is seen from the test's own folder, wherever pytest was started.
        asked["cassette"] = request.path.parent / asked["cassette"]
    elif "replay" in asked:
        raise MockError("the marker engy: replay= says how a cassette= is played, and there is none")
    return asked


def check_verdict(place: str, level: object) -> None:
    """Raise MockError for what is no level of a verdict."""
    from engy_mock.verdict.verdict import check_level

    try:
        check_level(level)  # type: ignore[arg-type]  # it is what a test has written
    except MockError as error:
        raise MockError(f"{place}, verdict=: {error}") from None


def made_with(request: pytest.FixtureRequest, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The words of EngyMock for a mock that runs for a test alone, with what options and campaigns say."""
    words = {word: asked[word] for word in OWN_MOCK if word in asked}
    is_run = run_of(request.node) is not None
    words.setdefault("seed", 0 if is_run else request.config.getoption("engy_seed") or 0)
    if is_run:
        from engy_mock.campaigns.in_pytest import SILENCE
        from engy_mock.serving.limits import Limits

        words.setdefault("limits", Limits(stall_seconds=SILENCE))
    folder = request.config.rootpath / "scenarios"
    words.setdefault("scenario_folders", [folder] if folder.is_dir() else [])
    return words


def further(
    request: pytest.FixtureRequest, asked: Mapping[str, Any], arguments: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    """The words for one of several mocks: what its own arguments leave open is as marker and options say."""
    words = {word: value for word, value in asked.items() if word != "verdict"} | made_with(request, asked)
    if not SCENARIOS & words.keys():
        words["scenarios"] = tuple(request.config.getoption("engy_scenario"))
    own = {*named, *POSITIONAL[: len(arguments)]}
    if own & SCENARIOS:
        own |= SCENARIOS
    settings = named.get("settings")
    if isinstance(settings, Mapping) and "strict" in settings:
        own.add("strict")
    left = {word: value for word, value in words.items() if word not in own and word not in OF_ONE_MOCK}
    return {**left, **named}
