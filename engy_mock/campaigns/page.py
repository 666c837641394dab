"""The report of a campaign as one HTML page that needs nothing but itself."""

import shlex
from collections.abc import Iterable

from engy_mock.campaigns.markup import Element, element
from engy_mock.campaigns.picture import picture
from engy_mock.campaigns.result import MOST_SHOWN, Report, Result

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""The page loads nothing and runs nothing, whatever a command has printed."""

STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --paper: #ffffff; --soft: #656d76; --line: #d8dee4;
  --well: #1a7f37; --fair: #9a6700; --bad: #cf222e; --count: #8c959f; --stripe: #f6f8fa; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --soft: #8d96a0; --line: #30363d;
  --well: #3fb950; --fair: #d29922; --bad: #f85149; --count: #6e7681; --stripe: #161b22; } }
body { margin: 2rem auto; max-width: 76rem; padding: 0 1rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { background: var(--stripe); padding: .6rem .8rem; overflow-x: auto; white-space: pre-wrap;
  overflow-wrap: anywhere; max-height: 24rem; }
.soft { color: var(--soft); } .scroll { overflow-x: auto; }
details { border-top: 1px solid var(--line); padding: .5rem 0; } summary { cursor: pointer; }
summary b.bad { color: var(--bad); } summary b.well { color: var(--well); }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; } svg .head { fill: var(--soft); }
svg .figure { fill: var(--soft); font-size: 11px; } svg .grid { stroke: var(--line); }
svg .row { fill: transparent; } svg g:nth-of-type(odd) .row { fill: var(--stripe); }
svg .well { fill: var(--well); } svg .fair { fill: var(--fair); } svg .bad { fill: var(--bad); }
svg .count { fill: var(--count); } svg .cross { stroke: var(--bad); stroke-width: 2.5; fill: none; }
"""


def page(report: Report) -> str:
    """The page as text."""
    failed, count = report.failed, len(report.results)
    counts = ", ".join([f"{number} {outcome}" for outcome, number in report.counts.items()])
    said = f"{len(failed)} of {count} cases failed" if failed else f"all {count} cases went well"
    body = element(
        "body",
        element("h1", f"Campaign: {said}"),
        element("p", element("code", shlex.join(report.command)), class_="soft"),
        element("p", f"{counts}. On a calm day the command takes {_calm(report.clean)}."),
        element("div", picture(report), class_="scroll"),
        element("h2", "Cases that failed") if failed else None,
        *[_details(result, is_open=len(failed) <= 5) for result in failed],
        element("h2", "Cases that went well"),
        *[_details(result) for result in report.results if not result.fails],
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"Campaign: {said}"),
        element("style", STYLE),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _calm(clean: Result) -> str:
    count = len(clean.entries)
    return f"{clean.ran.seconds:.1f} seconds and {count} request{'' if count == 1 else 's'}"


def _details(result: Result, *, is_open: bool = False) -> Element:
    kind = "bad" if result.fails else "well"
    statuses = " ".join([str(entry.status or "-") for entry in result.entries])
    met = ", ".join([f"{one} ({count} x)" for one, count in result.met.items()])
    return element(
        "details",
        element(
            "summary",
            element("b", f"{result.case.name}: {result.outcome}", class_=kind),
            f" {result.reason}, {result.ran.seconds:.1f} s",
        ),
        _list("What was to go wrong", result.plan),
        _list("The fewest troubles that still make it fail", result.smallest or ()),
        element("p", f"Met: {met or 'no trouble'}. Statuses: {statuses or 'no request'}."),
        _list("Findings", [f"{one['severity']} {one['word']}: {one['evidence']}" for one in result.findings]),
        _list("What a good client does", result.advice if result.fails else ()),
        element("p", "Again: ", element("code", result.replay)) if result.replay else None,
        *_output("stdout", result),
        *_output("stderr", result),
        open="" if is_open else None,
    )


def _list(title: str, lines: Iterable[str]) -> Element | None:
    items = [element("li", line) for line in lines]
    return element("div", f"{title}:", element("ul", *items)) if items else None


def _output(name: str, result: Result) -> list[Element]:
    text = (result.ran.stdout if name == "stdout" else result.ran.stderr).tail(MOST_SHOWN)
    return [element("div", f"{name}:", element("pre", text))] if text.strip() and result.fails else []
