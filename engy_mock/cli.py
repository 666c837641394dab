"""The command line: `engy-mock serve`."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from engy_mock import __version__

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from engy_mock.mock import EngyMock

DEFAULT_PORT = 8787

GREETING = """\
engy-mock {version} serves at {base_url}
key: {key}

curl {base_url}/chat/completions \\
  -H "Authorization: Bearer {key}" \\
  -H "Content-Type: application/json" \\
  -d '{{"model": "glm-5.2", "messages": [{{"role": "user", "content": "Hello!"}}]}}'
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    from engy_mock.vocabulary.errors import MockError

    try:
        return _serve(options)
    except MockError as error:
        print(f"engy-mock: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="engy-mock", description="A pretend LLM inference service for tests.")
    parser.add_argument("--version", action="version", version=f"engy-mock {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="serve until SIGINT or SIGTERM")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    serve.add_argument("--port", type=int, default=DEFAULT_PORT, help="0 takes a free one (default: %(default)s)")
    serve.add_argument("--seed", type=int, default=0, help="seed of everything made up (default: %(default)s)")
    serve.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="accept this name in `Host` beside the loopback ones; may be repeated",
    )
    serve.add_argument(
        "--wall-clock", action="store_true", help="show the machine's time, and let pauses really wait"
    )
    for option, what in (("--tokenizer", "tokenizer.json"), ("--chat-template", "chat template")):
        serve.add_argument(
            option,
            type=_model_and_path,
            action="append",
            default=[],
            metavar="MODEL=PATH",
            help=f"use this {what} for a model; may be repeated",
        )
    return parser


def _model_and_path(text: str) -> tuple[str, Path]:
    from pathlib import Path

    model, _, path = text.partition("=")
    if not model or not path:
        raise argparse.ArgumentTypeError(f"{text!r} is not MODEL=PATH")
    return model, Path(path)


def _serve(options: argparse.Namespace) -> int:
    import signal
    import threading

    is_over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: is_over.set())
    _raise_file_limit()

    engy = _mock(options)
    with engy:
        engy.gateway.warm_up()
        print(GREETING.format(version=__version__, base_url=engy.base_url, key=engy.api_key), flush=True)
        is_over.wait()
    return 0


def _mock(options: argparse.Namespace) -> EngyMock:
    from engy_mock.gateway import Settings
    from engy_mock.mock import EngyMock
    from engy_mock.vocabulary.clock import StandingClock, WallClock

    engy = EngyMock(
        seed=options.seed,
        port=options.port,
        host=options.host,
        clock=WallClock() if options.wall_clock else StandingClock(),
        settings=Settings(allowed_hosts=frozenset(options.allow_host), hurries_retries=False),
        loop_factory=_fastest_loop(),
    )
    for model, path in options.tokenizer:
        engy.gateway.catalog.use(model, tokenizer=path)
    for model, path in options.chat_template:
        engy.gateway.catalog.use(model, chat_template=path)
    return engy


def _fastest_loop() -> Callable[[], AbstractEventLoop] | None:
    """The loop factory of uvloop if it is installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _raise_file_limit() -> None:
    """Let this process have as many connections open as the machine allows."""
    try:
        import resource
    except ImportError:  # there is no such limit on Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems name a limit that they do not grant
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
