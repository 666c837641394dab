"""Where a verb asks for something: at the head of a clause, behind `can you`, behind `I want`."""

from collections.abc import Sequence
from dataclasses import dataclass

from engy_mock.model.answers import lexicon


@dataclass(frozen=True, slots=True)
class Ask:
    """A verb that asks for what it is to make, or how something is told; `form` is one that it names itself."""

    is_making: bool
    is_denied: bool
    form: str | None = None


def asks(words: Sequence[str], place: int, *, is_request: bool) -> Ask | None:
    """The verb at this place, if it asks for something."""
    word = words[place]
    if word in lexicon.WISHING:
        if not _wishes(words, place):
            return None
        return Ask(is_making=True, is_denied=_is_denied(words, place))
    form = lexicon.IMPERATIVES.get(word)
    if form is not None and not _names_what(words, place):
        form = None
    is_making = word in lexicon.MAKING
    if not is_making and form is None and word not in lexicon.TELLING:
        return None
    if not _stands_for_asking(words, place, is_request=is_request):
        return None
    return Ask(is_making=is_making, is_denied=_is_denied(words, place), form=form)


def asks_for_steps(words: Sequence[str], place: int, *, can_be_told: bool) -> bool:
    """`how do I`, `how to` at this place; within a sentence only where it can be told."""
    following = [*words[place + 1 : place + 5], "", "", "", ""]
    if following[0] == "to":
        is_learnt = words[place - 1] in ("know", "learn") and not lexicon.WISHING.isdisjoint(words[:place])
        return following[1] != "" and (can_be_told or is_learnt) and following[1] not in lexicon.NO_STEPS
    if following[0] not in lexicon.AIDS or following[1] not in lexicon.PEOPLE or not can_be_told:
        return False
    return following[2] != "" and following[2] not in lexicon.NO_STEPS


def _at(words: Sequence[str], place: int) -> str:
    return words[place] if place >= 0 else ","


def _before_fillers(words: Sequence[str], place: int) -> int:
    """The place before this one that holds more than `please` and the like."""
    place -= 1
    while place >= 0 and words[place] in lexicon.FILLERS:
        place -= 1
    return place


def _names_what(words: Sequence[str], place: int) -> bool:
    """`list ships` and `code a game` do, `list of ships` and `code` name the thing itself."""
    following = words[place + 1] if place + 1 < len(words) else ""
    if (words[place], following) in lexicon.COMPOUNDS:
        return False
    if words[place] == "elaborate":
        return True
    if words[place] in ("list", "enumerate", "tabulate"):
        return bool(following) and following not in lexicon.AFTER_FORMS and following not in lexicon.JOINTS
    return following in lexicon.ARTICLES or following in ("the", "me", "this", "my", "from")


def _stands_for_asking(words: Sequence[str], place: int, *, is_request: bool) -> bool:
    """Whether a verb at this place is a request."""
    word = words[place]
    back = _before_fillers(words, place)
    before, earlier = _at(words, back), _at(words, back - 1)
    is_common = word in lexicon.ONLY_BEHIND_A_WISH
    if before in lexicon.JOINTS or before == "but":
        if before in lexicon.CONJOINED and not is_request:
            return False
        following = words[place + 1] if place + 1 < len(words) else ""
        return not is_common or following in ("me", "us", *lexicon.EXTENSIVE)
    if before == "why" and _at(words, place - 1) == "not":
        return True
    if before == "you" and earlier == "don't" and _at(words, back - 2) == "why":
        return _begins(words, back - 2)
    if before == "you" and earlier in lexicon.MODALS:
        return _begins(words, back - 1)
    if before in ("i", "we") and earlier in ("can", "could", "may") and is_common:
        return _begins(words, back - 1)
    if before == "to" or (before == "me" and earlier == "help"):
        return before == "me" or (earlier in lexicon.LEADING and not _is_asked_about(words, back))
    if before in lexicon.DUTIES or before in ("should", "must"):
        return earlier in lexicon.ANSWERS
    if _at(words, place - 1) == "should":
        return before in lexicon.ANSWERS
    return before in ("let's", "lets") or (before == "us" and earlier == "let")


def _wishes(words: Sequence[str], place: int) -> bool:
    """`I want`, `I would like`, `need a table`; not `do I need`."""
    back = place - 1
    has_would = False
    while back >= 0 and words[back] in (*lexicon.FILLERS, "would", "don't", "didn't"):
        has_would = has_would or words[back] == "would"
        back -= 1
    before, earlier = _at(words, back), _at(words, back - 1)
    if words[place] in ("like", "love", "prefer"):
        return before in ("i'd", "we'd", "id") or (before in ("i", "we") and has_would)
    if before in ("i", "we", "i'd", "we'd"):
        is_asked = earlier in ("do", "don't", "should")
        return earlier in lexicon.JOINTS or (earlier in lexicon.FILLERS and not is_asked) or earlier == "but"
    return before == "," and words[place] in ("need", "want")


def _begins(words: Sequence[str], place: int) -> bool:
    """Whether `can you` at this place opens a clause."""
    back = _before_fillers(words, place)
    return _at(words, back) in lexicon.JOINTS or _at(words, back) == "but"


def _is_asked_about(words: Sequence[str], place: int) -> bool:
    """`How much time do I have to write an essay?` asks for no essay."""
    return words[0] in lexicon.ASKING_FOR_FACTS and not lexicon.MODALS.intersection(words[:place])


def _is_denied(words: Sequence[str], place: int) -> bool:
    """Whether something before it in its clause says no."""
    is_denied = False
    for back in range(place - 1, max(-1, place - 9), -1):
        word = words[back]
        if word in (",", "but", "then"):
            break
        if word in lexicon.UNDOING:
            return False
        is_asked = words[back + 1] in ("you", ",") or (word == "not" and _at(words, back - 1) == "why")
        is_denied = is_denied or (word in lexicon.DENIALS and not is_asked)
    return is_denied
