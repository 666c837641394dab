"""What is wrong with the mocks of a test when it ends, and what is shown of them beside one that failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engy_mock.books.journal import LATEST
from engy_mock.verdict.expectations import complaints
from engy_mock.vocabulary.errors import UnmetExpectation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engy_mock.mock import EngyMock
    from engy_mock.verdict.words import FailLevel

HEADING = "engy_mock: what reached"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lent:
    """A mock that a test has, what it is called beside others, and how it is looked at in the end."""

    engy: EngyMock
    name: str
    verifies: bool = False
    fail_level: FailLevel = "never"

    def complaints(self) -> Iterator[str]:
        """What did not come true, and what is wrong with the client."""
        gateway = self.engy.gateway
        if self.verifies and (found := complaints(gateway.script.rules, gateway.journal, gateway.defects)):
            yield "\n".join(found)
        if self.fail_level != "never" and (verdict := self.engy.verdict(fail_level=self.fail_level)).fails():
            yield str(verdict)


def check(mocks: Sequence[Lent], *, has_failed: bool, has_others: bool) -> None:
    """Raise what has failed in these mocks, or else UnmetExpectation with all that is wrong.

    A test that has failed already is not looked at any further; what failed in a mock may be why. Names are told
    where the test `has_others` too.
    """
    broken = [(one, one.engy.gateway.defects[0]) for one in mocks if one.engy.gateway.defects]
    if broken:
        (_, first), *others = broken
        for one, defect in others:
            first.add_note(f"{one.name}: {type(defect).__name__}: {defect}")
        raise first
    if has_failed:
        return
    found = [(f"{one.name}:\n" if has_others else "") + said for one in mocks for said in one.complaints()]
    if found:
        raise UnmetExpectation("\n\n".join(found))


def sections(mocks: Sequence[Lent], *, is_setting_up: bool) -> Iterator[tuple[str, str]]:
    """What reached each of them, with a heading; a test that is being set up may not have come so far."""
    for one in mocks:
        if not is_setting_up or len(one.engy.journal):
            name = one.name if len(mocks) > 1 else "the mock"
            yield f"{HEADING} {name}", one.engy.journal.told(LATEST)
