"""What is asked in a soak: every route, every kind of ending, and clients that leave in the middle."""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

KEY = "sk-engy-soak"
TOOL = {"type": "function", "function": {"name": "get_weather"}}
PATIENCE = 30.0
"""Seconds after which an answer that does not come is a failure of the mock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One kind of request. `leaves_after` so many reads its client goes away; `status` is what it is told.

    A status of 0 is none at all: the connection ends before there is one.
    """

    name: str
    path: str
    body: dict[str, Any] | None = None
    raw: bytes | None = None
    soak: str = ""
    status: int = 200
    key: str = KEY
    leaves_after: int | None = None
    is_new: bool = False

    def request(self, number: int) -> bytes:
        """The request as it stands on the wire; one that `is_new` has words that no other has."""
        if self.raw is not None:
            return self.raw
        body = b""
        if self.body is not None:
            text = json.dumps(self.body)
            body = (text.replace("NUMBER", str(number)) if self.is_new else text).encode()
        lines = [
            f"{'GET' if self.body is None else 'POST'} {self.path} HTTP/1.1",
            "Host: 127.0.0.1",
            f"{'x-api-key' if self.path.startswith('/v5') else 'Authorization'}: "
            f"{'' if self.path.startswith('/v5') else 'Bearer '}{self.key}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        ]
        if self.soak:
            lines.append(f"X-Soak: {self.soak}")
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def chat(text: str = "What is the capital of France?", **fields: Any) -> dict[str, Any]:
    """The body of a chat."""
    return {"model": "glm-5.2", "max_tokens": 60, "messages": [{"role": "user", "content": text}], **fields}


CHAT, STREAM = "/v1/chat/completions", chat("Why do bridges sway?", stream=True)
MESSAGES = chat("Tell me about tea.", stream=True)

ASKINGS: tuple[Asking, ...] = (
    Asking(name="chat", path=CHAT, body=chat()),
    Asking(name="chat, new", path=CHAT, body=chat("Bridge number NUMBER?"), is_new=True),
    Asking(name="chat, stream", path=CHAT, body=STREAM),
    Asking(name="chat, logprobs", path=CHAT, body=chat(logprobs=True, top_logprobs=5)),
    Asking(name="messages, stream", path="/v1/messages", body=MESSAGES),
    Asking(
        name="responses",
        path="/v1/responses",
        body={"model": "kimi-k3", "input": "Good morning NUMBER!", "max_output_tokens": 60, "stream": True},
        is_new=True,
    ),
    Asking(
        name="completions", path="/v1/completions", body={"model": "glm-5.2", "prompt": "Tea", "max_tokens": 9}
    ),
    Asking(name="models", path="/v1/models"),
    Asking(name="v5 models", path="/v5/models"),
    Asking(name="bad key", path=CHAT, body=chat(), key="nobody", status=401),
    Asking(name="no route", path="/v1/NOWHERE", status=404),
    Asking(name="no model", path=CHAT, body=chat(model="nobody"), status=404),
    Asking(name="no JSON", path=CHAT, body={"model": []}, status=400),
    Asking(name="no HTTP", path="", raw=b"NONSENSE\r\n\r\n", status=400),
    Asking(name="refused", path=CHAT, body=chat(), soak="refuse", status=429),
    Asking(name="overloaded", path="/v1/messages", body=MESSAGES, soak="overloaded", status=529),
    Asking(name="reset", path=CHAT, body=STREAM, soak="reset"),
    Asking(name="cut", path=CHAT, body=STREAM, soak="cut"),
    Asking(name="stall, client leaves", path=CHAT, body=STREAM, soak="stall", leaves_after=1),
    Asking(name="client leaves", path="/v1/messages", body=MESSAGES, leaves_after=1),
    Asking(name="client leaves at once", path=CHAT, body=STREAM, leaves_after=0),
    Asking(name="error page", path=CHAT, body=chat(), soak="page", status=502),
    Asking(name="torture", path=CHAT, body=STREAM, soak="torture"),
    Asking(name="tools", path=CHAT, body=chat(tools=[TOOL]), soak="tools"),
    Asking(name="early", path=CHAT, body=chat(), soak="early", status=413),
    Asking(name="late", path=CHAT, body=chat(), soak="late"),
)


@dataclass(slots=True)
class Tally:
    """What became of the requests of a soak: how many of each kind, and what went otherwise than it should."""

    done: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def total(self) -> int:
        """All requests."""
        return self.done.total()


class Caller:
    """One client: it asks one thing after the other, over the same connection as long as that is kept."""

    def __init__(self, port: int, tally: Tally) -> None:
        self._port = port
        self._tally = tally
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, asking: Asking, number: int) -> None:
        """Ask, and take note of what comes."""
        began = monotonic()
        try:
            async with asyncio.timeout(PATIENCE):
                status = await self._ask(asking, asking.request(number))
        except TimeoutError:
            status = -1
            await self.leave()
        self._tally.done[asking.name] += 1
        self._tally.seconds[asking.name] += monotonic() - began
        if asking.leaves_after is None and status != asking.status:
            self._tally.wrong[f"{asking.name}: {'no answer' if status == -1 else status}"] += 1

    async def leave(self) -> None:
        """Close the connection."""
        writer, self._reader, self._writer = self._writer, None, None
        if writer is not None:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _ask(self, asking: Asking, request: bytes) -> int:
        """The status of the answer, read to its end, unless the client leaves before."""
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._reader, self._writer
        assert reader is not None
        assert writer is not None
        status = 0
        try:
            writer.write(request)
            if asking.leaves_after is not None:
                for _ in range(asking.leaves_after):
                    await reader.read(65536)
                await self.leave()
                return 0
            head = await reader.readuntil(b"\r\n\r\n")
            status = int(head.split(b" ", 2)[1])
            await _read_body(reader, head.lower())
            if b"connection: close" in head.lower():
                await self.leave()
        except (asyncio.IncompleteReadError, ConnectionError):
            await self.leave()
        return status


async def _read_body(reader: asyncio.StreamReader, head: bytes) -> None:
    if b"transfer-encoding: chunked" in head:
        while size := int((await reader.readuntil(b"\r\n")).strip(), 16):
            await reader.readexactly(size + 2)
        await reader.readuntil(b"\r\n")
    elif b"content-length: " in head:
        await reader.readexactly(int(head.split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0]))
    else:
        await reader.read()


class Load:
    """So many callers at once, each of whom goes through all askings from a place of its own."""

    def __init__(self, port: int, callers: int, most: int, askings: Sequence[Asking] = ASKINGS) -> None:
        self.tally = Tally()
        self.is_over = False
        self._port = port
        self._callers = callers
        self._most = most
        self._askings = askings
        self._next = 0

    async def run(self) -> None:
        """Ask until there have been so many, or until somebody says that it is over."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._callers):
                group.create_task(self._call())
        self.is_over = True

    async def _call(self) -> None:
        caller = Caller(self._port, self.tally)
        while not self.is_over and self._next < self._most:
            number, self._next = self._next, self._next + 1
            await caller.ask(self._askings[number * 7 % len(self._askings)], number)
        await caller.leave()
