"""Faults of the door: what happens before a request can be read, so that no rule can have them ("Transport")."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from engy_mock.scripting.fault import Fault, Seconds, fault
from engy_mock.scripting.occasion import Occasion


@dataclass(frozen=True)
class OfTheDoor(Fault):
    """A kind that concerns the door, not an answer; `way` is how to ask for it."""

    way: ClassVar[str] = ""

    def suits(self, occasion: Occasion) -> bool:
        """It never suits an answer."""
        return False

    def misfit(self, words: Mapping[str, Any]) -> str:
        """No request ever comes to such a door."""
        return f"it concerns the door, not an answer: write {self.way}"


@fault("refused-window")
class RefusedWindow(OfTheDoor):
    """Close the port for so many seconds, then open it again."""

    way = "engy.refuse_connections(seconds=...)"

    seconds: Seconds | None = None


@fault("tls-expired")
class TlsExpired(OfTheDoor):
    """Speak TLS with a certificate that has expired."""

    way = 'EngyMock(tls="expired")'


@fault("tls-wrong-host")
class TlsWrongHost(OfTheDoor):
    """Speak TLS with a certificate for another host."""

    way = 'EngyMock(tls="wrong-host")'


@fault("tls-self-signed")
class TlsSelfSigned(OfTheDoor):
    """Speak TLS with a certificate that nobody but itself has signed."""

    way = 'EngyMock(tls="self-signed")'


@fault("tls-handshake-stall")
class TlsHandshakeStall(OfTheDoor):
    """Take a connection for TLS, and never begin."""

    way = 'EngyMock(tls="handshake-stall")'
