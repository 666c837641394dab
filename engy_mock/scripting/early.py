"""What happens before the body of a request is read, so that a rule can look at the head alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from engy_mock.scripting.fault import Fault
from engy_mock.scripting.refusals import Refusal

IN_THE_HEAD = ("endpoint", "surface", "key", "header")
"""The words of `when` that need no body."""


@dataclass(frozen=True)
class Early(Fault):
    """A kind that acts before the body is read; `answer` is all that the client gets then, or nothing.

    Without an answer a client that asks whether it may send its body is not invited to.
    """

    def answer(self) -> Refusal | None:
        """The refusal that does not wait for the body."""
        return None

    def misfit(self, words: Mapping[str, Any]) -> str | None:
        """A rule that looks at the body comes too late."""
        hidden = [word for word in words if word not in IN_THE_HEAD]
        if hidden:
            return f"it acts before the body is read, so that {' and '.join(hidden)} cannot be looked at"
        return super().misfit(words)


def is_early(faults: Iterable[Fault]) -> bool:
    """Whether one of these acts before the body is read."""
    return any(isinstance(own, Early) for own in faults)
