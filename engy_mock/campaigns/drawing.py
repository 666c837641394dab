"""From a profile and a seed to a plan, in two draws: which troubles a run has, then how each of them is."""

import math
from collections.abc import Mapping
from typing import Any

from engy_mock.campaigns.choices import settled
from engy_mock.campaigns.plan import Plan, Trouble
from engy_mock.campaigns.profile import Profile, Row
from engy_mock.scripting.fault import made
from engy_mock.vocabulary.seeds import Draws, digest


def drawn(profile: Profile, seed: int) -> Plan:
    """The plan of a seed.

    First it is drawn how many troubles the run has and which, the likelier the heavier they weigh, so that runs
    differ in character; then what each row leaves open. When they happen is settled by a digest of each request.
    At most one of them befalls every request, behind the others: it would leave them none. Each row has draws of
    its own: a profile that gets another row keeps most of its plans.
    """
    count = profile.least + Draws(_key(profile, seed, "count")).below(profile.most - profile.least + 1)
    # The smallest of exponential draws by weight: a weighted choice without returning any.
    order = sorted(
        range(len(profile.rows)),
        key=lambda place: -math.log(1 - _draws(profile, seed, place, "turn").unit()) / profile.rows[place].weight,
    )
    at_times: list[Trouble] = []
    always: list[Trouble] = []
    for place in order:
        if len(at_times) + len(always) == count:
            break
        own = _trouble(profile, seed, place)
        if not own.is_always:
            at_times.append(own)
        elif not always:
            always.append(own)
    return Plan(profile=profile.name, seed=seed, troubles=(*at_times, *always))


def _trouble(profile: Profile, seed: int, place: int) -> Trouble:
    row = profile.rows[place]

    def draw(value: Any, *what: str) -> Any:
        return settled(value, _draws(profile, seed, place, *what))

    what = draw(row.what, "what") if isinstance(row.what, list) or row.does == "delay" else row.what
    if isinstance(what, Mapping):
        what = {name: draw(value, "what", name) for name, value in what.items()}
    elif row.does == "refuse":
        what = {"status": what}
    when, endpoints = dict(row.when), profile.endpoints
    if row.does == "fault":
        kind = made(what)
        if kind.is_for_streams is not None:
            when["stream"] = kind.is_for_streams
        if len(kind.surfaces) == 1:
            when.setdefault("surface", next(iter(kind.surfaces)))
        if kind.endpoints:
            own = tuple(sorted(kind.endpoints))
            endpoints = tuple(one for one in own if not endpoints or one in endpoints) or own
    return Trouble(
        does={"faults": [what]} if row.does == "fault" else {row.does: what},
        when=when,
        endpoints=() if "endpoint" in when else endpoints,
        rate=draw(row.rate, "rate"),
        times=draw(row.times, "times"),
    )


def _draws(profile: Profile, seed: int, place: int, *what: str) -> Draws:
    row = profile.rows[place]
    alike = sum(_identity(other) == _identity(row) for other in profile.rows[:place])
    return Draws(_key(profile, seed, _identity(row), str(alike), *what))


def _key(profile: Profile, seed: int, *what: str) -> bytes:
    return digest("campaign", profile.name, seed, *what)


def _identity(row: Row) -> str:
    return repr((row.does, row.what, dict(row.when)))
