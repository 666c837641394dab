"""What no text can hold, smuggled through a dialect: single bytes, and escapes of single characters.

In a text they are noncharacters with digits behind them; they are let out where the bytes of the answer are known.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from engy_mock.vocabulary.wire import Frame, Step

_BYTE = "\ufdd0"
_ESCAPE = "\ufdd1"
_SMUGGLED = re.compile(f"(?:{_BYTE}([0-9a-f]{{2}})|{_ESCAPE}([0-9a-f]{{4}}))".encode())


def byte(value: int) -> str:
    """A byte that reaches the client as it is."""
    return f"{_BYTE}{value:02x}"


def escape(code: int) -> str:
    """A character, or half of one, that reaches the client as an escape of JSON."""
    return f"{_ESCAPE}{code:04x}"


def let_out(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps with what was smuggled in its true form."""
    for step in steps:
        yield replace(step, data=_SMUGGLED.sub(_true_form, step.data)) if isinstance(step, Frame) else step


def _true_form(found: re.Match[bytes]) -> bytes:
    single, code = found.groups()
    return bytes.fromhex(single.decode()) if single is not None else b"\\u" + code
