"""Rules: for which requests, what is said instead of the model's own words, and how often.

Rules are tried in the order written, a test's own before those of its scenarios; one that is used up steps aside.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock

from engy_mock.scripting.asked import Asked
from engy_mock.scripting.matchers import Condition
from engy_mock.scripting.refusals import Refusal
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.generation import Reply
from engy_mock.vocabulary.request import GenerationRequest

Answer = Reply | Refusal | Callable[[GenerationRequest], Reply | Refusal | str | None]
"""What a rule says; a function is asked anew each time, and None leaves the answer to the model."""


@dataclass(slots=True, kw_only=True)
class Rule:
    """One rule; `answers` are given in turn, the last again and again. `times` None never ends."""

    description: str
    conditions: tuple[Condition, ...]
    answers: tuple[Answer, ...]
    times: int | None = None
    used: int = 0

    def __post_init__(self) -> None:
        if self.times is not None and (type(self.times) is not int or self.times < 1):
            raise MockError(f"times must be at least 1, got {self.times!r}")

    @property
    def is_used_up(self) -> bool:
        """It has been used as often as it may be."""
        return self.times is not None and self.used >= self.times

    def mismatches(self, asked: Asked) -> list[str]:
        """Why it does not fit; empty if it does."""
        reasons = (condition(asked) for condition in self.conditions)
        return [reason for reason in reasons if reason is not None]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A rule's answer to one request, and which use of the rule this is, counted from 0."""

    rule: Rule
    answer: Reply | Refusal | None
    use: int


@dataclass(slots=True)
class Script:
    """The rules of one mock, in the order in which they are tried."""

    rules: list[Rule] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def add(self, rule: Rule) -> None:
        """Put a rule behind those that are there."""
        with self._lock:
            self.rules.append(rule)

    def clear(self) -> None:
        """Forget all rules."""
        with self._lock:
            self.rules.clear()

    def choose(self, asked: Asked) -> Chosen | None:
        """The answer of the first rule that fits and is not used up; counting is atomic."""
        if not self.rules:
            return None
        for rule in tuple(self.rules):
            if rule.is_used_up or rule.mismatches(asked):
                continue
            use = self._use(rule)
            if use < 0:
                continue
            answer = rule.answers[min(use, len(rule.answers) - 1)]
            return Chosen(rule, _settled(answer, asked.request), use)
        return None

    def _use(self, rule: Rule) -> int:
        """Which use of the rule this is, or -1 if another request has just used it up."""
        with self._lock:
            if rule.is_used_up:
                return -1
            rule.used += 1
            return rule.used - 1


def _settled(answer: Answer, request: GenerationRequest) -> Reply | Refusal | None:
    if isinstance(answer, Reply | Refusal):
        return answer
    found: object = answer(request)
    if isinstance(found, str):
        return Reply(text=found)
    if found is None or isinstance(found, Reply | Refusal):
        return found
    name = getattr(answer, "__name__", "the function")
    raise MockError(f"{name} gave {found!r:.80}: a rule's function gives a text, a Reply or None")


def answers_of(reply: object) -> tuple[Answer, ...]:
    """What `reply(...)` was given as answers: a text, a Reply, a function, or a sequence of these."""
    if isinstance(reply, str):
        return (Reply(text=reply),)
    if isinstance(reply, Reply | Refusal) or (callable(reply) and not isinstance(reply, type)):
        return (reply,)
    if isinstance(reply, Sequence) and reply:
        return tuple(answer for one in reply for answer in answers_of(one))
    raise MockError(f"a reply is a text, a Reply, a function or a sequence of these, got {reply!r:.80}")
