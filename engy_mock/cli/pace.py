"""How fast a server speaks, as a scenario that stands behind all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engy_mock.scripting import notation

if TYPE_CHECKING:
    from engy_mock.scripting.scenario import Scenario

NAME = "pace-of-the-server"

PROFILES = {"realistic": (0.4, 60.0), "slow": (2.0, 8.0)}
"""Seconds to the first piece, and pieces a second from then on."""


def as_scenario(pace: str | None) -> Scenario | None:
    """The scenario that makes answers as slow as this; None if they need not be."""
    if pace is None or pace == "instant":
        return None
    from engy_mock.scripting.scenario import from_sheet

    delay, per_second = PROFILES.get(pace) or (0.0, float(pace))
    text = f"description: Answers take their time.\nrules: [{{pace: {per_second!r}, delay: {delay!r}}}]\n"
    return from_sheet(notation.read(text.encode(), "--pace"), NAME)
