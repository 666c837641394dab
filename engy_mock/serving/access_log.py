"""A line for each exchange, without anything that could be a secret (Q-38, Q-39)."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import TextIO

from engy_mock.dialects import routes
from engy_mock.serving.watch import Seen
from engy_mock.vocabulary import json
from engy_mock.vocabulary.clock import WallClock
from engy_mock.vocabulary.errors import ApiError, quoted


def route_of(method: str, path: str) -> str:
    """The path of the route in the table; what a client made up stands in no log and in no metric."""
    try:
        return routes.find(routes.methods(path)[0] if method == "OPTIONS" else method, path)[0].path
    except ApiError:
        return "-"


class AccessLog:
    """Writes lines of text, or of JSON: method, route, status, seconds, and the rule that took part.

    Bodies, queries and headers never come near it. What a client or a rule named is escaped, so that one exchange
    is one line.
    """

    def __init__(self, out: TextIO, *, is_json: bool = False) -> None:
        self._out = out
        self._is_json = is_json
        self._clock = WallClock()

    def began(self, seen: Seen) -> None:
        """A line is written at the end."""

    def ended(self, seen: Seen) -> None:
        """Write the line of an exchange."""
        entry = seen.entry
        at = f"{datetime.fromtimestamp(self._clock.now(), UTC):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"
        method = quoted(seen.call.method)[:20]
        route = route_of(seen.call.method, seen.call.path)
        status = 0 if entry is None else entry.status
        seconds = round(seen.seconds or 0.0, 4)
        rule = None if entry is None or entry.rule is None else quoted(entry.rule)
        faults = [] if entry is None else [quoted(fault) for fault in entry.faults]
        has_left = entry is not None and entry.client_left
        if self._is_json:
            line = json.text(
                {
                    "at": at,
                    "method": method,
                    "route": route,
                    "status": status,
                    "seconds": seconds,
                    "rule": rule,
                    "faults": faults,
                    "client_left": has_left,
                }
            )
        else:
            parts = [at, method, route, str(status or "-"), f"{seconds:.3f}s"]
            parts += [f"rule: {rule}"] if rule else []
            parts += [f"fault: {fault}" for fault in faults]
            parts += ["the client left"] if has_left else []
            line = "  ".join(parts)
        with suppress(OSError, ValueError):  # whoever read it is gone
            self._out.write(line + "\n")
            self._out.flush()
