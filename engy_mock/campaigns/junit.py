"""The report of a campaign as JUnit XML, for whatever shows test results."""

import shlex
from xml.etree import ElementTree as tree

from engy_mock.campaigns.markup import is_legal
from engy_mock.campaigns.result import MOST_SHOWN, Report, Result


def junit(report: Report) -> bytes:
    """The document."""
    seconds = sum(result.ran.seconds for result in report.results)
    counts = {
        "tests": str(len(report.results)),
        "failures": str(len(report.failed)),
        "errors": "0",
        "skipped": "0",
        "time": f"{seconds:.3f}",
    }
    top = tree.Element("testsuites", {"name": "engy-mock campaign", **counts})
    suite = tree.SubElement(top, "testsuite", {"name": _legal(shlex.join(report.command)), **counts})
    for result in report.results:
        _case(suite, result)
    tree.indent(top)
    written: bytes = tree.tostring(top, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _case(suite: tree.Element, result: Result) -> None:
    case = tree.SubElement(
        suite,
        "testcase",
        {
            "classname": "scenario" if result.case.plan is None else result.case.plan.profile,
            "name": _legal(result.case.name),
            "time": f"{result.ran.seconds:.3f}",
        },
    )
    if not result.fails:
        return
    lines = [f"outcome: {result.outcome}, {result.reason}"]
    lines += [f"plan: {words}" for words in result.plan]
    lines += [f"smallest: {words}" for words in result.smallest or ()]
    lines += [f"{one['severity']} {one['word']}: {one['evidence']}" for one in result.findings]
    lines += [f"advice: {one}" for one in result.advice]
    lines += [f"replay: {result.replay}"] if result.replay else []
    said = {"type": result.outcome, "message": _legal(result.reason)}
    tree.SubElement(case, "failure", said).text = _legal("\n".join(lines))
    for name, output in (("system-out", result.ran.stdout), ("system-err", result.ran.stderr)):
        tree.SubElement(case, name).text = _legal(output.tail(MOST_SHOWN))


def _legal(text: str) -> str:
    return "".join([one if is_legal(one) else "\ufffd" for one in text])
