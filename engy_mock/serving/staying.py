"""What would lead a client out of the process that was made to stay inside."""

from collections.abc import Callable, Mapping
from typing import Any

from engy_mock.vocabulary.errors import MockError

LEADING_OUT = ("transport", "mounts", "proxy", "proxies", "connector")
"""Options of clients that say by which way they go; what is made for the inside may be among them."""

OUT = "would lead this client out of the process"
OTHER_MOCK = "is one of another mock"

Misfit = Callable[[Any], str | None]
"""What is wrong with a way, or None if it leads to the mock."""


def check_stays(options: Mapping[str, Any], misfit: Misfit, instead: str) -> None:
    """Raise MockError for an option that leads elsewhere; `instead` is what to write for a client of one's own."""
    for name in LEADING_OUT:
        said = options.get(name)
        for way in said.values() if isinstance(said, Mapping) else (said,):
            wrong = None if way is None else misfit(way)
            if wrong is not None:
                raise MockError(f"{name}= {wrong}: leave it out, or make a client of your own, {instead}")
