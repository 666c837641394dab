"""How the copies of one answer come to differ: each begins with a token that no other begins with (S-44)."""

from collections.abc import Iterator

from engy_mock.model.reader import Reader


def beginnings(reader: Reader, *, but: int | None) -> Iterator[int]:
    """The tokens that further copies begin with, likeliest first; `but` is what the first copy began with.

    Where an answer opens, as the reader has it, tokens that open a sentence come before all others.
    """
    language = reader.language
    pieces, marks = language.tokenizer.pieces, language.marks
    ranked = [token for _, token in reader.distribution().ranked() if token != but]
    openers = language.openers if reader.last in marks else frozenset()
    yield from [token for token in ranked if token in openers]
    yield from [token for token in ranked if token not in openers and token not in marks and pieces[token]]
