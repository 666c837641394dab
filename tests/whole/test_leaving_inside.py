"""Clients that leave, or end their connections: what they hear then, and the books, over both doors."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import aiohttp
import httpx2
import pytest
from openai import AsyncOpenAI, OpenAI

from engy_mock import EngyMock, Limits
from engy_mock.faults import Stall
from tests.doors.both import LIBRARIES, MANNERS, TALKERS, Aiohttp, Manner
from tests.waiting import until

PATH = "/v1/chat/completions"
BODY: dict[str, Any] = {"model": "glm-5.2", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 8}
TALKER = pytest.mark.parametrize(
    "talker",
    [
        pytest.param(talker, id=str(talker), marks=() if str(talker) == "httpx2" else pytest.mark.slow)
        for talker in TALKERS
    ],
)
SLOW = pytest.mark.slow
SHORT_SECONDS = 0.2
"""How long clients wait for what never comes."""


class Talk:
    """One client of httpx or httpx2, blocking, and at most one stream that it has begun to read."""

    def __init__(self, client: Any, key: str) -> None:
        self._client = client
        self._headers = {"Authorization": f"Bearer {key}"}
        self._answer: Any = None
        self._pieces: Any = None

    def ask(self, **more: Any) -> int | str:
        """The status of a whole answer, or the name of an error."""
        try:
            status: int = self._client.post(PATH, json={**BODY, **more}, headers=self._headers).status_code
        except httpx2.HTTPError as error:
            return type(error).__name__
        except LIBRARIES["httpx"].HTTPError as error:
            return type(error).__name__
        return status

    def begin(self, *, stream: bool = True, reads: bool = True) -> None:
        """Ask for an answer, and read one piece of it."""
        body = {**BODY, "stream": stream}
        request = self._client.build_request("POST", PATH, json=body, headers=self._headers)
        self._answer = self._client.send(request, stream=True)
        self._pieces = self._answer.iter_raw()
        if reads:
            next(self._pieces)

    def leave(self) -> None:
        """Want no more of it."""
        self._answer.close()

    def go_on(self) -> tuple[str, str] | bytes:
        """The rest of it, or how it breaks."""
        try:
            return b"".join(self._pieces)
        except Exception as error:
            return type(error).__name__, str(error)

    def close(self) -> None:
        """End the client."""
        self._client.close()


class TalkOnLoop(Talk):
    """The same for asynchronous clients."""

    def __init__(self, client: Any, key: str, runner: asyncio.Runner) -> None:
        super().__init__(client, key)
        self._run = runner.run

    def ask(self, **more: Any) -> int | str:
        async def ask() -> int:
            answer = await self._client.post(PATH, json={**BODY, **more}, headers=self._headers)
            status: int = answer.status_code
            return status

        try:
            return self._run(ask())
        except httpx2.HTTPError as error:
            return type(error).__name__
        except LIBRARIES["httpx"].HTTPError as error:
            return type(error).__name__

    def begin(self, *, stream: bool = True, reads: bool = True) -> None:
        async def begin() -> None:
            body = {**BODY, "stream": stream}
            request = self._client.build_request("POST", PATH, json=body, headers=self._headers)
            self._answer = await self._client.send(request, stream=True)
            self._pieces = self._answer.aiter_raw()
            if reads:
                await anext(self._pieces)

        self._run(begin())

    def leave(self) -> None:
        self._run(self._answer.aclose())

    def go_on(self) -> tuple[str, str] | bytes:
        async def go_on() -> bytes:
            return b"".join([piece async for piece in self._pieces])

        try:
            return self._run(go_on())
        except Exception as error:
            return type(error).__name__, str(error)

    def close(self) -> None:
        self._run(self._client.aclose())


class TalkOfAiohttp(TalkOnLoop):
    """The same for a session of aiohttp."""

    def ask(self, **more: Any) -> int | str:
        async def ask() -> int:
            async with self._client.post(PATH, json={**BODY, **more}, headers=self._headers) as answer:
                await answer.read()
                status: int = answer.status
                return status

        try:
            return self._run(ask())
        except (aiohttp.ClientError, TimeoutError) as error:
            return type(error).__name__

    def begin(self, *, stream: bool = True, reads: bool = True) -> None:
        async def begin() -> None:
            self._answer = await self._client.post(PATH, json={**BODY, "stream": stream}, headers=self._headers)
            if reads:
                await self._answer.content.readany()

        self._run(begin())

    def leave(self) -> None:
        async def leave() -> None:
            self._answer.close()

        self._run(leave())

    def go_on(self) -> tuple[str, str] | bytes:
        try:
            body: bytes = self._run(self._answer.read())
        except Exception as error:
            return type(error).__name__, str(error)
        return body

    def close(self) -> None:
        self._run(self._client.close())


@contextmanager
def talking(
    talker: Manner | Aiohttp, engy: EngyMock, key: str, *, has_socket: bool, seconds: float = 5.0
) -> Iterator[Talk]:
    """One client of this kind."""
    if isinstance(talker, Manner) and not talker.is_async:
        library: Any = LIBRARIES[talker.library]
        make = library.Client if has_socket else partial(engy.http_client, library)
        with make(base_url=engy.origin, timeout=seconds) as client:
            yield Talk(client, key)
        return
    with asyncio.Runner() as runner:
        if isinstance(talker, Manner):
            library = LIBRARIES[talker.library]
            make = library.AsyncClient if has_socket else partial(engy.async_http_client, library)
            talk: Talk = TalkOnLoop(make(base_url=engy.origin, timeout=seconds), key, runner)
        else:
            make = aiohttp.ClientSession if has_socket else engy.aiohttp_session

            async def session() -> aiohttp.ClientSession:
                return make(base_url=engy.origin, timeout=aiohttp.ClientTimeout(sock_read=seconds))

            talk = TalkOfAiohttp(runner.run(session()), key, runner)
        yield talk
        talk.close()


def books(engy: EngyMock, account: Any) -> tuple[Any, ...]:
    entry = engy.journal[0]
    charged = entry.charged_micro, account.charged_micro
    return entry.fate, entry.client_left, entry.pieces_sent, charged, account.held_micro, account.under_way


# Clients that end
# ----------------


@TALKER
def test_the_end_of_a_client_ends_its_answers(talker: Any) -> None:
    """Whoever keeps the answer hears what the library says of a connection that is gone; its place is free."""

    def course(*, has_socket: bool) -> list[Any]:
        with EngyMock() as engy:
            account = engy.account(max_concurrent=1)
            engy.when(stream=True).reply("one two three").faults(Stall(after=1))
            with talking(talker, engy, account.key, has_socket=has_socket) as talk:
                talk.begin()
                assert (engy.journal[0].fate, account.under_way) == ("waiting", 1)
                talk.close()
                until(lambda: engy.journal[0].fate != "waiting")
                heard = talk.go_on() if isinstance(talker, Manner) else None
                talk.leave()
            with talking(talker, engy, account.key, has_socket=has_socket) as talk:
                return [heard, books(engy, account), talk.ask()]

    over_socket = course(has_socket=True)
    assert course(has_socket=False) == over_socket
    assert over_socket[1][0] == "left"
    assert over_socket[2] == 200
    if isinstance(talker, Manner):
        assert over_socket[0][0] == "ReadError"


@pytest.mark.parametrize("has_socket", [True, False], ids=["over a socket", "inside"])
def test_official_clients_end_theirs(has_socket: bool) -> None:
    """A `with` block that is left, in both kinds of OpenAI's, frees the only place there is."""
    with EngyMock() as engy:
        account = engy.account(max_concurrent=1)
        engy.when(stream=True).reply("one two three").faults(Stall(after=1))
        http_client = None if has_socket else engy.http_client()
        with OpenAI(base_url=engy.base_url, api_key=account.key, http_client=http_client) as client:
            chunks = client.chat.completions.create(**BODY, stream=True)
            next(iter(chunks))
        until(lambda: account.under_way == 0)

        async def later() -> Any:
            inside = None if has_socket else engy.async_http_client()
            async with AsyncOpenAI(base_url=engy.base_url, api_key=account.key, http_client=inside) as client:
                chunks = await client.chat.completions.create(**BODY, stream=True)
                await anext(aiter(chunks))
            return chunks

        kept = asyncio.run(later())
        until(lambda: account.under_way == 0)
        assert [entry.fate for entry in engy.journal] == ["left"] * 2
        assert kept is not None
        assert account.held_micro == 0


async def test_whoever_waits_on_a_loop_hears_of_the_end_at_once() -> None:
    """Another task ends the client meanwhile."""
    with EngyMock() as engy:
        engy.when().reply("one two").faults(Stall(after=1))
        for client in (engy.async_http_client(timeout=None), httpx2.AsyncClient(timeout=None)):
            headers = {"Authorization": f"Bearer {engy.api_key}"}
            async with client.stream("POST", engy.origin + PATH, json=BODY, headers=headers) as answer:
                pieces = answer.aiter_raw()
                await anext(pieces)
                waiting = asyncio.ensure_future(anext(pieces))
                await asyncio.sleep(0)
                await client.aclose()
                with pytest.raises(httpx2.ReadError):
                    await waiting


def test_a_thread_that_waits_hears_of_the_end_when_its_time_is_up() -> None:
    """As on a socket, which wakes nobody whose file another thread has closed."""
    with EngyMock() as engy:
        engy.when(stream=True).reply("one two").faults(Stall(after=1))
        with talking(MANNERS[0], engy, engy.api_key, has_socket=False, seconds=SHORT_SECONDS) as talk:
            talk.begin()
            heard: list[Any] = []
            waiting = threading.Thread(target=lambda: heard.append(talk.go_on()))
            waiting.start()
            until(lambda: engy._inside is not None and engy._inside._bells)
            talk.close()
            waiting.join()
            assert heard[0][0] == "ReadError"
            assert (engy.journal[0].fate, engy.accounts.default.held_micro) == ("left", 0)


def test_a_transport_goes_on_behind_its_end() -> None:
    """It makes new connections, as those of the libraries do; what was kept is gone."""
    engy = EngyMock()
    transport = engy.transport()
    client = httpx2.Client(transport=transport, base_url="http://localhost")
    assert client.get("/v1/models").status_code == 200
    with engy.refuse_connections():
        assert client.get("/v1/models").status_code == 200
        transport.close()
        with pytest.raises(httpx2.ConnectError):
            client.get("/v1/models")
    assert client.get("/v1/models").status_code == 200


# Streams that are left
# ---------------------


@TALKER
@pytest.mark.parametrize("reads", [True, False], ids=["begun", "not begun"])
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
def test_an_answer_that_is_left_takes_its_connection_along(talker: Any, stream: bool, reads: bool) -> None:
    """The end has come, but nobody has read it: the next request is refused like any that needs a connection."""

    def course(*, has_socket: bool) -> list[Any]:
        with EngyMock() as engy:
            engy.when().reply("one two three")
            with talking(talker, engy, engy.api_key, has_socket=has_socket) as talk:
                said = [talk.ask(stream=stream)]
                with engy.refuse_connections():
                    said.append(talk.ask())
                    talk.begin(stream=stream, reads=reads)
                    talk.leave()
                    said.append(talk.ask())
                return said

    over_socket = course(has_socket=True)
    assert course(has_socket=False) == over_socket
    if isinstance(talker, Manner):
        assert over_socket == [200, 200, "ConnectError"]


@pytest.mark.parametrize("talker", MANNERS, ids=str)
def test_a_lease_that_was_left_is_nobodys(talker: Any) -> None:
    """Its connection is not used again, so nothing breaks."""

    def course(*, has_socket: bool) -> list[Any]:
        with EngyMock() as engy:
            engy.when().reply("one two three").faults({"kind": "idle-close", "requests": 2})
            said = []
            with talking(talker, engy, engy.api_key, has_socket=has_socket) as talk:
                for _ in range(3):
                    said.append(talk.ask(stream=True))
                    talk.begin()
                    talk.leave()
            return said

    over_socket = course(has_socket=True)
    assert course(has_socket=False) == over_socket == [200] * 3


# Silences in which nothing is noticed
# ------------------------------------


@TALKER
@pytest.mark.parametrize("stream", [True, pytest.param(False, marks=SLOW)], ids=["stream", "whole"])
@pytest.mark.parametrize("end", ["reset", pytest.param("stop", marks=SLOW), pytest.param("in time", marks=SLOW)])
def test_a_service_that_is_gone_notices_no_client(talker: Any, stream: bool, end: str) -> None:
    """`half-open`: the answer stays under way, and its hold open, until an idle timer or the mock ends it."""

    def course(*, has_socket: bool) -> list[Any]:
        stall_seconds = 4 * SHORT_SECONDS if end == "in time" else 600
        with EngyMock(limits=Limits(stall_seconds=stall_seconds)) as engy:
            account = engy.account(max_concurrent=1)
            engy.when(key=account.key, at=[1]).reply("one two three").faults({"kind": "half-open", "after": 2})
            seen: list[Any] = []
            with talking(talker, engy, account.key, has_socket=has_socket, seconds=SHORT_SECONDS) as talk:
                seen.append(talk.ask(stream=stream))
                seen.append(talk.ask())
            entry = engy.journal[0]
            seen.append(books(engy, account))
            if end != "in time":
                getattr(engy, end)()
            until(lambda: entry.fate != "waiting")
            seen += [entry.fate, entry.client_left, entry.charged_micro, account.held_micro, account.under_way]
            return seen

    over_socket = course(has_socket=True)
    assert course(has_socket=False) == over_socket
    assert over_socket[1] == 429
    assert over_socket[2][:2] == ("waiting", False)
    assert over_socket[3:5] == ["cut off", False]
    assert over_socket[6:] == [0, 0]


@TALKER
def test_who_leaves_before_the_silence_is_not_noticed_either(talker: Any) -> None:
    """Once its last words are out, nothing is read."""
    for has_socket in (True, False):
        with EngyMock() as engy:
            account = engy.account(max_concurrent=1)
            engy.when(stream=True).reply("one two three").faults({"kind": "half-open", "after": 2})
            with talking(talker, engy, account.key, has_socket=has_socket) as talk:
                talk.begin()
                talk.leave()
                assert talk.ask() == 429
            assert books(engy, account)[:3] == ("waiting", False, 2)


# Resets
# ------


@TALKER
def test_a_reset_leaves_idle_connections_alone(talker: Any) -> None:
    """They live on, and nothing is left of their leases."""

    def course(*, has_socket: bool) -> list[Any]:
        with EngyMock() as engy, talking(talker, engy, engy.api_key, has_socket=has_socket) as talk:
            engy.when().reply("one").faults({"kind": "idle-close", "requests": 1})
            said = [talk.ask()]
            engy.reset()
            with engy.refuse_connections():
                said += [talk.ask(), talk.ask(stream=True), talk.ask()]
            return said

    over_socket = course(has_socket=True)
    assert course(has_socket=False) == over_socket == [200] * 4
