"""What the official clients for Python make of the faults of HTTP: an exception, a foreign one, or nothing.

The clients are as they come and try again; nothing waits, the waits they ask for are noted down.
"""

import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from typing import Any

import pytest
from anthropic import Anthropic
from openai import OpenAI
from scale_gp_beta import SGPClient

from engy_mock import EngyMock

HELLO: list[Any] = [{"role": "user", "content": "Hello!"}]
CLIENTS: dict[str, tuple[str, Callable[[EngyMock], Any]]] = {
    "op": ("openai", lambda engy: OpenAI(base_url=engy.base_url, api_key=engy.api_key)),
    "ap": ("anthropic", lambda engy: Anthropic(base_url=engy.origin, api_key=engy.api_key)),
    "sg": (
        "scale_gp_beta",
        lambda engy: SGPClient(base_url=engy.origin, api_key="a key", account_id="a"),
    ),
}


def _final(client: Any, fields: dict[str, Any]) -> Any:
    with client.messages.stream(**fields) as stream:
        return stream.get_final_message()


def ask(client: Any, form: str) -> Any:
    """One question: whole, as a stream that is read to its end, or through the helper for streams."""
    if isinstance(client, Anthropic):
        fields: dict[str, Any] = {"model": "glm-5.2", "max_tokens": 50, "messages": HELLO}
        create = client.messages.create
    else:
        fields = {"model": "openai/gpt-4o" if isinstance(client, SGPClient) else "glm-5.2", "messages": HELLO}
        create = client.chat.completions.create
    if form == "helper":
        return _final(client, fields)
    return list(create(**fields, stream=True)) if form == "stream" else create(**fields)


@pytest.fixture(scope="module")
def _kept() -> Iterator[dict[tuple[str, str], Any]]:
    kept: dict[tuple[str, str], Any] = {}
    yield kept
    for client in kept.values():
        client.close()


@pytest.fixture
def clients(engy: EngyMock, _kept: dict[tuple[str, str], Any]) -> Callable[[str], Any]:
    """The clients by their short names, made once."""

    def client(name: str) -> Any:
        key = (name, engy.origin)
        if key not in _kept:
            _kept[key] = CLIENTS[name][1](engy)
        return _kept[key]

    return client


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long a client wanted to wait before each attempt but the first."""
    noted: list[float] = []
    monkeypatch.setattr(time, "sleep", noted.append)
    return noted


def outcome(client: Any, form: str) -> str:
    """The class of what comes back or is raised, by its package; a foreign exception by its own."""
    try:
        answer = ask(client, form)
    except Exception as error:
        return f"{type(error).__module__.partition('.')[0]}.{type(error).__name__}"
    return f"list of {len(answer)}" if isinstance(answer, list) else type(answer).__name__


RAW_JSON, RAW_ASSERTION = "json.JSONDecodeError", "builtins.AssertionError"
WHOLE = {"op": "ChatCompletion", "ap": "Message", "sg": "ChatCompletion"}

SILENT: list[tuple[str, str, str]] = [
    # the kind, then what becomes of a whole answer and of a stream, in all three clients
    ("200-html", "str", "list of 0"),
    ("200-html-as-json", RAW_JSON, "list of 0"),
    ("200-plain-text", "str", "list of 0"),
    ("200-empty", RAW_JSON, "list of 0"),
    ("200-error-body", "object", "list of 0"),
]


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize(("kind", "whole", "streamed"), SILENT)
def test_what_is_no_answer(engy, clients, name, kind, whole, streamed):
    """R-93: a text, a foreign exception, or silence; nobody tries again, and streams are empty without a word."""
    engy.when().reply("one two", faults=[kind])
    client = clients(name)
    assert outcome(client, "whole") == (WHOLE[name] if whole == "object" else whole)
    assert outcome(client, "stream") == streamed
    if name == "ap":
        assert outcome(client, "helper") == RAW_ASSERTION
    assert {entry.status for entry in engy.journal} == {200}
    assert len(engy.journal) == (3 if name == "ap" else 2)


@pytest.mark.parametrize("name", CLIENTS)
def test_the_other_form(engy, clients, name):
    """A stream in place of a whole answer is a text; a whole answer in place of a stream is an empty one."""
    engy.when(stream=False).reply("one two", faults=["sse-for-json"])
    engy.when(stream=True).reply("one two", faults=["200-json-for-stream"])
    assert outcome(clients(name), "whole") == "str"
    assert "one" in ask(clients(name), "whole")
    assert outcome(clients(name), "stream") == "list of 0"
    if name == "ap":
        assert outcome(clients(name), "helper") == RAW_ASSERTION


@pytest.mark.parametrize("name", ["op", "sg"])
@pytest.mark.parametrize(
    "fault",
    [
        "200-error-body",
        {"kind": "200-error-body", "nulls": True},
        "200-wrapped",
        "200-all-null",
        "200-choices-missing",
        {"kind": "200-choices-missing", "null": True},
    ],
    ids=str,
)
def test_choices_are_none(engy, clients, name, fault):
    """R-88, E-203: an object without an answer, which fails only where it is used."""
    engy.when().reply("one two", faults=[fault])
    answer = ask(clients(name), "whole")
    assert answer.choices is None
    with pytest.raises(TypeError, match="subscriptable"):
        _ = answer.choices[0]
    if fault == "200-error-body" and name == "op":
        assert answer.error["message"] == "miner timeout or disconnect"


@pytest.mark.parametrize(("kind", "count"), [("200-wrapped", 9), ("200-all-null", 9)])
def test_messages_in_a_wrapping(engy, clients, kind, count):
    """The messages client yields empty events, and its helper fails on them."""
    engy.when().reply("one two three four", faults=[kind])
    assert ask(clients("ap"), "whole").content is None
    assert outcome(clients("ap"), "stream") == f"list of {count}"
    assert outcome(clients("ap"), "helper") == RAW_ASSERTION


SDK: list[tuple[Any, int, tuple[str, str, str], bool]] = [
    # the fault, the status, the classes in openai, anthropic and scale-gp-beta, and whether they try again
    ({"kind": "key-revoked", "requests": 0}, 401, ("AuthenticationError",) * 3, False),
    (
        {"kind": "balance-runs-out", "requests": 0},
        402,
        ("APIStatusError", "PaymentRequiredError", "APIStatusError"),
        False,
    ),
    ("denied-as", 403, ("PermissionDeniedError",) * 3, False),
    ({"kind": "denied-as", "status": 401}, 401, ("AuthenticationError",) * 3, False),
    ({"kind": "denied-as", "status": 404}, 404, ("NotFoundError",) * 3, False),
    ("model-vanishes", 404, ("NotFoundError",) * 3, False),
    ("route-missing", 404, ("NotFoundError",) * 3, False),
    ({"kind": "route-missing", "body": "html"}, 404, ("NotFoundError",) * 3, False),
    ("wrong-method-or-type", 405, ("APIStatusError",) * 3, False),
    ({"kind": "wrong-method-or-type", "status": 406}, 406, ("APIStatusError",) * 3, False),
    ({"kind": "wrong-method-or-type", "status": 415}, 415, ("APIStatusError",) * 3, False),
    ("retryable-status", 408, ("APIStatusError", "RequestTimeoutError", "APIStatusError"), True),
    ({"kind": "retryable-status", "status": 409}, 409, ("ConflictError",) * 3, True),
    ({"kind": "retryable-status", "status": 425}, 425, ("APIStatusError",) * 3, False),
    ("413-plain", 413, ("APIStatusError", "ContentTooLargeError", "APIStatusError"), False),
    ("422-detail", 422, ("UnprocessableEntityError",) * 3, False),
    ("quota-exhausted", 429, ("RateLimitError",) * 3, True),
    ("429-forever", 429, ("RateLimitError",) * 3, True),
    *(
        ({"kind": kind, "status": status}, status, classes, True)
        for kind in ("html-error", "empty-error", "truncated-error")
        for status, classes in [
            (500, ("InternalServerError",) * 3),
            (502, ("InternalServerError",) * 3),
            (503, ("InternalServerError", "ServiceUnavailableError", "InternalServerError")),
            (504, ("InternalServerError", "GatewayTimeoutError", "InternalServerError")),
            (524, ("InternalServerError",) * 3),
            (529, ("InternalServerError", "OverloadedError", "InternalServerError")),
        ]
    ),
    ("status-wrapped", 500, ("InternalServerError",) * 3, True),
    ("no-worker", 503, ("InternalServerError", "ServiceUnavailableError", "InternalServerError"), True),
]


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize(("fault", "status", "classes", "is_retried"), SDK, ids=[str(row[0]) for row in SDK])
def test_refusals(engy, clients, name, fault, status, classes, is_retried):
    """R-80, R-84, R-86: an exception of the client's own; what may pass is tried three times, and no more."""
    engy.when().reply("one two", faults=[fault])
    package = CLIENTS[name][0]
    wanted = f"{package}.{classes[list(CLIENTS).index(name)]}"
    for form in ("whole", "stream"):
        assert outcome(clients(name), form) == wanted
    assert [entry.status for entry in engy.journal] == [status] * (6 if is_retried else 2)


@pytest.mark.parametrize(
    ("fault", "op", "others"),
    [
        ("html-error", "Error code: 502", "<!DOCTYPE html>"),
        ({"kind": "html-error", "status": 504}, "Error code: 504", "<!DOCTYPE html>"),
        ("empty-error", "Error code: 502", "Error code: 502"),
        ("422-detail", "Error code: 422", "Field required"),
        ("413-plain", "Error code: 413", "Request body exceeds"),
    ],
    ids=str,
)
def test_messages_that_get_lost(engy, clients, fault, op, others):
    """R-85: openai shows the status alone; the others show the page itself."""
    engy.when().reply("one two", faults=[fault])
    for name in CLIENTS:
        with pytest.raises(Exception, match=r".") as caught:
            ask(clients(name), "whole")
        if name == "op":
            assert str(caught.value) == op
        else:
            assert others in str(caught.value)


BACKOFF = (0.375, 0.5)
GIVES_UP = None

HINTS: list[tuple[Any, tuple[Any, Any, Any]]] = [
    # the fault, and what openai, anthropic and scale-gp-beta wait before the second attempt
    ("429-without-header", (BACKOFF,) * 3),
    ("retry-after", (1.0,) * 3),
    ({"kind": "retry-after", "form": "fraction"}, (0.5,) * 3),
    ({"kind": "retry-after", "form": "fraction", "value": 2.0}, (2.0,) * 3),
    ({"kind": "retry-after", "form": "ms", "value": 0.25}, (0.25,) * 3),
    ({"kind": "retry-after", "form": "zero"}, (BACKOFF,) * 3),
    ({"kind": "retry-after", "form": "negative"}, (BACKOFF,) * 3),
    ({"kind": "retry-after", "form": "text"}, (BACKOFF,) * 3),
    ({"kind": "retry-after", "form": "huge"}, (GIVES_UP, 86_400.0, BACKOFF)),
    ({"kind": "retry-after", "value": 60.0}, (60.0, 60.0, 60.0)),
    ({"kind": "retry-after", "value": 61.0}, (61.0, 61.0, BACKOFF)),
    ({"kind": "retry-after", "value": 90.0}, (90.0, 90.0, BACKOFF)),
    ({"kind": "retry-after", "value": 120.0}, (120.0, 120.0, BACKOFF)),
    ({"kind": "retry-after", "value": 121.0}, (GIVES_UP, 121.0, BACKOFF)),
    ({"kind": "retry-after", "value": 30.0, "place": "json"}, (BACKOFF,) * 3),
    ({"kind": "retry-after", "value": 30.0, "place": "message"}, (BACKOFF,) * 3),
    ({"kind": "retry-after", "value": 3.0, "status": 503}, (3.0,) * 3),
    ("conflicting-retry-hints", (60.0,) * 3),
    ({"kind": "429-forever", "value": 7.0}, (7.0,) * 3),
    ("should-retry", (GIVES_UP,) * 3),
    ({"kind": "should-retry", "value": True}, (0.001,) * 3),
    ({"kind": "should-retry", "value": False, "status": 503}, (GIVES_UP,) * 3),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize(("fault", "expected"), HINTS, ids=[str(row[0]) for row in HINTS])
def test_hints(engy, clients, name, fault, expected, waits):
    """R-81, R-82, R-84: what each client makes of a hint; no client reads one in the body."""
    engy.when().reply("one two", faults=[fault])
    assert outcome(clients(name), "whole").startswith(f"{CLIENTS[name][0]}.")
    wait = expected[list(CLIENTS).index(name)]
    if wait is GIVES_UP:
        assert (len(engy.journal), waits) == (1, [])
        return
    assert len(engy.journal) == 3
    if wait is BACKOFF:
        assert BACKOFF[0] <= waits[0] <= BACKOFF[1]
        assert 2 * BACKOFF[0] <= waits[1] <= 2 * BACKOFF[1]
    else:
        assert waits == [wait, wait]


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize(("form", "skew"), [("date", 0), ("past-date", 0), ("date", -3600), ("past-date", 60)])
def test_dates(engy, clients, name, form, skew, waits):
    """R-83: a date of the mock's clock counts while it lies in the future of the client's."""
    engy.clock.set(time.time())
    faults = [{"kind": "retry-after", "form": form, "value": 30.0}]
    if skew:
        faults.append({"kind": "clock-skew", "seconds": float(skew)})
    engy.when().reply("one two", faults=faults, times=1)
    assert outcome(clients(name), "whole") == WHOLE[name]
    seconds = (30 if form == "date" else -30) + skew
    low, high = (seconds - 5, seconds) if seconds > 0 else BACKOFF
    assert low <= waits[0] <= high
    assert [entry.status for entry in engy.journal] == [429, 200]


def test_a_date_is_sent_as_http_has_it(engy, clients):
    """The header is a date of the mock's time, whatever the machine's is."""
    engy.when().reply("one two", faults=[{"kind": "retry-after", "form": "date", "value": 30.0}])
    with pytest.raises(Exception, match=r".") as caught:
        ask(clients("op").with_options(max_retries=0), "whole")
    response = caught.value.response  # type: ignore[attr-defined]  # every status error has one
    assert response.headers["retry-after"] == formatdate(engy.clock.now() + 30, usegmt=True)


@pytest.mark.parametrize("name", CLIENTS)
def test_what_clients_come_through(engy, clients, name):
    """Odd heads are borne; flapping and a cold start are over after an attempt or two."""
    for fault in (
        "headers-huge",
        "headers-many",
        "headers-duplicate",
        "reason-phrase",
        "clock-skew",
        {"kind": "content-type-odd", "value": "charset"},
        "flapping",
        {"kind": "model-vanishes", "times": 0},
        "replay-differs",
        "fail-over",
        "unstable-answer",
        "warm-up",
        "limit-headers-drift",
    ):
        engy.reset()
        engy.when().reply("one two", faults=[fault])
        assert outcome(clients(name), "whole") == WHOLE[name], fault
        assert outcome(clients(name), "stream") not in ("list of 0",), fault


@pytest.mark.parametrize("value", ["missing", "plain"])
def test_odd_types(engy, clients, value):
    """Streams go by the call, not by the header; scale-gp-beta takes a whole answer for the text it is called."""
    engy.when().reply("one two", faults=[{"kind": "content-type-odd", "value": value}])
    for name in CLIENTS:
        assert outcome(clients(name), "stream") != "list of 0"
        assert outcome(clients(name), "whole") == ("str" if name == "sg" else WHOLE[name])


def test_request_ids(engy, clients):
    """Without an id there is none to show; of two that differ each client shows the one it knows."""
    engy.when(says="Hello").reply("one", faults=["request-id-odd"], times=2)
    engy.when(says="Hello").reply("one", faults=[{"kind": "request-id-odd", "form": "different"}])
    assert ask(clients("op"), "whole")._request_id is None
    assert ask(clients("ap"), "whole")._request_id is None
    assert ask(clients("op"), "whole")._request_id == engy.journal.last.request_id
    message = ask(clients("ap"), "whole")
    assert message._request_id not in (None, engy.journal.last.request_id)


@pytest.mark.parametrize("name", CLIENTS)
def test_a_retry_gets_another_answer(engy, clients, name):
    """`retry-differs`: broken off in a body of known length, tried again without a word, answered otherwise."""
    engy.when().reply("one two three four", faults=["retry-differs"])
    answer = ask(clients(name), "whole")
    assert [entry.status for entry in engy.journal] == [200, 200]
    assert "three" not in str(answer)


def test_a_spent_quota_is_told_by_its_code(engy, clients):
    """R-80: the code is there for who looks; the client itself does not."""
    engy.when().faults("quota-exhausted")
    with pytest.raises(Exception, match=r"quota") as caught:
        ask(clients("op"), "whole")
    assert caught.value.code == "insufficient_quota"  # type: ignore[attr-defined]  # every APIError has one
    assert len(engy.journal) == 3


def test_only_who_asks_for_streams_is_refused(engy, clients):
    """`stream-refused` is 400, not tried again."""
    engy.when().faults("stream-refused")
    assert outcome(clients("op"), "stream") == "openai.BadRequestError"
    assert outcome(clients("ap"), "helper") == "anthropic.BadRequestError"
    assert outcome(clients("op"), "whole") == "ChatCompletion"
    assert [entry.status for entry in engy.journal] == [400, 400, 200]
