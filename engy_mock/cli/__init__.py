"""The command line: `engy-mock serve | record | verify | verdict | campaign | check | scenarios`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from engy_mock import __version__
from engy_mock.cli.campaign import add_campaign, split
from engy_mock.cli.drift import add_verify
from engy_mock.cli.options import add_serve
from engy_mock.cli.pipes import piped
from engy_mock.cli.recording import add_from_cassette, add_record
from engy_mock.cli.verdict import add_verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    return piped(lambda: _run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    own, words = split(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(own)
    options.words = words
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
    add_serve(commands.add_parser("serve", help="serve until SIGINT or SIGTERM"))
    add_record(commands.add_parser("record", help="pass requests on to a service, and write down what it says"))
    add_campaign(commands.add_parser("campaign", help="run another command under many bad days, and judge it"))
    add_verify(commands.add_parser("verify", help="say where a server differs from the mock"))
    check = commands.add_parser("check", help="say what is wrong with scenario files and cassettes")
    check.set_defaults(command=_check)
    check.add_argument("scenarios", nargs="+", metavar="SCENARIO", help="name of a scenario, or path of a file")
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
    add_from_cassette(actions.add_parser("from-cassette", help="make a scenario of what was recorded"))
    schema = actions.add_parser("schema", help="print the JSON Schema of scenario files, for editors")
    schema.set_defaults(command=_schema)
    add_verdict(commands.add_parser("verdict", help="say what a mock that serves has seen of its client"))
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


def _check(options: argparse.Namespace) -> int:
    """Read scenarios with all that they include, and cassettes; every mistake is told, a line for each."""
    from engy_mock.cli.recording import check
    from engy_mock.gateway import Gateway
    from engy_mock.recording.cassette import is_one

    _look_into(options.folders)
    scenes = Gateway().scenes
    scenes.look_in(options.folders)
    is_good = True
    for name in options.scenarios:
        if is_one(Path(name)):
            is_good = check(Path(name)) == 0 and is_good
            continue
        mistakes = scenes.mistakes(name)
        if not mistakes:
            print(f"{name}: good")
        for mistake in mistakes:
            is_good = False
            print(mistake, file=sys.stderr)
    return 0 if is_good else 1


def _list(options: argparse.Namespace) -> int:
    """List what can be read; what cannot is told, and hides nothing."""
    from engy_mock.scripting.library import Library
    from engy_mock.vocabulary.errors import MockError

    _look_into(options.folders)
    library = Library(Path(folder) for folder in options.folders)
    width = max(map(len, library.names()), default=0)
    is_good = True
    for name in library.names():
        try:
            description = library.find(name).description
        except MockError as error:
            is_good = False
            print(f"engy-mock: {error}", file=sys.stderr)
        else:
            print(f"{name:{width}}  {' '.join(description.split())}")
    return 0 if is_good else 1


def _show(options: argparse.Namespace) -> int:
    from engy_mock.scripting.library import Library
    from engy_mock.vocabulary.files import read_text

    _look_into(options.folders)
    library = Library(Path(folder) for folder in options.folders)
    print(read_text(Path(library.named(options.scenario).source)), end="")
    return 0


def _look_into(folders: Iterable[str]) -> None:
    from engy_mock.scripting.library import check_folder

    for folder in folders:
        check_folder(Path(folder))


def _schema(options: argparse.Namespace) -> int:
    import json

    from engy_mock.gateway.settings import described
    from engy_mock.scripting.schema import schema

    print(json.dumps(schema(described()), indent=2))
    return 0
