"""`engy.when(...)`: a rule in the making, in the words of the test that writes it."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from engy_mock.scripting.matchers import Condition
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.rules import Rule, Script, answers_of
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.generation import FinishReason, Reply, Usage
from engy_mock.vocabulary.request import ToolCall


class When:
    """For requests that fit: `reply`, `refuse`. Each call writes one rule and gives back the same `When`."""

    def __init__(self, script: Script, conditions: tuple[Condition, ...], description: str) -> None:
        self._script = script
        self._conditions = conditions
        self._description = description

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
        times: int | None = None,
    ) -> "When":
        """Say this instead of the model's own words.

        `text` is the text itself, a `Reply`, a function of the request, or a sequence of these: a sequence is
        said once, one after the other, and then the rule steps aside unless `times` says otherwise. `json` is a
        value that becomes the text. Raises MockError for what cannot be said.
        """
        _check(text, reasoning, tool_calls, finish_reason, usage, logprobs)
        rest: dict[str, Any] = {
            "reasoning": reasoning,
            "tool_calls": tuple(tool_calls),
            "finish_reason": finish_reason,
            "usage": usage,
            "logprobs": dict(logprobs or {}),
            "response": response,
        }
        if json is not None:
            if text is not None:
                raise MockError("reply takes a text or json, not both")
            text = _document(json)
        if text is None or isinstance(text, str):
            return self._write(answers_of(Reply(text=text, **rest)), times)
        said = [name for name, value in rest.items() if value]
        if said:
            raise MockError(f"{said[0]} stands beside a text only: put it into the Reply")
        answers = answers_of(text)
        if times is None and isinstance(text, Sequence):
            times = len(answers)
        return self._write(answers, times)

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
        times: int | None = None,
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
        return self._write((refusal,), times)

    def _write(self, answers: tuple[Any, ...], times: int | None) -> "When":
        self._script.add(
            Rule(description=self._description, conditions=self._conditions, answers=answers, times=times)
        )
        return self


def _check(
    text: object, reasoning: object, tool_calls: object, finish_reason: object, usage: object, logprobs: object
) -> None:
    """Raise MockError for what no answer could say."""
    for word, said in (("text", text), ("reasoning", reasoning)):
        if isinstance(said, str) and any("\ud800" <= letter <= "\udfff" for letter in said):
            raise MockError(f"{word} has half a surrogate pair, which no answer can carry")
    if reasoning is not None and not isinstance(reasoning, str):
        raise MockError(f"reasoning= takes a text, got {reasoning!r:.80}")
    if not isinstance(tool_calls, Sequence) or not all(isinstance(call, ToolCall) for call in tool_calls):
        raise MockError(f"tool_calls= takes a list of ToolCall, got {tool_calls!r:.80}")
    reasons = get_args(FinishReason)
    if finish_reason is not None and finish_reason not in reasons:
        raise MockError(f"finish_reason= takes one of {', '.join(reasons)}, got {finish_reason!r:.80}")
    if usage is not None and not isinstance(usage, Usage):
        raise MockError(f"usage= takes a Usage, got {usage!r:.80}")
    for token, value in logprobs.items() if isinstance(logprobs, Mapping) else ():
        if not isinstance(value, int | float) or not -100.0 <= value <= 0.0:
            raise MockError(f"logprobs= takes numbers from -100 to 0, got {value!r:.80} for {token!r}")


def _document(value: Any) -> str:
    try:
        return json.text(value)
    except Exception as error:
        raise MockError(f"json cannot be written: {error}") from error
