"""A headless Chromium, pages in it that must not complain or leave this machine, and a mock that they look at.

It needs the extra `clients`, and Chromium as systems package it.
"""

import os
import shutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

import pytest

from engy_mock import EngyMock
from tests.control.conftest import Caller

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 20_000
"""Milliseconds that anything may take on a machine that is busy."""

ELSEWHERE = "app.test"
"""A name that the browser takes for this machine, though it is none of its own."""

SCENARIOS = {
    "cut-streams": "description: Each stream breaks off.\ngood_client: Says so.\n"
    "rules: [{when: {stream: true}, faults: [{kind: cut, after: 3}]}]\n",
    "two-phases": "description: Refuses, then is well.\n"
    "phases: [{name: refusing, rules: [{refuse: 429}]}, {name: well}]\n",
}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser, one for each module: it must be gone before tests that have a loop of their own."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    assert path is not None, f"there is none of {', '.join(NAMES)} on this machine"
    with import_module("playwright.sync_api").sync_playwright() as playwright:
        # Chromium has no sandbox for root, which containers run as.
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        arguments = [f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1", *(["--no-sandbox"] if is_root else [])]
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


class Watched:
    """What a page has complained of, and which hosts it wanted."""

    def __init__(self, page: Any) -> None:
        self.complaints: list[str] = []
        self.hosts: set[str] = set()
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.hosts.add(urlsplit(request.url).hostname or ""))

    def _hear(self, said: Any) -> None:
        if said.type in ("error", "warning"):
            self.complaints.append(said.text)

    def forget(self, words: str) -> None:
        """Forget complaints that were meant to come; there has to be one."""
        kept = [text for text in self.complaints if words not in text]
        assert len(kept) < len(self.complaints), f"nobody complained of {words!r}"
        self.complaints = kept


@pytest.fixture
def context(chromium: Any) -> Iterator[Any]:
    """A browser that knows nothing yet."""
    context = chromium.new_context(viewport={"width": 1400, "height": 900}, color_scheme="light")
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@pytest.fixture
def tab(context: Any) -> Iterator[Any]:
    """A page that must not complain of anything at its end, nor have wanted another host; `tab.watched` tells."""
    tab = context.new_page()
    tab.watched = watched = Watched(tab)
    yield tab
    assert watched.complaints == []
    assert watched.hosts <= {"127.0.0.1"}


@pytest.fixture
def engy(tmp_path: Any) -> Iterator[EngyMock]:
    """A mock with a page."""
    for name, text in SCENARIOS.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    with EngyMock(control=True, scenario_folders=[tmp_path]) as engy:
        yield engy


@pytest.fixture
def ask(engy: EngyMock) -> Caller:
    """Asks the mock without a browser."""
    return Caller(engy)


@pytest.fixture
def opened(tab: Any, engy: EngyMock) -> Any:
    """The page of the mock, once it is live."""
    tab.goto(f"{engy.origin}/_mock/")
    tab.locator(".dot[data-tone=good]").wait_for()
    return tab
