"""Which pages in a browser may read the mock's answers, and the headers that tell the browser so (Q-5, Q-6)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from engy_mock.books.entry import Entry
from engy_mock.dialects import routes
from engy_mock.gateway.heads import id_headers
from engy_mock.vocabulary.errors import MockError, PermissionDenied, quoted
from engy_mock.vocabulary.wire import Begin, Call, Head, Step, Whole

_LOOPBACK = re.compile(r"https?://(localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]{1,5})?", re.IGNORECASE)
_FORM = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/,*'\"]{1,255}", re.IGNORECASE)
_USUAL_PORT = re.compile(r"(?<=^http)(://.*):80$|(?<=^https)(://.*):443$")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_WISHES = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z, \t-]{1,4096}")

_ALWAYS_READABLE = frozenset({"cache-control", "content-language", "content-length", "content-type"})
"""What a page may read of an answer without being told so."""

VARY = ("Vary", "Origin")


def is_granted(origin: str, others: Iterable[str]) -> bool:
    """Whether a page of this origin may read answers: one of this machine, or one of the others."""
    if _LOOPBACK.fullmatch(origin):
        return True
    # Whatever stands in the list, `*` and `null` are never granted: each stands for pages that nobody has seen.
    return bool(_FORM.fullmatch(origin)) and origin.lower() in {other.lower() for other in others}


def checked_origin(origin: str) -> str:
    """An origin that somebody wants to be granted; raises MockError if it is none."""
    if origin in ("*", "null"):
        raise MockError(
            f"the origin {origin!r} stands for pages that nobody has seen: name each one that is meant"
        )
    if not _FORM.fullmatch(origin):
        raise MockError(
            f"{quoted(origin)} is no origin: write scheme, host and port without a path, as https://app.test:5173"
        )
    # Browsers leave out the port that the scheme has by itself.
    return _USUAL_PORT.sub(r"\1\2", origin.lower())


def check_upgrade(call: Call, origin: str, others: Iterable[str]) -> None:
    """Raise PermissionDenied for a foreign page that wants to leave HTTP (Q-10)."""
    if "upgrade" in call.headers and not is_granted(origin, others):
        raise PermissionDenied("origin not allowed")


def preflight(call: Call, entry: Entry, others: Iterable[str]) -> Iterator[Step]:
    """What is said to a browser that asks before it asks; raises NotFound (R-6).

    The headers that it names are repeated, whichever they are (Q-6, R-4, R-5). `entry` says why a page is refused.
    """
    methods = ", ".join(routes.methods(call.path))
    entry.endpoint, entry.status = "preflight", 204
    headers = [*id_headers(routes.speaker(call.path), entry), ("Allow", f"{methods}, OPTIONS")]
    origin = call.headers.get("origin")
    if origin is not None and not is_granted(origin, others):
        entry.error = f"origin {quoted(origin)} is not allowed: its pages cannot read answers"
    elif origin is not None:
        headers.append(("Access-Control-Allow-Methods", methods))
        wishes = call.headers.get("access-control-request-headers", "").strip()
        if _WISHES.fullmatch(wishes):
            headers.append(("Access-Control-Allow-Headers", wishes))
        if call.headers.get("access-control-request-private-network") == "true":
            headers.append(("Access-Control-Allow-Private-Network", "true"))
    return iter((Whole(Head(204, tuple(headers)), b""),))


class Shared(Iterator[Step]):
    """The steps of an answer to a page in a browser: whatever head passes has the headers for it.

    Bytes that a fault writes in place of a head stay as they are.
    """

    def __init__(self, steps: Iterator[Step], origin: str, others: Iterable[str]) -> None:
        self._steps = steps
        self._granted = origin if is_granted(origin, others) else None

    def __next__(self) -> Step:
        step = next(self._steps)
        if isinstance(step, Whole | Begin):
            return replace(step, head=self._told(step.head))
        return step

    def close(self) -> None:
        """No further step will be asked for."""
        close = getattr(self._steps, "close", None)
        if close is not None:
            close()

    def _told(self, head: Head) -> Head:
        names = [name for name, _ in head.headers]
        lower = [name.lower() for name in names]
        if self._granted is None or "access-control-allow-origin" in lower:
            return replace(head, headers=(*head.headers, VARY))
        readable = [
            name
            for name in dict.fromkeys(names)
            if name.lower() not in _ALWAYS_READABLE and _TOKEN.fullmatch(name)
        ]
        granted = [("Access-Control-Allow-Origin", self._granted)]
        if "access-control-allow-methods" not in lower:  # a preflight is read by the browser alone
            granted.append(("Access-Control-Expose-Headers", ", ".join((*readable, "Date"))))
        return replace(head, headers=(*head.headers, *granted, VARY))
