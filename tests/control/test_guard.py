"""Who may use the control API (Q-1, Q-2, Q-7 to Q-9)."""

import logging
from typing import Any

import pytest

from engy_mock import EngyMock, MockError
from engy_mock.serving.control.table import OPERATIONS
from tests.control.conftest import Caller

BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36"
TOKEN = "open-sesame"
CLOSED = [row for row in OPERATIONS if not row.is_open and row.kind == "json"]
OPEN = [row for row in OPERATIONS if row.is_open and row.kind != "metrics"]


def status(engy, headers, method="POST", path="/_mock/reset", body=b"{}"):
    with engy.http_client() as client:
        sent = {"user-agent": "python", "content-type": "application/json", **headers}
        sent = {name: value for name, value in sent.items() if value}
        return client.request(method, path, content=body, headers=sent).status_code


def own_page(engy):
    """The secret of a page that the mock serves."""
    control: Any = engy._serving_shell().aside
    return control.guard.issue()


@pytest.fixture
def used(engy):
    """A mock with something to lose."""
    Caller(engy).chat()
    return engy


@pytest.mark.parametrize(
    ("headers", "refused"),
    [
        ({}, 403),
        ({"x-engy-mock-control": "1", "content-type": "application/x-www-form-urlencoded"}, 415),
        ({"x-engy-mock-control": "1", "content-type": "text/plain"}, 415),
        ({"x-engy-mock-control": "1", "content-type": ""}, 415),
        ({"x-engy-mock-control": "1", "sec-fetch-site": "cross-site"}, 403),
        ({"x-engy-mock-control": "1", "sec-fetch-site": "same-site"}, 403),
        ({"x-engy-mock-control": "1", "origin": "http://localhost:5173"}, 403),
        ({"x-engy-mock-control": "1", "origin": "https://evil.test"}, 403),
        ({"x-engy-mock-control": "1", "user-agent": BROWSER}, 403),
        ({"x-engy-mock-control": "1", "sec-fetch-site": "same-origin"}, 403),
        ({"x-engy-mock-control": "1", "sec-fetch-dest": "empty"}, 403),
        ({"x-engy-mock-control": "1", "host": "evil.test"}, 403),
        ({"x-engy-mock-control": "1", "host": "0.0.0.0"}, 403),
    ],
)
def test_what_a_visited_page_could_send_changes_nothing(used, headers, refused):
    """Q-2, Q-4, Q-7, Q-8: forms, pages from elsewhere and other names are refused, the state is as before."""
    assert status(used, headers) == refused
    assert len(used.journal) == 1


def test_programs_need_the_header_alone(used):
    """Q-7: also Node's `fetch`, which marks what it sends as a browser does, but never says from where."""
    assert status(used, {"x-engy-mock-control": "1", "sec-fetch-mode": "cors", "user-agent": "node"}) == 200
    assert len(used.journal) == 0


@pytest.mark.parametrize("row", CLOSED, ids=lambda row: f"{row.method} {row.path}")
def test_every_route_is_guarded(engy, row):
    path = row.full_path.replace("{name}", "default")
    assert status(engy, {}, row.method, path) == 403
    assert status(engy, {"x-engy-mock-control": "1", "sec-fetch-site": "cross-site"}, row.method, path) == 403


@pytest.mark.parametrize("row", OPEN, ids=lambda row: row.path)
def test_what_shows_nothing_is_open(engy, row):
    """But for pages from elsewhere and foreign names."""
    path = row.full_path.replace("{name}", "app.js")
    assert status(engy, {}, row.method, path) == 200
    assert status(engy, {"user-agent": BROWSER, "sec-fetch-site": "none"}, row.method, path) == 200
    assert status(engy, {"sec-fetch-site": "cross-site"}, row.method, path) == 403
    assert status(engy, {"host": "evil.test"}, row.method, path) == 403


def test_the_mocks_own_page_may_do_everything(used):
    """Q-8: with the secret that it was served with, and from the mock's own origin only."""
    page = {"user-agent": BROWSER, "x-engy-mock-control": own_page(used), "host": "127.0.0.1:8787"}
    assert status(used, {**page, "sec-fetch-site": "cross-site"}) == 403
    assert status(used, {**page, "sec-fetch-site": "same-site", "origin": "http://localhost:5173"}) == 403
    assert status(used, {**page, "origin": "http://127.0.0.1:5173"}) == 403
    assert len(used.journal) == 1
    assert status(used, {**page, "sec-fetch-site": "same-origin", "origin": "http://127.0.0.1:8787"}) == 200
    assert len(used.journal) == 0


def test_a_preflight_for_control_gets_nothing(engy):
    """Q-7: no page elsewhere is ever told that it may."""
    headers = {
        "origin": "http://localhost:5173",
        "access-control-request-method": "POST",
        "access-control-request-headers": "x-engy-mock-control",
    }
    with engy.http_client() as client:
        answer = client.options("/_mock/reset", headers=headers)
    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.fixture
def guarded():
    return EngyMock(control=True, control_token=TOKEN)


@pytest.mark.parametrize(
    ("headers", "path", "wanted"),
    [
        ({"x-engy-mock-control": TOKEN}, "/_mock/reset", 200),
        ({"authorization": f"Bearer {TOKEN}"}, "/_mock/reset", 200),
        ({"x-engy-mock-control": "1"}, "/_mock/reset", 401),
        ({"authorization": "Bearer wrong"}, "/_mock/reset", 401),
        ({"authorization": f"Basic {TOKEN}"}, "/_mock/reset", 401),
        ({"x-engy-mock-control": b"caf\xe9"}, "/_mock/reset", 401),
        ({}, "/_mock/reset", 401),
        ({}, f"/_mock/reset?token={TOKEN}", 401),
        ({"cookie": f"X-Engy-Mock-Control={TOKEN}"}, "/_mock/reset", 401),
    ],
)
def test_a_token_is_read_from_headers_only(guarded, caplog, headers, path, wanted):
    """Q-9: optional here, and never logged."""
    with caplog.at_level(logging.DEBUG):
        assert status(guarded, headers, path=path) == wanted
    assert TOKEN not in str([record.getMessage() for record in caplog.records if record.name == "engy_mock"])


def test_a_token_is_demanded_where_others_reach_the_port():
    """Q-1: no control for everybody."""
    with pytest.raises(MockError, match="control token"):
        EngyMock(host="0.0.0.0", control=True).start()


def test_the_default_is_loopback():
    """Q-1: nobody else reaches it."""
    with EngyMock() as engy:
        assert engy.origin.startswith("http://127.0.0.1:")


def test_there_is_no_stop_over_http():
    """Q-45: what ends the mock is not among the routes."""
    assert not [row for row in OPERATIONS if row.path in ("stop", "shutdown", "quit", "exit")]
