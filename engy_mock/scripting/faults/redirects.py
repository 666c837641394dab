"""Faults of addresses: redirects that lead nowhere, or where they should not ("Transport")."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from engy_mock.scripting.fault import Fault, fault
from engy_mock.scripting.heads import with_header, without
from engy_mock.scripting.occasion import Occasion
from engy_mock.vocabulary.wire import Begin, Step, Whole

STATUS = 307
"""The redirect that keeps method and body."""


@dataclass(frozen=True)
class Redirect(Fault):
    """Name another address in place of an answer."""

    kind: ClassVar[str] = "redirect"
    is_free: ClassVar[bool] = True

    location: str

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """A head that says where to go."""
        for step in steps:
            if not isinstance(step, Begin):
                yield step
                continue
            head = without(step.head, "Content-Type", "Content-Length", "Cache-Control")
            yield Whole(with_header(replace(head, status=STATUS), "Location", self.location), b"")
            return


@fault("redirect-loop")
class RedirectLoop(Fault):
    """Redirect to the very address that was called."""

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """The way back."""
        return (Redirect(occasion.asked.target),)


@fault("redirect-to-http")
class RedirectToHttp(Fault):
    """Redirect to the same address with the plain scheme."""

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """The way out of an encrypted connection."""
        asked = occasion.asked
        return (Redirect(f"http://{asked.headers.get('host')}{asked.target}"),)


@fault("redirect-drops-auth", spares=True)
class RedirectDropsAuth(Fault):
    """Redirect to the same path on another port of the mock, where clients do not send their key any more.

    Whoever still has a key there is answered.
    """

    def suits(self, occasion: Occasion) -> bool:
        """There is another port."""
        return occasion.annex is not None

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """The way to the other port, unless the request came that way."""
        if occasion.annex is None:
            return (self,)
        origin, asked = occasion.annex(), occasion.asked
        is_there = origin.partition("://")[2] == asked.headers.get("host")
        return () if is_there else (Redirect(f"{origin}{asked.target}"),)
