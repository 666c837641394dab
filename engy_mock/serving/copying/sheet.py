"""What became of an exchange as a scenario file with one rule."""

import json
from typing import Any

import yaml

from engy_mock.books.entry import Entry
from engy_mock.scripting.reach import PAGES
from engy_mock.serving.copying.losses import losses
from engy_mock.serving.copying.restaging import Restaged, dictated


class NoRule(Exception):
    """No rule brings this about; says why."""


def as_scenario(entry: Entry, again: Restaged, seed: int) -> str:
    """The text of the file; its rule answers, refuses or mars what is asked in the same words. Raises NoRule."""
    done = dictated(entry, again, seed)
    if done is None or done.rule is None:
        raise NoRule(_reason(entry))
    said = f"status {entry.status}" if entry.status else "no answer"
    document: dict[str, Any] = {
        "description": f"{entry.method} {entry.path} comes to {said}, as it once did.",
        "rules": [done.rule],
    }
    notes = [f"Not copied: {loss}." for loss in losses(entry, done.entry)]
    if "let_through" in done.rule:
        notes.append(
            "The service words this itself, of what it knows by then."
            if entry.generation is None
            else f"A reply has one text, this answer several: the model says them, under seed {seed} alone."
        )
    comments = "".join([f"# {json.dumps(note)[1:-1]}\n" for note in notes])
    return comments + str(yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=110))


def _reason(entry: Entry) -> str:
    """Why no rule does it."""
    if not entry.endpoint:
        return "the service turns such a call away before any rule is asked"
    if entry.endpoint in PAGES:
        return "the service says this of what it knew by then, and no rule can say it in its place"
    return "no rule of a file can say what was answered here"
