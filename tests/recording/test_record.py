"""A recorder passes everything on as it is, and writes down what it may."""

import gzip
import json
import socket
import stat
import zlib
from typing import Any

import httpx2
import pytest
from anthropic import Anthropic
from openai import APIConnectionError, APIStatusError, OpenAI

from engy_mock import Limits, ToolCall
from engy_mock.recording import cassette as cassettes
from engy_mock.recording.cassette import COMMENT, read
from engy_mock.recording.tape import Tape
from engy_mock.serving.unpacking import Unpacking
from engy_mock.serving.upstream import returned
from engy_mock.vocabulary.errors import MockError
from tests.doors.raw import PATIENCE, Raw, request
from tests.waiting import until

HELLO: Any = [{"role": "user", "content": "What is the capital of France?"}]
CHAT: Any = {"model": "glm-5.2", "messages": HELLO}
POSTS: dict[str, tuple[str, Any]] = {
    "chat": ("/v1/chat/completions", CHAT),
    "chat stream": ("/v1/chat/completions", {**CHAT, "stream": True}),
    "completions": (
        "/v1/completions",
        {"model": "glm-5.2", "prompt": "The capital of France is", "max_tokens": 3},
    ),
    "messages": ("/v1/messages", {**CHAT, "max_tokens": 50}),
    "messages stream": ("/v1/messages", {**CHAT, "max_tokens": 50, "stream": True}),
    "responses": ("/v1/responses", {"model": "glm-5.2", "input": "Hello!"}),
    "responses stream": ("/v1/responses", {"model": "glm-5.2", "input": "Hello!", "stream": True}),
    "count_tokens": ("/v1/messages/count_tokens", CHAT),
    "refusal": ("/v1/chat/completions", {**CHAT, "model": "nope"}),
    "refused messages": ("/v1/messages", {**CHAT, "model": "nope", "max_tokens": 5}),
}


def post(recorder, path, body, **headers):
    headers = {"authorization": "Bearer sk-of-the-client-0815", **headers}
    with httpx2.Client(base_url=recorder.origin, trust_env=False, timeout=PATIENCE) as client:
        return client.post(path, json=body, headers=headers)


@pytest.mark.parametrize("case", POSTS)
def test_the_client_gets_what_the_service_says(service, recorder, case):
    """Status, body and the headers that say something are those of the service, in every dialect."""
    path, body = POSTS[case]
    through = post(recorder, path, body)
    entry = service.journal.last
    assert entry.json() == body
    assert through.status_code == entry.status
    assert through.headers["x-engy-request-id"] == entry.request_id
    (exchange,) = recorder.cassette.exchanges
    assert (exchange.request.method, exchange.request.path) == ("POST", path)
    assert exchange.request.body.json_ == body
    assert exchange.answer.status == entry.status
    if body.get("stream"):
        assert b"".join([event.data for event in exchange.answer.events]) == through.content
        assert [event.at for event in exchange.answer.events] == sorted(
            event.at for event in exchange.answer.events
        )
    else:
        assert exchange.answer.body.data == through.content
    if case in ("chat", "chat stream", "messages", "messages stream"):
        assert exchange.answer.said["text"] == "The capital of France is Paris."


def test_the_models_page_needs_no_body(service, recorder):
    """A GET is recorded like the rest."""
    with httpx2.Client(base_url=recorder.base_url, trust_env=False) as client:
        listed = client.get("/models?limit=5")
    assert len(listed.json()["data"]) == 8
    (exchange,) = recorder.cassette.exchanges
    assert (exchange.request.query, exchange.request.body) == ("limit=5", None)


def test_official_clients_notice_nothing(service, recorder):
    """OpenAI's and Anthropic's clients speak through a recorder; their keys stay here (Q-31)."""
    with OpenAI(base_url=recorder.base_url, api_key="sk-mine-1234567", max_retries=0) as client:
        whole = client.chat.completions.create(**CHAT)
        stream = client.chat.completions.create(**CHAT, stream=True)
        text = "".join(choice.delta.content or "" for chunk in stream for choice in chunk.choices)
    with Anthropic(base_url=recorder.origin, api_key="ant-mine-1234567", max_retries=0) as client:
        message = client.messages.create(**CHAT, max_tokens=100)
        with client.messages.stream(**CHAT, max_tokens=100) as events:
            told = events.get_final_text()
    assert whole.choices[0].message.content == text == message.content[1].text == told
    assert [entry.account for entry in service.journal] == ["real"] * 4
    assert [one.answer.ending for one in recorder.cassette.exchanges] == ["end"] * 4
    for secret in ("mine-1234567", "the-real-one"):
        assert secret not in recorder.text


def test_a_redirect_is_refused(service, recorder):
    """A service that points elsewhere is not followed, and the client does not learn where to (Q-30)."""
    service.when().faults("redirect-loop")
    answer = post(recorder, *POSTS["chat"])
    assert (answer.status_code, "location" in answer.headers) == (502, False)
    assert "another address" in answer.json()["error"]["message"]
    assert len(service.journal) == 1
    assert recorder.cassette.exchanges == ()


@pytest.mark.parametrize(
    ("path", "place"), [("/v1/chat/completions", "code"), ("/v1/messages", "type"), ("/v1/nope", "code")]
)
def test_a_service_that_is_down_is_502_in_the_dialect_of_the_path(record, path, place):
    """Nobody listens there: the client hears so in the form that it knows, and nothing is recorded."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    recorder = record(f"http://127.0.0.1:{port}/v1")
    answer = post(recorder, path, {"model": "glm-5.2"})
    assert answer.status_code == 502
    assert answer.json()["error"][place] == {"code": 502, "type": "api_error"}[place]
    assert answer.json()["error"]["message"] == "the upstream cannot be reached"
    assert recorder.cassette.exchanges == ()


@pytest.mark.parametrize("kind", ["reset", "cut"])
def test_a_stream_that_breaks_is_recorded_as_it_broke(service, recorder, kind):
    """The client sees the same break, and the cassette has the pieces before it."""
    service.when(stream=True).reply("one two three four", faults=[{"kind": kind, "after": 2}])
    with OpenAI(base_url=recorder.base_url, api_key="any", max_retries=0) as client:
        pieces: list[str] = []
        chunks = client.chat.completions.create(**CHAT, stream=True)
        heard = (choice.delta.content for chunk in chunks for choice in chunk.choices if choice.delta.content)
        with pytest.raises(APIConnectionError):
            pieces.extend(heard)
    assert pieces == ["one", " two"]
    (exchange,) = recorder.cassette.exchanges
    assert exchange.answer.ending == {"reset": "reset", "cut": "close"}[kind]
    assert exchange.answer.said["text"] == "one two"


def test_a_client_that_leaves_is_recorded_as_one(service, recorder):
    """What had come until then stands in the cassette, and the service is left alone from then on."""
    service.when(stream=True).reply("one two three four", faults=[{"kind": "stall", "after": 2}])
    with Raw(recorder.port) as raw:
        raw.send(request("/v1/chat/completions", json.dumps({**CHAT, "stream": True}).encode()))
        raw.read_until(b"two")
    until(lambda: recorder.tape.count == 1)
    (exchange,) = recorder.cassette.exchanges
    assert (exchange.answer.ending, exchange.answer.said["text"]) == ("left", "one two")
    until(lambda: service.journal.last.client_left)


def test_streams_are_passed_on_as_they_come(service, recorder):
    """The client has the first piece while the service is silent, and the gap is written down."""
    service.when(stream=True).reply("one two three", faults=[{"kind": "stall", "after": 1}])
    with Raw(recorder.port) as raw:
        raw.send(request("/v1/chat/completions", json.dumps({**CHAT, "stream": True}).encode()))
        assert raw.read_until(b"one").startswith(b"HTTP/1.1 200 OK\r\n")
        assert recorder.tape.count == 0


def test_large_bodies(service, recorder):
    """A request of a megabyte goes through; one above the cap is refused here, in the dialect of the path."""
    long = {**CHAT, "messages": [{"role": "user", "content": "word " * 200_000}], "max_tokens": 1}
    answer = post(recorder, "/v1/chat/completions", long)
    assert answer.status_code == 200, answer.text
    (exchange,) = recorder.cassette.exchanges
    assert exchange.request.body.json_ == long


def test_the_cap_of_bodies(service, record):
    """A body above the cap never reaches the service."""
    recorder = record(service.base_url, limits=Limits(body_bytes=1000))
    answer = post(recorder, "/v1/messages", {"model": "x", "messages": [], "more": "x" * 2000})
    assert (answer.status_code, answer.json()["error"]["type"]) == (413, "request_too_large")
    assert len(service.journal) == 0


def test_an_answer_above_the_cap_is_cut_in_the_cassette_alone(service, recorder, monkeypatch):
    """The client gets all of it, and the record says that it has not (Q-37)."""
    monkeypatch.setattr("engy_mock.recording.tape.MAX_KEPT", 100)
    answer = post(recorder, *POSTS["chat"])
    assert len(answer.content) > 100
    assert answer.json()["choices"][0]["message"]["content"] == "The capital of France is Paris."
    (exchange,) = recorder.cassette.exchanges
    assert exchange.answer.cut
    assert exchange.answer.body.data == answer.content[:100]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (("Host: evil.test",), 403),
        (("Host: 0.0.0.0",), 403),
        (("Host: 127.0.0.1", "Origin: http://localhost:5173"), 403),
        (("Host: 127.0.0.1", "Sec-Fetch-Site: cross-site"), 403),
        (("Host: 127.0.0.1", "X-Forwarded-Host: evil.test"), 200),
    ],
)
def test_nothing_in_a_request_chooses_the_service(service, recorder, headers, status):
    """Foreign names and pages are refused, and other headers change nothing (Q-30)."""
    body = json.dumps(CHAT).encode()
    with Raw(recorder.port) as raw:
        head = "\r\n".join(["POST /v1/chat/completions HTTP/1.1", *headers, f"Content-Length: {len(body)}"])
        raw.send(head.encode() + b"\r\n\r\n" + body)
        answer = raw.read_until(b"\r\n\r\n")
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert len(service.journal) == (status == 200)


def test_an_absolute_address_leads_to_the_service_too(service, recorder):
    """The form that proxies are spoken to in names no host here (Q-30)."""
    body = json.dumps(CHAT).encode()
    with Raw(recorder.port) as raw:
        raw.send(request("http://127.0.0.1:1/v1/chat/completions", body))
        assert raw.read_until(b"\r\n").startswith(b"HTTP/1.1 200 ")
    assert len(service.journal) == 1


@pytest.mark.parametrize("path", ["/v2/models", "/v1/../admin", "/v1/%2e%2e/admin", "/v1x/models"])
def test_paths_stay_below_the_base(service, recorder, path):
    """Only what lies below the address of the service is asked there."""
    with Raw(recorder.port) as raw:
        raw.send(request(path, b"", method="GET"))
        assert raw.read_until(b"\r\n").startswith(b"HTTP/1.1 404 ")
    assert len(service.journal) == 0


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ftp://127.0.0.1/v1", "is no address of a service"),
        ("api.engy.ai/v1", "is no address of a service"),
        ("https://me:pass@api.engy.ai/v1", "neither a name, a password nor a query"),
        ("https://api.engy.ai/v1?key=1", "neither a name, a password nor a query"),
        ("http://192.0.2.1/v1", "for everybody to read"),
        ("https://127.0.0.1:99999/v1", "is no address of a service"),
    ],
)
def test_addresses_that_cannot_be(record, address, message):
    """What is wrong with an address is said at the start."""
    with pytest.raises(MockError, match=message):
        record(address)


def test_a_longer_prefix_is_put_in_front(service, record):
    """Clients say `/v1`, whatever stands before it there."""
    recorder = record(f"{service.origin}/public/v5")
    assert recorder.thread.origin
    with httpx2.Client(base_url=recorder.origin, trust_env=False) as client:
        answer = client.post(
            "/v5/chat/completions",
            json={"model": "openai/gpt-4o", "messages": HELLO},
            headers={"x-api-key": "mine-mine-mine"},
        )
    assert answer.status_code == 200, answer.text
    (exchange,) = recorder.cassette.exchanges
    assert exchange.request.path == "/v5/chat/completions"


def test_the_file_is_for_its_owner_alone(service, recorder):
    """Whoever else uses the machine does not read what was said."""
    post(recorder, *POSTS["chat"])
    assert stat.S_IMODE(recorder.tape.path.stat().st_mode) == 0o600


HEAD = "---\nengy_mock_cassette: 1\n...\n"


@pytest.mark.parametrize(
    "text",
    [
        'import os\n\nCASSETTE = """\n' + HEAD + '"""\n',
        "description: a scenario\nrules: []\n",
        "# A list of things.\n---\nname: engy_mock_cassette\n...\n" + HEAD,
        "\n",
        "\ufffd\x00",
    ],
)
def test_nothing_is_written_into_what_is_no_cassette(tmp_path, text):
    """A wrong word on the command line spoils no other file."""
    path = tmp_path / "mine"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)
    with pytest.raises(MockError, match="mine: no cassette: it does not begin with `engy_mock_cassette: 1`"):
        Tape(path, "https://api.engy.ai/v1")
    assert path.read_text(encoding="utf-8") == text
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("---\nengy_mock_cassette: 99\n...\n", "line 2, engy_mock_cassette: input should be 1"),
        (HEAD + "---\nname: stray\n...\n", "line 5, "),
        (HEAD + "---\nexchange: 0\nrequest: {}\nanswer: {}\n...\n", "line 5, exchange"),
        (HEAD + "---\n{\n...\n", "line "),
    ],
)
def test_nothing_is_written_behind_what_cannot_be_played(tmp_path, text, said):
    """A recording of hours is of no use in a file of which not all is a cassette: that is told at the start."""
    path = tmp_path / "mine"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MockError) as refused:
        Tape(path, "https://api.engy.ai/v1")
    assert f"mine, {said}" in str(refused.value)
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("text", ["", HEAD, "# Mine.\n\n--- \nupstream: x\n" + HEAD[4:], COMMENT, COMMENT[:9]])
def test_a_cassette_goes_on(tmp_path, text):
    """What is empty, begun or torn in its first line is a cassette afterwards."""
    path = tmp_path / "mine"
    path.write_text(text, encoding="utf-8")
    Tape(path, "https://api.engy.ai/v1").close()
    assert path.read_text(encoding="utf-8").startswith(text)
    assert read(path).upstream == "https://api.engy.ai/v1"


def test_two_recorders_do_not_share_a_file(record, service):
    """The second one is told so."""
    first = record(service.base_url)
    with pytest.raises(MockError, match="cannot be written"):
        cassettes_tape(first)


def cassettes_tape(recorder):
    from engy_mock.recording.tape import Tape

    return Tape(recorder.tape.path, "http://127.0.0.1/v1")


@pytest.mark.slow
def test_a_cassette_has_the_form_that_its_schema_tells(service, recorder):
    """The schema that editors get fits what is written."""
    import jsonschema
    import yaml

    service.when(says="call").reply(tool_calls=[ToolCall("f", x=1)])
    for path, body in POSTS.values():
        post(recorder, path, body)
    documents = list(yaml.safe_load_all(recorder.text))
    assert documents[0] == {"engy_mock_cassette": 1, "upstream": service.base_url}
    assert len(documents) == len(POSTS) + 1
    for document in documents[1:]:
        jsonschema.validate(document, cassettes.schema())


def test_an_error_of_the_service_is_an_error_of_the_client(service, recorder):
    """A refusal with its hints comes through, and is recorded."""
    service.when().refuse(429, "too fast", retry_after=7)
    with (
        OpenAI(base_url=recorder.base_url, api_key="any", max_retries=0) as client,
        pytest.raises(APIStatusError) as refused,
    ):
        client.chat.completions.create(**CHAT)
    assert refused.value.response.headers["retry-after"] == "7"
    (exchange,) = recorder.cassette.exchanges
    assert (exchange.answer.status, exchange.answer.headers["retry-after"]) == (429, "7")


@pytest.mark.parametrize("kind", ["gzip-truncated", "gzip-corrupt"])
def test_bodies_that_are_packed_wrongly(service, recorder, kind):
    """The client gets the very bytes; the cassette has what can be read of them, as an answer that broke off."""
    service.when().faults(kind)
    body = json.dumps(CHAT).encode()
    with Raw(recorder.port) as raw:
        raw.send(request("/v1/chat/completions", body, "Accept-Encoding: gzip"))
        head, data = raw.read_answer()
    assert b"content-encoding: gzip" in head.lower()
    assert b"\x1f\x8b" in data
    (exchange,) = recorder.cassette.exchanges
    assert exchange.answer.ending == "close"


def test_a_packed_stream_is_recorded_as_its_events(service, recorder):
    """What stands in the file is the text."""
    service.when(stream=True).reply("one two", faults=["gzip-unflushed"])
    answer = post(recorder, "/v1/chat/completions", {**CHAT, "stream": True}, **{"accept-encoding": "gzip"})
    (exchange,) = recorder.cassette.exchanges
    assert exchange.answer.said["text"] == "one two"
    assert b"".join([event.data for event in exchange.answer.events]) == answer.content
    assert exchange.answer.ending == "end"


@pytest.mark.slow
@pytest.mark.parametrize("coding", ["", "identity", "gzip", "deflate", "br"])
def test_unpacking(coding):
    """Piece by piece the same text; what cannot be read is never taken for a whole."""
    text = b"one two three " * 50
    packed = {"gzip": gzip.compress(text), "deflate": zlib.compress(text)}.get(coding, text)
    unpacking = Unpacking(coding)
    told = b"".join([unpacking.add(packed[place : place + 7]) for place in range(0, len(packed), 7)])
    assert told == (b"" if coding == "br" else text)
    assert unpacking.is_over == (coding != "br")
    cut = Unpacking(coding)
    cut.add(packed[:-3])
    assert cut.is_over == (coding in ("", "identity"))
    bomb = Unpacking("gzip")
    assert len(bomb.add(gzip.compress(bytes(50_000_000)))) <= 4 * 1024 * 1024
    assert not bomb.is_sound


def test_headers_of_one_connection_end_here():
    """Framing, cookies and what no head can hold are not passed on."""
    passed = returned({"Keep-Alive": "5", "Set-Cookie": "a=b", "X-Odd": "\xe9\u20ac", "X-Good": "1"})
    assert passed == [("X-Good", "1")]
