"""The inside of frames: what is rewritten, and what stays as it is to the byte."""

import json
import math

from engy_mock.scripting.sse import document, event, loose, name, payload, rewritten, with_document
from engy_mock.vocabulary.events import TextDelta
from engy_mock.vocabulary.wire import Begin, End, Frame, Head, Step

ODDLY_WRITTEN = event(b'{"a":1,"a": 1.50}', "odd")
PLAIN = event(b'{"a":2}', "plain")
STEPS: list[Step] = [
    Begin(Head(200, ())),
    Frame(ODDLY_WRITTEN, TextDelta("x")),
    Frame(PLAIN, TextDelta("y"), True),
    End(),
]


def test_a_document_that_stays_the_same_stays_as_it_was_written():
    """What one fault has written oddly, the next one leaves alone unless it changes something there."""
    found = list(rewritten(iter(STEPS), lambda value, _: {**value, "a": 7} if value["a"] == 2 else value))
    assert found[:2] == STEPS[:2]
    assert found[2] == Frame(event(b'{"a":7}', "plain"), TextDelta("y"), True)
    assert found[3] == End()


def test_a_whole_number_is_not_its_fraction():
    """Python takes 2 and 2.0 for equal, JSON does not."""
    found = list(rewritten(iter(STEPS), lambda value, _: {"a": 2.0} if value["a"] == 2 else value))
    assert found[2].data == event(b'{"a":2.0}', "plain")


def test_frames_can_be_taken_out():
    """None is no document."""
    assert list(rewritten(iter(STEPS), lambda value, _: None if value["a"] == 2 else value)) == [
        *STEPS[:2],
        End(),
    ]


def test_names_stay():
    """Another document stands behind the same name; what is whole has none."""
    frame = with_document(Frame(PLAIN, TextDelta("y")), {"b": 1})
    assert (name(frame), payload(frame), document(frame)) == ("plain", b'{"b":1}', {"b": 1})
    assert with_document(Frame(b"{}"), {"b": 1}) == Frame(b'{"b":1}')


def test_loose_writing():
    """What the service never sends can be sent all the same."""
    assert loose({"a": [math.nan, -math.inf], "b": "\ud83c"}) == b'{"a":[NaN,-Infinity],"b":"\\ud83c"}'
    assert json.loads(loose("\u2603")) == "\u2603"
