"""The command `campaign`: another command under many bad days, and what became of it."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from engy_mock.cli.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engy_mock.campaigns.result import Case, Report, Result
    from engy_mock.campaigns.running import Campaign

SEEDS = 20
WELL, FOUND, WRONG_USE, BROKEN_OFF = 0, 1, 2, 130
"""The exit codes: all is well, there are findings, nothing could be found out, or somebody pressed Ctrl-C."""

OUTPUT_LINES = 12
"""So many lines of an output are shown beside a case that failed."""

ABOUT = """\
Run a command again and again, each time with a mock that has another bad day, and judge how it copes. The mock is
found by OPENAI_BASE_URL, ANTHROPIC_BASE_URL and the like. Exit code: 0 all is well, 1 findings, 2 wrong use."""


def add_campaign(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    parser.set_defaults(command=campaign)
    parser.description = ABOUT
    parser.usage = "engy-mock campaign [options] -- COMMAND ..."
    days = parser.add_argument_group("days (default: the plans of the profile stormy)")
    days.add_argument(
        "--scenario", action="append", default=[], metavar="SCENARIO", help="by name or path; may be repeated"
    )
    days.add_argument("--all-scenarios", action="store_true", help="all that can be found by name")
    days.add_argument(
        "--scenarios",
        action="append",
        default=[],
        dest="folders",
        metavar="FOLDER",
        help="look for scenarios in this folder before those that come with the package; may be repeated",
    )
    days.add_argument("--profile", metavar="PROFILE", help="draw plans from this profile, by name or path")
    days.add_argument("--seeds", type=_whole(1), metavar="N", help=f"so many plans (default: {SEEDS})")
    days.add_argument(
        "--seed", type=int, action="append", default=[], metavar="N", help="this plan; may be repeated"
    )
    judging = parser.add_argument_group("what is expected")
    judging.add_argument(
        "--contains", action="append", default=[], metavar="TEXT", help="a regular answer has this on stdout"
    )
    judging.add_argument("--equals-clean", action="store_true", help="... is what it is on a calm day")
    judging.add_argument(
        "--error",
        action="append",
        default=[],
        metavar="TEXT",
        help="a failure is told with this text, or another",
    )
    judging.add_argument("--must-answer", action="store_true", help="a reported failure is one")
    judging.add_argument(
        "--fail-level",
        choices=("error", "warning", "never"),
        default="error",
        help="findings of the verdict that fail a case (default: error)",
    )
    judging.add_argument(
        "--ignore", action="append", default=[], metavar="WORD", help="never these findings; may be repeated"
    )
    running = parser.add_argument_group("how it runs")
    running.add_argument(
        "--timeout", type=_seconds, default=60.0, metavar="SECONDS", help="it hangs after so long (default: 60)"
    )
    running.add_argument(
        "--time-scale",
        type=_seconds,
        default=0.02,
        metavar="FACTOR",
        help="a second of the mock takes so many (default: 0.02)",
    )
    running.add_argument("--jobs", type=_whole(1), default=1, metavar="N", help="so many cases at a time")
    running.add_argument(
        "--shrink",
        nargs="?",
        type=_whole(0),
        const=40,
        default=0,
        metavar="N",
        help="run plans that fail again, up to N (40) times, to find the fewest troubles that do it",
    )
    reports = parser.add_argument_group("what is written")
    reports.add_argument("--save-plans", metavar="FOLDER", help="failing plans, as scenario files")
    reports.add_argument("--html", metavar="FILE", help="a page with a picture")
    reports.add_argument("--junit", metavar="FILE", help="JUnit XML")
    reports.add_argument("--json", metavar="FILE", help="all of it as JSON")


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The own arguments, and those behind `--` that are the command under test."""
    own = list(arguments)
    if own[:1] != ["campaign"] or "--" not in own:
        return own, []
    place = own.index("--")
    return own[:place], own[place + 1 :]


def campaign(options: argparse.Namespace) -> int:
    """Run it; returns the exit code."""
    from engy_mock.vocabulary.errors import MockError

    try:
        made = _campaign(options)
        _check_room(options)
        progress = Progress(sys.stderr, len(made.cases))
        report = _performed(made, progress)
        _write(report, options)
    except MockError as error:
        print(f"engy-mock: {error}", file=sys.stderr)
        return WRONG_USE
    except KeyboardInterrupt:
        print("engy-mock: broken off", file=sys.stderr)
        return BROKEN_OFF
    _conclude(report)
    return FOUND if report.failed else WELL


def _campaign(options: argparse.Namespace) -> Campaign:
    from engy_mock.campaigns.command import Commands
    from engy_mock.campaigns.outcome import Oracle
    from engy_mock.campaigns.running import Campaign

    return Campaign(
        commands=Commands(options.words, options.timeout),
        cases=_cases(options),
        oracle=Oracle(
            contains=tuple(options.contains),
            equals_clean=options.equals_clean,
            errors=tuple(options.error),
            must_answer=options.must_answer,
        ),
        environment=dict(os.environ),
        scenario_folders=options.folders,
        timeout=options.timeout,
        time_scale=options.time_scale,
        jobs=options.jobs,
        shrink=options.shrink,
        folder=None if options.save_plans is None else Path(options.save_plans),
        fail_level=options.fail_level,
        ignore=tuple(options.ignore),
        replay=lambda case: _replay(options, case),
    )


def _cases(options: argparse.Namespace) -> list[Case]:
    """The days that are asked for, scenarios before plans; raises MockError for what there is not."""
    from engy_mock.campaigns import profile
    from engy_mock.campaigns.drawing import drawn
    from engy_mock.campaigns.result import Case
    from engy_mock.gateway import Gateway
    from engy_mock.vocabulary.errors import MockError

    if options.seed and options.seeds is not None:
        raise MockError("--seed names plans, --seeds counts them: one of both")
    scenes = Gateway().scenes
    scenes.look_in(options.folders)
    wanted = [*options.scenario, *(scenes.library.names() if options.all_scenarios else ())]
    cases = []
    for one in dict.fromkeys(wanted):
        scenario = scenes.library.named(one)
        scenes.check(scenario)
        cases.append(Case(name=scenario.name, scenario=one))
    has_plans = options.profile is not None or options.seed or options.seeds is not None or not wanted
    if has_plans:
        found = profile.named(options.profile or "stormy", [Path(profile.OWN_FOLDER)])
        seeds = options.seed or range(options.seeds or SEEDS)
        plans = [drawn(found, seed) for seed in dict.fromkeys(seeds)]
        cases += [Case(name=plan.name, plan=plan) for plan in plans]
    return cases


def _performed(made: Campaign, progress: Progress) -> Report:
    from engy_mock.campaigns.result import Report

    progress.show(0, "a calm day")
    clean = made.calm()
    results = []
    width = max(len(case.name) for case in made.cases)
    try:
        for result in made.results(clean):
            results.append(result)
            progress.clear()
            print(_line(result, width), flush=True)
            progress.show(len(results), result.case.name)
    finally:
        progress.clear()
    return Report(command=made.commands.words, clean=clean, results=results)


def _line(result: Result, width: int) -> str:
    count = len(result.entries)
    met = ", ".join([f"{one}{f' x{times}' if times > 1 else ''}" for one, times in result.met.items()])
    words = "".join([f"  {word}" for word in dict.fromkeys([one["word"] for one in result.findings])])
    sign = "FAILED" if result.fails else "ok"
    requests = f"{count} request{'' if count == 1 else 's'}"
    head = f"{sign:6}  {result.case.name:{width}}  {result.outcome:14}  {result.ran.seconds:5.1f} s  {requests}"
    return f"{head}  {met or 'no trouble'}{words}"


def _conclude(report: Report) -> None:
    """Print how it went, and what there is to know of each case that failed."""
    for result in report.failed:
        print(f"\n{result.case.name}: {result.outcome}, {result.reason}")
        for words in result.smallest or result.plan:
            print(f"    {words}")
        for one in result.findings:
            print(f"    {one['severity']} {one['word']}: {one['evidence']}")
        for advice in result.advice:
            print(f"    -> {advice}")
        if result.saved is not None:
            print(f"    saved: {result.saved}")
        print(f"    again: {result.replay}")
        for name, output in (("stdout", result.ran.stdout), ("stderr", result.ran.stderr)):
            lines = output.tail(4_000).splitlines()[-OUTPUT_LINES:]
            print("".join([f"    {name}: {_visible(line)}\n" for line in lines]), end="")
    counts = ", ".join([f"{count} {outcome}" for outcome, count in report.counts.items()])
    print(f"\n{len(report.results)} cases: {counts}; {len(report.failed) or 'none'} failed")


def _visible(line: str) -> str:
    """A line of a command's output without what would move the cursor or colour a terminal."""
    return "".join([one if one.isprintable() else f"\\x{ord(one):02x}" for one in line])


def _write(report: Report, options: argparse.Namespace) -> None:
    """Write the reports that are asked for; raises MockError for a file that cannot be written."""
    import json

    from engy_mock.campaigns.junit import junit
    from engy_mock.campaigns.page import page
    from engy_mock.vocabulary.errors import MockError

    wanted: tuple[tuple[str | None, Callable[[], bytes]], ...] = (
        (options.html, lambda: page(report).encode()),
        (options.junit, lambda: junit(report)),
        (options.json, lambda: json.dumps(report.snapshot(), indent=2).encode() + b"\n"),
    )
    for name, made in wanted:
        if name is None:
            continue
        try:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(made())
        except OSError as error:
            raise MockError(f"{name}: cannot be written: {error.strerror or error}") from None


def _check_room(options: argparse.Namespace) -> None:
    """Raise MockError where a report could not be written, before hours have been spent on it."""
    from engy_mock.vocabulary.errors import MockError

    folder = options.save_plans
    names = [name for name in (options.html, options.junit, options.json) if name is not None]
    for name in (*names, *(() if folder is None else (folder,))):
        path = Path(name)
        try:
            (path if name is folder else path.parent).mkdir(parents=True, exist_ok=True)
            if name is not folder:
                is_new = not path.exists()
                path.open("ab").close()
                if is_new:
                    path.unlink()
        except OSError as error:
            raise MockError(f"{name}: cannot be written: {error.strerror or error}") from None


def _replay(options: argparse.Namespace, case: Case) -> str:
    """The line that runs this case alone, and judges it alike."""
    words = ["engy-mock", "campaign"]
    if case.plan is not None:
        words += [*(("--profile", options.profile) if options.profile else ()), "--seed", str(case.plan.seed)]
    elif case.scenario is not None:
        words += ["--scenario", case.scenario]
    words += [word for folder in options.folders for word in ("--scenarios", folder)]
    words += [word for text in options.contains for word in ("--contains", text)]
    words += [word for text in options.error for word in ("--error", text)]
    words += ["--equals-clean"] if options.equals_clean else []
    words += ["--must-answer"] if options.must_answer else []
    words += [word for one in options.ignore for word in ("--ignore", one)]
    for name, usual in (("fail-level", "error"), ("timeout", 60.0), ("time-scale", 0.02)):
        value = getattr(options, name.replace("-", "_"))
        words += [] if value == usual else [f"--{name}", f"{value:g}" if isinstance(value, float) else value]
    return shlex.join([*words, "--", *options.words])


def _whole(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        number = int(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"{text} is less than {least}")
        return number

    read.__name__ = "whole number"
    return read


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return number
