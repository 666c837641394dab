"""What clients inside the process have to pass, as others do, before they are connected."""

import errno
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engy_mock.serving.holds import Holds

if TYPE_CHECKING:
    from engy_mock.serving.handshake import Handshake

SECURE = frozenset({"https", "wss"})
"""The schemes of clients that begin with a handshake."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A door that may be closed, and may want a handshake; any scheme will do where it wants none."""

    holds: Holds = field(default_factory=Holds)
    handshake: "Handshake | None" = None

    def knock(self) -> None:
        """Raise ConnectionRefusedError if the door is closed."""
        if self.holds.is_closed:
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
