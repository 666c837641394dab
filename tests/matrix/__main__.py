"""What released clients make of every fault: measure it, and write the page or compare with it.

    python -m tests.matrix [--only KIND ...] [--clients CLIENT ...] [--output FILE] [--check]

Everything is measured once, and what is otherwise on the page once more, alone. With `--only` or `--clients` the
other outcomes are taken from the page. `--check` writes nothing: it lists the differences, and ends with status 1
if there are any.
"""

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from engy_mock.scripting.fault import catalogue
from tests.matrix import page
from tests.matrix.columns import PACKAGES, installed
from tests.matrix.measuring import Measuring, jobs
from tests.matrix.recorded import recorded


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what was asked for; write, or compare."""
    parser = argparse.ArgumentParser(prog="python -m tests.matrix", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", metavar="KIND", help="these kinds of faults")
    parser.add_argument("--clients", nargs="+", metavar="CLIENT", help=f"these of {', '.join(PACKAGES)}")
    parser.add_argument("--output", type=Path, default=page.PAGE, metavar="FILE", help="where the page is written")
    parser.add_argument("--check", action="store_true", help="compare with the page instead of writing it")
    options = parser.parse_args(arguments)

    clients = _named(options.clients) or list(PACKAGES)
    wanted = _named(options.only) or sorted(catalogue())
    if unknown := [*(set(clients) - set(PACKAGES)), *(set(wanted) - set(catalogue()))]:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    if missing := [client for client in clients if not installed(client)]:
        parser.error(
            f"{', '.join(missing)} not installed: the JavaScript clients come by `npm install --prefix tests/js`"
        )

    text = page.PAGE.read_text("utf-8") if page.PAGE.exists() else ""
    known = page.measured(text)
    # Some helpers of clients complain about the odd values that they are fed.
    warnings.filterwarnings("ignore", "Pydantic serializer warnings")
    began = monotonic()
    with Measuring() as measuring:
        now = measuring.settled(jobs(wanted, clients), known)
    print(f"{len(now)} outcomes in {monotonic() - began:.0f} s", file=sys.stderr)
    found = page.differences(known, now)
    print("\n".join(found) or "all as on the page")
    if options.check:
        return 1 if found else 0
    versions = {**page.versions(text), **{client: installed(client) for client in clients}}
    options.output.write_text(page.written({**known, **now}, recorded(), versions), "utf-8")
    return 0


def _named(words: Sequence[str] | None) -> list[str]:
    """The names that words have, with commas between them or none."""
    return [name for word in words or () for name in word.split(",") if name]


if __name__ == "__main__":
    sys.exit(main())
