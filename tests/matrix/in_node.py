"""The official clients for JavaScript: one process for each, which takes jobs as lines and tells outcomes."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from queue import Empty, Queue
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import Any

from tests.matrix.columns import SCRIPTS
from tests.matrix.job import Address
from tests.matrix.outcome import Heard

SCRIPT = {
    "ON": ("openai.mjs", "openai"),
    "ON6": ("openai.mjs", "openai-6"),
    "AT": ("anthropic.mjs",),
    "AI": ("ai-sdk.mjs",),
}
"""What runs for each client: a script, and which release it has to load where there are several."""

TO_START = 120.0
"""Seconds for a process to say that it is there: on a slow machine it reads a lot of files first."""


class ToldError(Exception):
    """An error of a client in another language: its class has the same name, and it says the same."""


class Node:
    """The process of one client."""

    def __init__(self, client: str, authority: str) -> None:
        self._folder = TemporaryDirectory(prefix="engy-mock-")
        environment = {**os.environ, "NODE_NO_WARNINGS": "1"}
        if authority:
            trusted = Path(self._folder.name) / "authority.pem"
            trusted.write_text(authority, "ascii")
            environment["NODE_EXTRA_CA_CERTS"] = str(trusted)
        script, *release = SCRIPT[client]
        self._process = subprocess.Popen(
            ["node", "--import", "./fence.mjs", f"matrix/{script}", *release],
            cwd=SCRIPTS,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        self._told: dict[int, Queue[dict[str, Any]]] = {0: Queue()}
        self._lock = Lock()
        self._number = 0
        self._reader = Thread(target=self._read, name=f"node {client}", daemon=True)
        self._reader.start()
        self._told[0].get(timeout=TO_START)

    def ask(self, job: Mapping[str, Any]) -> int:
        """Begin a call; returns the number that its outcome will have."""
        assert self._process.stdin is not None
        with self._lock:
            self._number += 1
            number = self._number
            self._told[number] = Queue()
            self._process.stdin.write(json.dumps({"id": number, **job}) + "\n")
            self._process.stdin.flush()
        return number

    def hear(self, number: int, seconds: float) -> Heard:
        """What became of the call within so many seconds; raises RuntimeError if the process has died."""
        try:
            told = self._told[number].get(timeout=seconds)
        except Empty:
            if self._process.poll() is not None:
                raise RuntimeError("the process of a JavaScript client has died") from None
            return Heard(is_over=False)
        if "error" not in told:
            return Heard(said=told.get("said"))
        name = told["error"]
        exception = type(name, (ToldError,), {"status": told.get("status")})(told.get("says", ""))
        return Heard(error=name, is_own=told.get("isOwn", False), exception=exception)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.terminate()
        self._process.wait()
        self._reader.join()
        self._process.stdout.close()
        self._folder.cleanup()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told = json.loads(line)
            self._told[told["id"]].put(told)


def job(form: str, fields: Mapping[str, Any], address: Address) -> dict[str, Any]:
    """One call in the words of the scripts."""
    retries = {} if address.retries is None else {"maxRetries": address.retries}
    return {
        "form": form,
        "fields": fields,
        "origin": address.origin,
        "apiKey": address.api_key,
        "milliseconds": round(address.read_seconds * 1000),
        **retries,
    }
