"""What can go wrong, by whom to blame: the client under test, the author of the test, or nobody but the mock.

An `ApiError` is told to the client in the dialect of its route; status, types and codes are rows here
("Errors and limits"; E-191 to E-196).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, ClassVar, Literal, TypeVar

_Error = TypeVar("_Error", bound=BaseException)
_KEY = re.compile(r"sk-engy-[\w-]+")
MAX_QUOTED = 200
"""The longest piece of foreign text that an error repeats (E-196), in characters."""


def quoted(value: object, most: int = MAX_QUOTED) -> str:
    """A value as an error may show it: printable, on one line, at most 200 characters, and no key."""
    text = _KEY.sub("sk-engy-...", value if isinstance(value, str) else repr(value))
    return clipped("".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text[: most + 1]), most)


def clipped(text: str, most: int) -> str:
    """A text, or as much of it as fits into so many characters with dots behind it."""
    return text if len(text) <= most else text[: most - 3] + "..."


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One field that broke a rule: where it stands, what is wrong, and the kind of fault for 422 lists.

    `place` is the part of the call that it stands in.
    """

    path: tuple[str | int, ...]
    message: str
    kind: str = "value_error"
    place: Literal["body", "query"] = "body"

    @property
    def param(self) -> str:
        """The field as `messages[0].content`."""
        text = ""
        for step in self.path:
            text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
        return text


class ApiError(Exception):
    """A refusal that the client under test deserves, told in the dialect of the route.

    `code` stands in place of the status where a dialect tells one; False is none at all. `is_scripted` says that
    the author of the test has worded it.
    """

    status: ClassVar[int] = 500
    openai_type: ClassVar[str] = "server_error"
    anthropic_type: ClassVar[str] = "api_error"

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        code: str | Literal[False] | None = None,
        type: str | None = None,
        headers: Sequence[tuple[str, str]] = (),
        violations: Sequence[Violation] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.code = code
        if type is not None:
            self.openai_type = self.anthropic_type = type  # type: ignore[misc]  # this error alone is told so
        self.headers = tuple(headers)
        self.violations = tuple(violations)
        self.is_scripted = False


class InvalidRequest(ApiError):
    """400: a field, the window, the input type, or JSON that does not parse."""

    status = 400
    openai_type = anthropic_type = "invalid_request_error"


class InvalidKey(ApiError):
    """401: the API key is missing or invalid."""

    status = 401
    openai_type = anthropic_type = "authentication_error"


class InsufficientBalance(ApiError):
    """402: the available balance does not cover the hold."""

    status = 402
    openai_type = "insufficient_quota"
    anthropic_type = "billing_error"


class PermissionDenied(ApiError):
    """403: a foreign host, or an account that the key does not open."""

    status = 403
    openai_type = anthropic_type = "permission_error"


class NotFound(ApiError):
    """404: the path, or a record."""

    status = 404
    openai_type = "invalid_request_error"
    anthropic_type = "not_found_error"


class ModelNotFound(NotFound):
    """404: the model does not exist or is unavailable."""


class MethodNotAllowed(ApiError):
    """405: a served path with another method; carries `Allow`."""

    status = 405
    openai_type = anthropic_type = "invalid_request_error"


class NameConflict(ApiError):
    """409: a record of this name exists."""

    status = 409
    openai_type = anthropic_type = "invalid_request_error"


class TooLarge(ApiError):
    """413: the body, or the media in it."""

    status = 413
    openai_type = "invalid_request_error"
    anthropic_type = "request_too_large"


class UnsupportedMediaType(ApiError):
    """415: the content type is not JSON."""

    status = 415
    openai_type = anthropic_type = "invalid_request_error"


class Unprocessable(ApiError):
    """422: a missing field or a wrong type, on the surfaces that use this status."""

    status = 422
    openai_type = anthropic_type = "invalid_request_error"


class RateLimited(ApiError):
    """429: capacity is exhausted, or a limit is reached.

    `limit` is the one in force, of requests or of tokens; there is room again after so many `seconds`,
    or never if that is 0.
    """

    status = 429
    openai_type = anthropic_type = "rate_limit_error"

    def __init__(
        self,
        message: str,
        *,
        limit: int = 1,
        unit: Literal["requests", "tokens"] = "requests",
        seconds: int = 1,
        **told: Any,
    ) -> None:
        super().__init__(message, **told)
        self.limit = limit
        self.unit = unit
        self.seconds = seconds


class MockFailed(ApiError):
    """500: a fault in the mock itself, or nothing that it may say; never a scripted one.

    It is marked `X-Engy-Mock-Bug`, and not to be retried.
    """

    status = 500

    def __init__(self, reason: str = "the mock failed") -> None:
        super().__init__(reason, headers=(("X-Engy-Mock-Bug", "1"), ("x-should-retry", "false")))


class ServerFailed(ApiError):
    """500 and other failures of the server; scripted only."""


class UpstreamFailed(ApiError):
    """502: a worker failed; scripted only."""

    status = 502


class NoWorker(ApiError):
    """503: no worker meets the `provider` wishes."""

    status = 503
    openai_type = "service_unavailable_error"


class UpstreamTimeout(ApiError):
    """504: the model server timed out; scripted only."""

    status = 504
    openai_type = anthropic_type = "timeout_error"


class Overloaded(ApiError):
    """529: more is asked than can be served; scripted only."""

    status = 529
    openai_type = "server_error"
    anthropic_type = "overloaded_error"


def bare(error: _Error) -> _Error:
    """The same error for keeping: without what it has passed on its way, bodies of requests and all.

    The frame that keeps an error is often one of those that the error has passed; neither would go without the
    garbage collector, which a server rarely asks.
    """
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


class MockError(Exception):
    """The author of the test asked for something that cannot be; the message names the place and a way out."""


class UnmetExpectation(AssertionError):
    """The client did not do what the test expected of it."""


def did_you_mean(wrong: str, known: Sequence[str]) -> str:
    """` Did you mean 'x'?` with the nearest known word, or nothing if none is near."""
    near = get_close_matches(wrong, known, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
