"""What strangers may cost the mock: caps and deadlines of the door, all of them settings."""

from dataclasses import dataclass

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Caps and deadlines, in bytes and in seconds of the wall.

    `body_bytes` counts what a compressed body unpacks to. `header_seconds` run from the first byte of a
    request, `body_seconds` from the end of its head, `idle_seconds` between requests. `lingering_seconds` is
    how long the rest of an unread body is thrown away, so that its sender gets to read the refusal. After another
    `idle_seconds` a connection that is to end is dropped, with whatever its client has not read.
    """

    body_bytes: int = 32 * MEBIBYTE
    header_seconds: float = 10.0
    body_seconds: float = 60.0
    idle_seconds: float = 120.0
    lingering_seconds: float = 10.0
    answer_seconds: float = 1800.0
    stall_seconds: float = 600.0
    max_stalls: int = 256
    max_connections: int = 2048
