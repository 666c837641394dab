"""Makes the pretend model's data files from its corpus: the vocabulary and the counts, byte for byte the same.

Run as `python -m engy_mock.model.build`; `--check` only compares.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from tokenizers import AddedToken, Regex, decoders, models, pre_tokenizers, trainers
from tokenizers import Tokenizer as Library

from engy_mock.model import corpus as corpora
from engy_mock.model.corpus import Corpus, readings
from engy_mock.model.ngrams import Ngrams
from engy_mock.model.tokenizer import MARKS, WORD, WORDS, Tokenizer
from engy_mock.vocabulary.errors import MockError

SIZE = 4096
"""Tokens of the bundled vocabulary, marks and single bytes included."""

SPLITWORDS = (" asks",)
"""Words that must be two tokens, since the documentation's counts say so (E-98, E-103)."""

WHOLEWORDS = (
    "You are a concise assistant What is the capital of France The user for Paris Max High Low "
    "Hello How can help you Prove that irrational get weather city location name"
)
"""Words that must be one token each, with and without a space before them (E-98)."""

_OFTEN = 1_000


def vocabulary(corpus: Corpus) -> str:
    """The text of `tokenizer.json` for a corpus."""
    counts: Counter[str] = Counter()
    for sentence in corpus.all_sentences():
        for reading in readings(sentence):
            counts.update(WORDS.findall(reading))
            counts.update(WORDS.findall(" " + reading))
    for word in SPLITWORDS:
        counts.pop(word, None)
    for word in WHOLEWORDS.split():
        counts[word] += _OFTEN
        counts[" " + word] += _OFTEN
    library = Library(models.BPE())
    library.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORD), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    library.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE,
        min_frequency=1,
        special_tokens=[AddedToken(mark, special=True, normalized=False) for mark in MARKS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    words = (word for word in sorted(counts) for _ in range(counts[word]))
    library.train_from_iterator(words, trainer)
    return library.to_str(pretty=False) + "\n"


def counts(corpus: Corpus, tokenizer: Tokenizer) -> Ngrams:
    """The counts of a corpus in the tokens of a vocabulary; sentences are read as they stand in a text.

    Reasoning is left out: an answer that strays from what is expected should not tell what the model thinks.
    """
    facts = [s for fact in corpus.facts for s in fact.topic.sentences]
    plain = [s for topic in (*corpus.topics, corpus.general) for s in topic.sentences]
    return Ngrams.count(
        (tokenizer.encode(space + reading) for s in plain for reading in readings(s) for space in ("", " ")),
        (tokenizer.encode(reading) for s in facts for reading in readings(s)),
        tokenizer.size,
    )


def main(arguments: list[str] | None = None) -> int:
    """Write the data files, or compare them; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m engy_mock.model.build", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare, exit 1 if a file differs")
    options = parser.parse_args(arguments)
    corpus = corpora.bundled()
    source = vocabulary(corpus)
    tokenizer = Tokenizer(source, name="the new tokenizer", is_bundled=True)
    folder = Path(__file__).parent / "data"
    made = {"tokenizer.json": source.encode(), "ngrams.bin": counts(corpus, tokenizer).dump()}
    stale = [name for name, data in made.items() if not _holds(folder / name, data)]
    if options.check:
        for name in stale:
            print(f"{name} is not what the corpus gives", file=sys.stderr)
        return 1 if stale else 0
    for name in stale:
        (folder / name).write_bytes(made[name])
        print(f"wrote {name}, {len(made[name])} bytes")
    return 0


def _holds(path: Path, data: bytes) -> bool:
    return path.exists() and path.read_bytes() == data


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MockError as error:
        sys.exit(str(error))
