"""Calls of `/v5` without a socket, and what comes back."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engy_mock.gateway import Gateway
from engy_mock.vocabulary.wire import Begin, Call, End, Head, Whole, Write
from tests.dialects.sdk import payloads

KEY = {"x-api-key": "any key"}
COMPLETION = {"model": "openai/gpt-4o", "prompt": "The capital of France is"}
CHAT = {"model": "openai/gpt-4o", "messages": [{"role": "user", "content": "Tell me about rivers."}]}
RESPONSE = {"model": "openai/gpt-4o", "input": "Tell me about rivers."}
INFERENCE = {"model": "openai/gpt-4o", "args": {"prompt": "Tell me about rivers."}}
COMPLETIONS_PATH, CHAT_PATH = "/v5/completions", "/v5/chat/completions"
RESPONSES_PATH, INFERENCE_PATH, RECORDS_PATH = "/v5/responses", "/v5/inference", "/v5/models"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a call got: head and body, whole or streamed."""

    head: Head
    data: bytes
    is_streamed: bool

    @property
    def status(self) -> int:
        return self.head.status

    @property
    def headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.head.headers}

    def json(self) -> Any:
        """The body of a whole answer."""
        assert not self.is_streamed
        assert self.headers["content-type"] == "application/json"
        return json.loads(self.data)

    def detail(self) -> Any:
        """What a refusal says, once its form is found right."""
        document = self.json()
        assert list(document) == ["detail"], "S-79"
        if self.status == 422:
            for found in document["detail"]:
                assert list(found) == ["loc", "msg", "type"], "S-79"
        else:
            assert isinstance(document["detail"], str), "S-79"
        return document["detail"]

    def chunks(self) -> list[Any]:
        """The events of a streamed answer."""
        assert self.is_streamed
        assert self.headers["content-type"] == "text/event-stream; charset=utf-8"
        return [json.loads(payload) for payload in payloads(self.data)]


def ask(
    gateway: Gateway,
    path: str,
    body: object = None,
    *,
    method: str | None = None,
    headers: Mapping[str, str] | None = None,
    query: str = "",
) -> Answer:
    """The answer to a call; a body that is not bytes is sent as JSON, without one it is a GET."""
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    call = Call(
        method=method or ("GET" if body is None else "POST"),
        path=path,
        headers=KEY if headers is None else headers,
        body=data,
        query=query,
    )
    first, *rest = gateway.answer(call)
    if isinstance(first, Whole):
        assert not rest
        return Answer(head=first.head, data=first.body, is_streamed=False)
    assert isinstance(first, Begin)
    assert isinstance(rest.pop(), End)
    pieces = []
    for step in rest:
        assert isinstance(step, Write)
        pieces.append(step.data)
    return Answer(head=first.head, data=b"".join(pieces), is_streamed=True)


def wrong(answer: Answer) -> list[tuple[list[Any], str]]:
    """Place and kind of all that a 422 finds wrong."""
    assert answer.status == 422
    return [(found["loc"], found["type"]) for found in answer.detail()]
