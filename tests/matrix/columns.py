"""The columns of the matrix: which client asks on which route, and in which forms."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from engy_mock.scripting.fault import Fault

SCRIPTS = Path(__file__).parents[1] / "js"
"""Where the JavaScript clients are installed, and what they run."""

PACKAGES: Mapping[str, tuple[str, ...]] = {
    "OP": ("openai",),
    "ON": ("openai",),
    "ON6": ("openai-6",),
    "AP": ("anthropic",),
    "AT": ("@anthropic-ai/sdk",),
    "AI": ("ai", "@ai-sdk/openai-compatible"),
    "SG": ("scale-gp-beta",),
}
"""What each client is called where it is installed from."""

LIBRARIES: Mapping[str, str] = {
    "OP": "openai for Python",
    "ON": "openai for Node.js",
    "ON6": "openai for Node.js, the release before",
    "AP": "anthropic for Python",
    "AT": "@anthropic-ai/sdk",
    "AI": "ai with @ai-sdk/openai-compatible",
    "SG": "scale-gp-beta for Python",
}

IN_PYTHON = frozenset({"OP", "AP", "SG"})

STREAMED = frozenset({"raw", "helper", "stream"})
"""The forms that ask for a stream: event by event, through the client's own helper, or in its only way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A client on one of its routes, and the forms in which it can ask there."""

    name: str
    client: str
    endpoint: str
    surface: str = "v1"
    forms: tuple[str, ...] = ("raw", "helper", "whole")

    def has_room_for(self, kind: type[Fault], form: str) -> bool:
        """Whether the kind says that it is for such a request."""
        return (
            (not kind.endpoints or self.endpoint in kind.endpoints)
            and (not kind.surfaces or self.surface in kind.surfaces)
            and kind.is_for_streams in (None, form in STREAMED)
        )


COLUMNS = (
    Column(name="OP chat", client="OP", endpoint="chat"),
    Column(name="OP responses", client="OP", endpoint="responses"),
    Column(name="OP completions", client="OP", endpoint="completions", forms=("whole",)),
    Column(name="ON chat", client="ON", endpoint="chat"),
    Column(name="ON6 chat", client="ON6", endpoint="chat"),
    Column(name="AI chat", client="AI", endpoint="chat", forms=("stream", "whole")),
    Column(name="AP messages", client="AP", endpoint="messages"),
    Column(name="AT messages", client="AT", endpoint="messages"),
    Column(name="SG chat", client="SG", endpoint="chat", surface="v5", forms=("raw", "whole")),
    Column(name="SG completions", client="SG", endpoint="completions", surface="v5", forms=("raw", "whole")),
)


def installed(client: str) -> str:
    """The version of a client on this machine, or of each of its packages; empty if it is not there."""
    versions = (_version(package, is_python=client in IN_PYTHON) for package in PACKAGES[client])
    return " + ".join(found for found in versions if found)


def _version(package: str, *, is_python: bool) -> str:
    if is_python:
        try:
            return version(package)
        except PackageNotFoundError:
            return ""
    described = SCRIPTS / "node_modules" / package / "package.json"
    return str(json.loads(described.read_text("utf-8"))["version"]) if described.exists() else ""
