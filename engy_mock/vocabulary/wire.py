"""What comes from a socket and what goes to it, without a socket: a `Call` in, `Step`s out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Literal

from engy_mock.vocabulary.errors import ApiError
from engy_mock.vocabulary.events import Event


@dataclass(slots=True, eq=False)
class Line:
    """One connection of a client: since when it is open and when it was closed, on the monotonic clock."""

    opened: float
    closed: float | None = None


@dataclass(slots=True, kw_only=True)
class Call:
    """One HTTP request. Nobody changes it once it has come: frozen, it would cost three times as much.

    `headers` is a mapping that does not regard case, `query` the raw text behind the question mark,
    `authority` the host in the target where one stands in it. Where the
    body could not be read, `trouble` says why; the gateway raises it when its turn comes in the order of
    refusals. `line` is the connection on which it came, where that is known, `kept` those of its headers that may
    be kept, where they have been picked out already.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""
    query: str = ""
    trouble: ApiError | None = None
    authority: str | None = None
    line: Line | None = field(default=None, compare=False)
    kept: Mapping[str, str] | None = field(default=None, compare=False)


@dataclass(slots=True)
class Head:
    """Status line and headers; `reason` None means the standard phrase. It is no more changed than a call.

    Under `version` 1.0 a body has no frame: it ends with the connection.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    reason: str | None = None
    version: Literal["1.1", "1.0"] = "1.1"

    @property
    def phrase(self) -> str:
        """The phrase of the status line."""
        if self.reason is not None:
            return self.reason
        try:
            return HTTPStatus(self.status).phrase
        except ValueError:
            return ""


@dataclass(slots=True)
class Whole:
    """A complete answer in one step: head and body, framed by `Content-Length`."""

    head: Head
    body: bytes


@dataclass(frozen=True, slots=True)
class Begin:
    """The head of an answer in parts; the transfer is chunked, unless the head says otherwise.

    `length` is that of the body, where it is known.
    """

    head: Head
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Write:
    """A piece of a streamed body; one write on the socket."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Frame(Write):
    """A piece of a body that means something by itself: one server-sent event, or the body of a whole answer.

    `event` is what it tells; None for a whole answer. Frames with nothing between them may share a write on
    the socket, which other writes never do; `ends_write` says whether a write ends behind this one, and None
    leaves that to sizes and settings.
    """

    event: Event | None = None
    is_piece: bool = False
    ends_write: bool | None = None

    @property
    def is_whole(self) -> bool:
        """It is the body of a whole answer, not an event of a stream."""
        return self.event is None


@dataclass(frozen=True, slots=True)
class Unframed:
    """Bytes written to the connection as they are, outside any framing."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Wait:
    """Silence of so many seconds on the schedule of the answer; `math.inf` never ends.

    From one that `is_deaf` on, nothing is read from the connection either.
    """

    seconds: float
    is_deaf: bool = False


@dataclass(frozen=True, slots=True)
class Repeat:
    """The same write every so many seconds, so often (None: for ever); without end it really waits."""

    data: bytes
    seconds: float
    count: int | None = None


@dataclass(frozen=True, slots=True)
class End:
    """The regular end of a streamed body; `trailers` are headers behind a chunked one."""

    trailers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Close:
    """The connection ends without a regular end of the body: by reset if `abrupt`, else by closing."""

    abrupt: bool = False


@dataclass(frozen=True, slots=True)
class Lease:
    """How long the connection may be used again behind this answer; used later, it is reset without an answer.

    That is within so many seconds of mock time, and for so many answers with a lease.
    """

    seconds: float
    requests: int | None = None


Step = Whole | Begin | Write | Unframed | Wait | Repeat | End | Close | Lease


@dataclass(frozen=True, slots=True)
class Doorstep:
    """What happens before the body of a request is read.

    `steps` are an answer that does not wait for it; without `invites` a client that asks whether it may send its
    body hears nothing.
    """

    steps: Iterator[Step] | None = None
    invites: bool = True


def header_lines(headers: Iterable[tuple[str, str]]) -> bytes:
    """Headers as they stand on the wire, without the empty line behind them."""
    return "".join([f"{name}: {value}\r\n" for name, value in headers]).encode("latin-1")
