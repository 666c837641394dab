"""What is checked before a request is understood: host, key, content type, and that the body is JSON."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from engy_mock.dialects.surfaces import Surface
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import (
    InvalidKey,
    InvalidRequest,
    PermissionDenied,
    UnsupportedMediaType,
    quoted,
)
from engy_mock.vocabulary.wire import Call

_LOOPBACK = re.compile(r"127(\.[0-9]{1,3}){3}")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^][:/?#@,\s]+)(?::([0-9]{0,5}))?", re.IGNORECASE)
_MAX_PORT = 65_535
_OWN_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})


def check_host(call: Call, allowed: frozenset[str]) -> None:
    """Raise PermissionDenied for a name that this machine does not go by (E-68).

    A page on the web can make a browser send any name that points here, but never one of these.
    """
    if is_foreign(call, allowed):
        raise PermissionDenied("host not allowed")


def is_foreign(call: Call, allowed: frozenset[str]) -> bool:
    """Whether a call means another machine than this, by its header or by its target (Q-2)."""
    host, authority = call.headers.get("host"), call.authority
    if host is not None and not _is_own(host, allowed):
        return True
    return authority is not None and not _is_own(authority, allowed)


@lru_cache(maxsize=64)
def _is_own(host: str, allowed: frozenset[str]) -> bool:
    """Whether a host with its port, if any, is well formed and a name of this machine."""
    found = _HOST.fullmatch(host)
    if found is None or int(found[2] or 0) > _MAX_PORT:
        return False
    name = found[1].lower()
    return name in _OWN_HOSTS or name in allowed or _LOOPBACK.fullmatch(name) is not None


def key_of(call: Call, headers: Sequence[str]) -> str:
    """The key in the first of these headers that is there; raises InvalidKey if there is none (E-15 to E-17)."""
    for name in headers:
        value = call.headers.get(name)
        if value is None:
            continue
        if name == "authorization":
            scheme, _, value = value.strip().partition(" ")
            if scheme.lower() != "bearer":
                raise InvalidKey("invalid api key")
        value = value.strip()
        if value:
            return value
        break
    raise InvalidKey("invalid api key")


def check_account(call: Call, surface: Surface, own: str) -> None:
    """Raise PermissionDenied if a call means another account than the one that its key opens (S-13)."""
    meant = call.headers.get(surface.account_header, "").strip() if surface.account_header else ""
    if meant and meant != own:
        raise PermissionDenied(f"no access to account '{quoted(meant)}'")


def check_content(call: Call) -> None:
    """Raise UnsupportedMediaType, or what kept the body from being read (E-72, E-73)."""
    kind = call.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and kind != "application/json" and not kind.endswith("+json"):
        raise UnsupportedMediaType("content type must be application/json")
    if call.trouble is not None:
        raise call.trouble


class Body:
    """The bytes of a body, read as JSON once, when somebody first asks what they say."""

    __slots__ = ("_read", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._read: tuple[Any, str | None] | None = None

    @property
    def meaning(self) -> bytes:
        """What stands for the body; bytes that are no JSON stand for themselves."""
        value, error = self._value()
        return json.meaning(value) if error is None else self.data

    def document(self) -> Mapping[str, Any]:
        """The JSON object in the body; raises InvalidRequest (E-6)."""
        value, error = self._value()
        if error is not None:
            raise InvalidRequest(f"the body is not JSON: {error}") from None
        if not isinstance(value, dict):
            raise InvalidRequest(f"the body must be a JSON object, got {_kind(value)}")
        return value

    def known(self) -> Mapping[str, Any]:
        """The same, but empty where there is no such object."""
        value, _ = self._value()
        return value if isinstance(value, dict) else {}

    def _value(self) -> tuple[Any, str | None]:
        """What the body says, or nothing and why it cannot be read."""
        if self._read is None:
            try:
                self._read = (json.read(self.data), None)
            except ValueError as error:
                self._read = (None, _reason(error))
        return self._read


def _reason(error: ValueError) -> str:
    """What the reader found, without its own name for it."""
    return str(error).partition("\n")[0][:160]


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, list):
        return "an array"
    return "a string" if isinstance(value, str) else "a number"
