"""What clients inside the process have to pass, as others do, before they are connected."""

import errno
import os
from dataclasses import dataclass, field

from engy_mock.serving.holds import Holds


@dataclass(frozen=True, slots=True)
class Gate:
    """A door that may be closed."""

    holds: Holds = field(default_factory=Holds)

    def knock(self) -> None:
        """Raise ConnectionRefusedError if the door is closed."""
        if self.holds.is_closed:
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
