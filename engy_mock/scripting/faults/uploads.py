"""Faults of uploads: what happens while the client still sends its body ("Transport")."""

from typing import Literal

from engy_mock.scripting.early import Early
from engy_mock.scripting.fault import fault
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.refusals import Refusal


@fault("early-response", is_free=True)
class EarlyResponse(Early):
    """Refuse as soon as the head is there, and close the connection while the client still sends."""

    status: Literal[401, 413, 429] = 413

    def answer(self) -> Refusal:
        """The refusal."""
        return Refusal(status=self.status)

    def suits(self, occasion: Occasion) -> bool:
        """Once the body has been read it is too late."""
        return occasion.asked.request is None


@fault("expect-100-never")
class Expect100Never(Early):
    """Do not invite a client that asks whether it may send its body; one that sends it unasked is answered."""

    def suits(self, occasion: Occasion) -> bool:
        """The client asks."""
        return (occasion.asked.headers.get("expect") or "").lower() == "100-continue"
