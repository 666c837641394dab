"""The control API: the mock shown and changed over HTTP, under a prefix of its own."""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any
from urllib.parse import parse_qsl, unquote

from pydantic import BaseModel, ValidationError

from engy_mock import __version__
from engy_mock.gateway import Gateway
from engy_mock.serving.aside import PREFIX, watched
from engy_mock.serving.control.feed import LOOKS_EVERY, Feed, begins_behind
from engy_mock.serving.control.guard import Guard
from engy_mock.serving.control.house import House, Order, Refused
from engy_mock.serving.control.mistake import mistaken
from engy_mock.serving.control.openapi import document
from engy_mock.serving.control.table import OPERATIONS, Operation, at
from engy_mock.serving.framing import Framing
from engy_mock.serving.metrics import Metrics
from engy_mock.serving.pace import Pace
from engy_mock.serving.page import files, page
from engy_mock.serving.page import head as page_head
from engy_mock.serving.performance import Wire
from engy_mock.serving.shell import Shell
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import ApiError, MockError, quoted
from engy_mock.vocabulary.wire import Call, Head

JSON = ("Content-Type", "application/json")
NOT_KEPT = ("Cache-Control", "no-store")

STREAM = ("Content-Type", "text/event-stream; charset=utf-8")

NOT_ADMITTED = frozenset({401, 403})

_log = logging.getLogger("engy_mock")


class Control:
    """Answers calls about the mock itself; none of them is ever in the journal."""

    def __init__(self, house: House, guard: Guard) -> None:
        self.house = house
        self.guard = guard

    def is_for(self, path: str) -> bool:
        """Whether calls of this path are its own."""
        return path.startswith(PREFIX)

    async def tell(self, call: Call, framing: Framing, wire: Wire, pace: Pace) -> bool:
        """Answer a call; returns whether the connection may go on."""
        feed: Feed | None = None
        try:
            operation, name = self._admitted(call)
            if operation.kind == "feed":
                feed = Feed(self.house, begins_behind(_query(operation, call), call))
                head, body = Head(200, (STREAM, NOT_KEPT)), b""
            else:
                head, body = await self._answered(operation, name, call, pace)
        except Refused as refused:
            head, body = _refusal(refused)
            if refused.status in NOT_ADMITTED:
                # Who tries the door should be seen in the log, though no call of the control API is.
                self.house.watch.turned_away(call, refused.status, refused.message, body)
        except Exception:
            _log.exception("the mock failed on %s %s", call.method, quoted(call.path))
            head, body = _refusal(Refused(500, "the mock failed"))
        if feed is None:
            await wire.write(framing.whole(head, body))
            return framing.is_kept
        await wire.write(framing.begin(head) + framing.piece(b": the exchanges of this mock\n\n"))
        while True:
            news = feed.news()
            if news:
                await wire.write(framing.piece(news))
            await pace.sleep(LOOKS_EVERY)

    def _admitted(self, call: Call) -> tuple[Operation, str]:
        """The operation of a call that may be done, and the name in its path; raises Refused."""
        found, name = at(call.path)
        operation = found.get(call.method)
        is_open = operation is not None and operation.is_open
        self.guard.check(call, self.house.gateway.settings.allowed_hosts, is_open=is_open)
        if not found:
            raise Refused(404, f"there is no control route {quoted(call.path)}: {PREFIX}openapi.json has them all")
        if operation is None:
            allowed = ", ".join(sorted(found))
            raise Refused(
                405, f"method {quoted(call.method)} not allowed here, but {allowed}", headers=(("Allow", allowed),)
            )
        if call.trouble is not None:
            raise Refused(call.trouble.status, call.trouble.message)
        return operation, unquote(name)

    async def _answered(self, operation: Operation, name: str, call: Call, pace: Pace) -> tuple[Head, bytes]:
        """Head and body of an answer that is told at once; raises Refused."""
        if operation.kind == "openapi":
            return Head(200, (JSON, NOT_KEPT)), self._document
        if operation.kind == "page":
            return page(self.guard.secret_for(call))
        if operation.kind == "file":
            if name not in files():
                raise Refused(404, f"the page has no file {quoted(name):.80}")
            kind, body = files()[name]
            return page_head(kind), body
        if operation.kind == "metrics":
            if self.house.metrics is None:
                raise Refused(404, "there are no metrics: install the extra `metrics` of engy-mock")
            kind, body = self.house.metrics()
            return Head(200, (("Content-Type", kind), NOT_KEPT)), body
        assert operation.does is not None
        host = call.headers.get("host", "localhost")
        order = Order(name=name, host=host, query=_query(operation, call), body=_body(operation, call))
        try:
            if operation.reads is not None:
                read = await pace.beside(partial(operation.reads, self.house, order))
                order = replace(order, read=read)
            answer: BaseModel = operation.does(self.house, order)
        except (MockError, ApiError) as error:
            raise Refused(400, str(error)) from None
        return Head(200, (JSON, NOT_KEPT)), answer.model_dump_json().encode()

    @cached_property
    def _document(self) -> bytes:
        return json.write(document(self.house.version, OPERATIONS))


def control_of(
    shell: Shell,
    gateway: Gateway,
    *,
    reset: Callable[[], None],
    api_key: str,
    token: str | None = None,
    scheme: str = "http",
) -> Control:
    """The control API of the mock behind a shell."""
    watch = watched(shell)
    house = House(gateway=gateway, api_key=api_key, version=__version__, reset=reset, watch=watch, scheme=scheme)
    house.metrics = next((one.text for one in watch.listeners if isinstance(one, Metrics)), None)
    return Control(house, Guard(token))


def _query(operation: Operation, call: Call) -> Any:
    """The query as its form says; raises Refused."""
    if operation.query is None:
        return None
    try:
        said = dict(parse_qsl(call.query, keep_blank_values=True, max_num_fields=50))
    except ValueError:
        raise Refused(400, "the query has too many fields") from None
    try:
        return operation.query.model_validate(said)
    except ValidationError as error:
        raise mistaken(error, said, operation.query) from None


def _body(operation: Operation, call: Call) -> Any:
    """The body as its form says, to the type; raises Refused. None is as good as an empty object."""
    data = call.body or b"{}"
    try:
        said = json.read(data)
    except ValueError as error:
        raise Refused(400, f"the body is not JSON: {quoted(str(error).partition(chr(10))[0])}") from None
    if operation.takes is not None:
        try:
            # Out of the text, in which an array may stand for a set and a number for an exact one, and no more.
            return operation.takes.model_validate_json(data, strict=True)
        except ValidationError as error:
            raise mistaken(error, said, operation.takes) from None
    if said != {}:
        raise Refused(400, f"{operation.method} {PREFIX}{operation.path} takes no body")
    return None


def _refusal(refused: Refused) -> tuple[Head, bytes]:
    body = json.write({"error": {"message": refused.message, "status": refused.status, "param": refused.param}})
    return Head(refused.status, (JSON, NOT_KEPT, *refused.headers)), body
