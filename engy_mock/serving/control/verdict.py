"""The verdict on the client under test, and what a client of any language says it got."""

from typing import Annotated, Any, Literal

from pydantic import Field

from engy_mock.books.heard import Complaint, Heard
from engy_mock.serving.control.form import WHOLE, Count, Form, Query
from engy_mock.serving.control.house import House, Order, Refused

Text = Annotated[str, Field(max_length=64 * 1024)]
Word = Annotated[str, Field(max_length=200)]


class VerdictQuery(Query):
    """What counts: from which exchange on, how bad a finding fails, which words are left out (between commas)."""

    fail_level: Literal["error", "warning", "never"] = "error"
    ignore: Annotated[str, Field(max_length=1000, pattern="^[a-z, -]*$")] = ""
    patience: Annotated[float, Field(ge=0, le=1e9)] = 30.0
    since: Count = 0


class FindingForm(Form):
    """One thing that is wrong with the client."""

    word: str
    severity: Literal["error", "warning"]
    exchanges: list[int]
    evidence: str
    advice: str


class CallForm(Form):
    """One call of the application: all attempts at one request."""

    method: str
    path: str
    exchanges: list[int]
    statuses: list[int]
    outcome: str


class VerdictForm(Form):
    """What the journal says of the client; `text` says the same for people, with what was measured."""

    is_complete: bool
    lost: int
    fails: bool
    outcomes: dict[str, int]
    findings: list[FindingForm]
    calls: list[CallForm]
    text: str


class ErrorHeard(Form):
    """An error that the client has reported to its caller."""

    type: Word = "Error"
    message: Text = ""
    status: Annotated[int, Field(ge=100, le=599), WHOLE] | None = None


class WhatWasHeard(Form):
    """The end of one call as its caller saw it: a text or an error; `of` is the id of request or answer."""

    text: Text | None = None
    finish_reason: Word | None = None
    error: ErrorHeard | None = None
    of: Word | None = None


class HeardCount(Form):
    """How often something was heard since the last reset."""

    heard: int


def show(house: House, order: Order) -> VerdictForm:
    """The verdict as it is now."""
    if house.judged is None:
        raise Refused(404, "this mock judges nobody")
    query: VerdictQuery = order.query
    words = [word for word in query.ignore.split(",") if word]
    found: dict[str, Any] = house.judged(
        fail_level=query.fail_level, ignore=words, patience=query.patience, since=query.since
    )
    return VerdictForm.model_validate(found)


def hear(house: House, order: Order) -> HeardCount:
    """Write down what the client says it got."""
    body: WhatWasHeard = order.body
    if (body.text is None) is (body.error is None):
        raise Refused(400, "say either text or error", param="text")
    ids = () if body.of is None else (body.of,)
    if body.error is not None:
        error = body.error
        statuses = () if error.status is None else (error.status,)
        said = Heard(error=Complaint(kinds=(error.type,), says=error.message, statuses=statuses), ids=ids)
    else:
        said = Heard(texts=(body.text or "",), finish=body.finish_reason, ids=ids)
    journal = house.gateway.journal
    journal.hear(said)
    return HeardCount(heard=len(journal.heard))
