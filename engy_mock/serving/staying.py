"""What would lead a client out of the process that was made to stay inside."""

from collections.abc import Mapping
from typing import Any

from engy_mock.vocabulary.errors import MockError

LEADING_OUT = ("transport", "mounts", "proxy", "proxies", "connector")
"""Options of clients that say by which way they go; what is made for the inside may be among them."""


def check_stays(options: Mapping[str, Any], ours: tuple[type, ...], instead: str) -> None:
    """Raise MockError for an option that leads out; `instead` is what to write for a client of one's own."""
    for name in LEADING_OUT:
        said = options.get(name)
        ways = said.values() if isinstance(said, Mapping) else (said,)
        if any(way is not None and not isinstance(way, ours) for way in ways):
            raise MockError(
                f"{name}= would lead this client out of the process: leave it out, or make a client of your own, "
                f"{instead}"
            )
