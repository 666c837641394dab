"""Whether anything that is installed, or may be, is known to be vulnerable (Q-49).

    python -m tests.audit [--pip-audit PATH]

Two answers: our own, from a short table of advisories that matter here, about the floors in `pyproject.toml` and
about what is installed; and that of pip-audit, where its service can be reached. Where it cannot, pip-audit finds
nothing and calls that success: this says instead that nothing was looked up.
"""

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

TOP = Path(__file__).parents[2]

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Advisory:
    """A vulnerability that matters here: the first version without it, and what it was."""

    package: str
    fixed: str
    name: str
    what: str


ADVISORIES = (
    Advisory(package="aiohttp", fixed="3.13.3", name="CVE-2025-69223", what="bodies that unpack without end"),
    Advisory(package="aiohttp", fixed="3.14.1", name="CVE-2026-54278", what="compressed bodies"),
    Advisory(package="pyyaml", fixed="5.4", name="CVE-2020-14343", what="code run by a loader"),
    Advisory(package="jinja2", fixed="3.1.6", name="CVE-2025-27516", what="a way out of the sandbox"),
)


def parsed(text: str) -> Version:
    """The numbers of a version."""
    return tuple([int(part) for part in re.findall(r"\d+", text.partition("+")[0])[:4]])


def floors(project: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each requirement of the project that names a lowest version, and that version."""
    groups = [project["dependencies"], *project.get("optional-dependencies", {}).values()]
    for requirement in [one for group in groups for one in group]:
        found = re.match(r"([\w-]+)(?:\[[^\]]*\])?>=([\w.]+)", requirement)
        if found is not None:
            yield found[1].lower(), found[2]


def below(versions: Iterable[tuple[str, str]]) -> list[str]:
    """What is older than it has to be, and why."""
    return [
        f"{package} {found} is older than {advisory.fixed}: {advisory.name}, {advisory.what}"
        for package, found in versions
        for advisory in ADVISORIES
        if advisory.package == package and parsed(found) < parsed(advisory.fixed)
    ]


def installed() -> Iterator[tuple[str, str]]:
    """The versions here of what the table speaks about."""
    for package in sorted({advisory.package for advisory in ADVISORIES}):
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue


def judged(report: Mapping[str, Any]) -> tuple[int, list[str]]:
    """How many packages pip-audit has looked up, and what it knows about them."""
    known = [one for one in report["dependencies"] if "skip_reason" not in one]
    return len(known), [
        f"{one['name']} {one['version']}: {found['id']}, mended in {', '.join(found['fix_versions']) or 'none'}"
        for one in known
        for found in one["vulns"]
    ]


def main() -> int:
    """Print what was found; 1 if that is anything."""
    parser = argparse.ArgumentParser(prog="python -m tests.audit", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pip-audit", metavar="PATH", help="ask this pip-audit about what is installed here")
    options = parser.parse_args()
    with (TOP / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    found = [*below(floors(project)), *below(installed())]
    print(f"own table: {len(ADVISORIES)} advisories, floors and installed versions looked at")
    if options.pip_audit:
        path = next(path for path in sys.path if path.endswith("site-packages"))
        command = [options.pip_audit, "--path", path, "--format", "json", "--progress-spinner", "off"]
        try:
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            count, known = judged(json.loads(run.stdout))
        except (OSError, ValueError, KeyError):
            count, known = 0, []
        found += known
        answer = f"{count} packages looked up" if count else "its service cannot be reached here"
        print(f"pip-audit: {answer}")
    for line in found:
        print(f"vulnerable: {line}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
