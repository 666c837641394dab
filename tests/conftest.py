"""What holds for every test: no real keys, no proxies, no network but this machine, no chance."""

import os
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

_FOREIGN_SETTINGS = re.compile(
    r"(ANTHROPIC|ENGY|LANGCHAIN|LANGSMITH|LITELLM|OPENAI|SCALE|SGP)_\w+|\w*_PROXY|PYTEST_ADDOPTS",
    re.IGNORECASE,
)
"""Variables of a developer's machine that change what a client, or a run of pytest, does."""

_wanted_hosts: list[str] = []
"""Machines that somebody has tried to reach since the last test."""

_LOOPBACK = re.compile(r"127\.\d+\.\d+\.\d+|::1|localhost|0\.0\.0\.0|::|")

for _name in [name for name in os.environ if _FOREIGN_SETTINGS.fullmatch(name)]:
    del os.environ[_name]

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def _refuse_the_network(event: str, args: tuple[Any, ...]) -> None:
    """Stop a test that would talk to another machine; looking up a name counts."""
    if event == "socket.connect":
        address = args[1]
        host = address[0] if isinstance(address, tuple) else ""
    elif event == "socket.getaddrinfo":
        host = args[0]
    else:
        return
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host is not None and not _LOOPBACK.fullmatch(str(host)):
        _wanted_hosts.append(str(host))
        raise PermissionError(f"a test wanted to reach {host!r}: only this machine may be reached")


sys.addaudithook(_refuse_the_network)


@pytest.fixture(autouse=True)
def _stays_on_this_machine() -> Iterator[None]:
    """Fail a test that wanted another machine, also if its client made nothing of being refused."""
    yield
    wanted, _wanted_hosts[:] = _wanted_hosts[:], []
    assert not wanted, f"only this machine may be reached, not {wanted}"


@pytest.fixture(scope="session", autouse=True)
def _tests_inside_of_tests_begin_at_once() -> Iterator[None]:
    """What strangers bring along for pytest takes seconds to load: a pytest that a test starts does without."""
    strangers = ("hypothesispytest", "langsmith_plugin", "schemathesis")
    os.environ["PYTEST_ADDOPTS"] = " ".join([f"-p no:{name}" for name in strangers])
    yield
    del os.environ["PYTEST_ADDOPTS"]


SAMPLED = {
    "tests/clients/test_errors_and_retries.py::test_each_status": 4,
    "tests/clients/test_openai_chat.py::test_a_stream_folds_to_the_whole_answer": 4,
    "tests/clients/test_openai_responses.py::test_a_stream_folds_to_the_whole_answer": 4,
    "tests/scripting/faults/test_every_kind.py::test_plans": 12,
    "tests/scripting/faults/test_every_kind.py::test_plans_for_what_it_is_not_for": 12,
    "tests/scripting/faults/test_http.py::test_what_arrives": 8,
    "tests/scripting/faults/test_http_clients.py::test_refusals": 8,
    "tests/scripting/faults/test_messages_clients.py::test_matrix": 8,
    "tests/scripting/faults/test_responses.py::test_streams": 8,
    "tests/scripting/faults/test_responses_clients.py::test_matrix": 8,
    "tests/scripting/faults/test_sse.py::test_in_the_body": 8,
    "tests/scripting/faults/test_transport.py::test_on_the_wire": 8,
    "tests/scripting/test_library.py::test_it_does_what_it_says": 8,
}
"""Tests of large tables, most over sockets: one row in so many is of the fast part, the others are `matrix`."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the rows that the fast part leaves out, before marks are looked at."""
    seen: dict[str, int] = {}
    for item in items:
        name = item.nodeid.partition("[")[0]
        if name in SAMPLED:
            seen[name] = seen.get(name, -1) + 1
            if seen[name] % SAMPLED[name]:
                item.add_marker(pytest.mark.matrix)
