"""What a request would get now, without sending it."""

import math
from typing import Annotated, Any, Literal

from multidict import CIMultiDict
from pydantic import Field

from engy_mock.dialects import routes
from engy_mock.gateway.rehearsal import rehearse
from engy_mock.serving.control.exchanges import MAX_REASONS, ChoiceForm, UsageForm, choice_form
from engy_mock.serving.control.form import Form
from engy_mock.serving.control.house import House, Order
from engy_mock.vocabulary import json
from engy_mock.vocabulary.wire import Begin, Call, Close, Lease, Repeat, Step, Unframed, Wait, Whole, Write

MAX_STEPS = 1000
MAX_TEXT = 64 * 1024

Short = Annotated[str, Field(max_length=2000)]


class PlanWish(Form):
    """A request. Where it names no key, it gets the one that the mock greets with."""

    method: Literal["GET", "POST"] = "POST"
    path: Annotated[str, Field(pattern=r"^/[!-~]*$", max_length=2000)]
    headers: dict[Annotated[str, Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", max_length=200)], Short] = Field(
        default_factory=dict, max_length=100
    )
    body: Any = None


class StepForm(Form):
    """One step of the answer: bytes as text, a wait in seconds (null: for ever), or how the connection ends."""

    kind: Literal["begin", "whole", "write", "unframed", "wait", "repeat", "lease", "end", "close", "reset"]
    seconds: float | None = None
    text: str | None = None


class Plan(Form):
    """What the answer would be, and why. `is_cut`: there are more steps than are shown."""

    status: int
    headers: dict[str, str]
    endpoint: str
    surface: str
    account: str
    model: str | None
    error: str | None
    rule: str | None
    mismatches: list[str]
    faults: list[str]
    not_applied: list[str]
    plan: str
    usage: UsageForm | None
    charged_micro: int
    choices: list[ChoiceForm]
    steps: list[StepForm]
    is_cut: bool


def plan(house: House, order: Order) -> Plan:
    """Rehearse it."""
    wish = order.body
    headers: CIMultiDict[str] = CIMultiDict(wish.headers)
    keys = routes.speaker(wish.path).key_headers
    if not any(name in headers for name in keys):
        name = keys[0]
        headers[name] = f"Bearer {house.api_key}" if name == "authorization" else house.api_key
    path, _, query = wish.path.partition("?")
    body = b"" if wish.body is None else json.write(wish.body)
    call = Call(method=wish.method, path=path, query=query, headers=headers, body=body)
    entry, steps = rehearse(house.gateway, call)
    head = next((step.head for step in steps if isinstance(step, Begin | Whole)), None)
    usage = entry.usage
    return Plan(
        status=entry.status,
        headers={} if head is None else dict(head.headers),
        endpoint=entry.endpoint,
        surface=entry.surface,
        account=entry.account,
        model=entry.model,
        error=entry.error,
        rule=entry.rule,
        mismatches=list(entry.mismatches[:MAX_REASONS]),
        faults=list(entry.faults),
        not_applied=list(entry.not_applied),
        plan=entry.plan,
        usage=None
        if usage is None
        else UsageForm(
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            reasoning_tokens=usage.reasoning_tokens,
        ),
        charged_micro=entry.charged_micro,
        choices=[] if entry.generation is None else [choice_form(one) for one in entry.generation.choices],
        steps=[_form(step) for step in steps[:MAX_STEPS]],
        is_cut=len(steps) > MAX_STEPS,
    )


def _form(step: Step) -> StepForm:
    match step:
        case Begin():
            return StepForm(kind="begin")
        case Whole():
            return StepForm(kind="whole", text=_text(step.body))
        case Write():
            return StepForm(kind="write", text=_text(step.data))
        case Unframed():
            return StepForm(kind="unframed", text=_text(step.data))
        case Wait():
            return StepForm(kind="wait", seconds=None if step.seconds == math.inf else step.seconds)
        case Repeat():
            return StepForm(kind="repeat", seconds=step.seconds, text=_text(step.data))
        case Close():
            return StepForm(kind="reset" if step.abrupt else "close")
        case Lease():
            return StepForm(kind="lease")
    return StepForm(kind="end")


def _text(data: bytes) -> str:
    return data[:MAX_TEXT].decode("utf-8", "replace")
