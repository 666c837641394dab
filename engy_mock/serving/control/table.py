"""The routes of the control API as rows: what answers, what it takes, what it gives."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from engy_mock.serving.aside import PREFIX
from engy_mock.serving.control import (
    accounts,
    clock,
    copies,
    exchanges,
    models,
    plan,
    scenarios,
    settings,
    state,
    verdict,
)
from engy_mock.serving.control.house import House, Order


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One route. `does` is its function; without one `kind` names what answers in another way than by JSON.

    `reads` reads beforehand what takes a while, and others are answered meanwhile. A path that ends in `/{name}`
    stands for any one segment there. `takes` and `query` are the forms of body and query, `gives` that of the
    answer. `is_open`: it needs no header, as it shows nothing and changes nothing.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    does: Callable[[House, Order], Any] | None = None
    reads: Callable[[House, Order], Any] | None = None
    kind: Literal["json", "feed", "openapi", "metrics", "page", "file"] = "json"
    summary: str
    takes: type[BaseModel] | None = None
    query: type[BaseModel] | None = None
    gives: type[BaseModel] | None = None
    is_open: bool = False

    @property
    def full_path(self) -> str:
        """The path from the origin on."""
        return PREFIX + self.path


OPERATIONS = (
    Operation(
        method="GET",
        path="",
        kind="page",
        summary="A page for people that shows and changes the mock.",
        is_open=True,
    ),
    Operation(
        method="GET",
        path="page/{name}",
        kind="file",
        summary="A file that belongs to the page.",
        is_open=True,
    ),
    Operation(
        method="GET",
        path="health",
        does=state.health,
        summary="Whether the process is alive.",
        gives=state.Health,
        is_open=True,
    ),
    Operation(
        method="GET",
        path="ready",
        does=state.ready,
        summary="Load what the first answer needs; answers when that is done.",
        gives=state.Health,
        is_open=True,
    ),
    Operation(
        method="GET",
        path="openapi.json",
        kind="openapi",
        summary="This document.",
        is_open=True,
    ),
    Operation(
        method="GET",
        path="metrics",
        kind="metrics",
        summary="Counts and durations in the text format of Prometheus.",
        is_open=True,
    ),
    Operation(method="GET", path="state", does=state.state, summary="The mock at a glance.", gives=state.State),
    Operation(
        method="POST",
        path="reset",
        does=state.reset,
        summary="Be as new, and break off the answers under way.",
        gives=state.State,
    ),
    Operation(
        method="GET", path="settings", does=settings.show, summary="All settings.", gives=settings.SettingsForm
    ),
    Operation(
        method="PATCH",
        path="settings",
        does=settings.change,
        summary="Change some settings; all of them or none.",
        takes=settings.SettingsChange,
        gives=settings.SettingsForm,
    ),
    Operation(method="GET", path="clock", does=clock.show, summary="The mock's time.", gives=clock.ClockForm),
    Operation(
        method="PATCH",
        path="clock",
        does=clock.change,
        summary="Set the time, move it forward, or let it run and stand.",
        takes=clock.ClockChange,
        gives=clock.ClockForm,
    ),
    Operation(
        method="GET",
        path="scenarios",
        does=scenarios.listed,
        reads=scenarios.read_all,
        summary="Every scenario that can be found, those under way first among equals by name.",
        gives=scenarios.ScenarioList,
    ),
    Operation(
        method="GET",
        path="scenarios/{name}",
        does=scenarios.show,
        reads=scenarios.read_one,
        summary="One scenario with its phases and the text of its file.",
        gives=scenarios.ScenarioDetail,
    ),
    Operation(
        method="PUT",
        path="scenarios/{name}",
        does=scenarios.begin,
        reads=scenarios.read_wanted,
        summary="Let a scenario take part; with a phase, let it go there. Without one it begins anew.",
        takes=scenarios.Begin,
        gives=scenarios.ScenarioDetail,
    ),
    Operation(
        method="DELETE",
        path="scenarios/{name}",
        does=scenarios.end,
        summary="Let a scenario take part no longer.",
        gives=scenarios.ScenarioDetail,
    ),
    Operation(
        method="GET", path="rules", does=scenarios.rules, summary="The rules in force.", gives=scenarios.RuleList
    ),
    Operation(
        method="POST",
        path="rules",
        does=scenarios.add_rules,
        reads=scenarios.read_rules,
        summary="Put rules behind those that are there, in the words of scenario files.",
        takes=scenarios.RulesToAdd,
        gives=scenarios.RuleList,
    ),
    Operation(
        method="DELETE",
        path="rules",
        does=scenarios.clear_rules,
        summary="Forget all rules but those of scenarios.",
        gives=scenarios.RuleList,
    ),
    Operation(
        method="GET",
        path="accounts",
        does=accounts.listed,
        summary="All accounts and how they stand.",
        gives=accounts.AccountList,
    ),
    Operation(
        method="POST",
        path="accounts",
        does=accounts.open_one,
        summary="Open an account with a key of its own.",
        takes=accounts.AccountToOpen,
        gives=accounts.AccountDetail,
    ),
    Operation(
        method="GET",
        path="accounts/{name}",
        does=accounts.show,
        summary="One account with its keys.",
        gives=accounts.AccountDetail,
    ),
    Operation(
        method="PATCH",
        path="accounts/{name}",
        does=accounts.change,
        summary="Change what is agreed with an account; all of it or nothing.",
        takes=accounts.AccountChange,
        gives=accounts.AccountDetail,
    ),
    Operation(method="GET", path="models", does=models.listed, summary="All models.", gives=models.ModelListing),
    Operation(
        method="PATCH",
        path="models/{name}",
        does=models.change,
        summary="Make a model available or not; a `/` in its name is written %2F.",
        takes=models.ModelChange,
        gives=models.ModelForm,
    ),
    Operation(
        method="GET",
        path="journal",
        does=exchanges.listed,
        summary="Exchanges by page, oldest first; without before or after the newest.",
        query=exchanges.JournalQuery,
        gives=exchanges.ExchangePage,
    ),
    Operation(
        method="GET",
        path="journal/{name}",
        does=exchanges.show,
        summary="One exchange with everything that is known of it, by its number.",
        gives=exchanges.ExchangeDetail,
    ),
    Operation(
        method="GET",
        path="copies/{name}",
        does=copies.copies,
        summary="One exchange as a command, a test and a scenario, by its number.",
        gives=copies.Copies,
    ),
    Operation(
        method="GET",
        path="feed",
        kind="feed",
        summary="Exchanges as they happen, as server-sent events: exchange (again when it changes), and reset.",
        query=exchanges.FeedQuery,
    ),
    Operation(
        method="GET",
        path="verdict",
        does=verdict.show,
        summary="What the journal says of the client under test.",
        query=verdict.VerdictQuery,
        gives=verdict.VerdictForm,
    ),
    Operation(
        method="POST",
        path="heard",
        does=verdict.hear,
        summary="Say what the client under test has got: a text or an error.",
        takes=verdict.WhatWasHeard,
        gives=verdict.HeardCount,
    ),
    Operation(
        method="POST",
        path="plan",
        does=plan.plan,
        summary="What a request would get now, without sending it.",
        takes=plan.PlanWish,
        gives=plan.Plan,
    ),
)
"""All routes in the order of the document."""

_BY_PATH: dict[str, dict[str, Operation]] = {}
for _operation in OPERATIONS:
    _BY_PATH.setdefault(_operation.full_path, {})[_operation.method] = _operation

_ANY = "/{name}"


def at(path: str) -> tuple[dict[str, Operation], str]:
    """The operations on a path by method, and the name at its end as it was sent; empty if there are none."""
    found = _BY_PATH.get(path)
    if found is not None and not path.endswith(_ANY):
        return found, ""
    before, _, name = path.rpartition("/")
    return (_BY_PATH.get(before + _ANY, {}), name) if name else ({}, "")
