"""What is no HTTP is refused in the words of the path that it was sent to (E-5, E-11, S-80)."""

import json

import anthropic
import pytest
import scale_gp_beta

from engy_mock.serving.plain import target_of
from tests.doors.raw import Raw, request

LONG = "x" * 9000
WORDS = "the request line or a header is too long"

OPENAI = {"error": {"message": WORDS, "type": "invalid_request_error", "param": None, "code": 400}}
ANTHROPIC = {"type": "error", "error": {"type": "invalid_request_error", "message": WORDS}}


class Listener:
    """Notes the ids of all exchanges that are over."""

    def __init__(self):
        self.ids = []

    def began(self, seen):
        """Nothing is known yet."""

    def ended(self, seen):
        """An exchange is over."""
        self.ids.append(seen.entry.request_id)


@pytest.mark.parametrize(
    ("path", "said", "id_headers"),
    [
        ("/v1/chat/completions", OPENAI, {"X-Engy-Request-Id", "x-request-id"}),
        ("/v1/messages", ANTHROPIC, {"X-Engy-Request-Id", "x-request-id", "request-id"}),
        ("/v1/messages/count_tokens?x=1", ANTHROPIC, {"X-Engy-Request-Id", "x-request-id", "request-id"}),
        ("http://localhost/v1/messages", ANTHROPIC, {"X-Engy-Request-Id", "x-request-id", "request-id"}),
        ("/v5/models", {"detail": WORDS}, set()),
        ("/public/v5/completions", {"detail": WORDS}, set()),
        ("/", OPENAI, {"X-Engy-Request-Id", "x-request-id"}),
        (f"/v1/messages?{LONG}", ANTHROPIC, {"X-Engy-Request-Id", "x-request-id", "request-id"}),
        (f"/v5/{LONG}", {"detail": WORDS}, set()),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_in_the_words_of_the_path(engy, path, said, id_headers):
    """With an id of its own wherever answers have one; not in the journal, as nobody knows what was asked."""
    ids, seen = [], Listener()
    engy.watch.listeners.append(seen)
    for _ in range(2):
        with Raw(engy.port) as raw:
            raw.send(request(path, b"", f"A: {LONG}"))
            head, _, body = raw.read_to_end()[0].partition(b"\r\n\r\n")
        status, *lines = head.decode().split("\r\n")
        assert status == "HTTP/1.1 400 Bad Request"
        assert json.loads(body) == said
        headers = dict(line.split(": ", 1) for line in lines)
        assert {name for name in headers if name.lower().endswith("request-id")} == id_headers
        ids.append(headers.get("X-Engy-Request-Id"))
    assert (len(set(ids)) == 2) == bool(id_headers)
    assert seen.ids == [own or "" for own in ids], "who watches knows the same ids"
    assert not engy.journal


@pytest.mark.parametrize(
    "sent",
    [
        b"FOO /v1/messages HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /v1/messages HTTP/1.1\r\n\r\n",
        b"GET /v1/messages HTTP/1.1\r\nHost: localhost\r\nbad header\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: abc\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    ],
)
def test_whatever_is_wrong_with_it(engy, sent):
    with Raw(engy.port) as raw:
        raw.send(sent)
        body = raw.read_to_end()[0].partition(b"\r\n\r\n")[2]
    told = json.loads(body)
    assert (told["type"], told["error"]["type"]) == ("error", "invalid_request_error")


def test_inside_the_process_as_well(engy):
    with engy.http_client() as client:
        answer = client.post("/v1/messages", headers={"a": LONG}, json={})
    assert (answer.status_code, answer.json()["error"]) == (400, ANTHROPIC["error"])


def test_official_clients_can_read_it(engy):
    """The exception has the words, and the id where the client shows one."""
    headers = {"x-trace": LONG}
    with (
        anthropic.Anthropic(max_retries=0, default_headers=headers) as client,
        pytest.raises(anthropic.BadRequestError) as caught,
    ):
        client.messages.create(model="glm-5.2", max_tokens=5, messages=[{"role": "user", "content": "x"}])
    assert (caught.value.type, bool(caught.value.request_id)) == ("invalid_request_error", True)
    with (
        scale_gp_beta.SGPClient(account_id="a", base_url=engy.origin, max_retries=0) as scale,
        pytest.raises(scale_gp_beta.BadRequestError) as refused,
    ):
        scale.models.list(name="n" * 9000)
    assert refused.value.body == {"detail": WORDS}


@pytest.mark.parametrize(
    ("opening", "path"),
    [
        (b"GET /a/b?c HTTP/1.1\r\n", "/a/b"),
        (b"GET /a/b", "/a/b"),
        (b"GET http://h:1/a/b HTTP/1.1", "/a/b"),
        (b"\x16\x03\x01", "/"),
        (b"", "/"),
        (b"GET *", "/"),
        ("GET /caf\u00e9 HTTP/1.1".encode(), "/"),
        (b"GET /" + b"a" * 5000, "/" + "a" * 2043),
    ],
)
def test_the_path_of_what_cannot_be_read(opening, path):
    assert target_of(opening) == path


def test_other_doors_have_no_ids_to_give():
    """A recorder passes on what a service says, and has no ids of its own."""
    from engy_mock.serving.relay import Nobody
    from engy_mock.vocabulary.errors import InvalidRequest

    whole = Nobody().turned_away("/v1/messages", InvalidRequest("no"))
    assert json.loads(whole.body)["error"]["message"] == "no"
    assert [name for name, _ in whole.head.headers] == ["Content-Type"]
    assert whole.head.status == 400
