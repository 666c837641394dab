"""What the control API acts on, and what one call of it brings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engy_mock.gateway import Gateway
from engy_mock.serving.watch import Watch
from engy_mock.vocabulary.seeds import secret


class Refused(Exception):
    """The control API does not do that; told as JSON with this status."""

    def __init__(
        self, status: int, message: str, *, param: str | None = None, headers: Sequence[tuple[str, str]] = ()
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.param = param
        self.headers = tuple(headers)


@dataclass(slots=True, kw_only=True)
class House:
    """One mock with all that belongs to it.

    `reset` makes it as new and breaks off the answers under way. `complaints` tells what is wrong with files that
    are watched, `judged` what is to be said of the client. `texts` has scenarios that stand in no file, by name,
    each with its text. `instance` tells this run from any other.
    """

    gateway: Gateway
    api_key: str
    version: str
    reset: Callable[[], None]
    watch: Watch
    scheme: str = "http"
    complaints: Callable[[], Sequence[str]] = tuple
    judged: Callable[..., dict[str, Any]] | None = None
    metrics: Callable[[], tuple[str, bytes]] | None = None
    folders: Sequence[Path] = ()
    instance: str = field(default_factory=secret)
    texts: dict[str, tuple[object, str]] = field(default_factory=dict)
    is_warm: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One call: the name in its path, query and body as the forms of its row say, and the host it was sent to.

    `read` is what its row has read for it.
    """

    name: str = ""
    host: str = ""
    query: Any = None
    body: Any = None
    read: Any = None
