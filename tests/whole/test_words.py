"""The words of a test: the same for EngyMock and for the marker, known by name, and explained by `help`."""

import inspect
import pydoc
import re
from typing import Any

import pytest

import engy_mock
import engy_mock.faults
from engy_mock import EngyMock, MockError, Settings, UnmetExpectation
from engy_mock.mock.arguments import WORDS
from engy_mock.pytest_plugin.asked import OF_THE_FACTORY, OF_THE_MARKER
from engy_mock.scripting.matchers import MATCHERS, Words


def test_the_words_of_the_marker_are_those_of_the_mock():
    """`strict`, `scenario` and `verify` outside pytest, and all words of EngyMock in the marker."""
    words = set(inspect.signature(EngyMock).parameters) - {"unknown"}
    assert set(WORDS) == words
    assert set(OF_THE_FACTORY) == words | {"verdict"}
    assert set(OF_THE_MARKER) == words - {"complaints", "loop_factory"} | {"verdict"}
    with EngyMock(strict=True, scenario="busy-hour", settings={"capacity": 3}) as engy:
        assert (engy.settings.strict, engy.settings.capacity) == (True, 3)
        assert [scene.name for scene in engy.gateway.scenes.stage.scenes] == ["busy-hour"]
        engy.settings.strict = False
        engy.reset()
        assert engy.settings.strict is True
    given = Settings()
    assert EngyMock(settings=given, strict=True).settings.strict is True
    assert given.strict is False
    with pytest.raises(MockError, match="strict= takes a bool, got 1"):
        EngyMock(strict=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("word", WORDS)
def test_misspelt_words_of_a_mock_are_known(word):
    """Every word has its hint."""
    wrong: dict[str, Any] = {f"{word}x": 1}
    with pytest.raises(MockError, match=rf"EngyMock has no '{word}x'\. Did you mean '{word}'\?"):
        EngyMock(**wrong)


@pytest.mark.parametrize(
    ("word", "value", "said"),
    [
        ("host", None, "host= takes a name or an address, got None"),
        ("port", "80", "port= takes a whole number, got '80'"),
        ("port", True, "port= takes a whole number, got True"),
        ("control", "yes", "control= takes a bool, got 'yes'"),
        ("control_token", 5, "control_token= takes a str, got 5"),
        ("complaints", ["one"], "complaints= takes a function, got ['one']"),
        ("loop_factory", "uvloop", "loop_factory= takes a function, got 'uvloop'"),
    ],
)
def test_the_words_of_a_mock_are_looked_at_when_it_is_made(word, value, said):
    """What cannot be is told by its word, and not by what fails at the start."""
    with pytest.raises(MockError, match=re.escape(said)):
        EngyMock(**{word: value})


def test_an_unknown_word_of_a_mock():
    with pytest.raises(MockError, match=r"EngyMock has no 'zzz'\. Known are seed, port, host, clock, "):
        EngyMock(zzz=1)  # type: ignore[arg-type]


def test_the_end_of_a_block_verifies_where_that_is_asked_for():
    """A rule that was not used fails the block, unless something else has."""
    with pytest.raises(UnmetExpectation, match="never used"), EngyMock(verify=True) as engy:
        engy.when(says="France").reply("Paris.")

    def fails(engy):
        engy.when(says="France").reply("Paris.")
        raise LookupError("of the test itself")

    with pytest.raises(LookupError, match="of the test itself"), EngyMock(verify=True) as engy:
        fails(engy)
    with EngyMock() as engy:
        engy.when(says="France").reply("Paris.")


def test_a_stop_verifies_where_there_is_no_block():
    """It does so once for each start; within a block its end does, so that an outage can be told."""
    engy = EngyMock(verify=True).start()
    engy.when(says="France").reply("Paris.")
    with pytest.raises(UnmetExpectation, match="never used"):
        engy.stop()
    assert not engy.is_running
    engy.stop()
    engy.start()
    with pytest.raises(UnmetExpectation, match="never used"):
        engy.stop()
    inside = EngyMock(verify=True)
    inside.when(says="France").reply("Paris.")
    with pytest.raises(UnmetExpectation, match="never used"):
        inside.stop()

    def stops_in_a_block():
        with EngyMock(verify=True) as engy:
            engy.when(says="France").reply("Paris.")
            engy.stop()
            raised.append("not yet")

    raised: list[str] = []
    with pytest.raises(UnmetExpectation, match="never used"):
        stops_in_a_block()
    assert raised == ["not yet"]
    with EngyMock(verify=True) as engy:
        engy.stop()
    EngyMock(verify=True).start().stop()


def test_words_for_accounts_are_known(engy):
    with pytest.raises(MockError, match=r"an account has no 'balance'. Did you mean 'balance_micro'\?"):
        engy.account(balance=5)
    with pytest.raises(MockError, match="There are balance_micro, prices"):
        engy.account(zzz=5)


RULE = re.compile(r"\b[A-Z]{1,2}-[0-9]+[a-z]?\b")
"""A number of the rules by which the mock was made, which says nothing to who uses it."""


def helped(thing):
    """What `help` shows of it, without the strokes that make letters bold."""
    return re.sub(".\b", "", pydoc.render_doc(thing))


def test_help_is_for_users():
    """`help(engy_mock)` and `help(engy_mock.faults)` have a text for every name, and no numbers of rules."""
    told = helped(engy_mock)
    for name in engy_mock._HOMES:
        assert f"class {name}" in told or f"{name}(" in told
        assert inspect.getdoc(getattr(engy_mock, name))
    told += helped(engy_mock.faults)
    for name in ("accounts", "catalog", "journal", "cache", "gateway"):
        told += helped(type(getattr(EngyMock(), name)))
    shown = [line for line in told.splitlines() if RULE.search(line) and "UTF-8" not in line]
    assert not shown


def test_what_can_be_hovered_over_is_readable():
    """Words are named in signatures, or in the text right behind them."""
    when = inspect.getdoc(EngyMock.when) or ""
    for word in MATCHERS:
        assert f"`{word}`" in when
    assert set(Words.__annotations__) == set(MATCHERS)
    assert list(inspect.signature(EngyMock().when().refuse).parameters)[:3] == [
        "status",
        "message",
        "retry_after",
    ]
    made = inspect.getdoc(EngyMock) or ""
    for word in WORDS:
        assert f"`{word}`" in made
