"""The page as it is served: its files, its secret, and what it lets a browser do (Q-7 to Q-9, Q-22, Q-26)."""

import re
import sys
from contextlib import suppress

import pytest
from httpx2 import TransportError

from engy_mock import EngyMock
from engy_mock.serving.page import POLICY, files
from tests.control.conftest import CONTROL, Caller

BROWSER = {"user-agent": "Mozilla/5.0 Chrome/140.0", "sec-fetch-site": "same-origin", "host": "127.0.0.1:8787"}
TOKEN = "open-sesame"
SECRET = re.compile(r'content="([\w-]*)" name="engy-mock-secret"')


def get(engy, path, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with engy.http_client() as client:
        return client.get(path, headers={**BROWSER, **named})


def secret_of(answer):
    return SECRET.search(answer.text)[1]


def test_each_page_has_a_secret_of_its_own(engy):
    """Q-8: with it the page may do everything from the mock's own origin, without it nothing."""
    first, second = (secret_of(get(engy, "/_mock/")) for _ in range(2))
    assert first != second
    for secret in (first, second):
        assert get(engy, "/_mock/state", x_engy_mock_control=secret).status_code == 200
    for refused in ({}, {"x_engy_mock_control": "1"}, {"x_engy_mock_control": first[:-1]}):
        assert get(engy, "/_mock/state", **refused).status_code == 403
    for foreign in ({"sec_fetch_site": "cross-site"}, {"origin": "http://localhost:5173"}, {"host": "evil.test"}):
        assert get(engy, "/_mock/state", x_engy_mock_control=first, **foreign).status_code == 403


def test_pages_from_elsewhere_do_not_get_it(engy):
    """Q-7, Q-8: neither the page nor its files are for others to read, embed or open."""
    for path in ("/_mock/", "/_mock/page/app.js"):
        for foreign in ({"sec_fetch_site": "cross-site"}, {"sec_fetch_site": "same-site"}, {"host": "evil.test"}):
            assert get(engy, path, **foreign).status_code == 403
        answer = get(engy, path, origin="http://127.0.0.1:8787")
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_where_a_token_is_set_the_page_has_to_show_it():
    """Q-9: it is served without a secret first; the token goes by a header, never by the address."""
    engy = EngyMock(control=True, control_token=TOKEN)
    assert secret_of(get(engy, "/_mock/")) == ""
    assert secret_of(get(engy, f"/_mock/?token={TOKEN}")) == ""
    assert get(engy, "/_mock/", x_engy_mock_control="wrong").status_code == 401
    answer = get(engy, "/_mock/", x_engy_mock_control=TOKEN)
    assert TOKEN not in answer.text
    assert get(engy, "/_mock/state", x_engy_mock_control=secret_of(answer)).status_code == 200
    assert get(engy, "/_mock/state", x_engy_mock_control=TOKEN).status_code == 403


def test_browsers_are_told_to_be_strict(engy):
    """Q-22: own scripts, own origin, no frames, no markup out of text; nothing is kept."""
    for path in ("/_mock/", *[f"/_mock/page/{name}" for name in files()]):
        headers = get(engy, path).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
    rules = dict(part.split(" ", 1) for part in POLICY.split("; "))
    assert rules["default-src"] == rules["frame-ancestors"] == rules["form-action"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert rules["require-trusted-types-for"] == "'script'"
    assert "unsafe" not in POLICY


def test_files_come_by_fixed_names(engy):
    """Q-26: no request opens a file, and no other name leads to one."""
    get(engy, "/_mock/")
    get(engy, "/_mock/page/app.js")
    opened = []
    is_over: list[bool] = []

    def note(event, args):
        if event == "open" and not is_over:
            opened.append(args[0])

    sys.addaudithook(note)
    for name in files():
        assert get(engy, f"/_mock/page/{name}").status_code == 200
    for name in (
        "index.html",
        "__init__.py",
        "../app.js",
        "%2e%2e%2fapp.js",
        "%2Fetc%2Fpasswd",
        "app.js%00",
        "x" * 999,
    ):
        answer = get(engy, f"/_mock/page/{name}")
        assert answer.status_code in (403, 404)  # what leads out of the folder is no open route
        assert "etc/passwd:" not in answer.text
    is_over.append(True)
    assert opened == []


def test_the_page_is_whole_in_itself(engy):
    """Every file that is named exists and no other host is; no script, style or listener stands in the markup."""
    page = get(engy, "/_mock/").text
    for name in re.findall(r'(?:src|href)="/_mock/page/([^"]+)"', page):
        assert name in files()
    assert "http" not in page
    assert not re.search(r"<style|<script(?! type=\"module\" src=)|\son\w+=|\sstyle=", page)
    for name, (kind, data) in files().items():
        text = data.decode()
        if kind.startswith("text/javascript"):
            assert {"app.js", *re.findall(r'from "\./([^"]+)"', text)} <= files().keys(), name
            assert not re.search(
                r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(", text
            )
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), name


def test_the_page_is_no_exchange(engy):
    get(engy, "/_mock/")
    get(engy, "/_mock/page/app.js")
    assert len(engy.journal) == 0


def test_how_an_exchange_ended_is_told(ask):
    """Whole, closed, reset, left by its client: what the page says of where an answer broke."""
    ask.engy.when(says="cut").reply("one two three", faults=[{"kind": "cut", "after": 1}])
    ask.engy.when(says="reset").reply("one two three", faults=[{"kind": "reset", "after": 1}])
    ask.engy.when(says="left").reply("one two three", faults=["stall"])
    for text in ("whole", "cut", "reset", "left"):
        with suppress(TransportError):
            ask.chat(text, stream=True, max_tokens=50).read()
    endings = [ask("GET", f"journal/{number}")["ending"] for number in range(4)]
    assert endings == ["whole", "closed", "reset", "left"]
    assert [one["ending"] for one in ask("GET", "journal")["exchanges"]] == endings


def test_tokens_tell_their_piece(ask):
    """So that the page can mark where an answer broke off among tokens with log probabilities."""
    ask.engy.when().reply("é 🎉 fine", reasoning="Hm.")
    ask.chat("Hello!", logprobs=True, top_logprobs=1, max_tokens=100)
    [choice] = ask("GET", "journal/0")["choices"]
    pieces = [token["piece"] for token in choice["tokens"]]
    assert pieces == sorted(pieces)
    assert set(pieces) == set(range(len(choice["text"])))


def test_control_is_as_before_for_programs(engy):
    """The page changes nothing for those who need none."""
    assert Caller(engy)("GET", "state")["exchanges"] == 0
    with engy.http_client() as client:
        assert client.get("/_mock/", headers=CONTROL).status_code == 200


@pytest.mark.parametrize("path", ["/_mock/page/", "/_mock/page/none.js"])
def test_what_is_no_file_is_told_so(ask, path):
    assert "error" in ask("GET", path.removeprefix("/_mock/"), status=404)
