"""A plan as a file: a scenario like any other, to be kept and to take part by its path."""

from pathlib import Path

from engy_mock.campaigns.plan import REFUSING, Plan
from engy_mock.vocabulary.errors import MockError, quoted

NOTE = f"# `{REFUSING}` with one status in its pattern is `refuse`, of answers that a test dictates too.\n"
"""What a reader has to know who finds other words in the rules than in reports."""


def save(plan: Plan, folder: Path, name: str) -> Path:
    """Write a plan into a folder, which is made if there is none; raises MockError where that cannot be."""
    path = folder / f"{name}.yaml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        note = NOTE if f"kind: {REFUSING}" in plan.text else ""
        path.write_text(note + plan.text, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as error:
        raise MockError(f"{quoted(str(path))}: cannot be written: {quoted(str(error))}") from None
    return path
