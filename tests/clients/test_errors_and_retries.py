"""The official clients for Python when they are refused: which exception, what it shows, and what is tried again.

The clients are as they come and so try again; hints of a millisecond keep that short. Where the wait itself is
the matter, it is noted down instead of waited for.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any, Protocol

import anthropic
import openai
import pytest
import scale_gp_beta
from anthropic import Anthropic, AsyncAnthropic
from openai import AsyncOpenAI, OpenAI
from scale_gp_beta import AsyncSGPClient, SGPClient

from engy_mock import EngyMock

HELLO: list[Any] = [{"role": "user", "content": "Hello!"}]


class Ask(Protocol):
    """Say hello through a client."""

    def __call__(self, client: Any, *, stream: bool = False) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A route by the client that is made for it, which is in this place in the rows of the tables below."""

    package: Any
    make: Callable[[EngyMock], Any]
    make_waiting: Callable[[EngyMock], Any]
    ask: Ask
    row: int

    def kind(self, status: int) -> Any:
        """The class that its client has for a status."""
        return getattr(self.package, KINDS[status][self.row])


def _openai(ask: Ask) -> Route:
    return Route(
        package=openai,
        make=lambda engy: OpenAI(base_url=engy.base_url, api_key=engy.api_key),
        make_waiting=lambda engy: AsyncOpenAI(base_url=engy.base_url, api_key=engy.api_key),
        ask=ask,
        row=0,
    )


ROUTES = {
    "chat": _openai(
        lambda client, *, stream=False: client.chat.completions.create(
            model="glm-5.2", messages=HELLO, stream=stream
        )
    ),
    "responses": _openai(
        lambda client, *, stream=False: client.responses.create(model="glm-5.2", input="Hello!", stream=stream)
    ),
    "messages": Route(
        package=anthropic,
        make=lambda engy: Anthropic(base_url=engy.origin, api_key=engy.api_key),
        make_waiting=lambda engy: AsyncAnthropic(base_url=engy.origin, api_key=engy.api_key),
        ask=lambda client, *, stream=False: client.messages.create(
            model="glm-5.2", max_tokens=20, messages=HELLO, stream=stream
        ),
        row=1,
    ),
    "v5": Route(
        package=scale_gp_beta,
        make=lambda engy: SGPClient(base_url=engy.origin, api_key="a key", account_id="an account"),
        make_waiting=lambda engy: AsyncSGPClient(base_url=engy.origin, api_key="a key", account_id="an account"),
        ask=lambda client, *, stream=False: client.chat.completions.create(
            model="openai/gpt-4o", messages=HELLO, stream=stream
        ),
        row=2,
    ),
}

FAMILIES = ["chat", "messages", "v5"]
"""A route of each client."""

OTHER, INTERNAL = "APIStatusError", "InternalServerError"

KINDS = {
    # status: openai, anthropic, scale-gp-beta
    400: ("BadRequestError", "BadRequestError", "BadRequestError"),
    401: ("AuthenticationError", "AuthenticationError", "AuthenticationError"),
    402: (OTHER, "PaymentRequiredError", OTHER),
    403: ("PermissionDeniedError", "PermissionDeniedError", "PermissionDeniedError"),
    404: ("NotFoundError", "NotFoundError", "NotFoundError"),
    405: (OTHER, OTHER, OTHER),
    408: (OTHER, "RequestTimeoutError", OTHER),
    409: ("ConflictError", "ConflictError", "ConflictError"),
    413: (OTHER, "ContentTooLargeError", OTHER),
    415: (OTHER, OTHER, OTHER),
    422: ("UnprocessableEntityError", "UnprocessableEntityError", "UnprocessableEntityError"),
    425: (OTHER, OTHER, OTHER),
    429: ("RateLimitError", "RateLimitError", "RateLimitError"),
    500: (INTERNAL, INTERNAL, INTERNAL),
    502: (INTERNAL, INTERNAL, INTERNAL),
    503: (INTERNAL, "ServiceUnavailableError", INTERNAL),
    504: (INTERNAL, "GatewayTimeoutError", INTERNAL),
    529: (INTERNAL, "OverloadedError", INTERNAL),
}

TYPES = {
    # status: OpenAI's `type`, Anthropic's
    400: ("invalid_request_error", "invalid_request_error"),
    401: ("authentication_error", "authentication_error"),
    402: ("insufficient_quota", "billing_error"),
    403: ("permission_error", "permission_error"),
    404: ("invalid_request_error", "not_found_error"),
    413: ("invalid_request_error", "request_too_large"),
    429: ("rate_limit_error", "rate_limit_error"),
    500: ("server_error", "api_error"),
    502: ("server_error", "api_error"),
    503: ("service_unavailable_error", "api_error"),
    504: ("timeout_error", "timeout_error"),
    529: ("server_error", "overloaded_error"),
}

RETRIED = {408, 409, 429, 500, 502, 503, 504, 529}


@pytest.fixture(scope="module")
def _kept() -> Iterator[dict[tuple[Any, str], Any]]:
    kept: dict[tuple[Any, str], Any] = {}
    yield kept
    for client in kept.values():
        client.close()


@pytest.fixture
def client(engy: EngyMock, route: str, _kept: dict[tuple[Any, str], Any]) -> Any:
    """The client of the route, made once: certificates that nobody reads take their time."""
    key = (ROUTES[route].package, engy.origin)
    if key not in _kept:
        _kept[key] = ROUTES[route].make(engy)
    return _kept[key]


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the client wanted to wait before each attempt but the first; nothing waits."""
    noted: list[float] = []
    monkeypatch.setattr(time, "sleep", noted.append)
    return noted


def attempts(engy: EngyMock) -> list[str]:
    """What each attempt said of itself; also sees to it that all asked the same."""
    assert len({entry.body for entry in engy.journal}) == 1
    return [entry.headers["x-stainless-retry-count"] for entry in engy.journal]


ONE, THREE = ["0"], ["0", "1", "2"]


@pytest.mark.parametrize(
    ("status", "stream"), [*((status, False) for status in KINDS), (404, True), (429, True), (503, True)]
)
@pytest.mark.parametrize("route", ROUTES)
def test_each_status(engy: EngyMock, client: Any, route: str, status: int, stream: bool):
    """A status is an exception of its class, with message and request id; what may pass is tried three times."""
    engy.when().refuse(status, f"told by {status}", headers={"retry-after-ms": "1"})
    with pytest.raises(ROUTES[route].package.APIStatusError) as caught:
        ROUTES[route].ask(client, stream=stream)
    error = caught.value
    assert type(error) is ROUTES[route].kind(status)
    assert error.status_code == status
    assert f"told by {status}" in str(error)
    assert attempts(engy) == (THREE if status in RETRIED else ONE)
    # Answers under `/v5` tell no request id.
    if route != "v5":
        assert error.request_id == engy.journal.last.request_id
        if status in TYPES:
            assert error.type == TYPES[status][ROUTES[route].row]
    if route in ("chat", "responses"):
        assert error.message == f"Error code: {status} - told by {status}"
        assert error.body["code"] == status
    elif route == "messages":
        assert error.api_message == f"told by {status}"
    else:
        detail = error.body["detail"]
        assert (detail[0]["msg"] if status == 422 else detail) == f"told by {status}"


@pytest.mark.parametrize("route", ROUTES)
async def test_the_waiting_clients(engy: EngyMock, route: str):
    """The asynchronous clients raise the same and try as often."""
    engy.when().refuse(400, times=1).refuse(503, "no worker")
    async with ROUTES[route].make_waiting(engy) as client:
        with pytest.raises(ROUTES[route].kind(400)):
            await ROUTES[route].ask(client)
        with pytest.raises(ROUTES[route].kind(503), match="no worker"):
            await ROUTES[route].ask(client, stream=True)
    assert attempts_by_status(engy) == {400: 1, 503: 3}


def attempts_by_status(engy: EngyMock) -> dict[int, int]:
    """How often each status was told."""
    statuses = [entry.status for entry in engy.journal]
    return {status: statuses.count(status) for status in statuses}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("route", ROUTES)
def test_it_passes(engy: EngyMock, client: Any, route: str, stream: bool):
    """Two refusals that pass are not noticed: the third attempt has the answer, under an id of its own."""
    assert client.max_retries == 2
    engy.when().refuse(429, times=2)
    answer = ROUTES[route].ask(client, stream=stream)
    pieces = list(answer) if stream else [answer]
    assert len(pieces) > stream
    assert [entry.status for entry in engy.journal] == [429, 429, 200]
    assert attempts(engy) == THREE
    assert len({entry.request_id for entry in engy.journal}) == 3


@pytest.mark.parametrize("count", [0, 1, 4])
@pytest.mark.parametrize("route", FAMILIES)
def test_how_often(engy: EngyMock, client: Any, route: str, count: int):
    """A client can be told how often it tries again."""
    engy.when().refuse(529)
    with pytest.raises(ROUTES[route].kind(529)):
        ROUTES[route].ask(client.with_options(max_retries=count))
    assert attempts(engy) == [str(number) for number in range(count + 1)]


@pytest.mark.parametrize(
    ("status", "word", "tried"),
    [(400, "true", THREE), (404, "true", THREE), (429, "false", ONE), (503, "false", ONE), (429, "maybe", THREE)],
)
@pytest.mark.parametrize("route", FAMILIES)
def test_should_retry(engy: EngyMock, client: Any, route: str, status: int, word: str, tried: list[str]):
    """`x-should-retry` beats the status."""
    engy.when().refuse(status, headers={"x-should-retry": word, "retry-after-ms": "1"})
    with pytest.raises(ROUTES[route].kind(status)):
        ROUTES[route].ask(client)
    assert attempts(engy) == tried


BACKOFF = (0.375, 0.5)
NEVER = None

HINTS: list[tuple[dict[str, str], tuple[Any, Any, Any]]] = [
    # headers; then what openai, anthropic and scale-gp-beta make of them
    ({}, (BACKOFF, BACKOFF, BACKOFF)),
    ({"retry-after": "1"}, (1.0, 1.0, 1.0)),
    ({"retry-after": "0.25"}, (0.25, 0.25, 0.25)),
    ({"retry-after-ms": "20"}, (0.02, 0.02, 0.02)),
    ({"retry-after-ms": "20", "retry-after": "1"}, (0.02, 0.02, 0.02)),
    ({"retry-after-ms": "soon", "retry-after": "1"}, (1.0, 1.0, 1.0)),
    ({"retry-after": "0"}, (BACKOFF, BACKOFF, BACKOFF)),
    ({"retry-after": "-1"}, (BACKOFF, BACKOFF, BACKOFF)),
    ({"retry-after": "soon"}, (BACKOFF, BACKOFF, BACKOFF)),
    ({"retry-after": "60"}, (60.0, 60.0, 60.0)),
    ({"retry-after": "61"}, (61.0, 61.0, BACKOFF)),
    ({"retry-after": "120"}, (120.0, 120.0, BACKOFF)),
    ({"retry-after": "121"}, (NEVER, 121.0, BACKOFF)),
]


@pytest.mark.parametrize(("headers", "expected"), HINTS, ids=[str(row[0]) for row in HINTS])
@pytest.mark.parametrize("route", FAMILIES)
def test_hints(
    engy: EngyMock, client: Any, route: str, headers: dict[str, str], expected: Any, waits: list[float]
):
    """How long a client waits because of what it was told, and when it rather gives up."""
    engy.settings.hurries_retries = False
    engy.when().refuse(500, headers=headers)
    with pytest.raises(ROUTES[route].kind(500)):
        ROUTES[route].ask(client)
    wait = expected[ROUTES[route].row]
    assert attempts(engy) == (ONE if wait is NEVER else THREE)
    if wait is NEVER:
        assert waits == []
    elif wait is BACKOFF:
        assert all(
            step * BACKOFF[0] <= wait <= step * BACKOFF[1] for step, wait in zip((1, 2), waits, strict=True)
        )
    else:
        assert waits == [wait, wait]


@pytest.mark.parametrize("route", FAMILIES)
def test_a_hint_in_words(engy: EngyMock, client: Any, route: str, waits: list[float]):
    """`retry_after` of a rule is the hint as it is written; a date counts while it lies in the future."""
    engy.settings.hurries_retries = False
    rule = engy.when()
    rule.refuse(429, retry_after=0.5, times=1)
    rule.refuse(503, retry_after=formatdate(time.time() + 30, usegmt=True), times=1)
    rule.refuse(500, retry_after=formatdate(time.time() - 30, usegmt=True), times=1)
    ROUTES[route].ask(client.with_options(max_retries=3))
    stated, dated, past = waits
    assert stated == 0.5
    assert 25 < dated <= 30
    assert 4 * BACKOFF[0] <= past <= 4 * BACKOFF[1]
    assert [entry.status for entry in engy.journal] == [429, 503, 500, 200]


@pytest.mark.parametrize(("status", "hint"), [(429, 1.0), (503, 1.0)])
@pytest.mark.parametrize("route", FAMILIES)
def test_the_services_own_hint(
    engy: EngyMock, client: Any, route: str, status: int, hint: float, waits: list[float]
):
    """E-193: both statuses come with a hint of a second, unless the mock hurries tests along."""
    engy.settings.hurries_retries = False
    engy.when().refuse(status, times=1)
    ROUTES[route].ask(client)
    engy.settings.hurries_retries = True
    engy.when().refuse(status, times=1)
    ROUTES[route].ask(client)
    assert waits == [hint, 0.001]


@pytest.mark.parametrize("route", FAMILIES)
def test_a_wait_that_is_waited_for(engy: EngyMock, client: Any, route: str):
    """Once without a stopped watch: the client comes back no earlier than it was told."""
    engy.when().refuse(429, headers={"retry-after-ms": "40"}, times=1)
    began = time.perf_counter()
    ROUTES[route].ask(client)
    assert time.perf_counter() - began >= 0.04
    assert [entry.status for entry in engy.journal] == [429, 200]


@pytest.mark.parametrize("route", FAMILIES)
def test_refusals_of_the_service_itself(engy: EngyMock, client: Any, route: str):
    """A refusal that no rule has told: a model that nobody knows, tried once."""
    fields = {"model": "openai/nope" if route == "v5" else "nope", "messages": HELLO, "max_tokens": 1}
    ask = client.messages.create if route == "messages" else client.chat.completions.create
    with pytest.raises(ROUTES[route].package.NotFoundError, match="nope"):
        ask(**fields)
    assert attempts(engy) == ONE
