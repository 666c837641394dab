"""What pytest tells of campaigns at the end: how many runs failed, and the smallest plan that made one fail."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

IN_FULL = 3
"""So many different failures of a campaign are shown in full, the others on a line."""


@dataclass(slots=True)
class Campaign:
    """All runs of one test."""

    runs: int = 0
    failed: list[dict[str, Any]] = field(default_factory=list)
    calm: int = 0

    def lines(self, name: str) -> list[str]:
        """The same for people."""
        runs = f"{self.runs} {'run' if self.runs == 1 else 'runs'}"
        counts = f"{runs}, {len(self.failed)} failed" + (f", {self.calm} met no trouble" if self.calm else "")
        lines = [f"{name}: {counts}"]
        if self.runs > 1 and self.calm == self.runs:
            lines.append("  no request met a trouble: is the profile for what the test asks?")
        if self.failed:
            small = min(self.failed, key=lambda one: (one.get("troubles", 1000), one["seed"]))
            what = "smallest failing plan" if "smallest" in small else "first failing plan"
            lines.append(f"  {what} (seed {small['seed']}): {small.get('smallest') or small.get('plan', '-')}")
            if "replay" in small:
                lines.append(f"  replay: {small['replay']}")
            if "saved" in small:
                lines.append(f"  saved: {small['saved']}")
        return lines


@dataclass(slots=True)
class Summary:
    """All campaigns of a run of pytest, by test."""

    campaigns: dict[str, Campaign] = field(default_factory=dict)
    shown: dict[str, set[str]] = field(default_factory=dict)

    def add(self, report: pytest.TestReport, told: dict[str, Any]) -> None:
        """Count a run; the report of a failure that has been shown, or of one too many, is made short."""
        campaign = self.campaigns.setdefault(told["campaign"], Campaign())
        campaign.runs += 1
        campaign.calm += not told["met"]
        if not told["failed"]:
            return
        campaign.failed.append(told)
        shown = self.shown.setdefault(told["campaign"], set())
        failure = told.get("failure", "")
        if failure in shown or len(shown) >= IN_FULL:
            replay = f"\nreplay: {told['replay']}" if "replay" in told else ""
            report.longrepr = f"{failure}, as shown or like others: {told.get('plan', '')}{replay}"
            report.sections = []
        shown.add(failure)

    def lines(self) -> list[str]:
        """The same for people."""
        return [line for name in sorted(self.campaigns) for line in self.campaigns[name].lines(name)]
