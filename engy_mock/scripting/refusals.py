"""What a rule refuses with: any status, told as that status is told by the service."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from engy_mock.vocabulary import errors
from engy_mock.vocabulary.errors import ApiError, MockError

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

RETRYABLE = frozenset({408, 409, 429}) | frozenset(range(500, 600))
"""The statuses that clients try again."""

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
        if not 400 <= self.status <= 599:
            raise MockError(f"refuse takes a status from 400 to 599, got {self.status}")
        for name, value in self.headers.items():
            if any(ord(letter) < 32 or ord(letter) == 127 for letter in name + value) or not name:
                raise MockError(f"header {name!r}: {value!r} has characters that no header may have")

    def error(self, *, hurries: bool) -> ApiError:
        """The error to raise; `hurries` adds a hint of a millisecond where the rule gives none."""
        kind, said = CAUSES.get(self.status, (_other(self.status), f"status {self.status}"))
        headers = list(self.headers.items())
        named = {name.lower() for name in self.headers}
        if self.retry_after is not None:
            headers.append(("Retry-After", _hint(self.retry_after)))
        elif self.status in RETRYABLE and "retry-after" not in named:
            if self.status in HINTED:
                headers.append(("Retry-After", "1"))
            if hurries and "retry-after-ms" not in named:
                headers.append(("retry-after-ms", "1"))
        return kind(
            said if self.message is None else self.message,
            param=self.param,
            code=self.code,
            type=self.type,
            headers=headers,
        )


def _hint(seconds: float | str) -> str:
    return seconds if isinstance(seconds, str) else f"{seconds:g}"


def _other(number: int) -> type[ApiError]:
    """The cause of a status that has no row: the client's fault below 500, else the server's."""
    base = errors.InvalidRequest if number < 500 else errors.ServerFailed
    return type(f"Status{number}", (base,), {"status": number})
