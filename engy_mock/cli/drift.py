"""The command `verify`: where a server differs from the mock."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from engy_mock.drift.survey import Result, Survey

DEFAULT_LIMIT = 6000
"""Micro-USD: enough for the one request without a bound, should a server answer what it has to refuse.

The checks together cost about a hundredth of that where it does refuse.
"""


def add_verify(parser: argparse.ArgumentParser) -> None:
    """Add the options of `verify`."""
    parser.set_defaults(command=verify)
    parser.add_argument("--base-url", required=True, metavar="URL", help="the server: https://api.engy.ai/v1")
    parser.add_argument(
        "--key-env", required=True, metavar="NAME", help="the environment variable that holds the key"
    )
    parser.add_argument(
        "--limit-micro",
        type=_micro,
        default=DEFAULT_LIMIT,
        metavar="N",
        help=f"spend at most so many micro-USD (default: {DEFAULT_LIMIT}); 0 asks what nobody can charge for",
    )
    parser.add_argument("--model", metavar="ID", help="ask this model (default: one of the cheapest)")
    parser.add_argument("--yes", action="store_true", help="do not ask before anything is spent")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _micro(text: str) -> int:
    from argparse import ArgumentTypeError

    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r:.80} is no whole number from 0")
    return int(text)


def verify(options: argparse.Namespace) -> int:
    """Compare; returns 0 if nothing differs, 1 if something does, 2 if not everything could be looked at."""
    from engy_mock.cli.recording import key_of
    from engy_mock.drift.probe import Probe
    from engy_mock.drift.survey import KeyRefused, begun
    from engy_mock.serving.upstream import upstream
    from engy_mock.vocabulary.errors import MockError

    try:
        key = key_of(options.key_env)
        place = upstream(options.base_url, key)
        server = Probe(scheme=place.scheme, host=place.host, port=place.port, prefix=place.prefix or "/v1")
        survey = begun(server, key or "", options.model, options.limit_micro)
    except MockError as error:
        print(f"engy-mock: {error}", file=sys.stderr)
        return 1 if isinstance(error, KeyRefused) else 2
    out = sys.stderr if options.json else sys.stdout
    print(
        f"{len(survey.checks)} checks with {survey.model} cost at most {survey.estimate_micro} micro-USD "
        f"where the server refuses what it should; the limit is {survey.limit_micro}",
        file=out,
        flush=True,
    )
    if not options.yes and survey.limit_micro > 0 and not _agreed(out):
        print("nothing was asked; --yes does without this question", file=out)
        return 2
    results = []
    for result in survey.results():
        results.append(result)
        if not options.json:
            _print(result)
    return _summed_up(survey, results, is_json=options.json)


def _agreed(out: object) -> bool:
    """Whether somebody who can be asked wants to go on."""
    if not sys.stdin.isatty():
        return False
    print("Go on? [y/N] ", end="", file=out, flush=True)  # type: ignore[call-overload]  # it is a stream
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _print(result: Result) -> None:
    mark = "skipped" if result.skipped else "DIFFERS" if result.differences else "same"
    print(f"{mark:8} {result.check.rule:6} {result.check.name}", flush=True)
    for line in (result.skipped,) if result.skipped else result.differences:
        print(f"{'':16}{line}", flush=True)


def _summed_up(survey: Survey, results: list[Result], *, is_json: bool) -> int:
    differing = sum(bool(result.differences) for result in results)
    skipped = sum(result.skipped is not None for result in results)
    code = 1 if differing else 2 if skipped else 0
    if is_json:
        import json

        document = {
            "model": survey.model,
            "estimate_micro": survey.estimate_micro,
            "limit_micro": survey.limit_micro,
            "spent_micro": survey.spent_micro,
            "differing": differing,
            "skipped": skipped,
            "checks": [result.plain() for result in results],
        }
        print(json.dumps(document, indent=2))
    else:
        same = len(results) - differing - skipped
        print(
            f"{same} the same, {differing} different, {skipped} skipped; "
            f"at most {survey.spent_micro} micro-USD were spent"
        )
    return code
