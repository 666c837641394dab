"""The commands around cassettes: `record`, `scenarios from-cassette`, and what `check` says of one."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

DEFAULT_PORT = 8788
DEFAULT_CASSETTE = "cassette.yaml"

GREETING = """\
engy-mock records {origin} to {cassette}
base URL: {base_url}
key: any; {key}
"""


def add_record(parser: argparse.ArgumentParser) -> None:
    """Add the options of `record`."""
    parser.set_defaults(command=record)
    parser.add_argument("--upstream", required=True, metavar="URL", help="the service: https://api.engy.ai/v1")
    parser.add_argument(
        "--port",
        type=int,
        default=DEFAULT_PORT,
        help=f"port on this machine; 0 takes a free one (default: {DEFAULT_PORT})",
    )
    parser.add_argument(
        "--cassette",
        type=Path,
        default=Path(DEFAULT_CASSETTE),
        metavar="FILE",
        help=f"write exchanges to this file, behind those in it (default: {DEFAULT_CASSETTE})",
    )
    parser.add_argument(
        "--key-env",
        metavar="NAME",
        help="show the service the key in this environment variable; keys of clients never go there",
    )


def add_from_cassette(parser: argparse.ArgumentParser) -> None:
    """Add the options of `scenarios from-cassette`."""
    parser.set_defaults(command=from_cassette)
    parser.add_argument("cassette", type=Path, metavar="FILE")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the scenario there (default: print it)")


def record(options: argparse.Namespace) -> int:
    """Pass requests on to a service and write down what it says, until a signal ends it."""
    import signal
    import threading

    from engy_mock.recording.tape import Tape
    from engy_mock.serving.relay import Relay
    from engy_mock.serving.server import listen
    from engy_mock.serving.thread import ServerThread
    from engy_mock.serving.upstream import upstream

    key = key_of(options.key_env)
    service = upstream(options.upstream, key)
    tape = Tape(options.cassette, service.origin + service.prefix, {} if key is None else {key: "upstream key"})
    is_over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: is_over.set())
    host = "127.0.0.1"  # whoever reaches it spends the key
    relay = Relay(service, tape)
    thread = ServerThread(relay, listen(host, options.port), host)
    thread.start()
    try:
        said = "the service gets none" if key is None else f"the service gets the one in {options.key_env}"
        print(
            GREETING.format(
                origin=service.origin, cassette=options.cassette, base_url=thread.origin + service.base, key=said
            ),
            end="",
            flush=True,
        )
        is_over.wait()
    finally:
        thread.stop()
        tape.close()
    print(f"{tape.count} exchanges recorded", flush=True)
    return 0


def from_cassette(options: argparse.Namespace) -> int:
    """Make a scenario of a cassette."""
    from engy_mock.recording.cassette import read
    from engy_mock.recording.scenario import as_scenario

    cassette = read(options.cassette)
    text, notes = as_scenario(cassette)
    for note in (*cassette.notes, *notes):
        print(f"engy-mock: {note}", file=sys.stderr)
    if options.out is None:
        print(text, end="")
    else:
        write(options.out, text)
    return 0


def check(path: Path) -> int:
    """Say what is wrong with a cassette; returns the number of mistakes."""
    from engy_mock.recording.cassette import read
    from engy_mock.recording.leaks import leaks
    from engy_mock.vocabulary.errors import MockError

    try:
        cassette = read(path)
    except MockError as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 1
    for note in cassette.notes:
        print(note, file=sys.stderr)
    found = list(leaks(path))
    for line, kind in found:
        print(f"{path}, line {line}: looks like a secret: {kind}", file=sys.stderr)
    if not found:
        print(f"{path}: good, a cassette of {len(cassette.exchanges)} exchanges")
    return len(found)


def key_of(variable: str | None) -> str | None:
    """The key in an environment variable; raises MockError if there is none."""
    from engy_mock.vocabulary.errors import MockError

    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise MockError(f"--key-env: the environment variable {variable!r:.80} is not set")
    return key


def write(path: Path, text: str) -> None:
    """Write a file; raises MockError."""
    from engy_mock.vocabulary.errors import MockError

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise MockError(f"{path}: cannot be written: {error.strerror or error}") from None
