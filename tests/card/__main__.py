"""What released clients make of every fault, with their own retries: write the card, or compare with it.

    python -m tests.card [--only KIND ...] [--clients OP,AP,...] [--check | --page]

Everything is tried once, and what is otherwise on the card once more, alone. With `--only` or `--clients` the
other results are those that are kept. `--check` writes nothing: it lists the differences, and ends with status 1
if there are any. It takes the extra `clients`, and `npm install --prefix tests/js`.
"""

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from engy_mock.scripting.fault import catalogue
from tests.card import page
from tests.card.columns import LIBRARIES, installed
from tests.card.keeping import FILE, Kept, differences, kept, written
from tests.card.trial import LASTING, Trials, jobs

README = Path(__file__).parents[2] / "README.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Try what was asked for; write, or compare."""
    parser = argparse.ArgumentParser(prog="python -m tests.card", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", metavar="KIND", help="these kinds of faults")
    parser.add_argument("--clients", default=",".join(LIBRARIES), help="these clients (default %(default)s)")
    parser.add_argument("--check", action="store_true", help="compare with the card instead of writing it")
    parser.add_argument(
        "--page", action="store_true", help="write the page anew from what is kept, and try nothing"
    )
    options = parser.parse_args(arguments)

    clients = options.clients.split(",")
    wanted = options.only or sorted(catalogue())
    if unknown := [*(set(clients) - set(LIBRARIES)), *(set(wanted) - set(catalogue()))]:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    if options.page:
        _write(kept())
        return 0
    if missing := [client for client in clients if not installed(client)]:
        parser.error(f"{', '.join(missing)} not installed: install .[test,clients], and npm install in tests/js")

    known = kept()
    # Some clients complain about the odd values that they are fed.
    warnings.simplefilter("ignore")
    began = monotonic()
    with Trials() as trials:
        now = trials.settled(jobs(wanted, clients), known.card)
    print(f"{len(now)} calls in {monotonic() - began:.0f} s", file=sys.stderr)
    found = differences(known.card, now)
    print("\n".join(found) or "all as on the card")
    if options.check:
        return 1 if found else 0
    versions = {**known.versions, **{client: installed(client) for client in clients}}
    # What has no place any more goes.
    cells = {job.cell for job in jobs(catalogue(), LIBRARIES)}
    card = {cell: result for cell, result in {**known.card, **now}.items() if cell in cells}
    _write(Kept(versions=versions, card=card))
    return 0


def _write(found: Kept) -> None:
    FILE.write_text(written(found), "utf-8")
    page.PAGE.write_text(page.written(found, LASTING), "utf-8")
    README.write_text(page.in_readme(README.read_text("utf-8"), found), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
