"""Faults on the wire: where they act, what gets through before, what is paid, and what finds no place."""

import pytest

from engy_mock import MockError
from engy_mock.scripting import fault
from engy_mock.scripting.faults.transport import CutOff, Reset
from engy_mock.vocabulary.events import Cut, Ended, Finished, Started, TextDelta, UsageReported
from engy_mock.vocabulary.generation import Usage
from tests.scripting.captured import PATHS, STREAMING, ask

WORDS = ["one", "two", "three"]


def pieces(words):
    """The events of an answer of so many pieces."""
    yield Started()
    yield from map(TextDelta, words)
    yield Finished()
    yield UsageReported(Usage(prompt_tokens=1, completion_tokens=len(words)))
    yield Ended()


@pytest.mark.parametrize(("after", "kept"), [(0, []), (2, ["one", "two"]), (9, WORDS)])
def test_after_counts_pieces(after, kept):
    """The first pieces get through, then the connection breaks; the end of the answer never gets through."""
    begun, *before, last = Reset(after=after)(pieces(WORDS))
    assert begun == Started()
    assert [event.text for event in before] == kept
    assert last == Cut(abrupt=True)
    assert list(CutOff(after=after)(pieces(WORDS)))[-1] == Cut(abrupt=False)


@pytest.mark.parametrize("route", STREAMING)
@pytest.mark.parametrize(("kind", "ending"), [("reset", "reset"), ("cut", "fin"), ("truncate", "fin")])
@pytest.mark.parametrize("after", [0, 2])
def test_streams_break_on_every_route(engy, route, kind, ending, after):
    """A real RST, a FIN without the last chunk, or a clean end without the end of the answer; and no charge."""
    engy.when().reply("one two three four", faults=[{"kind": kind, "after": after}])
    seen = ask(engy, route)
    assert (seen.status, seen.ending, seen.is_complete) == (200, ending, kind == "truncate")
    assert (b"two" in seen.rest) is (after == 2)
    assert b"three" not in seen.rest
    assert b'finish_reason":"stop' not in seen.rest
    entry = engy.journal.last
    assert entry.faults == (kind if after == 0 else f"{kind} after={after}",)
    assert entry.not_applied == ()
    assert (entry.charged_micro, entry.pieces_sent) == (0, after)
    assert engy.gateway.accounts.default.held_micro == 0


@pytest.mark.parametrize("route", PATHS)
@pytest.mark.parametrize(("kind", "ending"), [("reset", "reset"), ("cut", "fin"), ("truncate", "fin")])
def test_whole_answers_break_too(engy, route, kind, ending):
    """A part of the body arrives: short of its declared length, or with a length that is short itself."""
    engy.when().reply("one two three four", faults=[{"kind": kind, "after": 2}])
    seen = ask(engy, route, stream=False)
    assert (seen.status, seen.ending) == (200, ending)
    assert len(seen.rest) > 0
    assert seen.is_complete is (kind == "truncate")
    with pytest.raises(ValueError, match=r"."):
        _ = seen.document
    assert engy.journal.last.charged_micro == 0


def test_what_can_never_apply_is_told_when_it_is_written(engy):
    """A fault for streams in a rule for whole answers is a mistake of the test's author."""
    with pytest.raises(MockError, match=r"stall-with-comments.*can never apply.*streams only"):
        engy.when(stream=False).faults("stall-with-comments")


def test_what_does_not_apply_is_counted(engy):
    """D-8: where only the request can tell, the journal names the faults that found no place."""
    engy.when().faults("stall-with-comments")
    assert ask(engy, stream=False).document["object"] == "chat.completion"
    entry = engy.journal.last
    assert entry.faults == ()
    assert entry.not_applied == ("stall-with-comments",)
    assert entry.charged_micro > 0


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("rest", "unknown fault kind 'rest'. Did you mean 'reset'?"),
        ({"kind": "reset", "aftr": 1}, "reset: unknown parameter 'aftr'. Did you mean 'after'?"),
        ({"kind": "reset", "after": -1}, "reset: after is -1: "),
        ({"kind": "reset", "after": "2"}, "reset: after is '2': "),
        ({"kind": "reset", "after": True}, "reset: after is True: "),
        ({"after": 1}, "a fault needs kind"),
        (7, "a fault is one of the catalogue"),
    ],
)
def test_mistakes_name_what_is_meant(engy, wanted, said):
    with pytest.raises(MockError) as caught:
        engy.when().faults(wanted)
    assert said in str(caught.value)


def test_a_missing_parameter_is_named(engy, monkeypatch):
    """A kind may demand a parameter; most have a default for each."""
    monkeypatch.setattr(fault, "KINDS", dict(fault.KINDS))

    @fault.fault("own-kind")
    class OwnKind(fault.Fault):
        level: fault.Count

    assert OwnKind(level=1).level == 1
    with pytest.raises(MockError, match="own-kind: level is missing"):
        engy.when().faults("own-kind")


def test_any_function_of_events_is_a_fault(engy):
    def shouts(events):
        for event in events:
            yield TextDelta(event.text.upper()) if isinstance(event, TextDelta) else event

    engy.when().reply("one two", faults=[shouts])
    assert b"ONE" in ask(engy).body
    assert ask(engy, stream=False).document["choices"][0]["message"]["content"] == "ONE TWO"
    assert engy.journal.last.faults == ("shouts",)


@pytest.mark.parametrize(("rate", "least", "most"), [(0.0, 0, 0), (1.0, 40, 40), (0.5, 10, 30)])
def test_rate_is_settled_by_a_digest(engy, rate, least, most):
    """D-6: 0 never, 1 always, and between them the same requests every time."""
    engy.when().reply("x", faults=[{"kind": "reset", "rate": rate}])
    seen = [ask(engy, seed=number).ending for number in range(40)]
    assert least <= seen.count("reset") <= most
    engy.reset()
    engy.when().reply("x", faults=[{"kind": "reset", "rate": rate}])
    assert [ask(engy, seed=number).ending for number in range(40)] == seen


def test_refusals_are_no_answers_to_break(engy):
    """A fault of a rule of its own leaves refusals alone, and is not used up by them."""
    engy.when().refuse(429, times=1)
    engy.when().faults("reset", times=1)
    assert [ask(engy).status for _ in range(3)] == [429, 200, 200]
    assert [entry.faults for entry in engy.journal] == [(), ("reset",), ()]


def test_time_passes_as_a_rule_says(engy):
    """A delay and a pace are pauses of mock time, which cost nothing while the clock stands still."""
    engy.when().reply("one two three", delay=600, pace=0.01)
    seen = ask(engy)
    assert len(seen.writes) == 4
    assert engy.journal.last.faults == ("pace per_second=0.01", "delay seconds=600")


AFTER = sorted(kind for kind, own in fault.catalogue().items() if "after" in own.__dataclass_fields__)
"""The kinds that happen after so many pieces."""


@pytest.mark.parametrize(
    ("kind", "stream"),
    [
        (kind, stream)
        for kind in AFTER
        for stream in (True, False)
        if fault.catalogue()[kind].is_for_streams in (None, stream)
    ],
)
def test_behind_the_end_nothing_happens(engy, kind, stream):
    """With more pieces than there are, a kind changes nothing, and is reported: all of them in the same way."""
    own = fault.catalogue()[kind]
    route = next(route for route in PATHS if not own.endpoints or route in own.endpoints)
    engy.when().reply("one two three four")
    calm = ask(engy, route, stream=stream)
    engy.reset()
    engy.when().reply("one two three four", faults=[{"kind": kind, "after": 5}])
    seen = ask(engy, route, stream=stream)
    entry = engy.journal.last
    assert (entry.faults, entry.not_applied) == ((), (f"{kind} after=5",))
    assert (seen.status, seen.body, seen.ending) == (calm.status, calm.body, calm.ending)
    assert entry.charged_micro > 0


def test_the_last_piece_is_a_place(engy):
    """After as many pieces as there are, all of them get through, and the end does not."""
    engy.when().reply("one two three four", faults=[Reset(after=4)])
    seen = ask(engy)
    assert (seen.ending, engy.journal.last.pieces_sent, engy.journal.last.not_applied) == ("reset", 4, ())
    assert b"four" in seen.rest
    assert b'finish_reason":"stop' not in seen.rest
