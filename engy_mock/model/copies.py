"""How the copies of one answer come to differ: each begins with a token that no other begins with (S-44)."""

from collections.abc import Iterator, Sequence

from engy_mock.model.language import Language


def beginnings(language: Language, context: Sequence[int], *, but: int | None) -> Iterator[int]:
    """The tokens that further copies begin with, likeliest first; `but` is what the first copy began with.

    Where an answer opens, tokens that open a sentence come before all others.
    """
    pieces, marks = language.tokenizer.pieces, language.marks
    ranked = [token for _, token in language.read(context).distribution().ranked() if token != but]
    openers = language.openers if context[-1] in marks else frozenset()
    yield from [token for token in ranked if token in openers]
    yield from [token for token in ranked if token not in openers and token not in marks and pieces[token]]
