"""The pytest plugin, in runs of pytest of its own."""

import re
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import pytest

from engy_mock.mock.environment import FOREIGN_KEYS, KEYS

pytest_plugins = ["pytester"]

IS_INSTALLED = any(point.name == "engy_mock" for point in entry_points(group="pytest11"))
LOADED = () if IS_INSTALLED else ("-p", "engy_mock.pytest_plugin")

PRETEND = """
import sys
from tests.doors import pretend

sys.modules["engy_mock.gateway"] = pretend
"""

ASKED_FOR = re.compile(r"""(?:environ(?:\.get)?[(\[]|getenv\(|ENV_\w+(?:: \w+)? = )\s*["']([A-Z_]+)["']""")
"""How sources name a variable of the environment."""

ASKING = """
import threading
import urllib.request

def ask(engy, path, data=b"x"):
    with urllib.request.urlopen(f"{engy.base_url}/{path}", data) as answer:
        return answer.read()
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Run pytest with the plugin over a test file, and return the result."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))

    def run(code, *arguments, mode="strict"):
        settings = (
            "-W",
            "error",
            "-o",
            f"asyncio_mode={mode}",
            "-o",
            "asyncio_default_fixture_loop_scope=function",
        )
        pytester.makeconftest(PRETEND)
        pytester.makepyfile(ASKING + code)
        return pytester.runpytest_inprocess(*settings, *LOADED, *arguments)

    return run


def test_no_test_sees_what_another_did(run):
    """One server for the session, as new for every test: journal, clock and environment."""
    run(
        """
import os
import pytest

seen = set()

@pytest.mark.parametrize("path", ["a", "b", "c"])
def test_alone(engy, path):
    assert len(engy.journal) == 0
    assert ask(engy, path) == b"x"
    assert [call.path for call in engy.journal] == [f"/v1/{path}"]
    assert engy.clock.now() == 1792281600
    engy.clock.advance(60)
    engy.settings.closed_accounts = not engy.settings.closed_accounts
    assert engy.settings.closed_accounts
    seen.add(engy.port)

def test_one_server():
    assert len(seen) == 1
"""
    ).assert_outcomes(passed=4)


def test_it_answers_blocking_and_async_clients(run):
    """Strict mode: the fixture is an ordinary one; the loop of the test may stand still or not."""
    run(
        """
import asyncio
import aiohttp
import pytest

@pytest.mark.asyncio
async def test_blocking(engy):
    assert ask(engy, "a") == b"x"

@pytest.mark.asyncio
async def test_async(engy):
    async with aiohttp.ClientSession() as session, session.post(f"{engy.base_url}/b", data=b"y") as answer:
        assert await answer.read() == b"y"
    assert [call.path for call in engy.journal] == ["/v1/b"]

@pytest.mark.asyncio
async def test_in_a_thread(engy):
    assert await asyncio.to_thread(ask, engy, "c") == b"x"

@pytest.mark.anyio
async def test_anyio(engy):
    assert ask(engy, "d") == b"x"

@pytest.fixture
def anyio_backend():
    return "asyncio"
"""
    ).assert_outcomes(passed=4)


def test_it_works_in_auto_mode_and_beside_pytest_aiohttp(run):
    run(
        """
async def test_auto(engy):
    assert ask(engy, "a") == b"x"

async def test_app(engy, aiohttp_client):
    client = await aiohttp_client(engy.app())
    answer = await client.post("/v1/b", data=b"y")
    assert await answer.read() == b"y"
    assert [call.path for call in engy.journal] == ["/v1/b"]
""",
        mode="auto",
    ).assert_outcomes(passed=2)


def test_it_works_in_unittest_classes(run):
    run(
        """
import os
import unittest
import pytest

class Plain(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def _take(self, engy):
        self.engy = engy

    def test_one(self):
        self.assertEqual(ask(self.engy, "a"), b"x")
        self.assertEqual(len(self.engy.journal), 1)

    def test_two(self):
        self.assertEqual(len(self.engy.journal), 0)

@pytest.mark.usefixtures("engy")
class Marked(unittest.IsolatedAsyncioTestCase):
    async def test_environment(self):
        self.assertIn("127.0.0.1", os.environ["OPENAI_BASE_URL"])
"""
    ).assert_outcomes(passed=3)


def test_clients_find_it_and_no_real_key_stays_visible(run, monkeypatch):
    """Within the test alone: the environment is the same before and after (Q-42)."""
    monkeypatch.setenv("OPENAI_API_KEY", "a real one")
    for name in FOREIGN_KEYS:
        monkeypatch.setenv(name, "another real one")
    run(
        """
import os

before = dict(os.environ)

def same_as_before():
    return {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"} == {
        k: v for k, v in before.items() if k != "PYTEST_CURRENT_TEST"
    }

def test_before():
    assert same_as_before()

def test_within(engy):
    assert os.environ["OPENAI_BASE_URL"] == engy.base_url
    assert os.environ["ANTHROPIC_BASE_URL"] == os.environ["SGP_CLIENT_BASE_URL"] == engy.origin
    for name in ("ENGY", "OPENAI", "ANTHROPIC", "SGP"):
        assert os.environ[f"{name}_API_KEY"] == engy.api_key
    assert os.environ["SGP_ACCOUNT_ID"] == "default"
    assert "a real one" not in os.environ.values()
    assert "another real one" not in os.environ.values()

def test_after():
    assert same_as_before()
"""
    ).assert_outcomes(passed=3)


@pytest.mark.slow
@pytest.mark.parametrize("client", ["openai", "anthropic", "scale_gp_beta"])
def test_no_variable_of_an_official_client_is_forgotten(client):
    """Wherever a client looks for something secret, it finds the mock's key or nothing (Q-42)."""
    spec = find_spec(client)
    if spec is None:
        pytest.skip("not installed")
    folder = Path(spec.submodule_search_locations[0])
    texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.py")]
    read = {name for text in texts for name in ASKED_FOR.findall(text)}
    secret = {name for name in read if re.search("KEY|TOKEN|SECRET|CUSTOM_HEADERS|PROFILE|ORG", name)}
    assert {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}.get(client, "SGP_API_KEY") in secret
    assert secret - {*KEYS, *FOREIGN_KEYS} == set()


@pytest.mark.parametrize(("arguments", "seed"), [((), 0), (("--engy-seed", "7"), 7), (("--engy-seed=-3",), -3)])
def test_the_seed_is_an_option(run, arguments, seed):
    run(f"def test_seed(engy): assert engy.gateway.seed == {seed}", *arguments).assert_outcomes(passed=1)


def test_it_is_inert_until_it_is_used(pytester):
    """No socket, no thread, no environment and no import before a test asks for the fixture (Q-41)."""
    pytester.makepyfile(
        """
import os, sys, threading

def test_nothing():
    heavy = {"aiohttp", "pydantic", "tokenizers", "engy_mock.mock", "engy_mock.serving"}
    assert not heavy & set(sys.modules)
    assert threading.active_count() == 1
    assert "OPENAI_BASE_URL" not in os.environ
"""
    )
    others = [f"no:{name}" for name in ("aiohttp", "asyncio", "anyio", "hypothesispytest", "Faker")]
    without = [argument for name in others for argument in ("-p", name)]
    pytester.runpytest_subprocess(*LOADED, *without).assert_outcomes(passed=1)


@pytest.mark.slow
def test_it_works_in_parallel_workers(run):
    """Each worker of pytest-xdist has a server of its own."""
    pytest.importorskip("xdist")
    run(
        """
import pytest

@pytest.mark.parametrize("path", "abcdef")
def test_alone(engy, path):
    assert ask(engy, path) == b"x"
    assert [call.path for call in engy.journal] == [f"/v1/{path}"]
""",
        *("-n", "2"),
    ).assert_outcomes(passed=6)


def test_a_stall_of_one_test_does_not_hold_up_the_session(run):
    run(
        """
import math
from engy_mock.vocabulary.wire import Begin, Head, Wait, Write
from tests.doors.raw import Raw, request

left = []

def test_stall(engy):
    steps = Begin(Head(200, ())), Write(b"x"), Wait(math.inf)
    engy.gateway.answers["/v1/stall"] = lambda call: iter(steps)
    raw = Raw(engy.port)
    left.append(raw)
    raw.send(request("/v1/stall"))
    raw.read_until(b"x")

def test_next(engy):
    assert left[0].read_to_end()
    left[0].leave()
    assert ask(engy, "a") == b"x"
"""
    ).assert_outcomes(passed=2)
