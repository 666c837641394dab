"""The picture of a campaign: cases down, outcomes across, then the time and the attempts of each."""

from collections.abc import Sequence

from engy_mock.campaigns.markup import Element, element
from engy_mock.campaigns.outcome import BAD, OUTCOMES
from engy_mock.campaigns.result import Report, Result

ROW = 22
NAMES = 210
COLUMN = 92
BAR = 130
HEAD = 34
MOST_NAME = 28


def picture(report: Report) -> Element:
    """The picture as SVG; colours are those of the page around it."""
    width = NAMES + COLUMN * len(OUTCOMES) + 2 * (BAR + 60)
    height = HEAD + ROW * len(report.results) + 8
    longest = max([result.ran.seconds for result in report.results], default=0.0) or 1.0
    most = max([len(result.entries) for result in report.results], default=0) or 1
    rows = [_row(result, HEAD + ROW * place, longest, most, width) for place, result in enumerate(report.results)]
    return element(
        "svg",
        element("title", f"{len(report.results)} cases, {len(report.failed)} failed"),
        *_heads(),
        *rows,
        viewBox=f"0 0 {width} {height}",
        width=str(width),
        height=str(height),
        role="img",
        xmlns="http://www.w3.org/2000/svg",
    )


def _heads() -> Sequence[Element]:
    names = [(NAMES + COLUMN * place + COLUMN // 2, outcome) for place, outcome in enumerate(OUTCOMES)]
    bars = NAMES + COLUMN * len(OUTCOMES)
    heads = [_text(x, 20, name, "head", anchor="middle") for x, name in names]
    heads.append(_text(bars + 10, 20, "seconds", "head"))
    heads.append(_text(bars + BAR + 70, 20, "attempts", "head"))
    lines = [
        element("line", x1=str(x), y1=str(HEAD - 6), x2=str(x), y2="100%", class_="grid")
        for x in range(NAMES, bars + 1, COLUMN)
    ]
    return [*lines, *heads]


def _row(result: Result, y: int, longest: float, most: int, width: int) -> Element:
    middle = y + ROW // 2
    place = OUTCOMES.index(result.outcome)
    x = NAMES + COLUMN * place + COLUMN // 2
    is_bad = result.fails
    kind = (
        "bad"
        if result.outcome in BAD or is_bad
        else "fair"
        if result.outcome in ("reported", "waiting")
        else "well"
    )
    mark = (
        element("path", d=f"M{x - 5} {middle - 5}l10 10m0 -10l-10 10", class_=f"cross {kind}")
        if is_bad
        else element("circle", cx=str(x), cy=str(middle), r="5", class_=kind)
    )
    bars = NAMES + COLUMN * len(OUTCOMES) + 10
    seconds, attempts = result.ran.seconds, len(result.entries)
    name = result.case.name
    return element(
        "g",
        element("rect", x="0", y=str(y), width=str(width), height=str(ROW), class_="row"),
        element("title", f"{name}: {result.outcome}, {result.reason}"),
        _text(4, middle + 4, name if len(name) <= MOST_NAME else name[: MOST_NAME - 1] + "…", "name"),
        mark,
        _bar(bars, y, BAR * seconds / longest, kind),
        _text(bars + round(BAR * seconds / longest) + 4, middle + 4, f"{seconds:.1f}", "figure"),
        _bar(bars + BAR + 60, y, BAR * attempts / most, "count"),
        _text(bars + BAR + 64 + round(BAR * attempts / most), middle + 4, str(attempts), "figure"),
    )


def _bar(x: int, y: int, width: float, kind: str) -> Element:
    return element("rect", x=str(x), y=str(y + 6), width=f"{max(width, 1):.1f}", height=str(ROW - 12), class_=kind)


def _text(x: int, y: int, text: str, kind: str, *, anchor: str | None = None) -> Element:
    return element("text", text, x=str(x), y=str(y), class_=kind, text_anchor=anchor)
