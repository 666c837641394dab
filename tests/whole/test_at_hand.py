"""Whole answers without a socket: whatever a client does with them, it sees what it would see over one."""

import copy
import pickle

import httpx
import httpx2
import pytest

from engy_mock import EngyMock

HELLO = {"model": "glm-5.2", "max_tokens": 16, "messages": [{"role": "user", "content": "Hello."}]}


def state(response):
    """What is left of a response that can be compared: its kind but for a subclass, and its marks."""
    return (
        isinstance(response, (httpx.Response, httpx2.Response)),
        repr(response),
        response.is_closed,
        response.is_stream_consumed,
        response.num_bytes_downloaded,
    )


def attempt(work):
    """What something gives, or the exception that it raises."""
    try:
        return work()
    except Exception as error:
        return type(error), str(error)


def in_pieces(response, size):
    return [*response.iter_bytes(size)], response.content


def left(response):
    """Read one piece and no more."""
    first = next(pieces := response.iter_bytes())
    pieces.close()
    return first, attempt(response.read), attempt(lambda: [*response.iter_raw()])


def downloaded(response):
    return [(len(piece), response.num_bytes_downloaded) for piece in response.iter_bytes()]


def packed(response):
    """Read, packed and unpacked: by then it is one of the library's own."""
    response.read()
    again = pickle.loads(pickle.dumps(response))
    return type(again).__module__, again.content, again.headers.raw, state(again), copy.copy(response).json()


def begun_late(response):
    """Closed between asking for the pieces and taking them."""
    pieces = response.iter_bytes()
    response.close()
    return attempt(lambda: [*pieces])


WAYS = {
    "begun late": begun_late,
    "read": lambda response: (response.read(), response.read(), response.json()),
    "text": lambda response: (response.read(), response.text, [*response.iter_text()]),
    "lines": lambda response: [*response.iter_lines()],
    "bytes": lambda response: ([*response.iter_bytes()], attempt(lambda: response.content)),
    "bytes twice": lambda response: ([*response.iter_bytes()], attempt(lambda: [*response.iter_bytes()])),
    "small pieces": lambda response: in_pieces(response, 7) if response.read() else None,
    "pieces of a stream": lambda response: [*response.iter_bytes(100)],
    "raw": lambda response: ([*response.iter_raw()], attempt(response.read)),
    "closed": lambda response: (response.close(), attempt(response.read), attempt(lambda: response.content)),
    "left": left,
    "downloaded": downloaded,
    "packed": packed,
    "unread": lambda response: attempt(lambda: response.content),
}


def seen(client, way, **options):
    """What a client sees of one answer."""
    with client.stream("POST", "/v1/chat/completions", json=HELLO, **options) as response:
        found = WAYS[way](response)
    return found, state(response), response.elapsed is not None


@pytest.mark.parametrize("library", [httpx2, httpx], ids=["httpx2", "httpx"])
@pytest.mark.parametrize("way", WAYS)
def test_a_whole_answer(library, way):
    """Its bytes, its pieces, its marks, and what is said to who asks too much."""
    results = []
    for is_inside in (False, True):
        with EngyMock() as engy:
            headers = {"authorization": f"Bearer {engy.api_key}"}
            options = {"base_url": engy.origin, "headers": headers}
            client = engy.http_client(library, **options) if is_inside else library.Client(**options)
            with client:
                results.append(seen(client, way))
    assert results[0] == results[1]


@pytest.mark.parametrize("library", [httpx2, httpx], ids=["httpx2", "httpx"])
def test_one_in_a_coding(library):
    """It is decoded as over a socket."""
    results = []
    for is_inside in (False, True):
        with EngyMock() as engy:
            engy.when().faults("gzip-truncated")
            headers = {"authorization": f"Bearer {engy.api_key}", "accept-encoding": "gzip"}
            options = {"base_url": engy.origin, "headers": headers}
            client = engy.http_client(library, **options) if is_inside else library.Client(**options)
            with client, client.stream("POST", "/v1/chat/completions", json=HELLO) as response:
                results.append((response.headers["content-encoding"], attempt(response.read), state(response)))
    assert results[0] == results[1]


async def test_an_asynchronous_one_is_not_for_blocking_reads():
    """As the library has it."""
    engy = EngyMock()
    async with (
        engy.async_http_client(headers={"authorization": f"Bearer {engy.api_key}"}) as client,
        client.stream("POST", "/v1/chat/completions", json=HELLO) as response,
    ):
        with pytest.raises(RuntimeError, match="sync iterator on an async stream"):
            response.read()
        assert await response.aread()
