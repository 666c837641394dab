"""`engy.when(...)`: a rule in the making, in the words of the test that writes it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, get_args

from engy_mock.scripting.fault import Fault, made
from engy_mock.scripting.matchers import Condition
from engy_mock.scripting.pace import timing
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.rules import Rule, answers_of
from engy_mock.scripting.script import Script
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import MockError, quoted
from engy_mock.vocabulary.events import Event
from engy_mock.vocabulary.generation import FinishReason, Reply, Usage
from engy_mock.vocabulary.request import ToolCall

Wanted = Fault | type[Fault] | str | Mapping[str, Any] | Callable[[Iterator[Event]], Iterable[Event]]
"""What may stand for a fault."""

Faults = Sequence[Wanted] | Wanted

MAX_COUNT = 10**9
"""The highest count of tokens that a usage may dictate."""


class When:
    """For requests that fit: `reply`, `refuse`, `faults`. Each call writes one rule and gives back the `When`.

    Any rule takes `faults` (of the catalogue, by class, name or mapping, or functions of events), `times` (how
    often it may be used), `rate` (the share of fitting requests that it is for, 0 to 1), `delay` (seconds of mock
    time before the first byte) and `pace` (pieces a second).
    """

    def __init__(
        self,
        script: Script,
        conditions: tuple[Condition, ...],
        description: str,
        words: Mapping[str, Any] | None = None,
    ) -> None:
        self._script = script
        self._conditions = conditions
        self._description = description
        self._words = words or {}

    def reply(
        self,
        text: object = None,
        *,
        reasoning: str | None = None,
        tool_calls: Sequence[ToolCall] = (),
        json: Any = None,
        finish_reason: FinishReason | None = None,
        usage: Usage | None = None,
        logprobs: Mapping[str, float] | None = None,
        response: Any = None,
        faults: Faults = (),
        times: int | None = None,
        rate: float = 1.0,
        delay: float | None = None,
        pace: float | None = None,
    ) -> "When":
        """Say this instead of the model's own words.

        `text` is the text itself, a `Reply`, a function of the request, or a sequence of these: a sequence is
        said once, one after the other, and then the rule steps aside unless `times` says otherwise. `json` is a
        value that becomes the text. Raises MockError for what cannot be said.
        """
        rest: dict[str, Any] = {
            "reasoning": reasoning,
            "tool_calls": _calls(tool_calls),
            "finish_reason": finish_reason,
            "usage": usage,
            "logprobs": dict(logprobs or {}),
            "response": response,
        }
        if json is not None:
            if text is not None:
                raise MockError("reply takes a text or json, not both")
            text = document(json)
        marred = marring(faults, delay, pace)
        if text is None or isinstance(text, str):
            said_once = Reply(text=text, **rest)
            check(said_once)
            return self._write((said_once,), times, rate, marred)
        check(Reply(**rest))
        said = [name for name, value in rest.items() if value]
        if said:
            raise MockError(f"{said[0]} stands beside a text only: put it into the Reply")
        answers = answers_of(text)
        for answer in answers:
            if isinstance(answer, Reply):
                check(answer)
        if times is None and isinstance(text, Sequence):
            times = len(answers)
        return self._write(answers, times, rate, marred)

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
            headers=dict(headers or {}),
            type=type,
            code=code,
            param=param,
        )
        return self._write((refusal,), times, rate, marring(faults, delay))

    def faults(
        self,
        *faults: Wanted,
        times: int | None = None,
        rate: float = 1.0,
        delay: float | None = None,
        pace: float | None = None,
    ) -> "When":
        """Mar what other rules or the model say, refusals apart; raises MockError for what can never apply."""
        if not faults and delay is None and pace is None:
            raise MockError("faults takes at least one fault, or delay= or pace=")
        return self._write((), times, rate, marring(faults, delay, pace))

    def _write(
        self, answers: tuple[Any, ...], times: int | None, rate: float, marred: tuple[Fault, ...]
    ) -> "When":
        self._script.add(
            Rule(
                description=self._description,
                conditions=self._conditions,
                answers=answers,
                faults=marred,
                times=times,
                rate=rate,
                words=self._words,
            )
        )
        return self


def marring(faults: Faults, delay: float | None = None, pace: float | None = None) -> tuple[Fault, ...]:
    """What is done to an answer: these faults, then what `delay` and `pace` say of time; raises MockError."""
    wanted = faults if isinstance(faults, Sequence) and not isinstance(faults, str) else (faults,)
    return (*(made(one) for one in wanted), *timing(delay, pace))


def _calls(tool_calls: object) -> tuple[ToolCall, ...]:
    if isinstance(tool_calls, str) or not isinstance(tool_calls, Sequence):
        raise MockError(f"tool_calls= takes a list of ToolCall, got {tool_calls!r:.80}")
    return tuple(tool_calls)


def check(reply: Reply) -> None:
    """Raise MockError for what no answer could say."""
    _check_text("text", reply.text)
    _check_text("reasoning", reply.reasoning)
    calls: object = reply.tool_calls
    if not isinstance(calls, Sequence) or not all(isinstance(call, ToolCall) for call in calls):
        raise MockError(f"tool_calls= takes a list of ToolCall, got {calls!r:.80}")
    for number, call in enumerate(reply.tool_calls):
        for word in ("name", "arguments", "id"):
            _check_text(f"tool_calls[{number}].{word}", getattr(call, word))
    reasons = get_args(FinishReason)
    if reply.finish_reason is not None and reply.finish_reason not in reasons:
        raise MockError(f"finish_reason= takes one of {', '.join(reasons)}, got {reply.finish_reason!r:.80}")
    if reply.usage is not None:
        _check_usage(reply.usage)
    logprobs: object = reply.logprobs
    for token, value in logprobs.items() if isinstance(logprobs, Mapping) else ():
        _check_text("a token of logprobs", token)
        if not isinstance(value, int | float) or not -100.0 <= value <= 0.0:
            raise MockError(f"logprobs= takes numbers from -100 to 0, got {value!r:.80} for {token!r}")


def _check_text(word: str, said: object) -> None:
    if said is not None and not isinstance(said, str):
        raise MockError(f"{word}= takes a text, got {said!r:.80}")
    if said is not None and any("\ud800" <= letter <= "\udfff" for letter in said):
        raise MockError(f"{word} has half a surrogate pair, which no answer can carry")


def _check_usage(usage: object) -> None:
    """Raise MockError for counts that no answer has."""
    if not isinstance(usage, Usage):
        raise MockError(f"usage= takes a Usage, got {usage!r:.80}")
    for name in [field.name for field in fields(Usage)]:
        value = getattr(usage, name)
        if type(value) is not int or not 0 <= value <= MAX_COUNT:
            raise MockError(f"usage.{name} takes whole numbers from 0 to {MAX_COUNT}, got {quoted(value):.80}")
    for part, whole in (("cached_tokens", "prompt_tokens"), ("reasoning_tokens", "completion_tokens")):
        if getattr(usage, part) > getattr(usage, whole):
            raise MockError(
                f"usage.{part} is {getattr(usage, part)}, a part of {whole}, which is {getattr(usage, whole)}"
            )


def document(value: Any) -> str:
    """A value as JSON text; raises MockError for what JSON cannot hold."""
    try:
        return json.text(value)
    except Exception as error:
        raise MockError(f"json cannot be written: {error}") from error
