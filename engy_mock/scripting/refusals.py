"""What a rule refuses with: any status, told as that status is told by the service."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from engy_mock.vocabulary import errors
from engy_mock.vocabulary.errors import ApiError, MockError
from engy_mock.vocabulary.text import is_sendable

CAUSES: dict[int, tuple[type[ApiError], str]] = {
    400: (errors.InvalidRequest, "the request is invalid"),
    401: (errors.InvalidKey, "invalid api key"),
    402: (errors.InsufficientBalance, "the available balance does not cover the request"),
    403: (errors.PermissionDenied, "permission denied"),
    404: (errors.ModelNotFound, "the model does not exist or is unavailable"),
    405: (errors.MethodNotAllowed, "method not allowed"),
    409: (errors.NameConflict, "conflict"),
    413: (errors.TooLarge, "the request is too large"),
    415: (errors.UnsupportedMediaType, "content type must be application/json"),
    422: (errors.Unprocessable, "the request cannot be processed"),
    429: (errors.RateLimited, "capacity is exhausted"),
    500: (errors.ServerFailed, "internal server error"),
    502: (errors.UpstreamFailed, "upstream failed"),
    503: (errors.NoWorker, "no worker meets the provider requirements"),
    504: (errors.UpstreamTimeout, "miner timeout or disconnect"),
    529: (errors.Overloaded, "overloaded"),
}
"""The cause that a status stands for, and what is said if the rule says nothing."""

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_FRAMING = frozenset({"connection", "content-length", "content-type", "transfer-encoding"})

RETRYABLE = frozenset({408, 409, 429}) | frozenset(range(500, 600))
"""The statuses that clients try again."""

MAX_HINT = 1e15
"""No hint is longer, in seconds: beyond it a number loses its last digits."""

HINTED = frozenset({429, 503})
"""The statuses that come with `Retry-After: 1` ("Errors and limits")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A refusal as a rule words it; what it leaves open is as the service has it.

    `retry_after` is a hint in seconds, sent as it is written.
    """

    status: int
    message: str | None = None
    retry_after: float | str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    type: str | None = None
    code: str | None = None
    param: str | None = None

    def __post_init__(self) -> None:
        if type(self.status) is not int or not 400 <= self.status <= 599:
            raise MockError(f"refuse takes a status from 400 to 599, got {self.status!r}")
        if not isinstance(self.headers, Mapping):
            raise MockError(f"headers= takes a mapping, got {self.headers!r:.80}")
        object.__setattr__(self, "headers", dict(self.headers))
        for name, value in self.headers.items():
            _check_header(name, value)
        if self.retry_after is not None:
            if not isinstance(self.retry_after, str) and not _is_hint(self.retry_after):
                raise MockError(
                    f"retry_after takes a finite number of seconds from 0 or a text, got {self.retry_after!r:.80}"
                )
            _check_header("Retry-After", in_seconds(self.retry_after))
            written = next((name for name in self.headers if name.lower() == "retry-after"), None)
            if written is not None:
                raise MockError(f"retry_after= and headers= both say {written}: one of them has to go")
        for word in ("message", "type", "code", "param"):
            text = getattr(self, word)
            if text is not None and (not isinstance(text, str) or not is_sendable(text)):
                raise MockError(f"{word}= takes a text, got {text!r:.80}")

    def error(self, *, hurries: bool) -> ApiError:
        """The error to raise; `hurries` adds a hint of a millisecond where the rule gives none."""
        kind, said = CAUSES.get(self.status, (_other(self.status), f"status {self.status}"))
        headers = list(self.headers.items())
        named = {name.lower() for name in self.headers}
        if self.retry_after is not None:
            headers.append(("Retry-After", in_seconds(self.retry_after)))
        elif self.status in RETRYABLE and "retry-after" not in named:
            if self.status in HINTED:
                headers.append(("Retry-After", "1"))
            if hurries and "retry-after-ms" not in named:
                headers.append(("retry-after-ms", "1"))
        error = kind(
            said if self.message is None else self.message,
            param=self.param,
            code=self.code,
            type=self.type,
            headers=headers,
        )
        error.is_scripted = True
        return error


def _is_hint(seconds: object) -> bool:
    """Whether this is a span that a header can tell."""
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return is_number and 0 <= seconds < MAX_HINT  # type: ignore[operator]  # a number has been made sure of


def in_seconds(seconds: float | str) -> str:
    """A hint in seconds as a header has it; a text as it is written."""
    if isinstance(seconds, str):
        return seconds
    # As a decimal, since no header has an exponent.
    return str(int(seconds)) if seconds == int(seconds) else f"{Decimal(f'{seconds:.15g}'):f}"


def _check_header(name: object, value: object) -> None:
    """Raise MockError for a header that would not arrive as one."""
    if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
        raise MockError(f"{name!r:.80} is no name of a header")
    if name.lower() in _FRAMING:
        raise MockError(f"header {name!r} frames the answer: it is not for a rule to set")
    if not isinstance(value, str) or not _HEADER_VALUE.fullmatch(value):
        raise MockError(f"header {name!r}: {value!r:.80} has characters that no header may have")


def _other(number: int) -> type[ApiError]:
    """The cause of a status that has no row: the client's fault below 500, else the server's."""
    base = errors.InvalidRequest if number < 500 else errors.ServerFailed
    return type(f"Status{number}", (base,), {"status": number})
