"""One thing that is wrong with the client under test: where it shows, how, and what a good client does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engy_mock.verdict.words import WORDS, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding.

    `word` is one of `WORDS`. `exchanges` are numbers of the journal, as in `engy.journal[0]`; `evidence` is what
    they show, the same in every run of the same calls, `measured` what was measured in this run, in seconds.
    """

    word: str
    exchanges: tuple[int, ...]
    evidence: str
    severity: Severity
    advice: str
    measured: Mapping[str, float] = field(default_factory=dict, compare=False)

    @classmethod
    def of(
        cls,
        word: str,
        exchanges: tuple[int, ...],
        evidence: str,
        *,
        severity: Severity | None = None,
        **measured: float,
    ) -> "Finding":
        """A finding with the severity and the advice of its word."""
        known = WORDS[word]
        return cls(
            word=word,
            exchanges=exchanges,
            evidence=evidence,
            severity=severity or known.severity,
            advice=known.advice,
            measured=measured,
        )

    def snapshot(self) -> dict[str, Any]:
        """Plain values without what was measured: the same in every run of the same calls and seed."""
        return {
            "word": self.word,
            "severity": self.severity,
            "exchanges": list(self.exchanges),
            "evidence": self.evidence,
            "advice": self.advice,
        }

    def __str__(self) -> str:
        """Two lines for people; exchanges have the numbers of the journal."""
        where = ", ".join([str(number) for number in self.exchanges])
        measured = ", ".join([f"{name.replace('_', ' ')} {value:.3g} s" for name, value in self.measured.items()])
        said = f"{self.severity} {self.word} (exchange {where}): {self.evidence}"
        return f"{said}{f' ({measured})' if measured else ''}\n    {self.advice}"
