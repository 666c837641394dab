"""What is kept of a body that was too long for the journal: its short fields, and that there were others."""

from collections.abc import Iterator, Mapping
from typing import Any

from engy_mock.vocabulary.errors import MockError

MAX_FIELD = 1024
"""How many characters of texts and numbers a field may hold that is kept."""

MAX_FIELDS = 100


class Shortened(Mapping[str, Any]):
    """The short fields; to ask for one that was left out is a MockError, since nobody knows any more.

    Without `names` nobody knows even what fields there were.
    """

    __slots__ = ("_kept", "_names", "_size")

    def __init__(self, body: Mapping[str, Any] | None, size: int) -> None:
        fields = {} if body is None else body
        short = [name for name in fields if _length(fields[name], MAX_FIELD) <= MAX_FIELD]
        self._kept = {name: fields[name] for name in short[:MAX_FIELDS]}
        self._names = None if body is None else frozenset(body)
        self._size = size

    @property
    def left_out(self) -> frozenset[str]:
        """The names of the fields that were left out, as far as they are known."""
        return (self._names or frozenset()) - frozenset(self._kept)

    def __getitem__(self, name: str) -> Any:
        if name in self._kept:
            return self._kept[name]
        if self._names is not None and name not in self._names:
            raise KeyError(name)
        raise MockError(
            f"nobody knows {name!r:.80} any more: the body had {self._size} bytes, which is too long for the "
            f"journal to keep. Ask for what the model was told (says=, system=), or write a rule, which sees all"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)


def _length(value: object, most: int) -> int:
    """About how many characters a value has, counted no further than it takes to see that it is more."""
    if isinstance(value, str):
        return len(value)
    if not isinstance(value, dict | list):
        return 8
    count = 2
    for one in value.items() if isinstance(value, dict) else value:
        count += sum([_length(part, most) for part in one]) if isinstance(one, tuple) else _length(one, most)
        if count > most:
            break
    return count
