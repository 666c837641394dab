"""Server-sent events as the standard has them read."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Block:
    """One event: its name and its data. Without `is_ended` the empty line behind it never came."""

    name: str
    data: str
    is_ended: bool = True


def blocks(body: bytes) -> Iterator[Block]:
    """The events of a stream that have data; the last one also where it is not ended, which readers drop."""
    text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    name, data = "", list[str]()
    *lines, rest = _LINE.split(text)
    for line in [*lines, rest] if rest else lines:
        if not line:
            if any(data):  # an event without data is none
                yield Block(name, "\n".join(data))
            name, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
    if any(data):
        yield Block(name, "\n".join(data), is_ended=False)
