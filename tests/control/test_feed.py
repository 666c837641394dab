"""The live feed tells exchanges as they happen."""

import json
import threading

import httpx2
import pytest

from engy_mock import EngyMock, Limits
from tests.control.conftest import CONTROL, Caller
from tests.doors.raw import Raw, request


class Events:
    """The server-sent events of one reader."""

    def __init__(self, response):
        self._lines = response.iter_lines()

    def next(self):
        """The name and the data of the next event."""
        event = ""
        for line in self._lines:
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
            elif line.startswith("data: "):
                return event, json.loads(line.removeprefix("data: "))
        raise EOFError


@pytest.fixture
def running(engy):
    with engy:
        yield engy


@pytest.fixture
def feed(running):
    """Opens a feed; what it gives back tells its events."""
    with httpx2.Client(base_url=running.origin, headers=CONTROL, trust_env=False, timeout=10) as client:
        opened = []

        def open_feed(query="", **headers):
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            stream = client.stream("GET", f"/_mock/feed{query}", headers={"user-agent": "python", **named})
            response = stream.__enter__()
            opened.append(stream)
            assert response.status_code == 200
            assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
            return Events(response)

        yield open_feed
        for stream in opened:
            stream.__exit__(None, None, None)


def test_exchanges_are_told_as_they_happen(running, feed):
    ask = Caller(running)
    ask.chat("before")
    new, all_of_them = feed(), feed("?after=-1")
    name, first = all_of_them.next()
    assert (name, first["number"], first["asked"], first["is_over"]) == ("exchange", 0, "before", True)
    ask.chat("after")
    for events in (new, all_of_them):
        name, told = events.next()
        while not told["is_over"]:
            name, told = events.next()
        assert (name, told["number"], told["asked"], told["status"]) == ("exchange", 1, "after", 200)


def test_an_exchange_is_told_again_when_it_ends(running, feed):
    """First that it is under way, later what became of it."""
    running.when(says="for ever").reply("one two three", faults=["stall"])
    events = feed()
    with httpx2.Client(base_url=running.origin, trust_env=False, timeout=10) as client:
        body = {
            "model": "glm-5.2",
            "stream": True,
            "messages": [{"role": "user", "content": "for ever"}],
        }
        headers = {"authorization": f"Bearer {running.api_key}"}
        with client.stream("POST", "/v1/chat/completions", json=body, headers=headers):
            _, told = events.next()
            assert (told["is_over"], told["client_left"], told["faults"]) == (False, False, ["stall"])
    while not told["is_over"]:
        _, told = events.next()
    assert told["client_left"] is True


def test_a_reset_is_told_and_breaks_no_feed(running, feed):
    """The answers of the service are broken off; who watches goes on."""
    ask = Caller(running)
    ask.chat("one")
    events = feed()
    ask("POST", "reset", {})
    assert events.next() == ("reset", {})
    ask.chat("two")
    name, told = events.next()
    assert (name, told["number"], told["asked"]) == ("exchange", 0, "two")


def test_a_reader_that_comes_back_goes_on_where_it_was(running, feed):
    """By the id of the last event, as browsers send it; that of a query is older then."""
    ask = Caller(running)
    for text in ("one", "two", "three"):
        ask.chat(text)
    for query in ("", "?after=-1"):
        name, told = feed(query, Last_Event_ID="0").next()
        assert (name, told["asked"]) == ("exchange", "two")


@pytest.mark.parametrize("came_by", [{"query": "?after=50"}, {"Last_Event_ID": "50"}])
def test_a_number_of_another_journal_begins_anew(running, feed, came_by):
    """After a restart or a reset numbers begin at 0: what was seen before is told to be gone, the rest is told."""
    ask = Caller(running)
    ask.chat("there")
    events = feed(**came_by)
    assert events.next() == ("reset", {})
    assert events.next()[1]["asked"] == "there"
    ask.chat("new")
    name, told = events.next()
    assert (name, told["number"], told["asked"]) == ("exchange", 1, "new")


def test_a_number_of_this_journal_is_no_reason_to_begin_anew(running, feed):
    ask = Caller(running)
    ask.chat("there")
    events = feed("?after=0")
    ask.chat("new")
    assert events.next()[1]["asked"] == "new"


def test_what_is_no_number_of_an_exchange_is_refused(ask):
    for name, number in (("Last-Event-ID", "x"), ("Last-Event-ID", "-2"), ("Last-Event-ID", "1_0")):
        said = ask("GET", "feed", status=400, **{name: number})["error"]["message"]
        assert said == f"Last-Event-ID is the number of an exchange, not {number}"


def test_a_reset_over_a_socket_breaks_off_the_others_alone(running):
    running.when(says="for ever").reply("one two three", faults=["stall"])
    began = threading.Event()
    ended: list[str] = []

    def wait_for_ever():
        body = {"model": "glm-5.2", "stream": True, "messages": [{"role": "user", "content": "for ever"}]}
        headers = {"authorization": f"Bearer {running.api_key}"}
        with httpx2.Client(base_url=running.origin, trust_env=False, timeout=10) as client:
            try:
                with client.stream("POST", "/v1/chat/completions", json=body, headers=headers) as response:
                    began.set()
                    response.read()
            except httpx2.TransportError as error:
                ended.append(type(error).__name__)

    waiting = threading.Thread(target=wait_for_ever)
    waiting.start()
    assert began.wait(10)
    with httpx2.Client(base_url=running.origin, headers=CONTROL, trust_env=False, timeout=10) as client:
        answer = client.post("/_mock/reset", json={}, headers={"user-agent": "python"})
        assert answer.status_code == 200
        assert client.get("/_mock/health").status_code == 200
    waiting.join(10)
    assert len(ended) == 1


@pytest.mark.slow
@pytest.mark.parametrize("header", ["X-Plain: a", "X-Odd:  spaced"])
@pytest.mark.parametrize("is_full", [False, True])
def test_a_feed_is_never_idle(header, is_full):
    """However little happens, and however many others come (Q-16)."""
    limits = Limits(max_connections=4) if is_full else Limits(idle_seconds=0.2)
    with EngyMock(control=True, limits=limits) as mock, Raw(mock.port) as events:
        events.send(request("/_mock/feed", b"", "X-Engy-Mock-Control: 1", header, method="GET"))
        events.read_until(b"exchanges of this mock")
        others = [Raw(mock.port) for _ in range(6)]
        assert others[0].read_to_end() == (b"", "fin")
        if not is_full:
            with Raw(mock.port) as later:
                assert later.read_to_end() == (b"", "fin")
        with Raw(mock.port) as asking:
            asking.send(request("/v1/models", b"", method="GET"))
            asking.read_answer()
        assert b'"path":"/v1/models"' in events.read_until(b"}\n\n")
        for other in others:
            other.leave()
