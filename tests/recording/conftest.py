"""A recorder in front of a mock that stands for the real service."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from engy_mock import EngyMock, Limits
from engy_mock.recording.cassette import Cassette, read
from engy_mock.recording.tape import Tape
from engy_mock.serving.relay import Relay
from engy_mock.serving.server import listen
from engy_mock.serving.thread import ServerThread
from engy_mock.serving.upstream import upstream

REAL_KEY = "sk-engy-the-real-one-4711"


@dataclass
class Recorder:
    """One that runs."""

    thread: ServerThread
    tape: Tape

    @property
    def origin(self) -> str:
        return self.thread.origin

    @property
    def base_url(self) -> str:
        return f"{self.thread.origin}/v1"

    @property
    def port(self) -> int:
        return self.thread.port

    @property
    def text(self) -> str:
        return self.tape.path.read_text(encoding="utf-8")

    @property
    def cassette(self) -> Cassette:
        return read(self.tape.path)


@contextmanager
def recorders(folder: Path) -> Iterator[Callable[..., Recorder]]:
    """Starts recorders in front of an address; they stop at the end."""
    running: list[Recorder] = []

    def start(address: str, *, key: str | None = REAL_KEY, limits: Limits | None = None) -> Recorder:
        path = folder / f"cassette-{len(running)}.yaml"
        tape = Tape(path, address, {} if key is None else {key: "upstream key"})
        relay = Relay(upstream(address, key), tape, limits=limits)
        thread = ServerThread(relay, listen("127.0.0.1", 0), "127.0.0.1")
        thread.start()
        running.append(Recorder(thread, tape))
        return running[-1]

    try:
        yield start
    finally:
        for one in running:
            one.thread.stop()
            one.tape.close()


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Callable[..., Recorder]]:
    """Start a recorder in front of an address."""
    with recorders(tmp_path) as start:
        yield start


@pytest.fixture
def service(engy: EngyMock) -> EngyMock:
    """What is recorded: it takes the real key alone."""
    engy.settings.closed_accounts = True
    engy.account("real", key=REAL_KEY)
    return engy


@pytest.fixture
def recorder(service: EngyMock, record: Callable[..., Recorder]) -> Recorder:
    return record(service.base_url)
