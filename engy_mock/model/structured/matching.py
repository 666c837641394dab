"""Whether a text matches a pattern, and texts that do.

Matching follows all ways through the pattern at once, so no pattern makes it explode.
"""

from __future__ import annotations

from functools import lru_cache

from engy_mock.model.structured.pattern import ENDLESS, Characters, Edge, InOrder, Look, OneOf, Part, Repeat
from engy_mock.model.structured.prose import phrase
from engy_mock.model.structured.trouble import Effort
from engy_mock.vocabulary.seeds import Draws

PRINTABLE = tuple(map(chr, range(32, 127)))
LETTERS_AND_DIGITS = tuple("abcdefghijklmnopqrstuvwxyz0123456789")
# Code points tried for a class without any printable ASCII: Latin, Greek, Cyrillic and more, then controls.
BEYOND_ASCII = tuple(map(chr, (*range(0xA1, 0x600), *range(0x3041, 0x3097), *range(32))))
WIDEST_SAMPLE_OF_A_RANGE = 64
USUAL_REPEATS = 8
MOST_EMPTY_REPEATS = 64


def is_found(part: Part, text: str, effort: Effort) -> bool:
    """The pattern matches somewhere in the text, as `pattern` asks."""
    return bool(_ends(part, text, set(range(len(text) + 1)), effort))


def _ends(part: Part, text: str, starts: set[int], effort: Effort) -> set[int]:
    """Where a match can end that begins at one of the starts."""
    effort.spend(1 + len(starts) // 16)
    if isinstance(part, Characters):
        return {start + 1 for start in starts if start < len(text) and part.holds(text[start])}
    if isinstance(part, Edge):
        return {start for start in starts if _is_edge(part.place, text, start)}
    if isinstance(part, InOrder):
        for step in part.parts:
            if not starts:
                break
            starts = _ends(step, text, starts, effort)
        return starts
    if isinstance(part, OneOf):
        return set().union(*(_ends(option, text, starts, effort) for option in part.options))
    if isinstance(part, Look):
        return {start for start in starts if _is_seen(part, text, start, effort) != part.is_negated}
    return _ends_of_repeat(part, text, starts, effort)


def _ends_of_repeat(repeat: Repeat, text: str, starts: set[int], effort: Effort) -> set[int]:
    # After as many rounds as there are places, one round more or less changes nothing.
    rounds = len(text) + 1
    for _ in range(min(repeat.least, rounds)):
        before, starts = starts, _ends(repeat.part, text, starts, effort)
        if starts == before:
            break
    found = set(starts)
    for _ in range(min(repeat.most - repeat.least, rounds)):
        if not starts:
            break
        starts = _ends(repeat.part, text, starts, effort) - found
        found |= starts
    return found


def _is_seen(look: Look, text: str, start: int, effort: Effort) -> bool:
    if look.is_ahead:
        return bool(_ends(look.part, text, {start}, effort))
    return start in _ends(look.part, text, set(range(start + 1)), effort)


def _is_edge(place: str, text: str, position: int) -> bool:
    if place.endswith("start"):
        return position == 0 or (place.startswith("line") and text[position - 1] == "\n")
    if place.endswith("end"):
        return position == len(text) or (place.startswith("line") and text[position] == "\n")
    sides = [
        0 < i <= len(text) and (text[i - 1].isalnum() or text[i - 1] == "_") for i in (position, position + 1)
    ]
    # Python's `\B` does not hold in an empty text before version 3.14.
    return (sides[0] != sides[1]) == (place == "word edge") and text != ""


def sample(part: Part, draws: Draws, effort: Effort, *, least: int, most: int, is_plain: bool) -> str | None:
    """A text of that many characters made after the pattern; None if this attempt led nowhere.

    Anchors and glances are not obeyed here: ask `is_found` afterwards. A plain text prefers letters, digits
    and words where the pattern leaves the choice.
    """
    effort.spend()
    low, high = max(least, part.span[0]), min(most, part.span[1])
    if low > high:
        return None
    if isinstance(part, Characters):
        pool = _pool(part, is_plain)
        return draws.pick(pool) if pool else None
    if isinstance(part, InOrder):
        return _sample_in_order(list(part.parts), draws, effort, low, high, is_plain)
    if isinstance(part, OneOf):
        options = [option for option in part.options if option.span[0] <= high and option.span[1] >= low]
        if not options:
            return None
        return sample(draws.pick(options), draws, effort, least=low, most=high, is_plain=is_plain)
    if isinstance(part, Repeat):
        return _sample_repeat(part, draws, effort, low, high, is_plain)
    return ""


def _sample_in_order(
    parts: list[Part], draws: Draws, effort: Effort, least: int, most: int, is_plain: bool
) -> str | None:
    texts: list[str] = []
    low_rest = sum(part.span[0] for part in parts)
    high_rest = sum(part.span[1] for part in parts)
    for part in parts:
        low_rest -= part.span[0]
        high_rest -= part.span[1]
        text = sample(
            part, draws, effort, least=max(0, least - high_rest), most=most - low_rest, is_plain=is_plain
        )
        if text is None:
            return None
        texts.append(text)
        least -= len(text)
        most -= len(text)
    return "".join(texts) if least <= 0 <= most else None


def _sample_repeat(
    repeat: Repeat, draws: Draws, effort: Effort, least: int, most: int, is_plain: bool
) -> str | None:
    part = repeat.part
    fewest, largest = repeat.least, repeat.most
    if part.span[1]:
        fewest = max(fewest, -(-least // part.span[1]))
    if part.span[0]:
        largest = min(largest, most // part.span[0])
    else:
        # Copies of a part that may be empty: the rest of them are.
        fewest = min(fewest, max(least, MOST_EMPTY_REPEATS))
        largest = max(fewest, min(largest, most))
    if fewest > largest:
        return None
    is_text = is_plain and isinstance(part, Characters) and all(part.holds(char) for char in "et ")
    if is_text and largest > USUAL_REPEATS:
        text = phrase(draws, least=max(fewest, 1), most=min(largest, max(fewest, 40)))
        return text if all(isinstance(part, Characters) and part.holds(char) for char in text) else None
    usual = USUAL_REPEATS if isinstance(part, Characters) else 2
    if repeat.most < ENDLESS and isinstance(part, Characters):
        usual = min(repeat.most, 4 * USUAL_REPEATS)
    count = fewest + draws.below(max(min(largest, max(usual, fewest)) - fewest, 0) + 1)
    return _sample_in_order([part] * count, draws, effort, least, most, is_plain)


@lru_cache(maxsize=512)
def _pool(characters: Characters, is_plain: bool) -> tuple[str, ...]:
    """What to choose a character from."""
    pool = [char for char in PRINTABLE if characters.holds(char)]
    is_broad = characters.is_negated or any(kind.isupper() for kind in characters.kinds)
    if is_plain and is_broad:
        pool = [char for char in LETTERS_AND_DIGITS if characters.holds(char)] or pool
    if not pool:
        starts = [chr(code) for low, high in characters.ranges for code in _some_of(low, high)]
        pool = [char for char in starts if characters.holds(char)]
    return tuple(pool or (char for char in BEYOND_ASCII if characters.holds(char)))


def _some_of(low: int, high: int) -> list[int]:
    """The first code points of a range, but no surrogates."""
    codes = range(low, min(high, low + WIDEST_SAMPLE_OF_A_RANGE) + 1)
    return [code for code in codes if not 0xD800 <= code <= 0xDFFF]
