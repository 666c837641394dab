"""Journals made up for a verdict: exchanges at times that a test sets, without a socket and without waiting."""

import json
from typing import Any

from multidict import CIMultiDict

from engy_mock import EngyMock
from engy_mock.books.entry import Entry
from engy_mock.vocabulary.wire import Call, Line, Wait

PATHS = {
    "chat": "/v1/chat/completions",
    "messages": "/v1/messages",
    "responses": "/v1/responses",
    "models": "/v1/models",
}


def body_of(endpoint: str, says: str, more: dict[str, Any]) -> dict[str, Any]:
    """A request that says this."""
    if endpoint == "responses":
        return {"model": "glm-5.2", "input": says, "reasoning": {"effort": "none"}, **more}
    body: dict[str, Any] = {"model": "glm-5.2", "messages": [{"role": "user", "content": says}]}
    body |= {"max_tokens": 200} if endpoint == "messages" else {"reasoning_effort": "none"}
    return body | more


def sent(
    engy: EngyMock,
    says: str = "Hello",
    *,
    at: float = 0.0,
    lasts: float = 0.01,
    endpoint: str = "chat",
    retry_count: int | None = None,
    leaves_after: int | None = None,
    is_over: bool = True,
    line: Line | None = None,
    **more: Any,
) -> Entry:
    """One exchange that begins at this second and lasts so long.

    The client leaves after so many steps if that is said; without `is_over` it waits in the silence to which the
    answer has come. `line` is the connection on which it asks.
    """
    headers = CIMultiDict({"Authorization": f"Bearer {engy.api_key}", "Content-Type": "application/json"})
    if retry_count is not None:
        headers["x-stainless-retry-count"] = str(retry_count)
    method = "GET" if endpoint == "models" else "POST"
    body = b"" if method == "GET" else json.dumps(body_of(endpoint, says, more)).encode()
    steps = engy.gateway.answer(Call(method=method, path=PATHS[endpoint], headers=headers, body=body, line=line))
    for taken, step in enumerate(steps, 1):
        if taken == leaves_after or (not is_over and isinstance(step, Wait)):
            break
    entry = engy.journal.last
    if is_over and hasattr(steps, "close"):
        steps.close()
    course = entry.course
    course.arrived = at
    if course.first is not None:
        course.first = course.last = at + lasts
    course.ended = at + lasts if is_over else None
    return entry


def words(engy: EngyMock, **more: Any) -> list[str]:
    """The words of the findings, errors first."""
    return [finding.word for finding in engy.verdict(**more).findings]


def outcomes(engy: EngyMock) -> list[str]:
    """How the calls went, in their order."""
    return [group.outcome for group in engy.verdict().groups]
