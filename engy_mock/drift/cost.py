"""What a request costs: at most, before it is sent, and as far as its answer proves it afterwards."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any

from engy_mock.drift.answer import Answer

MARGIN = Decimal("1.5")
"""Other tokenizers make more tokens of the same text."""

_PROMPT = ("prompt_tokens", "input_tokens")
_MADE = ("completion_tokens", "output_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """What a token costs in micro-USD, of a prompt and of an answer; unbounded it has `longest` tokens at most."""

    input: Decimal
    output: Decimal
    longest: int

    def most(self, prompt_tokens: int, body: Any) -> int:
        """What a request costs at most; nothing if it names no model."""
        if not isinstance(body, dict) or "model" not in body:
            return 0
        copies = len(body["prompt"]) if isinstance(body.get("prompt"), list) else 1
        # The first of them wins over the second (E-46); 0 may be taken for no bound at all.
        bounds = [body.get(name) for name in ("max_completion_tokens", "max_tokens", "max_output_tokens")]
        made = next((bound for bound in bounds if bound), self.longest)
        return self._sum(prompt_tokens * MARGIN, copies * int(made))

    def proven(self, answer: Answer) -> int | None:
        """What an answer shows that it cost, by its receipt or its counts; None where it shows nothing.

        Counts are a proof in a whole answer only: those of a stream come at its end, and may have been lost.
        """
        if 400 <= answer.status < 500:
            return 0
        receipts = [_whole(one.get("charged_micro")) for one in _found(answer, "x_engy")]
        told = [charge for charge in receipts if charge is not None]
        if told:
            return max(told)
        if answer.trouble is not None or (answer.is_stream and not _is_ended(answer)):
            return None
        counts = [(_count(usage, _PROMPT), _count(usage, _MADE)) for usage in _found(answer, "usage")]
        sums = [self._sum(Decimal(prompt), made) for prompt, made in counts if prompt and made]
        return max(sums, default=None)

    def _sum(self, prompt_tokens: Decimal, made: int) -> int:
        return int((prompt_tokens * self.input + made * self.output).to_integral_value(ROUND_CEILING))


def _is_ended(answer: Answer) -> bool:
    """Whether a stream has one of the ends that come behind its counts."""
    events = answer.events
    ends = ("message_stop", "response.completed", "response.incomplete")
    return bool(events) and (events[-1].is_end_mark or events[-1].kind in ends)


def _count(usage: dict[str, Any], names: tuple[str, str]) -> int:
    return next((count for name in names if (count := _whole(usage.get(name)))), 0)


def _whole(value: object) -> int | None:
    """A whole number from 0; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _found(answer: Answer, name: str) -> Iterator[dict[str, Any]]:
    """The objects of this name in an answer: at the top, in a response or in a message."""
    for document in answer.documents:
        for holder in (document, document.get("response"), document.get("message")):
            if isinstance(holder, dict) and isinstance(holder.get(name), dict):
                yield holder[name]
