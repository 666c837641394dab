"""`engy.when(...)`: a rule in the making, in the words of the test that writes it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from engy_mock.scripting.fault import Fault, made
from engy_mock.scripting.matchers import Condition
from engy_mock.scripting.pace import timing
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.rules import Rule, answers_of, let_through
from engy_mock.scripting.sayings import check_calls, check_logprobs, check_reply
from engy_mock.scripting.script import Script
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.events import Event
from engy_mock.vocabulary.generation import UNSAID, FinishReason, Reply, Usage
from engy_mock.vocabulary.request import ToolCall

Wanted = Fault | type[Fault] | str | Mapping[str, Any] | Callable[[Iterator[Event]], Iterable[Event]]
"""What may stand for a fault."""

Faults = Sequence[Wanted] | Wanted


class When:
    """For requests that fit: `reply`, `refuse`, `let_through`, `faults`.

    Each call writes one rule and gives back the `When`.
    Any rule takes `faults` (of the catalogue, by class, name or mapping, or functions of events), `times` (how
    often it may be used), `rate` (the share of fitting requests that it is for, 0 to 1), `at` (for these of them
    alone, as in `when`), `delay` (seconds of mock time before the first byte) and `pace` (pieces a second).
    """

    def __init__(
        self,
        script: Script,
        conditions: tuple[Condition, ...],
        description: str,
        words: Mapping[str, Any] | None = None,
        *,
        at: tuple[int, ...] = (),
    ) -> None:
        self._script = script
        self._conditions = conditions
        self._description = description
        self._words = words or {}
        self._at = at

    def reply(
        self,
        text: object = None,
        *,
        reasoning: str | None = None,
        tool_calls: Sequence[ToolCall] = (),
        json: Any = UNSAID,
        finish_reason: FinishReason | None = None,
        usage: Usage | None = None,
        logprobs: Mapping[str, float] | None = None,
        response: Any = UNSAID,
        faults: Faults = (),
        times: int | None = None,
        rate: float = 1.0,
        at: Sequence[int] | None = None,
        delay: float | None = None,
        pace: float | None = None,
    ) -> "When":
        """Say this instead of the model's own words.

        `text` is the text itself, a `Reply`, a function of the request, or a sequence of these: a sequence is
        said once, one after the other, and then the rule steps aside unless `times` says otherwise. `json` is a
        value that becomes the text, `response` one that an inference is answered with; None is null. Raises
        MockError for what cannot be said.
        """
        check_calls(tool_calls)
        check_logprobs({} if logprobs is None else logprobs)
        rest: dict[str, Any] = {
            "reasoning": reasoning,
            "tool_calls": tuple(tool_calls),
            "finish_reason": finish_reason,
            "usage": usage,
            "logprobs": dict(logprobs or {}),
        }
        if response is not UNSAID:
            rest["response"] = response
        if json is not UNSAID:
            if text is not None:
                raise MockError("reply takes a text or json, not both")
            text = document(json)
        marred = marring(faults, delay, pace)
        if text is None or isinstance(text, str):
            return self._write(answers_of(Reply(text=text, **rest)), times, rate, marred, at)
        check_reply(Reply(**rest))
        said = [name for name, value in rest.items() if value or name == "response"]
        if said:
            raise MockError(f"{said[0]} stands beside a text only: put it into the Reply")
        answers = answers_of(text)
        if times is None and isinstance(text, Sequence):
            times = len(answers)
        return self._write(answers, times, rate, marred, at)

    def refuse(
        self,
        status: int,
        message: str | None = None,
        *,
        retry_after: float | str | None = None,
        headers: Mapping[str, str] | None = None,
        type: str | None = None,
        code: str | None = None,
        param: str | None = None,
        faults: Faults = (),
        times: int | None = None,
        rate: float = 1.0,
        at: Sequence[int] | None = None,
        delay: float | None = None,
    ) -> "When":
        """Refuse with this status, in the dialect of the route; raises MockError for what is no refusal.

        Without `retry_after` a refusal that clients try again carries a hint of one millisecond, so that tests
        do not wait.
        """
        refusal = Refusal(
            status=status,
            message=message,
            retry_after=retry_after,
            headers={} if headers is None else headers,
            type=type,
            code=code,
            param=param,
        )
        return self._write((refusal,), times, rate, marring(faults, delay), at)

    def let_through(
        self,
        *,
        faults: Faults = (),
        times: int | None = None,
        rate: float = 1.0,
        at: Sequence[int] | None = None,
        delay: float | None = None,
        pace: float | None = None,
    ) -> "When":
        """Leave these requests to the model, which answers in its own words: no rule behind this one has a say.

        `engy.when(says="weather").let_through()` before `engy.when().refuse(500)` refuses all but those.
        """
        return self._write((let_through,), times, rate, marring(faults, delay, pace), at)

    def faults(
        self,
        *faults: Wanted,
        times: int | None = None,
        rate: float = 1.0,
        at: Sequence[int] | None = None,
        delay: float | None = None,
        pace: float | None = None,
    ) -> "When":
        """Mar what other rules or the model say, refusals apart; raises MockError for what can never apply."""
        if not faults and delay is None and pace is None:
            raise MockError("faults takes at least one fault, or delay= or pace=")
        return self._write((), times, rate, marring(faults, delay, pace), at)

    def _write(
        self,
        answers: tuple[Any, ...],
        times: int | None,
        rate: float,
        marred: tuple[Fault, ...],
        at: Sequence[int] | None,
    ) -> "When":
        places, description = self._at, self._description
        if at is not None:
            if places:
                raise MockError(f"{description} says at already: {at!r:.80} beside it could not be met")
            places = numbers(at)
            beside = ", " if self._conditions else ""
            description = f"{description.removesuffix(')')}{beside}at={list(places)!r})"
        self._script.add(
            Rule(
                description=description,
                conditions=self._conditions,
                answers=answers,
                faults=marred,
                times=times,
                rate=rate,
                at=places,
                words=self._words,
            )
        )
        return self


def numbers(at: object) -> tuple[int, ...]:
    """The numbers of requests that `at` was given, none for None; raises MockError for what is no list of such."""
    if at is None:
        return ()
    if isinstance(at, str | bytes) or not isinstance(at, Sequence) or not at:
        raise MockError(f"at takes a list of numbers of requests, like at=[2, 5], got {at!r:.80}")
    return tuple(at)


def marring(faults: Faults, delay: float | None = None, pace: float | None = None) -> tuple[Fault, ...]:
    """What is done to an answer: these faults, then what `delay` and `pace` say of time; raises MockError."""
    wanted = faults if isinstance(faults, Sequence) and not isinstance(faults, str) else (faults,)
    return (*(made(one) for one in wanted), *timing(delay, pace))


def document(value: Any) -> str:
    """A value as JSON text; raises MockError for what JSON cannot hold."""
    try:
        return json.text(value)
    except Exception as error:
        raise MockError(f"json cannot be written: {error}") from error
