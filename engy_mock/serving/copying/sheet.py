"""What became of an exchange as a scenario file with one rule."""

from collections.abc import Mapping
from typing import Any

import yaml

from engy_mock.books.entry import Entry
from engy_mock.serving.copying.restaging import Restaged, rule_of


def as_scenario(entry: Entry, again: Restaged) -> str:
    """The text of the file; its rule answers, refuses or mars what is asked in the same words."""
    rule: Mapping[str, Any] = rule_of(entry) if again.rule is None else again.rule
    said = f"status {entry.status}" if entry.status else "no answer"
    document = {"description": f"{entry.method} {entry.path} comes to {said}, as it once did.", "rules": [rule]}
    return str(yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=110))
