"""Server processes on a core of their own, and what can be seen of them from outside."""

import http.client
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tests.benchmarks.bare import Answer

TOP = Path(__file__).parents[2]
PATIENCE_SECONDS = 30.0

CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
IS_PINNED = len(CORES) > 1

OURS = (sys.executable, "-c", "import sys; from engy_mock.cli import main; sys.exit(main())")
"""What the script `engy-mock` does, in the interpreter that runs the benchmarks."""

_DROPPED_HEADERS = {"content-length", "transfer-encoding", "connection", "date"}


def _environment() -> dict[str, str]:
    """The environment of a process that keeps what it has compiled, as an installed package is compiled once."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def on_the_server_core() -> Iterator[None]:
    """What is started in here runs on the first core; outside, this process keeps to the second."""
    if IS_PINNED:
        os.sched_setaffinity(0, {CORES[0]})
    try:
        yield
    finally:
        if IS_PINNED:
            os.sched_setaffinity(0, {CORES[1]})


def run(*command: str, folder: Path = TOP, environment: dict[str, str] | None = None) -> str:
    """What a command on the server's core prints; raises RuntimeError with its complaints if it fails."""
    with on_the_server_core():
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**_environment(), **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    output, _ = process.communicate(timeout=300)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command[1:4])} failed:\n{output[-2000:]}")
    return output


def processor_seconds_of_children() -> float:
    """The processor time of all processes that this one has started and seen end."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@dataclass(slots=True, eq=False)
class Server:
    """A server process on the first core."""

    command: tuple[str, ...]
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    complaints: IO[bytes] = field(default_factory=tempfile.TemporaryFile)

    def __enter__(self) -> "Server":
        command = [part.format(port=self.port) for part in self.command]
        with on_the_server_core():
            self.process = subprocess.Popen(
                command,
                cwd=TOP,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self.complaints,
            )
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process is not None
        self.process.terminate()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.complaints.close()

    @property
    def resident_mb(self) -> float:
        """The memory that the process holds now, in MB (Linux)."""
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) * 1024 / 1e6

    @property
    def processor_seconds(self) -> float:
        """The processor time that the process has used since its start, in all threads (Linux)."""
        assert self.process is not None
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    @property
    def has_uvloop(self) -> bool:
        """Whether the process runs on uvloop (seen on Linux only)."""
        assert self.process is not None
        maps = Path(f"/proc/{self.process.pid}/maps")
        return maps.exists() and "uvloop" in maps.read_text()

    def wait(self) -> "Server":
        """Return as soon as the server listens; raises RuntimeError if it ends instead."""
        assert self.process is not None
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
                return self
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.001)
        self.complaints.seek(0)
        raise RuntimeError(f"the server did not come up: {self.complaints.read().decode()[-2000:]}")

    def ask(self, path: str, body: bytes) -> Answer:
        """One answer; raises RuntimeError for any status but 200."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            headers = {"Authorization": "Bearer sk-engy-benchmark", "Content-Type": "application/json"}
            connection.request("POST", path, body, headers)
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        if response.status != 200:
            raise RuntimeError(f"{path} answered {response.status}: {text[:2000]}")
        is_stream = response.getheader("content-type", "").startswith("text/event-stream")
        return Answer(
            headers={name: value for name, value in response.getheaders() if name.lower() not in _DROPPED_HEADERS},
            pieces=[event + "\n\n" for event in text.split("\n\n") if event] if is_stream else [text],
        )


def our_server() -> Server:
    """`engy-mock serve` with its defaults."""
    return Server((*OURS, "serve", "--port", "{port}"))


def bare_server(answer: Answer, folder: Path, *, uvloop: bool) -> Server:
    """A bare aiohttp server that says this answer again, on the same kind of event loop as ours."""
    file = folder / "answer.json"
    answer.save(file)
    loop = ("--uvloop",) if uvloop else ()
    return Server((sys.executable, "-m", "tests.benchmarks.bare", "{port}", str(file), *loop))
