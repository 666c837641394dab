"""A command in a process group of its own: bounded in time and in what is kept of its output."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import count
from pathlib import Path
from threading import Lock, Thread
from typing import IO

from engy_mock.vocabulary.clock import monotonic
from engy_mock.vocabulary.errors import MockError, quoted

MOST_KEPT = 1024 * 1024
"""So many bytes of each output are kept, and looked at; the rest is read and thrown away."""

MARK = "ENGY_MOCK_COMMAND"
"""The variable by which all that a command has started is known, wherever it has gone."""

_PROCESSES = Path("/proc")
_NUMBERS = count(1)

GRACE = 1.0
"""Seconds between the request to end and the end."""

MOST_ROUNDS = 10
"""Who is ended may just have started another one: so often somebody looks."""


@dataclass(slots=True)
class Output:
    """What a command has written to one of its outputs."""

    kept: bytearray = field(default_factory=bytearray)
    size: int = 0
    _all: "blake2b" = field(default_factory=blake2b)

    def read(self, pipe: IO[bytes]) -> None:
        """Take in all that comes, until nobody can write any more."""
        while piece := os.read(pipe.fileno(), 65536):
            self.kept += piece[: max(0, MOST_KEPT - len(self.kept))]
            self.size += len(piece)
            self._all.update(piece)

    @property
    def text(self) -> str:
        """What was kept, as text."""
        return self.kept.decode("utf-8", "replace")

    @property
    def digest(self) -> str:
        """What stands for all of it, that was not kept too."""
        return self._all.hexdigest()

    def tail(self, most: int) -> str:
        """The last characters of what was kept, with a word on the others."""
        text = self.text
        left = len(text) - most
        more = f"({self.size - MOST_KEPT} more bytes were not kept)\n" if self.size > MOST_KEPT else ""
        return more + (text if left <= 0 else f"({left} characters before)\n{text[-most:]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A command that is over: its exit code, negative for a signal, or None if it was ended for want of time."""

    exit_code: int | None
    seconds: float
    stdout: Output
    stderr: Output


class Commands:
    """Runs a command, several at a time if need be, and can end those under way."""

    def __init__(self, words: Sequence[str], timeout: float) -> None:
        if not words:
            raise MockError("there is no command: write it behind --")
        if shutil.which(words[0]) is None:
            raise MockError(f"there is no command {quoted(words[0])!r} that could be run")
        self.words = tuple(words)
        self._timeout = timeout
        self._lock = Lock()
        self._under_way: list[subprocess.Popen[bytes]] = []
        self._is_over = False

    def run(self, environment: Mapping[str, str], granted: Callable[[], float] = lambda: 0.0) -> Ran:
        """Run it to its end, or for as long as it may; nothing that it started in its group outlives it.

        Where the system tells about processes, nothing outlives it at all.
        `granted` tells how many seconds until now do not count.
        """
        process, mark = self._start(environment)
        began = monotonic()
        outputs = Output(), Output()
        pipes = (process.stdout, process.stderr)
        readers = [
            Thread(target=output.read, args=(pipe,), daemon=True)
            for output, pipe in zip(outputs, pipes, strict=True)
        ]
        for reader in readers:
            reader.start()
        exit_code: int | None = None
        may_last = self._timeout
        try:
            while exit_code is None and (left := may_last - (monotonic() - began)) > 0:
                with suppress(subprocess.TimeoutExpired):
                    exit_code = process.wait(left)
                may_last = self._timeout + granted()
        finally:
            seconds = monotonic() - began
            _end(process)
            _end_strays(mark)
            with self._lock:
                self._under_way.remove(process)
        for reader in readers:
            reader.join(GRACE)
        for pipe, reader in zip(pipes, readers, strict=True):
            # Who has left the group and holds the pipe still goes on alone; a reader that waits keeps it open.
            if pipe is not None and not reader.is_alive():
                pipe.close()
        return Ran(exit_code=exit_code, seconds=seconds, stdout=outputs[0], stderr=outputs[1])

    def stop(self) -> None:
        """End all that are under way, and start no more."""
        with self._lock:
            self._is_over = True
            under_way = tuple(self._under_way)
        for process in under_way:
            _signal(process, signal.SIGTERM)

    def _start(self, environment: Mapping[str, str]) -> "tuple[subprocess.Popen[bytes], str]":
        with self._lock:
            if self._is_over:
                raise MockError("the campaign has been stopped")
            mark = f"{os.getpid()}-{next(_NUMBERS)}"
            try:
                process = subprocess.Popen(
                    self.words,
                    env={**environment, MARK: mark},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                raise MockError(f"{quoted(self.words[0])} cannot be run: {quoted(str(error))}") from None
            self._under_way.append(process)
        return process, mark


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process with all of its group that is left."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
    _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    process.wait()


def _end_strays(mark: str) -> None:
    """End what has left the group for a session of its own, and what that starts in the meantime."""
    sign = f"{MARK}={mark}".encode()
    for _ in range(MOST_ROUNDS):
        found = False
        for place in _PROCESSES.glob("[0-9]*/environ"):
            with suppress(OSError):  # it is over, or somebody else's
                if sign in place.read_bytes().split(b"\0"):
                    os.kill(int(place.parent.name), signal.SIGKILL)
                    found = True
        if not found:
            return


def _signal(process: "subprocess.Popen[bytes]", number: int) -> None:
    try:
        if hasattr(os, "killpg"):
            # The group has the number of the process that it was made for.
            os.killpg(process.pid, number)
        elif process.poll() is None:
            process.send_signal(number)
    except (ProcessLookupError, PermissionError):
        return
