"""A plan: what goes wrong in one run, in words, as rules, and as a scenario file."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import yaml

from engy_mock.scripting import notation
from engy_mock.scripting.fault import made, told
from engy_mock.vocabulary.seeds import hex_id

if TYPE_CHECKING:
    from engy_mock.scripting.scenario import Scenario

REFUSING = "flapping"
"""The kind that refuses by turns, and with one status each time."""

_REFUSAL = re.compile(r"flapping pattern=[\[(](\d+),?[\])]")

LINE = 110
"""How wide saved files are."""


class _Plain(yaml.SafeDumper):
    """Writes what occurs twice twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """One thing that goes wrong: what is done to which requests, and how often.

    `does` has the words of a scenario file's rule: `faults`, `refuse` or `delay`. `rate` is the share of the
    fitting requests, settled by a digest of each; `at` names them instead, counted from 1. `endpoints` are the
    dialects that it is for, none named is all.
    """

    does: Mapping[str, Any]
    when: Mapping[str, Any] = field(default_factory=dict)
    endpoints: tuple[str, ...] = ()
    rate: float = 1.0
    times: int | None = None
    at: tuple[int, ...] = ()

    @property
    def is_always(self) -> bool:
        """It befalls every request that it is for."""
        return self.rate == 1 and self.times is None and not self.at

    @property
    def kind(self) -> str:
        """What happens, in a word or two: what two runs share that fail for the same reason."""
        if "refuse" in self.does:
            return f"refuse {self.does['refuse']['status'] // 100}xx"
        return "delay" if "delay" in self.does else " + ".join([made(one).kind for one in self.does["faults"]])

    @property
    def what(self) -> str:
        """What happens, in the words of journals."""
        if "refuse" in self.does:
            said = dict(self.does["refuse"])
            more = [f"{name}={value!r}" for name, value in said.items() if name != "status"]
            return " ".join(["refuse", str(said["status"]), *more])
        if "delay" in self.does:
            return f"delay {self.does['delay']:g}"
        return " + ".join([told(made(one)) for one in self.does["faults"]])

    def rules(self) -> Iterator[dict[str, Any]]:
        """The same as rules of a scenario file, one for each of its dialects."""
        for endpoint in self.endpoints or (None,):
            when = dict(self.when) if endpoint is None else {"endpoint": endpoint, **self.when}
            rule: dict[str, Any] = {"when": when} if when else {}
            if self.at:
                rule["at"] = list(self.at)
            if self.times is not None:
                rule["times"] = self.times
            if self.rate != 1:
                rule["rate"] = self.rate
            yield {**rule, **_marring(self.does)}

    def __str__(self) -> str:
        """For people: `reset after=2 at the 2nd streamed chat request that says 'Why'`."""
        one = len(self.at) == 1
        words = dict(self.when)
        stream, endpoint = words.pop("stream", None), words.pop("endpoint", " or ".join(self.endpoints))
        kind = {True: "streamed", False: "whole", None: ""}[stream]
        noun = " ".join(filter(None, [kind, endpoint, "request" if one else "requests"]))
        if "says" in words:
            noun += f" that say{'s' if one else ''} {words.pop('says')!r}"
        if words:
            noun += f" with {', '.join([f'{name}={value!r}' for name, value in words.items()])}"
        if self.at:
            place = f"the {' and '.join([_ordinal(number) for number in self.at])} of the " if not one else ""
            return f"{self.what} at {place or f'the {_ordinal(self.at[0])} '}{noun}"
        share = "all" if self.rate == 1 else f"{self.rate:.0%} of the"
        most = "" if self.times is None else f", {self.times} {'time' if self.times == 1 else 'times'} at most"
        return f"{self.what} at {share} {noun}{most}"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What goes wrong in one run of a campaign; of no trouble at all, it is calm."""

    profile: str
    seed: int
    troubles: tuple[Trouble, ...] = ()
    note: str = ""

    @property
    def name(self) -> str:
        """Its name among the runs of the campaign."""
        return f"{self.profile}-{self.seed}"

    @cached_property
    def rules(self) -> tuple[tuple[int, dict[str, Any]], ...]:
        """All rules in the order in which they are tried, each with the place of its trouble."""
        return tuple([(place, rule) for place, own in enumerate(self.troubles) for rule in own.rules()])

    @cached_property
    def text(self) -> str:
        """The scenario file that does the same: YAML."""
        said = "; ".join(self.words()) or "nothing goes wrong"
        document = {
            "description": f"Seed {self.seed} of the campaign profile {self.profile}{self.note}: {said}.",
            "rules": [rule for _, rule in self.rules],
        }
        return yaml.dump(
            document, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=LINE, default_flow_style=None
        )

    @cached_property
    def digest(self) -> str:
        """What stands for the plan: equal plans, and only these, have the same."""
        return hex_id(16, "campaign plan", self.name, self.text)

    def words(self) -> list[str]:
        """Each trouble on a line, for people."""
        return [str(own) for own in self.troubles]

    def scenario(self) -> "Scenario":
        """The same as a scenario that can take part."""
        from engy_mock.scripting.scenario import from_sheet

        # The digest keeps apart what shares a name: a plan and a smaller one of it.
        sheet = notation.read(self.text.encode(), f"plan {self.name} ({self.digest})")
        return from_sheet(sheet, self.name)

    def of(self, troubles: tuple[Trouble, ...]) -> "Plan":
        """A plan of these troubles under the same name."""
        return replace(self, troubles=troubles)

    def __str__(self) -> str:
        return "; ".join(self.words()) or "nothing goes wrong"


def _marring(does: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same; a refusal with nothing but a status befalls answers that a test dictates too, as faults do."""
    refusal = does.get("refuse", {})
    return (
        {"faults": [{"kind": REFUSING, "pattern": [refusal["status"]]}]} if refusal.keys() == {"status"} else does
    )


def reworded(fault: str) -> str:
    """A fault of the journal in the words of the plan."""
    found = _REFUSAL.fullmatch(fault)
    return f"refuse {found[1]}" if found else fault


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"
