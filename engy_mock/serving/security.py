"""What stands before a door that speaks TLS: a certificate, good or bad, or a handshake that never ends."""

import asyncio
import ssl
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from engy_mock.vocabulary.errors import MockError, did_you_mean

KINDS = ("valid", "expired", "wrong-host", "self-signed", "handshake-stall")
"""What `tls=` may be."""

NEAR = ("127.0.0.1", "::1", "localhost")
"""The names of this machine."""


def check(kind: str) -> None:
    """Raise MockError for what is no kind of door."""
    if kind not in KINDS:
        raise MockError(f"tls= takes one of {', '.join(KINDS)}, got {kind!r:.80}.{did_you_mean(str(kind), KINDS)}")
    if find_spec("cryptography") is None:
        raise MockError("tls= needs the extra `tls`: install engy-mock[tls], which brings cryptography")


def context(kind: str, seed: int, host: str) -> ssl.SSLContext:
    """What a server needs for a door of this kind."""
    from engy_mock.serving.certificates import certificate

    own = certificate(seed, kind, tuple(dict.fromkeys((*NEAR, host))))
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with TemporaryDirectory(prefix="engy-mock-") as folder:
        path = Path(folder) / "door.pem"
        path.touch(mode=0o600)
        path.write_text(own.key_text + own.text, encoding="ascii")
        made.load_cert_chain(path)
    return made


class Mute(asyncio.Protocol):
    """A connection on which nothing is ever said."""

    def __init__(self, kept: "dict[Mute, asyncio.BaseTransport]") -> None:
        self._kept = kept

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep it."""
        self._kept[self] = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._kept.pop(self, None)
