"""Which names this machine goes by, at every door and on every route (Q-2)."""

import pytest

from engy_mock import EngyMock
from tests.doors.raw import Raw, request

ORIGIN = "Origin: http://localhost:3000"
PATHS = ("/v1/models", "/v1/chat/completions", "/v1/messages", "/v5/models", "/unknown", "/_mock/health")
OWN = (
    *("localhost", "LOCALHOST", "localhost:1", "localhost:65535", "127.0.0.1", "127.0.0.1:8787", "127.0.0.2"),
    *("[::1]", "[::1]:5", "own.test", "OWN.test:443"),
)
FOREIGN = (
    *(
        "evil.test",
        "0.0.0.0:8787",
        "[::1].evil",
        "[::1]evil:80",
        "127.0.0.1:80:80",
        "localhost:abc",
        "localhost:-1",
    ),
    *(
        "localhost:99999",
        "localhost:123456",
        "localhost@evil.test",
        "localhost/x",
        "localhost,evil.test",
        "::1",
        "",
    ),
    *("[::1", "[::1]]", "localhost.", "foo.localhost", "[::ffff:127.0.0.1]", "127.1", "127.0.0.1.evil.test"),
)


@pytest.fixture(scope="module")
def engy():
    with EngyMock(control=True) as engy:
        yield engy


@pytest.fixture
def ask(engy):
    engy.settings.allowed_hosts = frozenset({"own.test"})

    def ask(target, host, *headers, method="GET"):
        with Raw(engy.port) as raw:
            raw.send(request(target, b"", *headers, "Connection: close", method=method, host=host))
            data, _ = raw.read_to_end()
        head, _, body = data.partition(b"\r\n\r\n")
        return int(head[9:12]), head.lower(), body

    return ask


@pytest.mark.parametrize("host", OWN)
def test_names_of_this_machine_are_served(ask, host):
    assert ask("/v1/models", host)[0] in (200, 401)
    assert ask("/_mock/health", host)[0] == 200


@pytest.mark.parametrize(
    ("method", "host"),
    [*(("OPTIONS", host) for host in FOREIGN), *(("GET", host) for host in FOREIGN[:3]), ("POST", FOREIGN[0])],
)
def test_others_are_refused_before_anything_else(ask, method, host):
    """On each route in its envelope, before routes and before CORS: a page is told nothing that it could read."""
    for path in PATHS:
        status, head, body = ask(path, host, ORIGIN, method=method)
        assert (status, b"access-control" in head, b"host not allowed" in body) == (403, False, True), path
        assert b"content-type: application/json" in head


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        ("http://localhost/_mock/health", "localhost", 200),
        ("http://127.0.0.1:80/_mock/health", "localhost", 200),
        ("http://evil.test/_mock/health", "localhost", 403),
        ("http://localhost/_mock/health", "evil.test", 403),
        ("http://evil.test/v1/models", "localhost", 403),
        ("http://localhost@evil.test/v1/models", "localhost", 403),
        ("http://localhost/v1/models", "evil.test", 403),
    ],
)
def test_a_host_in_the_target_counts_as_well(ask, target, host, status):
    """Whichever of the two is foreign, the call is for somebody else."""
    assert ask(target, host)[0] == status
