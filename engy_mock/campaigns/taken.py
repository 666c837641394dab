"""What a command took for its answers: what it printed and ended well with, held against what was sent."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engy_mock.books.heard import Heard
from engy_mock.scripting.rules import Rule
from engy_mock.verdict.attempt import Attempt, State
from engy_mock.verdict.verdict import CallGroup, Outcome
from engy_mock.vocabulary.generation import Reply

LEAST = 12
"""A part of an answer that is shorter has to be alone on its line: a word or two may be the command's own."""

UNSEEN: frozenset[State] = frozenset({"good", "unknown", "under way", "redirected", "refused"})
"""Of these nothing can be taken that is no answer: it is one, or nothing of it can be known, or there is none."""

NO_ANSWER: frozenset[Outcome] = frozenset({"gave-up", "hung", "under-way"})
"""How calls end that bring no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """How the calls of a command ended.

    The last of them may have brought no answer, and what was printed instead may be none of the words that fail
    (`is_excused`). With `is_marred` faults have befallen the last of them. With `is_dictated` an answer that came
    through has words that a rule dictates, and not those of a calm day; `is_printed` tells that it is on stdout.
    """

    has_answer: bool = True
    is_excused: bool = False
    is_marred: bool = False
    is_recovered: bool = False
    is_dictated: bool = False
    is_printed: bool = False


def taken(groups: Sequence[CallGroup], rules: Iterable[Rule], stdout: str, *, is_recovered: bool) -> Taken:
    """How the calls ended, of which the rules may have dictated the answers."""
    dictating = {rule.description for rule in rules if any(map(_dictates, rule.answers))}
    given = [group.entries[-1] for group in groups if group.outcome in ("answered", "recovered")]
    own = [entry for entry in given if not dictating.isdisjoint((entry.rule or "").split(" + "))]
    printed = _plain(stdout)
    last = groups[-1].outcome if groups else "answered"
    return Taken(
        has_answer=last not in NO_ANSWER and last != "reported",
        is_excused=last == "reported",
        is_marred=bool(groups and groups[-1].entries[-1].faults),
        is_recovered=is_recovered,
        is_dictated=bool(own),
        is_printed=bool(own) and _plain(own[-1].text) in printed,
    )


def heard(groups: Sequence[CallGroup], stdout: str, own: str | None) -> Iterator[Heard]:
    """What a command that ended well says it got: what it printed of answers that are not whole.

    If the last call got none, `own` is what was printed in its place.
    """
    printed = _plain(stdout)
    lines = {_plain(line) for line in stdout.splitlines()}
    for group in groups:
        last = Attempt(group.entries[-1])
        ids = (group.entries[-1].request_id,)
        found: tuple[str, ...] = ()
        for texts in () if last.state in UNSEEN else (last.meant, last.texts):
            text = _plain(" ".join(texts))
            if text and (text in lines or (len(text) >= LEAST and text in printed)):
                found = tuple(texts)
                break
        if not found and own and group is groups[-1] and group.outcome in NO_ANSWER:
            found = (own,)
        if found:
            yield Heard(texts=found, ids=ids)


def own_words(groups: Iterable[CallGroup], stdout: str, clean: str) -> str:
    """What was printed beside the answers that came through, without what is printed on a calm day too."""
    sent = [_plain(group.entries[-1].text) for group in groups if group.outcome not in NO_ANSWER]
    usual = {_plain(line) for line in clean.splitlines()}
    own = [line for line in map(_plain, stdout.splitlines()) if line and not any(line in text for text in sent)]
    # What a calm day brings is another call's answer here, if nothing else is there.
    return "\n".join([line for line in own if line not in usual] or own)


def _dictates(answer: object) -> bool:
    return isinstance(answer, Reply) and (
        answer.text is not None or answer.response is not None or bool(answer.tool_calls)
    )


def _plain(text: str) -> str:
    return " ".join(text.split())
