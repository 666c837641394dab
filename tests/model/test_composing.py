"""What becomes of the words of an answer: limits, stops, pieces, counts and the reason why it ended."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engy_mock.model.composing import Composed, Parts, compose
from engy_mock.vocabulary.request import ToolCall
from tests.model.made import BUNDLED, language, other

THINK_END = BUNDLED.marks["</think>"]


def _encoded(text: str) -> list[int]:
    return BUNDLED.encode(text, marks=True)


def _parts(
    text: str = "", *, reasoning: str | None = None, calls: tuple[ToolCall, ...] = (), has_text: bool = True
) -> Parts:
    """A whole answer with its end."""
    return Parts(
        reasoning=None if reasoning is None else BUNDLED.encode(reasoning),
        is_reasoning_closed=reasoning is not None,
        text=BUNDLED.encode(text),
        has_text=has_text,
        calls=calls,
        is_ended=True,
    )


def _composed(parts: Parts, limit: int = 10_000, *stop: str) -> Composed:
    return compose(parts, BUNDLED, limit=limit, stop=stop)


WEATHER = ToolCall("get_weather", '{"city":"Z\u00fcrich \U0001f642"}')
NOW = ToolCall("now")
ANSWERS = {
    "text": _parts("The capital of France is Paris."),
    "reasoning and text": _parts(
        "The capital of France is Paris.", reasoning="The user asks for the capital of France."
    ),
    "characters of several tokens": _parts("\U0001f642 caf\u00e9 \u65e5\u672c!", reasoning="\U0001f642\u00e9"),
    "one call": _parts(calls=(WEATHER,), has_text=False),
    "everything": _parts("Let me see. \U0001f642", reasoning="Two tools.", calls=(WEATHER, NOW)),
    "nothing": _parts(""),
    "only reasoning": _parts("", reasoning="Hm."),
}
EACH = pytest.mark.parametrize("parts", ANSWERS.values(), ids=ANSWERS)


def test_documented_counts():
    """E-100, E-103, E-104: reasoning, its mark, text and the end of turn add up to the documented numbers."""
    whole = _composed(ANSWERS["reasoning and text"])
    assert (whole.reasoning_tokens, whole.completion_tokens, whole.finish_reason) == (11, 19, "stop")
    raw = _composed(_parts(" Paris."))
    assert (raw.reasoning_tokens, raw.completion_tokens) == (0, 3)


@pytest.mark.parametrize(
    ("name", "count", "finish", "calls"),
    [
        ("text", 8, "stop", ()),
        ("nothing", 1, "stop", ()),
        ("only reasoning", len(_encoded("Hm.")) + 2, "stop", ()),
        ("one call", len(_encoded(WEATHER.name)) + len(_encoded(WEATHER.arguments)) + 3, "tool_calls", (WEATHER,)),
    ],
)
def test_whole(name, count, finish, calls):
    """E-100, E-109: what is said whole is counted with its marks and its end, and ends for its own reason."""
    whole = _composed(ANSWERS[name])
    assert (whole.completion_tokens, whole.finish_reason, whole.tool_calls) == (count, finish, calls)


def _said(composed: Composed) -> tuple[str, str, list[tuple[str, str]]]:
    calls = [(call.name, call.arguments) for call in composed.tool_calls]
    return "".join(composed.reasoning or ()), "".join(composed.text), calls


@EACH
def test_every_limit(parts):
    """E-102, E-109: under every limit the count is right, and the beginning of the whole is said."""
    whole = _composed(parts)
    for limit in range(1, whole.completion_tokens + 2):
        cut = _composed(parts, limit)
        assert cut.completion_tokens == min(limit, whole.completion_tokens)
        assert cut.reasoning_tokens <= cut.completion_tokens
        assert (cut.finish_reason == "length") is (limit < whole.completion_tokens)
        if cut.finish_reason != "length":
            assert cut == whole
        reasoning, text, calls = _said(cut)
        all_reasoning, all_text, all_calls = _said(whole)
        assert all_reasoning.startswith(reasoning)
        assert all_text.startswith(text)
        assert (cut.reasoning is None) is (whole.reasoning is None)
        # Nothing is begun before what stands in front of it is complete.
        assert reasoning == all_reasoning or not text
        assert text == all_text or not calls
        for (name, arguments), (all_name, all_arguments) in zip(calls, all_calls, strict=False):
            assert name == all_name
            assert all_arguments.startswith(arguments)
        assert [call for call in calls[:-1] if call not in all_calls] == []
        assert len(cut.sizes) == len(cut.text)
        assert sum(cut.sizes) == len(cut.text_tokens)


@EACH
def test_limits_take_from_the_end(parts):
    """A higher limit never says less."""
    whole = _composed(parts).completion_tokens
    said = [_said(_composed(parts, limit)) for limit in range(1, whole + 2)]
    for less, more in pairwise(said):
        assert more[0].startswith(less[0])
        assert more[1].startswith(less[1])
        assert len(more[2]) >= len(less[2])


def test_cut_arguments():
    """R-22: a limit within the arguments of a call leaves their beginning and says `length`."""
    name = len(_encoded(WEATHER.name))
    arguments = _encoded(WEATHER.arguments)
    seen = []
    for limit in range(1, name + len(arguments) + 4):
        cut = _composed(_parts(calls=(WEATHER,), has_text=False), limit)
        seen.append(cut.tool_calls[0].arguments if cut.tool_calls else None)
        assert cut.finish_reason == ("length" if limit < name + len(arguments) + 3 else "tool_calls")
    # The mark and the name alone are no call yet.
    assert seen[: name + 1] == [None] * (name + 1)
    assert seen[name + 1] == BUNDLED.raw[arguments[0]].decode()
    assert seen[-3:] == [WEATHER.arguments] * 3
    assert "\ufffd" not in "".join(filter(None, seen))


def test_cut_in_a_character():
    """A limit within a character leaves it out; its tokens are counted, and each has its place in the pieces."""
    text = "a\U0001f642"
    tokens = _encoded(text)
    assert len(tokens) > 2
    cut = _composed(_parts(text), 2)
    assert (cut.text, list(cut.sizes), cut.text_tokens, cut.completion_tokens) == (("a",), [2], tokens[:2], 2)
    cut = _composed(_parts("\U0001f642"), 1)
    assert (cut.text, list(cut.sizes), cut.completion_tokens) == (("",), [1], 1)


def test_bytes_at_the_end():
    """Where the writing itself ends with half a character, that is what is shown."""
    half = [BUNDLED.raw.index(b"\xf0")]
    assert _composed(Parts(text=half, is_ended=True)).text == ("\ufffd",)
    assert _composed(Parts(text=half, is_ended=False), 1).text == ("",)


def _splits(word: str) -> Iterator[list[int]]:
    """Every way to write a word in tokens of the vocabulary."""
    known = {raw: token for token, raw in enumerate(BUNDLED.raw) if token not in BUNDLED.marks.values()}

    def ways(data: bytes) -> Iterator[list[int]]:
        if not data:
            yield []
        for size in range(1, len(data) + 1):
            if data[:size] in known:
                for rest in ways(data[size:]):
                    yield [known[data[:size]], *rest]

    return ways(word.encode())


@pytest.mark.parametrize(
    ("before", "stop", "after"),
    [
        ("One ", "STOP", " two"),
        ("One", "\n\n", "two"),
        ("", "the", " end"),
        ("a", "\U0001f642", "b"),
        ("caf", "\u00e9 \u00e9", "x"),
        ("x ", "</b>", ""),
    ],
)
def test_stop_across_tokens(before, stop, after):
    """E-54: a stop is found however its characters are spread over tokens, and nothing of it is said."""
    ways = list(_splits(stop))
    assert ways
    for way in ways:
        head, tail = BUNDLED.encode(before), BUNDLED.encode(after)
        composed = compose(Parts(text=[*head, *way, *tail], is_ended=True), BUNDLED, limit=10_000, stop=(stop,))
        assert "".join(composed.text) == before
        assert (composed.finish_reason, composed.stop_sequence) == ("stop", stop)
        assert composed.completion_tokens == len(head) + 1


@pytest.mark.parametrize(
    ("text", "stop", "said", "matched", "kept"),
    [
        pytest.param("one two three", (" two",), "one", " two", 1, id="E-54"),
        pytest.param("one two three", ("o",), "", "o", 0, id="the very beginning"),
        pytest.param("one two three", ("three", "two"), "one ", "two", 1, id="the earliest of several"),
        pytest.param("one two three", ("e t", "e"), "on", "e t", 0, id="the longest at one place"),
        pytest.param("one two three", ("", "wo"), "one t", "wo", 1, id="empty ones do not count"),
        pytest.param("one two three", ("hree",), "one two t", "hree", 2, id="within a token"),
        pytest.param(
            "caf\u00e9\U0001f642x", ("\U0001f642",), "caf\u00e9", "\U0001f642", None, id="a long character"
        ),
        pytest.param("one two three", ("four",), "one two three", None, None, id="no match"),
        pytest.param("one two three", ("Two",), "one two three", None, None, id="case matters"),
    ],
)
def test_stop(text, stop, said, matched, kept):
    """E-54, E-101: text ends before the first match; the count is the whole tokens kept, and one."""
    composed = _composed(_parts(text), 10_000, *stop)
    assert "".join(composed.text) == said
    assert composed.stop_sequence == matched
    assert composed.finish_reason == "stop"
    if kept is not None:
        assert composed.completion_tokens == kept + 1
    assert len(composed.sizes) == len(composed.text)
    assert sum(composed.sizes) == len(composed.text_tokens)


def test_stop_in_front_of_calls():
    """A match ends the whole answer: no tool is called."""
    composed = _composed(_parts("one two", calls=(NOW,)), 10_000, "two")
    assert (composed.tool_calls, composed.finish_reason) == ((), "stop")


def test_no_stop_in_reasoning():
    """Stops are for the text: the same words in the reasoning pass."""
    composed = _composed(_parts("A word", reasoning="A word"), 10_000, "word")
    assert _said(composed)[:2] == ("A word", "A ")
    assert composed.completion_tokens == len(_encoded("A word")) + 1 + len(_encoded("A")) + 1


@pytest.mark.parametrize("limit", range(1, 12))
def test_stop_and_limit(limit):
    """A stop counts only if it has been said in full before the limit, and the count never passes the limit."""
    text = "one two three four five six seven"
    composed = _composed(_parts(text), limit, "four")
    assert composed.completion_tokens <= limit
    # "one two three four" are four tokens.
    assert composed.finish_reason == ("stop" if limit >= 4 else "length")
    assert "".join(composed.text) == ("one two three " if limit >= 4 else " ".join(text.split()[:limit]))


@given(st.text(st.sampled_from("ab \u00e9\U0001f642."), max_size=12), st.integers(1, 30), st.data())
@example("", 1, None)
def test_stops_cut_and_never_change(text, limit, data):
    """E-13: with any stop and any limit the text is a beginning of the whole text, and holds no stop."""
    stop = (
        ()
        if data is None
        else tuple(data.draw(st.lists(st.text(st.sampled_from("ab \u00e9"), max_size=3), max_size=3)))
    )
    composed = _composed(_parts(text), limit, *stop)
    said = "".join(composed.text)
    assert text.startswith(said)
    assert not any(word in said for word in stop if word)
    assert composed.completion_tokens <= limit
    if composed.stop_sequence is not None:
        assert text.startswith(said + composed.stop_sequence)


@pytest.mark.parametrize(
    ("written", "thinks", "reasoning", "text", "is_ended", "is_closed"),
    [
        ("Hello<|endoftext|>", False, None, "Hello", True, False),
        ("Hello", False, None, "Hello", False, False),
        ("So.</think>Hello<|endoftext|>", True, "So.", "Hello", True, True),
        ("So.</think>Hello", True, "So.", "Hello", False, True),
        ("So.</think>", True, "So.", "", False, True),
        ("So", True, "So", "", False, False),
        ("So<|endoftext|>", True, "So", "", True, True),
        ("</think>Hello<|endoftext|>", True, "", "Hello", True, True),
        ("", True, "", "", False, False),
        ("a</think>b", False, None, "a</think>b", False, False),
    ],
)
def test_split(written, thinks, reasoning, text, is_ended, is_closed):
    """What a model wrote is reasoning up to its mark, then text; without thinking it is all text."""
    parts = Parts.split(_encoded(written), language(), thinks=thinks)
    assert parts.reasoning == (None if reasoning is None else _encoded(reasoning))
    assert parts.text == _encoded(text)
    assert (parts.is_ended, parts.is_reasoning_closed) == (is_ended, is_closed)


def test_followed_by():
    """Dictated words follow reasoning that came to its end, and none that was cut."""
    closed = Parts.split(_encoded("So.</think>"), language(), thinks=True)
    followed = closed.followed_by(text=[5], calls=(NOW,))
    assert (followed.text, followed.calls, followed.is_ended, followed.reasoning) == (
        [5],
        (NOW,),
        True,
        _encoded("So."),
    )
    assert not closed.followed_by(calls=(NOW,)).has_text
    cut = Parts.split(_encoded("So"), language(), thinks=True)
    assert cut.followed_by(text=[5]) is cut
    assert Parts().followed_by(text=[5]).text == [5]


def test_before_text():
    """The tokens between prompt and text are those of the reasoning with its mark."""
    parts = ANSWERS["reasoning and text"]
    assert _composed(parts).before_text == [*(parts.reasoning or ()), THINK_END]
    assert _composed(parts, 10).before_text == parts.reasoning
    assert _composed(ANSWERS["text"]).before_text == []


@pytest.mark.parametrize("kind", ["byte level", "metaspace"])
def test_other_vocabularies(kind):
    """Under every limit the same holds in a user's own vocabulary."""
    tokenizer = other(kind)
    text = "Caf\u00e9 \U0001f642 ol\u00e9"
    parts = Parts(text=tokenizer.encode(text), is_ended=True)
    for limit in range(1, len(parts.text) + 2):
        composed = compose(parts, tokenizer, limit=limit, stop=())
        assert text.startswith("".join(composed.text))
        assert composed.completion_tokens == limit
        assert sum(composed.sizes) == len(composed.text_tokens)
