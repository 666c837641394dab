"""What a client gets to see of a fault, down to the bytes: head, writes, and how the connection ended."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engy_mock import EngyMock
from tests.doors.raw import Raw, request

PATHS = {
    "chat": "/v1/chat/completions",
    "completions": "/v1/completions",
    "messages": "/v1/messages",
    "responses": "/v1/responses",
    "v5 chat": "/v5/chat/completions",
    "v5 completions": "/v5/completions",
    "v5 responses": "/v5/responses",
}
"""Routes by what stands for them in tables."""

MODELS = {
    "v5 chat": "openai/gpt-4o",
    "v5 completions": "openai/gpt-3.5-turbo-instruct",
    "v5 responses": "openai/gpt-4o",
}

STREAMING = tuple(name for name in PATHS if name != "completions")
QUESTION = "Say something."
TOOL = {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}


@dataclass(frozen=True, slots=True)
class Capture:
    """One answer: `raw` is all of it, `writes` the chunks of its body (or the body as one), `ending` `fin`,
    `reset`, or `kept` if the connection stayed open."""

    raw: bytes
    ending: str

    @property
    def head(self) -> bytes:
        return self.raw.partition(b"\r\n\r\n")[0]

    @property
    def status(self) -> int:
        """The status; 0 if there was no head."""
        return int(self.head.split(b" ")[1]) if self.head.startswith(b"HTTP/") else 0

    @property
    def headers(self) -> dict[str, str]:
        """The headers by their names in lower case."""
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}

    @property
    def is_chunked(self) -> bool:
        return self.headers.get("transfer-encoding") == "chunked"

    @property
    def rest(self) -> bytes:
        """Everything behind the head, as it stood on the wire."""
        return self.raw.partition(b"\r\n\r\n")[2]

    @property
    def is_complete(self) -> bool:
        """Whether the body ended as HTTP demands."""
        if self.is_chunked:
            return self.rest.endswith(b"0\r\n\r\n")
        return len(self.rest) == int(self.headers.get("content-length", "-1"))

    @property
    def writes(self) -> list[bytes]:
        """The chunks of the body, each a write of the mock; the body of an answer without chunks as one."""
        if not self.is_chunked:
            return [self.rest] if self.rest else []
        found, rest = [], self.rest
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            length = int(size, 16)
            if length == 0:
                break
            found.append(rest[:length])
            rest = rest[length + 2 :]
        return found

    @property
    def body(self) -> bytes:
        return b"".join(self.writes)

    @property
    def document(self) -> dict[str, Any]:
        """The body as a JSON object."""
        found = json.loads(self.body)
        assert isinstance(found, dict)
        return found

    @property
    def events(self) -> list[tuple[str, str]]:
        """The server-sent events as name and data, as the standard has them read (LF only)."""
        found = []
        for block in self.body.decode().split("\n\n"):
            lines = [line for line in block.split("\n") if line and not line.startswith(":")]
            name = "".join(line.removeprefix("event: ") for line in lines if line.startswith("event: "))
            data = "\n".join(line.removeprefix("data: ") for line in lines if line.startswith("data: "))
            if name or data:
                found.append((name, data))
        return found

    @property
    def documents(self) -> list[dict[str, Any]]:
        """The JSON objects of the events, `[DONE]` left out."""
        return [json.loads(data) for _, data in self.events if data.startswith("{")]


def body_for(
    route: str, *, stream: bool, text: str = QUESTION, tools: bool = False, **more: Any
) -> dict[str, Any]:
    """A request of this route."""
    model = MODELS.get(route, "glm-5.2")
    kind = route.removeprefix("v5 ")
    body: dict[str, Any] = {"model": model, "stream": stream}
    if kind == "completions":
        body |= {"prompt": text, "max_tokens": 40}
    elif kind == "responses":
        body |= {"input": text, "max_output_tokens": 200}
    else:
        body |= {"messages": [{"role": "user", "content": text}], "max_tokens": 200}
    if tools and kind == "responses":
        body["tools"] = [{"type": "function", **TOOL}]
    elif tools and kind == "messages":
        body["tools"] = [{"name": TOOL["name"], "input_schema": TOOL["parameters"]}]
    elif tools:
        body["tools"] = [{"type": "function", "function": TOOL}]
    return body | more


def reply_for(route: str, reply: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a reply that this route can tell."""
    untold = {"reasoning"} if route.startswith("v5") else set()
    if route.endswith("completions"):
        untold = {"reasoning", "tool_calls"}
    return {part: value for part, value in reply.items() if part not in untold}


def ask(
    engy: EngyMock,
    route: str = "chat",
    *,
    stream: bool = True,
    is_kept: bool = False,
    headers: Sequence[str] = (),
    **more: Any,
) -> Capture:
    """One answer to the end of its connection, or with `is_kept` to the end of its body."""
    return send(engy, PATHS[route], body_for(route, stream=stream, **more), is_kept=is_kept, headers=headers)


def asking(
    engy: EngyMock, path: str, body: object, *, is_kept: bool = False, headers: Sequence[str] = ()
) -> bytes:
    """A request as it stands on the wire."""
    lines = [f"Authorization: Bearer {engy.api_key}", f"x-api-key: {engy.api_key}"]
    lines += ["Content-Type: application/json", *(() if is_kept else ("Connection: close",)), *headers]
    return request(path, json.dumps(body).encode(), *lines)


def send(
    engy: EngyMock, path: str, body: object, *, is_kept: bool = False, headers: Sequence[str] = ()
) -> Capture:
    """The same as `ask` for any path and body."""
    raw = Raw(engy.port)
    try:
        raw.send(asking(engy, path, body, is_kept=is_kept, headers=headers))
        if is_kept:
            return Capture(b"".join(raw.read_answer()), "kept")
        data, ending = raw.read_to_end()
        return Capture(data, ending)
    finally:
        raw.socket.close()
