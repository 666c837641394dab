"""The one function behind every token: proper everywhere, and the same however a text is cut for scoring."""

from math import fsum
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engy_mock.model.agenda import THINKING_SENTENCES, drawn_up
from engy_mock.model.corpus import Topic
from engy_mock.model.distribution import Distribution
from engy_mock.model.language import Language
from engy_mock.model.reader import LEAVING, PATIENCE, RESTART
from engy_mock.model.sampling import Knobs
from engy_mock.model.writing import write
from engy_mock.vocabulary.seeds import Draws, digest
from tests.model.made import BUNDLED, MODELS, every_chance, language, other_engine, score, told, with_marks

TEA = "<|user|>A word on tea?<|assistant|>"
CAPITAL = "<|user|>The capital of France?<|assistant|>"
LOW_THOUGHT = f"<|system|>Reasoning Effort: Low{TEA}<think>The user would like to know something about tea."
OFF_PLAN = "Zebras quantum of the and 17 blue; "

CONTEXTS = {
    "nothing": "",
    "one word": "The",
    "a fact": "The capital of France is",
    "on plan": TEA + "</think>Green tea",
    "thinking": TEA + "<think>",
    "inside the thoughts": "<|system|>Reasoning Effort: High" + TEA + "<think>The user would like",
    "after the last thought": CAPITAL + "<think>The user asks for the capital of France.",
    "the answer begins": TEA + "</think>",
    "after the only sentence": CAPITAL + "</think>The capital of France is Paris.",
    "a border": "Something else altogether. ",
    "a blank line": "Something else altogether.\n\n",
    "strayed": OFF_PLAN * 3,
    "strayed too long": OFF_PLAN * 40,
    "strayed too long, at a border": OFF_PLAN * 40 + "\n",
    "a new beginning": "word " * RESTART,
    "a mark where none belongs": "Tea <|observation|> is <tool_call>",
    "an empty question": "<|user|><|assistant|><think>",
}


def _model(kind: str) -> Language:
    if kind in MODELS:
        return language(kind)
    catalog = other_engine(kind).catalog
    return catalog.language(catalog.find("glm-5.2"))


def _distribution(model: Language, text: str) -> Distribution:
    return model.read(with_marks(model.tokenizer, text)).distribution()


@pytest.mark.parametrize("text", CONTEXTS.values(), ids=CONTEXTS)
@pytest.mark.parametrize("kind", ["glm-5.2", "byte level", "metaspace"])
def test_proper(text, kind):
    """Property 1: over the whole vocabulary all chances are above 0 and together 1, in every vocabulary."""
    model = _model(kind)
    chances = every_chance(_distribution(model, text))
    assert len(chances) == model.tokenizer.size
    assert all(0 < p < 1 for p in chances)
    assert abs(fsum(chances) - 1) < 1e-9


@pytest.mark.parametrize("model", MODELS)
def test_closers(model):
    """Behind the last sentence the end is nearly certain; while thinking it is the end of the thoughts."""
    known = language(model)
    said = _distribution(known, CONTEXTS["after the only sentence"])
    thought = _distribution(known, CONTEXTS["after the last thought"])
    assert said.chance(known.end) == thought.chance(known.think_end) == known.voice.certainty
    assert _distribution(known, CONTEXTS["the answer begins"]).chance(known.end) < 1e-6


def test_patience():
    """A text that has long gone its own way is likely to end at the end of a sentence, and only there."""
    model = language()
    long = "Zebras quantum of the and " * (PATIENCE // 3)
    assert _distribution(model, long).chance(model.end) < 1e-4
    assert _distribution(model, long + "blue.").chance(model.end) >= LEAVING
    assert _distribution(model, "Zebras quantum of the and blue.").chance(model.end) < 1e-4


@pytest.mark.parametrize(("level", "count"), [*THINKING_SENTENCES.items(), ("other", 2)])
def test_length_of_thoughts(level, count):
    """E-132: the level in the prompt settles how many sentences are thought."""
    model = language()
    prompt = f"<|system|>Reasoning Effort: {level.capitalize()}{TEA}<think>"
    tokens = BUNDLED.encode(prompt, marks=True)
    until = frozenset({model.think_end})
    written = write(model.read(tokens), Knobs(), Draws(b""), limit=400, until=until, never_first=model.end)
    assert BUNDLED.decode(written[:-1]).count(".") + BUNDLED.decode(written[:-1]).count("?") == count


@given(st.integers(3, 30), st.integers(3, 30), st.binary(min_size=32, max_size=32))
def test_no_sentence_twice(count, reserve, order):
    """Whatever a digest says, the sentences of one turn come in no other, while there are enough of them."""
    general = Topic(name="*", reasoning=("r",), sentences=tuple(f"general {n}" for n in range(reserve)))
    topic = Topic(name="t", reasoning=("o",), sentences=tuple(f"own {n}" for n in range(count)))
    agenda = drawn_up("say", topic, general, order=order, level="", sentences=(3, 5))
    turns = [list(agenda.candidates(turn)) for turn in range(count // 3 + reserve // 3)]
    assert all(len(set(turn)) == 3 for turn in turns)
    said = [sentence for turn in turns for sentence in turn]
    assert len(set(said)) == len(said)
    assert all(sentence.startswith("own") for sentence in said[: count // 3 * 3])
    assert 3 <= agenda.wanted <= 5


def _pieces(draw: st.DrawFn, size: int) -> list[int]:
    tokens: list[int] = []
    for _ in range(size):
        tokens += draw(
            st.sampled_from(
                [
                    *[[mark] for mark in BUNDLED.marks.values()],
                    *map(BUNDLED.encode, (" High", " Low", ".", " ", "\n", ". ", "?\n\n", "  ")),
                    *map(
                        BUNDLED.encode,
                        ("What about coffee?", " capital of France", "The capital of France is Paris."),
                    ),
                    *map(BUNDLED.encode, (" Green tea tastes best when", "Black tea can take boiling water and")),
                    *map(BUNDLED.encode, ("Zebras quantum", "\u00e9\U0001f642")),
                ]
            )
            | st.lists(st.integers(0, BUNDLED.size - 1), min_size=1, max_size=4)
        )
    return tokens


@st.composite
def contexts(draw: st.DrawFn) -> list[int]:
    """Any tokens, with many marks, borders and beginnings of sentences among them."""
    return _pieces(draw, draw(st.integers(1, 12)))


def _tokens(text: str) -> list[int]:
    return BUNDLED.encode(text, marks=True)


@settings(max_examples=70)
@given(contexts())
@example(_tokens("I like it. What do you mean? \n Coffee is good.  Some more."))
@example(_tokens("<|user|><|assistant|></think>word <|assistant|><think>The user"))
@example(_tokens("[gMASK]<sop>coffee<|assistant|></think>Good coffee"))
@example(_tokens("Reasoning Effort: Low<|user|>tea<|assistant|><think>Reasoning Effort: Max The user would like"))
@example(_tokens("About tea. About tea. <|endoftext|> About tea."))
@example(_tokens(LOW_THOUGHT + "Reasoning Effort: Max blue. And so on"))
def test_causal(tokens):
    """Property 2: scoring a text whole, and in windows from any start, gives the same numbers."""
    model = language()
    whole = told(score(model, tokens, 0, top=2, first_is_known=True))
    for start in range(1, len(tokens)):
        assert told(score(model, tokens, start, top=2, first_is_known=True)) == whole[start:]


@settings(max_examples=60)
@given(contexts(), st.sampled_from(MODELS), st.booleans())
def test_asking_changes_nothing(tokens, name, asks):
    """What is expected at a place does not depend on whether anybody asked before."""
    model = language(name)
    reader = model.read([])
    for token in tokens:
        if asks:
            reader.distribution()
        reader.advance(token)
    fresh = model.read(tokens)
    assert reader.distribution().special == fresh.distribution().special
    assert reader.distribution().scale == fresh.distribution().scale


@settings(max_examples=40)
@given(contexts(), contexts(), contexts())
def test_copies_go_their_own_way(tokens, own, others):
    """A copy of a reader expects what the reader itself would, whatever the other one reads."""
    model = language()
    reader = model.read(tokens)
    copy = reader.copy()
    for token in others:
        copy.advance(token)
    for token in own:
        reader.advance(token)
    for read, seen in ((reader, own), (copy, others)):
        fresh = model.read([*tokens, *seen])
        assert read.tokens == fresh.tokens
        assert read.distribution().special == fresh.distribution().special


@pytest.mark.parametrize("start", [RESTART - 2, RESTART, RESTART + 30, 2 * RESTART + 5])
@pytest.mark.parametrize("head", [[], _tokens("<|user|>tea<|assistant|></think>")], ids=["raw", "answer"])
def test_causal_far_out(start, head):
    """A long text is read afresh now and then, at the same places whether it is read at once or token by token."""
    model = language()
    sentence = BUNDLED.encode(" Green tea tastes best when the water has cooled. And then what of it?\n")
    tokens = head + sentence * (2 * RESTART // len(sentence) + 10)
    # Reading token by token from the beginning takes a while: for the far ones a window is enough.
    begin = RESTART - 5 if len(head) + start > RESTART + 100 else 0
    whole = told(score(model, tokens[: start + 40], begin, first_is_known=True))
    assert told(score(model, tokens[: start + 40], start, first_is_known=True)) == whole[start - begin :]


HOT = Knobs(temperature=1.5, top_p=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("knobs", [Knobs(), Knobs(top_p=1.0), HOT], ids=["default", "whole", "hot"])
def test_written_and_scored_alike(name, knobs):
    """Property 2: while a text is written the model sees what it sees when it scores the text later."""
    model = language(name)
    for number, text in enumerate((TEA + "<think>", TEA + "</think>", "Tea is", OFF_PLAN)):
        context = _tokens(text)
        reader = model.read(context)
        until = frozenset({model.end})
        draws = Draws(digest("draws", number))
        written = write(reader, knobs, draws, limit=120, until=until, never_first=model.end)
        place = len(context) + len(written) - 1
        fresh = model.read([*context, *written][:place])
        if written[-1] == model.end:
            assert reader.distribution().special == fresh.distribution().special
        assert reader.tokens[:place] == fresh.tokens


@pytest.mark.slow
@pytest.mark.parametrize("before", [RESTART - 20, RESTART - 10, RESTART - 1])
def test_written_across_a_new_beginning(before):
    """A run of certain tokens stops where the text is read afresh, so that writing and scoring agree there too."""
    model = language()
    context = BUNDLED.encode("Tea. ") * RESTART
    context = context[: before - 4] + _tokens("Tea. ")
    reader = model.read(context)
    knobs = Knobs(temperature=0)
    written = write(reader, knobs, Draws(b""), limit=24, until=frozenset({model.end}), never_first=model.end)
    tokens = context + written
    for place in range(len(context), len(tokens), 2):
        first = model.read(tokens[:place]).distribution().top(2)[0]
        assert tokens[place] == (first[0] if first[0] != model.end or place > len(context) else first[1])


def test_deaf_to_later_tokens():
    """Property 2: what comes later changes nothing about what came before."""
    model = language()
    tokens = _tokens(TEA + "</think>Green tea tastes best. Zebra\n\nquantum, of the")
    whole = told(score(model, tokens, 0, top=3))
    for length in range(1, len(tokens)):
        assert told(score(model, tokens[:length], 0, top=3)) == whole[:length]


def test_first_token_has_no_value():
    """Nothing precedes the first token of a text, so it has no log probability; every other has one."""
    entries = score(language(), _tokens("The capital of France"), 0, top=2)
    assert [entry.logprob is None for entry in entries] == [True, False, False, False]
    assert entries[0].top == ()


FLUENT = {
    "garden": (
        "In the morning the garden was quiet. A thin mist lay over the beds, and the first birds were "
        "looking for food between the roses. You could hear the water in the pipe before you saw it. After "
        "an hour the sun came over the wall and warmed the stones, and the bees began their work on the "
        "blue flowers by the gate."
    ),
    "letter": (
        "Thank you for your letter, which reached me only last week. I have read it twice and I think that "
        "you are right about the house. It would be too large for two people, and the roof needs more work "
        "than we can pay for. If you find something smaller near the station, please let me know before the "
        "end of the month."
    ),
    "bridge": (
        "The old bridge was closed for repairs in the spring, so everyone had to walk along the river to "
        "the next one. Most people did not mind, because the path was pleasant and the weather was warm. "
        "Some of them kept taking the longer way even after the work was done, and they said that it gave "
        "them time to think."
    ),
    "advice": (
        "If you want to learn a language, you should speak it from the first day, even if you make many "
        "mistakes. Short daily practice is better than one long lesson a week. Read simple books, listen to "
        "the radio, and ask a friend to correct you. After a few months you will notice that you no longer "
        "translate every word."
    ),
    "report": (
        "The team met on Tuesday to look at the results of the test. Two of the three servers had answered "
        "in time, but the third one was slow under load. It was agreed that the code should be changed "
        "first, and that the same test would be run again on Friday. Nobody expected to find the cause "
        "before the weekend."
    ),
}


def _average(model: Language, text: bytes) -> float:
    single = {raw[0]: token for token, raw in enumerate(model.tokenizer.raw) if len(raw) == 1}
    try:
        tokens = model.tokenizer.encode(text.decode())
    except UnicodeDecodeError:
        tokens = [single[byte] for byte in text]
    values = [entry.logprob for entry in score(model, tokens, 0)[1:]]
    return sum(value for value in values if value is not None) / len(values)


@pytest.mark.parametrize("name", ["glm-5.2", "kimi-k3", "qwen3.6-35b-a3b", "deepseek-v4.1-flash"])
@pytest.mark.parametrize("text", FLUENT.values(), ids=FLUENT)
def test_sensible(text, name):
    """Property 6: fluent English is likelier than its words shuffled, and these are likelier than random bytes."""
    model = language(name)
    random = Random(7)
    words = text.split()
    fluent = _average(model, text.encode())
    for _ in range(3):
        shuffled = words[:]
        random.shuffle(shuffled)
        mixed_up = _average(model, " ".join(shuffled).encode())
        noise = _average(model, random.randbytes(len(text)))
        assert fluent > mixed_up + 0.3
        assert mixed_up > noise + 1.0
