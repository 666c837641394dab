"""What the tests of the model share: requests, one engine, small vocabularies, sums done the long way."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

from hypothesis import strategies as st
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers import Tokenizer as Library

from engy_mock.model import corpus as corpora
from engy_mock.model import scoring
from engy_mock.model import tokenizer as tokenizers
from engy_mock.model.cards import CARDS
from engy_mock.model.catalog import Catalog
from engy_mock.model.corpus import segments
from engy_mock.model.distribution import Distribution
from engy_mock.model.engine import Engine
from engy_mock.model.language import Language
from engy_mock.model.ngrams import Ngrams
from engy_mock.model.sampling import Knobs
from engy_mock.model.statistics import Statistics
from engy_mock.model.tokenizer import Tokenizer
from engy_mock.vocabulary.generation import Choice, Generation, Reply, TokenLogprob
from engy_mock.vocabulary.request import Conversation, GenerationRequest, Message, RawPrompt

MODELS = tuple(card.id for card in CARDS)
CATALOG = Catalog(seed=0)
ENGINE = Engine(CATALOG, 0)
BUNDLED = tokenizers.bundled()

texts = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("  \n\taZ9.'"), max_size=40)
"""Every Unicode string, with many of the characters at which words are split."""

marked_texts = st.lists(texts | st.sampled_from(tokenizers.MARKS), max_size=6).map("".join)


def chat(*turns: str | Message, model: str = "glm-5.2", **fields: Any) -> GenerationRequest:
    """A chat request; turns of plain text are the user's."""
    messages = tuple(Message(role="user", text=turn) if isinstance(turn, str) else turn for turn in turns)
    prompt = Conversation(messages=messages)
    return GenerationRequest(**{"endpoint": "chat", "surface": "v1", "model": model, "prompt": prompt, **fields})


def raw(*prompts: str | tuple[int, ...], model: str = "glm-5.2", **fields: Any) -> GenerationRequest:
    """A completion request with these prompts."""
    prompt = RawPrompt(prompts=prompts)
    return GenerationRequest(
        **{"endpoint": "completions", "surface": "v1", "model": model, "prompt": prompt, **fields}
    )


def answers(request: GenerationRequest, reply: Reply | None = None, *, engine: Engine = ENGINE) -> Generation:
    """All that the service says to a request."""
    prepared = engine.prepare(request, engine.catalog.find(request.model))
    return engine.generate(prepared, reply)


def answer(request: GenerationRequest, reply: Reply | None = None, *, engine: Engine = ENGINE) -> Choice:
    """Its first choice."""
    return answers(request, reply, engine=engine).choices[0]


def language(model: str = "glm-5.2") -> Language:
    """What this model knows."""
    return CATALOG.language(CATALOG.find(model))


def every_chance(distribution: Distribution) -> list[float]:
    """The chance of each token of the vocabulary."""
    return [distribution.chance(token) for token in range(len(distribution.base.single.chance))]


def ranking(chances: Sequence[float]) -> list[int]:
    """All tokens, likeliest first, equal chances by id."""
    return sorted(range(len(chances)), key=lambda token: (-chances[token], token))


def tempered(chances: Sequence[float], knobs: Knobs) -> list[tuple[float, int]]:
    """The tokens that may be drawn with their shares, likeliest first, worked out over the whole vocabulary."""
    order = ranking(chances)
    best = chances[order[0]]
    weights = [((chances[token] / best) ** (1 / knobs.temperature), token) for token in order]
    if knobs.top_k is not None and knobs.top_k > 0:
        weights = weights[: knobs.top_k]
    enough = knobs.top_p * sum(weight for weight, _ in weights)
    kept: list[tuple[float, int]] = []
    reached = 0.0
    for weight, token in weights:
        if reached >= enough or weight < knobs.min_p:
            break
        kept.append((weight, token))
        reached += weight
    return [(weight / reached, token) for weight, token in kept]


def picked(shares: Sequence[tuple[float, int]], unit: float) -> int:
    """The token that a number in [0, 1) picks from these shares."""
    for share, token in shares:
        unit -= share
        if unit < 0:
            return token
    return shares[-1][1]


@lru_cache(maxsize=1)
def toy() -> Statistics:
    """Statistics of a made-up text over 60 tokens, 20 of which never occur in it."""
    text = [[(i * i + 3 * i * j + j) % 40 for i in range(12)] for j in range(40)]
    return Statistics(Ngrams.count(text, [], 60), 60)


def all_readings(sentence: str) -> Iterator[str]:
    """Every way to read a sentence of the corpus."""
    return map("".join, product(*segments(sentence)))


@lru_cache(maxsize=1)
def known_sentences() -> frozenset[str]:
    """Every reading of every sentence of the bundled corpus."""
    return frozenset(text for sentence in corpora.bundled().all_sentences() for text in all_readings(sentence))


def sentences(text: str) -> list[str] | None:
    """The sentences of the corpus that a text consists of, or None if it consists of anything else."""
    known = known_sentences()
    found = []
    begin = 0
    for place, char in enumerate(text, 1):
        if char in ".?!" and text[begin:place] in known and text[place : place + 1] in ("", " "):
            found.append(text[begin:place])
            begin = place + 1
    return found if begin > len(text) or not text else None


def byte_level(*, marks: Sequence[str] = (), normalizer: Any = None, prefix: bool = False) -> str:
    """The text of a small byte-level `tokenizer.json`."""
    library = Library(models.BPE())
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    library.decoder = decoders.ByteLevel()
    if normalizer is not None:
        library.normalizer = normalizer
    trainer = trainers.BpeTrainer(
        vocab_size=700, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    library.train_from_iterator(sorted(known_sentences())[:300], trainer)
    library.add_tokens([AddedToken(mark, special=False, normalized=False) for mark in marks])
    return library.to_str()


def metaspace(*, has_bytes: bool = True, is_old: bool = False) -> str:
    """The text of a small `tokenizer.json` that writes spaces as U+2581, as Llama's vocabularies do."""
    tokens = ["<unk>", *[f"<0x{byte:02X}>" for byte in range(256 if has_bytes else 0)]]
    library = Library(models.BPE(unk_token="<unk>", byte_fallback=has_bytes, fuse_unk=True))
    if is_old:
        library.normalizer = normalizers.Sequence(
            [normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]
        )
        strip = decoders.Strip(" ", 1, 0)
        library.decoder = decoders.Sequence(
            [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), strip]
        )
    else:
        library.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
        library.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="always")])
    trainer = trainers.BpeTrainer(vocab_size=700, show_progress=False, special_tokens=tokens)
    library.train_from_iterator(sorted(known_sentences())[:300], trainer)
    description = json.loads(library.to_str())
    # In real vocabularies the single bytes are tokens like any other.
    description["added_tokens"] = description["added_tokens"][:1]
    return json.dumps(description)


@lru_cache(maxsize=2)
def other(kind: str) -> Tokenizer:
    """A tokenizer other than the bundled one."""
    return Tokenizer(byte_level() if kind == "byte level" else metaspace(), name=kind)


@lru_cache(maxsize=2)
def other_engine(kind: str) -> Engine:
    """An engine whose `glm-5.2` has that tokenizer."""
    catalog = Catalog(seed=0)
    catalog.use("glm-5.2", tokenizer=other(kind))
    return Engine(catalog, 0)


def with_marks(tokenizer: Tokenizer, text: str) -> list[int]:
    """The tokens of a text with the marks in it, whether the vocabulary has them or not."""
    tokens: list[int] = []
    for part in re.split("(" + "|".join(map(re.escape, tokenizers.MARKS)) + ")", text):
        tokens += [tokenizer.marks[part]] if part in tokenizer.marks else tokenizer.encode(part)
    return tokens


def score(
    model: Language, tokens: Sequence[int], start: int, *, top: int = 0, first_is_known: bool = False
) -> list[TokenLogprob]:
    """What a model thinks of the tokens from `start` on."""
    reader = model.read(tokens[:start])
    return scoring.score(reader, tokens[start:], top=top, first_is_known=first_is_known)


def told(entries: Iterable[TokenLogprob] | None) -> list[tuple[object, ...]]:
    """Everything that entries say, to be compared."""
    return [(entry.id, entry.token, entry.raw, entry.logprob, *entry.top) for entry in entries or ()]
