"""The pages in `examples/browser`, each from an origin of its own, let in by the mock (R-4, R-5, Q-5, Q-6)."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from engy_mock import EngyMock, Settings
from tests.browser.conftest import Watched
from tests.browser.test_page import expect

pytestmark = pytest.mark.browser

TOP = Path(__file__).parents[2]
PAGES = sorted((TOP / "examples" / "browser").glob("*.html"))
LIBRARIES = TOP / "tests" / "js"
NAMES = [path.name for path in PAGES]


class Files(SimpleHTTPRequestHandler):
    """The examples, with the libraries as `npm install` would put them beside."""

    def translate_path(self, path: str) -> str:
        if path.startswith("/node_modules/"):
            return str(LIBRARIES / path.removeprefix("/"))
        return super().translate_path(path)

    def guess_type(self, path: Any) -> str:
        # What systems make of .mjs differs, and browsers are strict.
        return "text/javascript" if str(path).endswith(".mjs") else super().guess_type(path)

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Where the pages are served."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=TOP / "examples" / "browser")) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield server.server_address[1]
        server.shutdown()
        serving.join()


@pytest.fixture
def page(context: Any) -> Any:
    page = context.new_page()
    page.watched = Watched(page)
    return page


def send(page: Any, engy: EngyMock, address: str, text: str) -> Any:
    """Open a page, point it at a mock, and send a message; what it says of how it went."""
    page.goto(address)
    page.get_by_label("Base URL").fill(f"{engy.base_url}")
    page.get_by_label("Key").fill(engy.api_key)
    page.get_by_label("Message").fill(text)
    page.get_by_role("button", name="Send").click()
    return page.locator("#state")


def test_there_is_a_page_of_each_sort() -> None:
    assert NAMES == ["fetch.html", "sdk.html"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_pages_of_this_machine_stream(page, port, name, host):
    """With nothing set up; each header that a library adds has passed the preflight."""
    with EngyMock() as engy:
        state = send(page, engy, f"http://{host}:{port}/{name}", "What is the capital of France?")
        expect(state).to_have_text("Done.")
        expect(page.locator("output")).to_have_text("The capital of France is Paris.")
        assert [entry.status for entry in engy.journal] == [200]
        assert engy.journal.last.request.is_streamed
        assert ("x-stainless-lang" in engy.journal.last.headers) == (name == "sdk.html")
    assert page.watched.complaints == []
    assert page.watched.hosts == {"127.0.0.1", host}


@pytest.mark.parametrize("name", NAMES)
def test_other_origins_are_let_in_by_name(page, port, name):
    """Q-5: `app.test` leads here, but is not of this machine: it gets nothing until it is named."""
    origin = f"http://app.test:{port}"
    with EngyMock() as engy:
        state = send(page, engy, f"{origin}/{name}", "Hello!")
        expect(state).to_contain_text("Failed:")
        page.watched.forget("blocked by CORS policy")
        assert next(entry.error for entry in engy.journal) == (
            f"origin {origin} is not allowed: its pages cannot read answers"
        )
    with EngyMock(settings=Settings(cors_origins=frozenset({origin}))) as engy:
        state = send(page, engy, f"{origin}/{name}", "What is the capital of France?")
        expect(state).to_have_text("Done.")
        expect(page.locator("output")).to_have_text("The capital of France is Paris.")


def test_streams_that_look_odd_are_read(page, port):
    """Whatever ends a line, stands behind a colon, is a comment or cuts a character in two; without a library."""
    with EngyMock() as engy:
        scene = engy.scenario("sse-torture")
        for number in range(len(scene.rules)):
            expect(send(page, engy, f"http://localhost:{port}/fetch.html", "Hello!")).to_have_text("Done.")
            assert page.locator("output").text_content() == engy.journal.last.text
            assert len(engy.journal) == number + 1
        assert all(entry.faults for entry in engy.journal)
    assert page.watched.complaints == []


@pytest.mark.parametrize("name", NAMES)
def test_they_miss_choices_that_are_not_there(page, port, name):
    """The key is missing, then it is null."""
    with EngyMock() as engy:
        engy.scenario("200-without-choices")
        for _ in range(2):
            state = send(page, engy, f"http://localhost:{port}/{name}", "Hello!")
            expect(state).to_have_text("Failed: a chunk came without choices")
        expect(send(page, engy, f"http://localhost:{port}/{name}", "Hello!")).to_have_text("Done.")


@pytest.mark.parametrize("name", NAMES)
def test_they_tell_what_goes_wrong(page, port, name):
    """A refusal with its hint, a stream that breaks off, and one that ends early in good order."""
    with EngyMock() as engy:
        engy.when(says="no").refuse(400, "not like that")
        engy.when(says="cut").reply("one two three", faults=[{"kind": "cut", "after": 2}])
        engy.when(says="early").reply("one two three", faults=[{"kind": "truncate", "after": 2}])
        address = f"http://localhost:{port}/{name}"
        expect(send(page, engy, address, "no")).to_contain_text("not like that")
        # A browser may forget what it has read and not yet handed over when the connection breaks.
        expect(send(page, engy, address, "cut")).to_contain_text("Failed:")
        expect(send(page, engy, address, "early")).to_contain_text("Failed:")
        expect(page.locator("output")).to_have_text("one two")
        assert next(entry.faults for entry in engy.journal if entry.faults) == ("cut after=2",)
