"""The command line: `engy-mock serve | check | scenarios`."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from engy_mock import __version__

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Sequence

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
        command: Callable[[argparse.Namespace], int] = options.command
        return command(options)
    except MockError as error:
        print(f"engy-mock: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="engy-mock", description="A pretend LLM inference service for tests.")
    parser.add_argument("--version", action="version", version=f"engy-mock {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_serve(commands.add_parser("serve", help="serve until SIGINT or SIGTERM"))
    check = commands.add_parser("check", help="say what is wrong with scenario files, without serving")
    check.set_defaults(command=_check)
    check.add_argument("scenarios", nargs="+", metavar="SCENARIO", help="name of a scenario, or path of its file")
    _add_folders(check)
    scenarios = commands.add_parser("scenarios", help="list scenarios, show one, print their JSON Schema")
    actions = scenarios.add_subparsers(title="actions", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="name and description of all that can be found")
    listing.set_defaults(command=_list)
    _add_folders(listing)
    show = actions.add_parser("show", help="print the file of a scenario")
    show.set_defaults(command=_show)
    show.add_argument("scenario", metavar="SCENARIO")
    _add_folders(show)
    schema = actions.add_parser("schema", help="print the JSON Schema of scenario files, for editors")
    schema.set_defaults(command=_schema)
    return parser


def _add_folders(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scenarios",
        action="append",
        default=[],
        dest="folders",
        metavar="FOLDER",
        help="look for scenarios in this folder before those that come with the package; may be repeated",
    )


def _add_serve(serve: argparse.ArgumentParser) -> None:
    serve.set_defaults(command=_serve)
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
    serve.add_argument(
        "--scenario",
        action="append",
        default=[],
        metavar="SCENARIO",
        help="let this scenario take part, by its name or the path of its file; may be repeated",
    )
    serve.add_argument(
        "--scenario-header",
        action="store_true",
        help="let a request ask for a scenario of its own by the header X-Engy-Mock-Scenario",
    )
    _add_folders(serve)


def _model_and_path(text: str) -> tuple[str, Path]:
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
        settings=Settings(
            allowed_hosts=frozenset(options.allow_host),
            hurries_retries=False,
            scenario_header=options.scenario_header,
        ),
        scenarios=options.scenario,
        scenario_folders=options.folders,
        loop_factory=_fastest_loop(),
    )
    for model, path in options.tokenizer:
        engy.gateway.catalog.use(model, tokenizer=path)
    for model, path in options.chat_template:
        engy.gateway.catalog.use(model, chat_template=path)
    return engy


def _check(options: argparse.Namespace) -> int:
    """Read scenarios with all that they include; the first mistake of each is told."""
    from engy_mock.gateway import Gateway
    from engy_mock.vocabulary.errors import MockError

    scenes = Gateway().scenes
    scenes.look_in(options.folders)
    mistakes = 0
    for name in options.scenarios:
        try:
            for scenario in scenes.library.with_included(scenes.library.named(name)):
                scenes.check(scenario)
            print(f"{name}: good")
        except MockError as error:
            mistakes += 1
            print(f"{name}: {error}", file=sys.stderr)
    return 1 if mistakes else 0


def _list(options: argparse.Namespace) -> int:
    from engy_mock.scripting.library import Library

    library = Library(Path(folder) for folder in options.folders)
    scenarios = [library.find(name) for name in library.names()]
    width = max([len(scenario.name) for scenario in scenarios], default=0)
    for scenario in scenarios:
        print(f"{scenario.name:{width}}  {' '.join(scenario.description.split())}")
    return 0


def _show(options: argparse.Namespace) -> int:
    from engy_mock.scripting.library import Library

    library = Library(Path(folder) for folder in options.folders)
    print(Path(library.named(options.scenario).source).read_text(encoding="utf-8"), end="")
    return 0


def _schema(options: argparse.Namespace) -> int:
    import json

    from engy_mock.scripting.forms import schema

    print(json.dumps(schema(), indent=2))
    return 0


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
