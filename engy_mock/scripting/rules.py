"""Rules: for which requests, what is said instead of the model's own words, with which faults, and how often.

Rules are tried in the order written; one that is used up, or that its rate spares, steps aside.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engy_mock.scripting.asked import Asked
from engy_mock.scripting.early import is_early
from engy_mock.scripting.fault import Fault, told
from engy_mock.scripting.matchers import Condition
from engy_mock.scripting.memory import Memory
from engy_mock.scripting.reach import check_reply_fits
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.sayings import check_reply
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.generation import Reply
from engy_mock.vocabulary.request import GenerationRequest
from engy_mock.vocabulary.seeds import Draws, digest

Answer = Reply | Refusal | Callable[[GenerationRequest], Reply | Refusal | str | None]
"""What a rule says; a function is asked anew each time, and None leaves the answer to the model."""


@dataclass(slots=True, kw_only=True, eq=False)
class Rule:
    """One rule; `answers` are given in turn, the last again and again. `times` None never ends.

    Without answers it says nothing of its own: its faults befall what other rules or the model say. `rate` is
    the share of fitting requests that it is for, settled by a digest of the request and `name`. With `at` it is
    for these of the fitting requests alone, counted from 1 whether or not another rule takes them; `met` counts.
    `words` are its conditions as written. `began` is the mock time at which it came into force, `tokens` what its
    answers have come to, `memory` what its faults remember.
    """

    description: str
    conditions: tuple[Condition, ...]
    answers: tuple[Answer, ...] = ()
    faults: tuple[Fault, ...] = ()
    times: int | None = None
    rate: float = 1.0
    at: tuple[int, ...] = ()
    name: str = ""
    words: Mapping[str, Any] = field(default_factory=dict)
    used: int = 0
    met: int = 0
    tokens: int = 0
    began: float = 0.0
    memory: Memory = field(default_factory=Memory)
    _place: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.times is not None and (type(self.times) is not int or self.times < 1):
            raise MockError(f"times must be at least 1, got {self.times!r}")
        if not is_share(self.rate):
            raise MockError(f"rate must be 0 to 1, got {self.rate!r}")
        if any(type(place) is not int or place < 1 for place in self.at):
            raise MockError(f"at takes numbers of requests, counted from 1, got {self.at!r:.80}")
        if self.at and is_early(self.faults):
            raise MockError(
                "at counts requests when they are read: a fault that acts before that cannot wait for it"
            )
        most = min(self.times or math.inf, len(self.at) or math.inf)
        if len(self.answers) > most:
            bound = f"times={self.times}" if self.times == most else f"at has {len(self.at)}"
            raise MockError(
                f"{self.description}: {len(self.answers)} answers, but {bound}: the last one can never be given"
            )
        if self.is_for_refusals and self.answers:
            raise MockError(
                f"{self.description}: what the service itself refuses can be marred by faults, not answered"
            )
        for answer in self.answers:
            if answer is not let_through and not isinstance(answer, Refusal):
                check_reply_fits(answer, self.words)
        for own in self.faults:
            reason = own.misfit(self.words)
            if reason is not None:
                raise MockError(f"fault {told(own)!r} can never apply in {self.description}: {reason}")

    @property
    def is_for_refusals(self) -> bool:
        """Whether it looks at what the service itself refuses."""
        return "refused" in self.words

    @property
    def is_for_pages(self) -> bool:
        """Whether it may be for pages too, like the list of models: it says so by naming their endpoint."""
        return "endpoint" in self.words

    @property
    def lets_through(self) -> bool:
        """Whether it leaves requests to the model, and to no rule behind it."""
        return self.answers == (let_through,)

    @property
    def is_counted(self) -> bool:
        """Whether it matters which use of it this is."""
        return self.times is not None or len(self.answers) > 1 or bool(self.faults)

    @property
    def is_used_up(self) -> bool:
        """It has been used as often as it may be."""
        return self.times is not None and self.used >= self.times

    def mismatches(self, asked: Asked) -> list[str]:
        """Why it does not fit; empty if it does."""
        reasons = [reason for condition in self.conditions if (reason := condition.check(asked)) is not None]
        if asked.is_page and not self.is_for_pages:
            reasons.append(f"it does not name endpoint={asked.endpoint!r}")
        return reasons

    def fits(self, asked: Asked, known: dict[Any, bool]) -> bool:
        """Whether all conditions hold; `known` remembers what has been looked at for this request already."""
        for condition in self.conditions:
            mark = condition.mark
            found = known.get(mark) if mark is not None else None
            if found is None:
                found = condition.check(asked) is None
                if mark is not None:
                    known[mark] = found
            if not found:
                return False
        return True

    def is_spared(self, rates: Draws) -> bool:
        """Whether its rate leaves a request alone; each rule has a place among its draws."""
        if not 0 < self.rate < 1:
            return self.rate == 0
        if self._place is None:
            self._place = int.from_bytes(digest("rate", self.name)[:8], "big")
        return rates.at(self._place) >= self.rate


def rates_of(identity: bytes) -> Draws:
    """What settles for one request the rates of all rules."""
    return Draws(digest("rate", identity))


def is_share(value: object) -> bool:
    """Whether this is a number from 0 to 1."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


@dataclass(frozen=True, slots=True)
class Used:
    """A rule that takes part in an answer, and which use of it this is, counted from 0."""

    rule: Rule
    use: int


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the rules say to one request: an answer, unless it is left to the model, and faults.

    `rules` are all that were in force.
    """

    answer: Reply | Refusal | None = None
    answering: Used | None = None
    marring: Used | None = None
    rules: tuple[Rule, ...] = ()

    @property
    def used(self) -> tuple[Used, ...]:
        """The rules that take part."""
        return tuple([used for used in (self.answering, self.marring) if used])

    @property
    def faults(self) -> list[tuple[Fault, Used]]:
        """All faults in the order in which they are applied, each with its rule."""
        return [(own, used) for used in self.used for own in used.rule.faults]

    @property
    def description(self) -> str | None:
        """The rules that take part, for the journal."""
        return " + ".join([used.rule.description for used in self.used]) or None


def let_through(request: GenerationRequest) -> None:
    """The answer of a rule that leaves a request to the model, and to no rule behind it."""


def settled(answer: Answer, request: GenerationRequest | None) -> Reply | Refusal | None:
    """What a rule's answer comes to for this request; raises MockError for what is none."""
    if isinstance(answer, Reply | Refusal):
        return answer
    if request is None:
        return None
    found: object = answer(request)
    if found is None or isinstance(found, Refusal):
        return found
    name = getattr(answer, "__name__", "the function")
    if isinstance(found, str | Reply):
        try:
            return check_reply(Reply(text=found) if isinstance(found, str) else found)
        except MockError as error:
            raise MockError(f"{name} gave what cannot be said: {error}") from None
    raise MockError(f"{name} gave {found!r:.80}: a rule's function gives a text, a Reply or None")


def answers_of(reply: object) -> tuple[Answer, ...]:
    """What `reply(...)` was given as answers: a text, a Reply, a function, or a sequence of these."""
    if isinstance(reply, str):
        return (check_reply(Reply(text=reply)),)
    if isinstance(reply, Reply):
        return (check_reply(reply),)
    if isinstance(reply, Refusal) or (callable(reply) and not isinstance(reply, type)):
        return (reply,)
    if isinstance(reply, Sequence) and reply:
        return tuple(answer for one in reply for answer in answers_of(one))
    raise MockError(f"a reply is a text, a Reply, a function or a sequence of these, got {reply!r:.80}")
