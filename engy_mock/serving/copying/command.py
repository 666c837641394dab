"""The request of an exchange as a `curl` command for a shell."""

import re
import shlex

from engy_mock.books.entry import Entry
from engy_mock.serving.copying.restaging import key_header

MAX_ARGUMENT = 100_000
"""A longer body does not go as an argument: systems bound those."""

_PLAIN = re.compile(rb"[\t\n -~\x80-\xff]*")

SENT = ("anthropic-beta", "anthropic-version")
"""The headers that say something about the answer that is wanted, and are sent again."""


def as_command(entry: Entry, origin: str, key: str | None) -> str:
    """The command; without a key it sends none."""
    said = [f"curl -sN {shlex.quote(origin + entry.path)}"]
    if entry.method == "HEAD" and not entry.body:
        said.append("--head")  # by `-X` it would wait for the body that a head promises
    elif entry.method != ("POST" if entry.body else "GET"):
        said.append(f"-X {shlex.quote(entry.method)}")
    headers = {} if key is None else key_header(entry.path, key)
    headers |= {name: entry.headers[name] for name in SENT if name in entry.headers}
    if entry.body:
        # Without a value the command sends none of its own either.
        headers["Content-Type"] = entry.headers.get("content-type", "")
        if entry.method == "HEAD":
            # Then there is no `--head`: it is over when the connection is.
            said.append("--ignore-content-length")
            headers["Connection"] = "close"
    for name, value in headers.items():
        said.append(f"-H {shlex.quote(f'{name}: {value}'.rstrip())}")
    before = ""
    if entry.body:
        text = _text(entry.body)
        if text is None or len(entry.body) > MAX_ARGUMENT:
            before = f"printf {shlex.quote(_escaped(entry.body))} | "
            said.append("--data-binary @-")
        else:
            said.append(f"--data-raw {shlex.quote(text)}")
    return before + " \\\n  ".join(said)


def _text(body: bytes) -> str | None:
    """The body as text that a shell takes as it stands; None if it is none."""
    if not _PLAIN.fullmatch(body):
        return None
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _escaped(body: bytes) -> str:
    """The body in the words of `printf`."""
    plain = {ord("\\"): "\\\\", ord("%"): "%%"}
    return "".join([plain.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in body])
