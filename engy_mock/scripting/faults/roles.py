"""Faults of the role: missing, empty, too often, or too late ("Chat")."""

from collections.abc import Iterator

from engy_mock.scripting.chunks import CHAT, with_said
from engy_mock.scripting.fault import Fault, fault
from engy_mock.vocabulary.events import ReasoningDelta, Started
from engy_mock.vocabulary.wire import Close, End, Frame, Step


def _with_role(steps: Iterator[Step], role: str | None) -> Iterator[Step]:
    return with_said(steps, lambda said, _: said.update(role=role) if "role" in said else None)


@fault("role-missing", endpoints=CHAT)
class RoleMissing(Fault):
    """Leave out the role of the first delta, or of the message."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same without a role."""
        return with_said(steps, lambda said, _: said.pop("role", None))


@fault("role-null", endpoints=CHAT)
class RoleNull(Fault):
    """Give null as the role."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with another role."""
        return _with_role(steps, None)


@fault("role-empty", endpoints=CHAT)
class RoleEmpty(Fault):
    """Give an empty text as the role."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with another role."""
        return _with_role(steps, "")


@fault("role-every-chunk", endpoints=CHAT, streams=True)
class RoleEveryChunk(Fault):
    """Give the role in each delta again."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with more roles."""
        return with_said(steps, lambda said, _: said.setdefault("role", "assistant"))


@fault("role-late", endpoints=CHAT, streams=True)
class RoleLate(Fault):
    """Give the role behind the reasoning only."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The opening chunk of a choice behind its chunks with reasoning."""
        held: list[Step] = []
        for step in steps:
            event = step.event if isinstance(step, Frame) else None
            if isinstance(event, Started):
                held.append(step)
                continue
            if isinstance(step, Frame | End | Close) and not isinstance(event, ReasoningDelta):
                yield from held
                held.clear()
            yield step
        yield from held
