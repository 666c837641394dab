"""A plan as a file: a scenario like any other, to be kept and to take part by its path."""

from pathlib import Path

from engy_mock.campaigns.plan import Plan
from engy_mock.vocabulary.errors import MockError, quoted


def save(plan: Plan, folder: Path, name: str) -> Path:
    """Write a plan into a folder, which is made if there is none; raises MockError where that cannot be."""
    path = folder / f"{name}.yaml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(plan.text, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as error:
        raise MockError(f"{quoted(str(path))}: cannot be written: {quoted(str(error))}") from None
    return path
