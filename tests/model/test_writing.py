"""How the model writes: greedy is greedy, knobs are real, answers can be read and end by themselves."""

import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from math import sqrt
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engy_mock.model import corpus as corpora
from engy_mock.model import prepared, writing
from engy_mock.model.catalog import Catalog
from engy_mock.model.distribution import Distribution
from engy_mock.model.engine import Engine
from engy_mock.model.prepared import MAX_MADE_UP
from engy_mock.model.sampling import Knobs
from engy_mock.vocabulary.request import ResponseFormat, Sampling, Scoring
from engy_mock.vocabulary.seeds import Draws, digest
from tests.model.made import (
    BUNDLED,
    CATALOG,
    ENGINE,
    MODELS,
    answer,
    answers,
    chat,
    every_chance,
    language,
    other_engine,
    raw,
    sentences,
    tempered,
)

GREEDY = Sampling(temperature=0)
SCORED = Scoring(logprobs=True, top=3)
PROMPTS = (
    "How do I brew coffee?",
    "What is the capital of France?",
    "Nothing in particular",
    "Erz\u00e4hl mir etwas! \U0001f642",
    "def f(x):\n    return",
)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_greedy(model, prompt):
    """Property 3: at temperature 0 each token is the first of its top list; asking changes nothing."""
    for make in (chat, raw):
        request = make(prompt, model=model, sampling=GREEDY, scoring=SCORED, max_tokens=150)
        choice = answer(request)
        entries = [entry for piece in choice.logprobs or () for entry in piece]
        assert [entry.token for entry in entries] == [entry.top[0][0] for entry in entries]
        assert [entry.logprob for entry in entries] == [entry.top[0][2] for entry in entries]
        assert len(entries) == len(choice.token_ids) > 0
        plain = answer(make(prompt, model=model, sampling=GREEDY, max_tokens=150))
        assert (plain.text, plain.reasoning, plain.finish_reason) == (
            choice.text, choice.reasoning, choice.finish_reason
        )  # fmt: skip


@pytest.mark.parametrize("kind", ["byte level", "metaspace"])
def test_greedy_in_other_vocabularies(kind):
    """Property 3 holds for a user's own vocabulary too."""
    for prompt in PROMPTS:
        request = chat(prompt, sampling=GREEDY, scoring=SCORED)
        choice = answer(request, engine=other_engine(kind))
        entries = [entry for piece in choice.logprobs or () for entry in piece]
        assert [entry.token for entry in entries] == [entry.top[0][0] for entry in entries]
        assert choice.finish_reason == "stop"


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize(
    "sampling",
    [Sampling(top_k=1), Sampling(top_k=1, temperature=2.0), Sampling(top_p=1e-6)],
    ids=["top_k 1", "hot top_k 1", "tiny nucleus"],
)
def test_nearly_greedy(prompt, sampling):
    """Property 4: `top_k` 1 and a tiny nucleus come to the greedy answer at any temperature."""
    for make in (chat, raw):
        assert answer(make(prompt, sampling=sampling)).text == answer(make(prompt, sampling=GREEDY)).text


@pytest.mark.parametrize("prompt", PROMPTS[:2])
def test_cold(prompt):
    """Property 4: the lower the temperature, the more seeds come to the greedy answer, and near 0 all do."""
    greedy = answer(chat(prompt, sampling=GREEDY)).text
    agreeing = [
        sum(answer(chat(prompt, sampling=Sampling(temperature=t, seed=seed))).text == greedy for seed in range(12))
        for t in (0.01, 0.15, 1.0)
    ]
    assert agreeing[0] == 12
    assert agreeing == sorted(agreeing, reverse=True)


BRANCH = "Good coffee begins with"
"""After these words the corpus goes on in several ways."""


def _frequencies(count: int, **knobs: float) -> Counter[int]:
    """How often each token comes next, over many seeds."""
    return Counter(
        answer(raw(BRANCH, max_tokens=1, sampling=Sampling(seed=seed, **knobs))).token_ids[0]  # type: ignore[arg-type]
        for seed in range(count)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "knobs",
    [
        {"temperature": 1.0, "top_p": 1.0},
        {"temperature": 0.6, "top_p": 1.0},
        {"temperature": 1.4, "top_p": 0.8},
        {"temperature": 1.0, "top_p": 0.9, "top_k": 3},
        {"temperature": 1.0, "top_p": 1.0, "min_p": 0.1},
    ],
    ids=str,
)
def test_frequencies(knobs):
    """Property 4: over many seeds tokens come as often as the tempered, cut distribution says."""
    model = language()
    chances = every_chance(model.read(BUNDLED.encode(BRANCH)).distribution())
    shares = {token: share for share, token in tempered(chances, Knobs(**knobs))}
    count = 500
    drawn = _frequencies(count, **knobs)
    assert set(drawn) <= set(shares)
    for token, share in shares.items():
        assert abs(drawn[token] - count * share) <= 4 * sqrt(count * share * (1 - share)) + 1


def test_seeds():
    """E-53: the same seed gives the same text, another seed sometimes another; without one the request decides."""
    wished = [answer(chat("Tell me about tea", sampling=Sampling(seed=seed))).text for seed in (1, 2, 3, 1)]
    assert wished[0] == wished[3]
    assert len(set(wished)) > 1
    assert answer(chat("Tell me about tea")).text == answer(chat("Tell me about tea")).text
    assert len({answer(chat(f"Tell me about tea {number}")).text for number in range(5)}) == 5


@pytest.mark.parametrize("seed", [0, -1, 2**63, -(2**70)])
def test_any_integer_is_a_seed(seed):
    """Seeds have no bounds."""
    assert answer(chat("Hi", sampling=Sampling(seed=seed))).text


@pytest.mark.parametrize("penalty", ["presence_penalty", "frequency_penalty"])
def test_penalties(penalty):
    """Property 4: the higher a penalty, the fewer of as many tokens have come before."""
    repeats = []
    for value in (-2.0, 0.0, 2.0):
        total = 0
        for seed in range(10):
            wish = Sampling(seed=seed, top_p=1.0, logit_bias={BUNDLED.end: -100.0}, **{penalty: value})  # type: ignore[arg-type]
            request = chat("Tell me about tea", model="deepseek-v4.1-flash", max_tokens=60, sampling=wish)
            tokens = answer(request).token_ids
            total += len(tokens) - len(set(tokens))
        repeats.append(total)
    assert repeats == sorted(repeats, reverse=True)
    assert repeats[0] > repeats[2]


@pytest.mark.parametrize("temperature", [0, 0.5, 1.0, 2.0])
def test_bias(temperature):
    """E-67: a bias of -100 bans a token, one of 100 leaves no other."""
    the = BUNDLED.encode(" the")[0]
    banned = Sampling(temperature=temperature, logit_bias={the: -100.0})
    forced = Sampling(temperature=temperature, logit_bias={the: 100.0})
    for make in (chat, raw):
        assert the not in answer(make("Tell me about tea", sampling=banned, max_tokens=200)).token_ids
        assert set(
            answer(make("Tea is", model="deepseek-v4.1-flash", sampling=forced, max_tokens=30)).token_ids
        ) == {the}


def test_bias_of_marks():
    """E-121, E-126: a mark can be said in a raw text, and in no other."""
    wish = Sampling(logit_bias={BUNDLED.marks["<think>"]: 100.0})
    assert answer(raw("Tea is", sampling=wish, max_tokens=3)).text == ("<think>",) * 3
    assert "<think>" not in answer(chat("Tea?", sampling=wish, max_tokens=90)).whole_text


def test_bias_of_unknown_tokens():
    """A bias for ids that no token has does nothing."""
    plain = answer(chat("Tell me about tea", sampling=Sampling(presence_penalty=0.1)))
    wish = Sampling(presence_penalty=0.1, logit_bias={BUNDLED.size: 100.0, 10**17: -5.0})
    assert answer(chat("Tell me about tea", sampling=wish)).finish_reason == plain.finish_reason == "stop"


def test_the_end_can_be_banned():
    """With a bias of -100 on the end of turn an answer goes on to its limit, in sentences."""
    wish = Sampling(logit_bias={BUNDLED.end: -100.0})
    choice = answer(chat("Tell me about tea", model="deepseek-v4.1-flash", sampling=wish, max_tokens=300))
    assert (choice.finish_reason, len(choice.token_ids)) == ("length", 300)


KNOBS = st.builds(
    Knobs,
    temperature=st.sampled_from([0, 1.0, 0.7, 1.0, 0.2, 1.3]),
    top_p=st.sampled_from([1.0, 0.999, 0.992, 0.95, 0.5]),
    top_k=st.sampled_from([None, None, None, 1, 5]),
    min_p=st.sampled_from([0.0, 0.0, 0.2]),
)


def _written(context: list[int], knobs: Knobs, seed: int, model: str, limit: int = 120) -> list[int]:
    known = language(model)
    until = frozenset({known.end})
    draws = Draws(digest("draws", seed))
    return writing.write(known.read(context), knobs, draws, limit=limit, until=until, never_first=known.end)


@settings(max_examples=60)
@given(KNOBS, st.integers(0, 99), st.sampled_from(MODELS), st.sampled_from(PROMPTS), st.booleans())
def test_short_cuts(knobs, seed, model, prompt, is_raw):
    """Walking along sentences, and drawing from what stands out alone, writes what drawing each token would."""
    context = BUNDLED.encode(prompt)
    if not is_raw:
        context += [BUNDLED.marks["<|assistant|>"], BUNDLED.marks["<think>"]]
    fast = _written(context, knobs, seed, model)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(writing, "chooser", lambda *_: None)
        patched.setattr(writing, "draw_special", lambda *_: -1)
        assert _written(context, knobs, seed, model) == fast


@pytest.mark.slow
@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(frequency_penalty=-2.0),
        Sampling(frequency_penalty=-2.0, presence_penalty=-2.0, temperature=2.0),
        Sampling(logit_bias={500: 100.0}),
        Sampling(logit_bias={BUNDLED.end: -100.0}),
        Sampling(logit_bias={BUNDLED.end: -100.0}, temperature=2.0, top_p=1.0),
    ],
    ids=["repeats", "hot repeats", "one word", "no end", "hot without end"],
)
def test_nothing_goes_on_for_ever(sampling):
    """Where knobs leave a text no end of its own it is given one, unless the limit comes first."""
    whole = answers(chat("Tell me about coffee", model="deepseek-v4.1-flash", sampling=sampling))
    assert (whole.choices[0].finish_reason, whole.usage.completion_tokens) == ("stop", MAX_MADE_UP + 1)
    cut = answer(chat("Tell me about coffee", model="deepseek-v4.1-flash", sampling=sampling, max_tokens=60))
    assert (cut.finish_reason, cut.token_ids) == ("length", whole.choices[0].token_ids[:60])


@pytest.mark.parametrize(("copies", "share"), [(1, 2048), (8, 2048), (16, 1024), (128, 128), (5000, 16)])
def test_many_choices_share(copies, share):
    """S-28: what is made up for one request has a bound, however many choices it asks for."""
    request = chat("Tea?", copies=copies)
    assert ENGINE.prepare(request, CATALOG.find("glm-5.2")).most_made_up == share


def test_a_share_is_an_end(monkeypatch):
    """S-27, S-28: a choice without an end of its own has one after its share, unless its limit comes first."""
    monkeypatch.setattr(prepared, "MAX_MADE_UP_IN_ALL", 10 * 20)
    endless = Sampling(logit_bias={BUNDLED.end: -100.0}, temperature=2.0, top_p=1.0)
    fields: dict[str, Any] = {"model": "deepseek-v4.1-flash", "sampling": endless, "copies": 10}
    shared = answers(chat("Tea?", **fields)).choices
    limited = answers(chat("Tea?", max_tokens=20, **fields)).choices
    assert {choice.finish_reason for choice in shared} == {"stop"}
    assert {choice.finish_reason for choice in limited} == {"length"}
    assert {len(choice.token_ids) for choice in shared} == {20}
    assert [choice.token_ids for choice in shared] == [choice.token_ids for choice in limited]


def _questions() -> list[str]:
    words = sorted(corpora.bundled().by_word)
    about = [f"{start} {word}{end}" for (start, end), word in zip(_FRAMES * len(words), words[::3], strict=False)]
    strange = [
        "",
        " ",
        "?",
        "...",
        "\n\n",
        "a" * 500,
        "\u65e5\u672c\u8a9e",
        "SELECT 1;",
        "<think>",
        "{}",
        "word " * 700,
    ]
    return (about + strange + [f"{number} + {number}" for number in range(200)])[:189] + strange


_FRAMES = [
    ("What is", "?"),
    ("Tell me about", "."),
    ("How would you explain", " to a child?"),
    ("my", " is broken!!"),
]


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_readable(model):
    """Property 5: a made-up answer is sentences of the corpus, each at most once, and ends by itself."""
    for question in _questions():
        choice = answer(chat(question, model=model))
        said = sentences(choice.whole_text)
        assert said, f"{question!r}: {choice.whole_text!r}"
        thought = sentences(choice.whole_reasoning)
        assert thought is not None, f"{question!r}: {choice.whole_reasoning!r}"
        assert len(set(said)) == len(said), f"{question!r}: {choice.whole_text!r}"
        assert len(set(thought)) == len(thought)
        assert choice.finish_reason == "stop"
        assert len(choice.token_ids) < 400


@pytest.mark.parametrize("kind", ["byte level", "metaspace"])
def test_readable_in_other_vocabularies(kind):
    """Property 5 holds for a user's own vocabulary too."""
    for question in _questions()[::8]:
        choice = answer(chat(question), engine=other_engine(kind))
        assert sentences(choice.whole_text), f"{question!r}: {choice.whole_text!r}"
        assert sentences(choice.whole_reasoning) is not None
        assert choice.finish_reason == "stop"


@pytest.mark.parametrize("model", MODELS)
def test_raw_prompts_are_continued(model):
    """A raw prompt is followed by whole sentences soon, and the text ends by itself and repeats none of them."""
    for prompt in (*PROMPTS, "Coffee is", "The dog sat. ", "word " * 300 + ".", "It was, as I said, ", "\n" * 30):
        for seed in range(3):
            choice = answer(raw(prompt, model=model, sampling=Sampling(seed=seed)))
            assert choice.finish_reason == "stop"
            assert 0 < len(choice.token_ids) < 400
            said = choice.whole_text.replace("? ", ". ").split(". ")
            assert len(set(said)) == len(said)


def test_long_raw_prompts_are_continued():
    """However long a prompt has gone its own way, it is followed by a sentence and not by the end."""
    for repeats in (20, 60, 200, 390):
        prompt = "My uncle Albert never liked the number nine. " * repeats
        for sampling in (GREEDY, Sampling(seed=1), Sampling(seed=2)):
            said = sentences(answer(raw(prompt, sampling=sampling)).whole_text)
            assert said, repeats


HOT = [
    Sampling(temperature=2.0, top_p=1.0),
    Sampling(temperature=2.0),
    Sampling(temperature=1.5, top_p=0.99),
    Sampling(temperature=2.0, top_k=3000),
    Sampling(temperature=2.0, top_p=1.0, min_p=1e-5),
]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "sampling"), [*zip(MODELS, HOT * 2, strict=False)], ids=MODELS)
def test_hot_answers_end(sampling, model):
    """Even at the highest temperature a text ends by itself before it has become long."""
    for make in (chat, raw):
        generation = answers(make("Tell me about coffee", model=model, sampling=sampling))
        assert generation.choices[0].finish_reason == "stop"
        assert generation.usage.completion_tokens < 6000


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["glm-5.2", "byte level"])
def test_hot_answers_have_no_marks(kind):
    """E-121, E-149: no mark is a piece of a chat answer, and no id outside the vocabulary is in any."""
    engine = ENGINE if kind == "glm-5.2" else other_engine(kind)
    tokenizer = engine.catalog.tokenizer(CATALOG.find("glm-5.2"))
    for seed in range(12):
        wish = Sampling(temperature=2.0, top_p=1.0, seed=seed)
        choice = answer(chat("Tell me about coffee", sampling=wish, max_tokens=250), engine=engine)
        assert not set(choice.token_ids) & set(tokenizer.marks.values())
        assert not set(choice.reasoning or ()) & set(tokenizer.marks) - {"</think>"}
        choice = answer(raw("Tell me about coffee", sampling=wish, max_tokens=250), engine=engine)
        assert max(choice.token_ids) < tokenizer.text_size


def test_hot_draws_look_at_few_tokens(monkeypatch):
    """At a high temperature a draw does not walk over the vocabulary, however many tokens could come."""
    looked = Counter[str]()
    ranked = Distribution.ranked

    def counting(self):
        for row in ranked(self):
            looked["rows"] += 1
            yield row

    monkeypatch.setattr(Distribution, "ranked", counting)
    count = answers(raw("Tell me about coffee", sampling=HOT[0])).usage.completion_tokens
    assert looked["rows"] < 20 * count


def test_models_differ():
    """Property 7: different models answer differently, and so do different mock seeds."""
    said = {answer(chat("Tell me about tea", model=model)).text for model in MODELS}
    assert len(said) == len(MODELS)
    seeds = {answer(chat("Tell me about tea"), engine=Engine(Catalog(seed=seed), seed)).text for seed in range(4)}
    assert len(seeds) == 4
    calm = {answer(chat("Tea", sampling=GREEDY), engine=Engine(Catalog(seed=seed))).text for seed in range(4)}
    assert len(calm) > 1
    form = ResponseFormat(type="json_object")
    made = {answer(chat("Tea", response_format=form), engine=Engine(CATALOG, seed)).text for seed in range(4)}
    assert len(made) == 4
    scored = {
        tuple(
            entry.logprob
            for entry in answer(
                raw("Tea is good.", model=model, max_tokens=1, scoring=Scoring(logprobs=True, top=1, echo=True))
            ).prompt_logprobs
            or ()
        )
        for model in MODELS
    }
    assert len(scored) == len(MODELS)


_DIGEST = """
from engy_mock.model.catalog import Catalog
from engy_mock.model.engine import Engine
from engy_mock.model.prepared import MAX_MADE_UP
from engy_mock.vocabulary.request import Conversation, GenerationRequest, Message, RawPrompt, Sampling, Scoring
from engy_mock.vocabulary.seeds import digest
CHAT = Conversation(messages=(Message(role="user", text="Tea?"),))
engine = Engine(Catalog())
said = []
for card in list(engine.catalog)[:4]:
    for sampling in (Sampling(), Sampling(temperature=2.0, top_p=1.0), Sampling(frequency_penalty=0.5)):
        for prompt in (CHAT, RawPrompt(prompts=("Tea is",))):
            request = GenerationRequest(
                endpoint="chat", surface="v1", model=card.id, prompt=prompt, sampling=sampling, max_tokens=99,
                scoring=Scoring(logprobs=True, top=5, echo=True),
            )
            choice = engine.generate(engine.prepare(request, card)).choices[0]
            entries = [*(entry for piece in choice.logprobs for entry in piece), *(choice.prompt_logprobs or ())]
            said.append(repr((choice.reasoning, choice.text, choice.token_ids)))
            said.append(repr([(entry.id, entry.raw, entry.logprob, *entry.top) for entry in entries]))
print(len(said), digest(*said).hex())
"""


def _digest(hash_seed: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", _DIGEST],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout


def test_every_thread_says_the_same():
    """Answers that are made at the same time in several threads are those that are made one by one."""
    engine = Engine(Catalog())
    requests = [chat(f"Tell me about tea {number % 5}", model=MODELS[number % 8]) for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        at_once = list(pool.map(lambda request: answer(request, engine=engine).text, requests))
    assert at_once == [answer(request).text for request in requests]


@pytest.mark.slow
def test_every_process_says_the_same():
    """Property 7: answers and log probabilities are the same in every process, whatever order its sets have."""
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(_digest, ("1", "2"))
    assert first == second
    assert first.startswith("48 ")
