"""Pages in a browser: preflights, and who may read answers (R-4 to R-6, Q-2 to Q-6, Q-10)."""

import pytest

from engy_mock import EngyMock, MockError, Settings
from engy_mock.dialects.routes import ROUTES
from engy_mock.gateway import Gateway
from engy_mock.gateway.origins import checked_origin
from engy_mock.vocabulary.wire import Call
from tests.dialects.called import ask

PAGE = "http://localhost:5173"
FOREIGN = "https://evil.test"
KEY = {"authorization": "Bearer sk-engy-x"}
CHAT = {"model": "glm-5.2", "messages": [{"role": "user", "content": "Hello!"}], "max_tokens": 8}
STAINLESS = (
    "x-stainless-arch, x-stainless-async, x-stainless-lang, x-stainless-os, x-stainless-package-version, "
    "x-stainless-retry-count, x-stainless-runtime, x-stainless-runtime-version, x-stainless-timeout"
)


@pytest.fixture
def gateway():
    return Gateway()


def preflight(gateway, path, origin=PAGE, names="authorization, content-type", method="POST", **more):
    headers = {
        "origin": origin,
        "access-control-request-method": method,
        "access-control-request-headers": names,
        **more,
    }
    return ask(gateway, path, method="OPTIONS", headers=headers)


def granted(answer):
    return {name: value for name, value in answer.headers.items() if name.startswith("access-control-")}


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_every_route_takes_preflights_without_a_key(gateway, route):
    """R-6: nobody has to have a key in order to ask whether he may ask."""
    answer = preflight(gateway, route.path.replace("{name}", "x"), method=route.method)
    assert (answer.status, answer.data) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == PAGE
    assert route.method in answer.headers["access-control-allow-methods"].split(", ")
    assert answer.headers["vary"] == "Origin"
    assert "access-control-expose-headers" not in answer.headers


@pytest.mark.parametrize("names", [STAINLESS, "user-agent", "Authorization,X-Anything-At-All"])
def test_requested_headers_are_repeated(gateway, names):
    """R-4, R-5, Q-6: whichever headers a client library sends, its preflight names them and gets them back."""
    answer = preflight(gateway, "/v1/chat/completions", names=names)
    assert answer.headers["access-control-allow-headers"] == names


@pytest.mark.parametrize("names", ["", "a: b", "x" * 5000, "a;b"])
def test_what_names_no_headers_is_not_repeated(gateway, names):
    answer = preflight(gateway, "/v1/chat/completions", names=names)
    assert answer.status == 204
    assert "access-control-allow-headers" not in answer.headers


def test_a_preflight_from_elsewhere_gets_nothing(gateway):
    """Q-6: 204 without CORS headers; the journal says why the page of a developer gets no answer."""
    answer = preflight(gateway, "/v1/chat/completions", FOREIGN)
    assert (answer.status, granted(answer), answer.headers["vary"]) == (204, {}, "Origin")
    [entry] = gateway.journal
    assert (entry.endpoint, entry.status) == ("preflight", 204)
    assert entry.error == f"origin {FOREIGN} is not allowed: its pages cannot read answers"


def test_a_granted_preflight_leaves_no_trace(gateway):
    """How often a browser asks is its own affair: the journal is the same in each run."""
    preflight(gateway, "/v1/chat/completions")
    assert len(gateway.journal) == 0


def test_options_without_a_page_tells_what_is_served(gateway):
    answer = ask(gateway, "/v5/models", method="OPTIONS", headers={})
    assert (answer.status, granted(answer)) == (204, {})
    assert answer.headers["allow"] == "GET, POST, OPTIONS"


def test_a_private_network_may_be_asked_for(gateway):
    answer = preflight(gateway, "/v1/models", **{"access-control-request-private-network": "true"})
    assert answer.headers["access-control-allow-private-network"] == "true"


@pytest.mark.parametrize(
    ("origin", "is_granted"),
    [
        ("http://localhost", True),
        (PAGE, True),
        ("https://127.0.0.1:8443", True),
        ("http://127.9.9.9:1", True),
        ("http://[::1]:3000", True),
        (FOREIGN, False),
        ("http://localhost.evil.test", False),
        ("http://evil.test/localhost", False),
        ("http://127.0.0.1.evil.test", False),
        ("http://0.0.0.0:3000", False),
        ("file://localhost", False),
        ("null", False),
        ("*", False),
        ("", False),
    ],
)
def test_who_may_read(gateway, origin, is_granted):
    """Q-5: the origins of this machine alone, never `*`, and never with credentials."""
    answer = ask(gateway, "/v1/models", headers={"origin": origin})
    assert answer.status == 200
    assert answer.headers.get("access-control-allow-origin") == (origin if is_granted else None)
    assert answer.headers["vary"] == "Origin"
    assert "access-control-allow-credentials" not in answer.headers


def test_others_can_be_let_in(gateway):
    gateway.settings.cors_origins = frozenset({"https://app.test", "capacitor://localhost"})
    for origin in ("https://app.test", "HTTPS://App.Test", "capacitor://localhost"):
        answer = ask(gateway, "/v1/models", headers={"origin": origin})
        assert answer.headers["access-control-allow-origin"] == origin
    for origin in ("*", "null", FOREIGN):
        assert granted(ask(gateway, "/v1/models", headers={"origin": origin})) == {}


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("http://x.test:80", "http://x.test"),
        ("HTTPS://X.test:443", "https://x.test"),
        ("http://[::2]:80", "http://[::2]"),
        ("http://x.test:443", "http://x.test:443"),
        ("https://x.test:80", "https://x.test:80"),
        ("http://x.test:8080", "http://x.test:8080"),
        ("app://x.test:80", "app://x.test:80"),
    ],
)
def test_the_usual_port_may_be_said(gateway, said, meant):
    """Browsers leave it out; whoever names it means the same pages."""
    assert checked_origin(said) == meant
    gateway.settings.cors_origins = frozenset({said})
    answer = ask(gateway, "/v1/models", headers={"origin": meant})
    assert answer.headers["access-control-allow-origin"] == meant


@pytest.mark.parametrize("origin", ["*", "null", "app.test", "https://app.test/", "https://a.test,https://b.test"])
def test_what_is_no_origin_is_the_authors_mistake(origin):
    with pytest.raises(MockError, match=r"origin"):
        checked_origin(origin)
    with pytest.raises(MockError, match=r"origin"):
        Settings(cors_origins=frozenset({origin}))


@pytest.mark.parametrize("host", ["*", "*.test", "mock.test:99", "http://mock.test", "a b", "", "mock.test."])
def test_what_is_no_host_is_the_authors_mistake(host):
    """It would never fit: a pattern, an address, a name with a port."""
    with pytest.raises(MockError, match="name each host that is meant"):
        Settings(allowed_hosts=frozenset({host}))


def test_hosts_that_can_be_named():
    """In any case, and by their numbers."""
    named = frozenset({"Mock.Test", "my_host", "192.168.1.7", "[fe80::1]"})
    assert Settings(allowed_hosts=named).allowed_hosts == {"mock.test", "my_host", "192.168.1.7", "[fe80::1]"}


@pytest.mark.parametrize(
    ("path", "body", "headers", "status"),
    [
        ("/v1/chat/completions", CHAT, KEY, 200),
        ("/v1/chat/completions", {**CHAT, "stream": True}, KEY, 200),
        ("/v1/chat/completions", CHAT, {}, 401),
        ("/v1/chat/completions", b"no json", KEY, 400),
        ("/v1/messages", {}, KEY, 400),
        ("/v1/nowhere", CHAT, KEY, 404),
        ("/v1/models", CHAT, KEY, 405),
        ("/v5/completions", {}, {"x-api-key": "k"}, 422),
    ],
)
def test_answers_of_every_kind_can_be_read(gateway, path, body, headers, status):
    """Whole, streamed, refused: a page reads the status, and every header that is not its own to read anyway."""
    answer = ask(gateway, path, body, headers={**headers, "origin": PAGE})
    assert answer.status == status
    assert answer.headers["access-control-allow-origin"] == PAGE
    readable = {name.lower() for name in answer.headers["access-control-expose-headers"].split(", ")}
    assert "x-engy-mock-plan" in readable
    own = {"content-type", "cache-control", "vary"} | granted(answer).keys()
    assert readable >= answer.headers.keys() - own


def test_faults_and_their_hints_can_be_read():
    engy = EngyMock()
    engy.when(says="Hello").refuse(429, retry_after=3, times=1)
    engy.when(stream=True).reply("one two three", faults=["cut"])
    headers = {**KEY, "origin": PAGE}
    refused = ask(engy.gateway, "/v1/chat/completions", CHAT, headers=headers)
    assert refused.headers["access-control-allow-origin"] == PAGE
    assert "retry-after" in refused.headers["access-control-expose-headers"].lower()
    call = Call(
        method="POST",
        path="/v1/chat/completions",
        headers=headers,
        body=b'{"model":"glm-5.2","stream":true,"messages":[{"role":"user","content":"x"}]}',
    )
    first, *_ = engy.gateway.answer(call)
    assert ("Access-Control-Allow-Origin", PAGE) in first.head.headers


def test_a_page_that_leaves_is_noticed(gateway):
    """Closing the answer to a page closes the books."""
    call = Call(
        method="POST",
        path="/v1/chat/completions",
        headers={**KEY, "origin": PAGE},
        body=b'{"model":"glm-5.2","stream":true,"messages":[{"role":"user","content":"x"}]}',
    )
    steps = gateway.answer(call)
    next(steps)
    steps.close()
    assert gateway.journal.last.client_left
    assert gateway.accounts.default.under_way == 0


def test_without_a_page_nothing_is_said_of_pages(gateway):
    answer = ask(gateway, "/v1/models", headers={})
    assert granted(answer) == {}
    assert "vary" not in answer.headers


@pytest.mark.parametrize("host", ["evil.test", "0.0.0.0", "0.0.0.0:8787", "localhost.evil.test", "10.0.0.1"])
@pytest.mark.parametrize("path", sorted({route.path for route in ROUTES} | {"/nowhere"}))
def test_a_foreign_host_is_refused_first(gateway, host, path):
    """Q-2, Q-3, Q-4: with or without an origin, on every path and before everything else, in the envelope."""
    for method in ("GET", "POST", "OPTIONS", "BREW"):
        for headers in ({}, {"origin": PAGE}, KEY):
            answer = ask(gateway, path, method=method, headers={"host": host, **headers})
            assert answer.status == 403
            assert "host not allowed" in str(answer.json())


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:9", "[::1]", "[::1]:8787", "LOCALHOST:80"])
def test_the_own_names_are_served(gateway, host):
    """Q-2: any port of this machine."""
    assert ask(gateway, "/v1/models", headers={"host": host}).status == 200


def test_nobody_leaves_http_from_elsewhere(gateway):
    """Q-10: no other protocol is offered, and a foreign page that asks for one is refused."""
    wish = {"upgrade": "websocket", "connection": "upgrade"}
    assert ask(gateway, "/v1/models", headers={**wish, "origin": FOREIGN}).status == 403
    answer = ask(gateway, "/v1/models", headers={**wish, "origin": PAGE})
    assert (answer.status, answer.headers.get("upgrade")) == (200, None)
