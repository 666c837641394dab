"""What became of one call: the whole answer, another one without a word, an exception, or no end at all."""

import re
from dataclasses import dataclass, field
from typing import Any

SIGNS = ("ok", "S", "SDK", "RAW", "hang", "n/a")

ERRORS = frozenset({"SDK", "RAW"})

_WRITTEN = re.compile(r"(ok|S|hang|n/a|error)|(SDK|RAW)(?: ([\w.]+))?")


@dataclass(frozen=True, slots=True)
class Outcome:
    """A sign, and with exceptions their class: of the client's own family (`SDK`), or foreign to it (`RAW`).

    `ok` is the same answer as without the fault, `S` another one, or none, without any exception; of a `hang` only
    a watchdog made an end; with `n/a` the fault had no place. What was recorded may leave out the class, or say
    `error` for an exception of either kind.
    """

    sign: str
    error: str = ""

    def __str__(self) -> str:
        return f"{self.sign} {self.error}" if self.error else self.sign

    def fits(self, recorded: "Outcome") -> bool:
        """Whether it is what was recorded, as far as that goes."""
        if recorded.sign == "error":
            return self.sign in ERRORS
        return self.sign == recorded.sign and recorded.error in ("", self.error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a client gave its program: what was `said`, and the exception behind it, if there was one.

    `error` is the name of its class, `is_own` whether it belongs to the client's family; `is_over` is false if the
    call had not come to an end when the watchdog came. `exception` is the error itself, or one that says the same.
    """

    said: Any = None
    error: str = ""
    is_own: bool = False
    is_over: bool = True
    exception: BaseException | None = field(default=None, compare=False)


def failed(error: BaseException, own: type[BaseException] | tuple[type[BaseException], ...]) -> Heard:
    """A call that ended in this error, of the client's `own` family or not."""
    return Heard(error=type(error).__name__, is_own=isinstance(error, own), exception=error)


def read(text: str) -> Outcome:
    """An outcome as it is written; raises ValueError for anything else."""
    found = _WRITTEN.fullmatch(text)
    if found is None:
        raise ValueError(f"no outcome: {text!r}")
    plain, sign, error = found.groups()
    return Outcome(plain or sign, error or "")


def classified(calm: object, content: object, heard: Heard) -> Outcome:
    """The outcome of a call, given what the same call gets without the fault."""
    if not heard.is_over:
        return Outcome("hang")
    if heard.error:
        return Outcome("SDK" if heard.is_own else "RAW", heard.error)
    return Outcome("ok" if content == calm else "S")
