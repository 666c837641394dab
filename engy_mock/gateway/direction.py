"""What rules and scenarios make of a call: which of them have a say, and what their faults do to the answer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from engy_mock.books.accounts import Hold
from engy_mock.books.entry import KEPT_HEADERS, Entry
from engy_mock.books.shortened import Shortened
from engy_mock.dialects.admission import Body, key_of
from engy_mock.dialects.routes import Route
from engy_mock.gateway.again import another
from engy_mock.gateway.exchange import Exchange
from engy_mock.gateway.identity import Identities
from engy_mock.gateway.scenes import ANY, Scenes
from engy_mock.gateway.settings import Settings
from engy_mock.gateway.trouble import Trouble, chosen
from engy_mock.gateway.underway import Underway
from engy_mock.model.catalog import Catalog
from engy_mock.scripting.asked import Asked
from engy_mock.scripting.fault import told
from engy_mock.scripting.missing import missing
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.rules import Chosen, Rule, Used
from engy_mock.scripting.script import Script
from engy_mock.scripting.stage import Stage
from engy_mock.vocabulary.errors import ApiError, InvalidKey, InvalidRequest, MockError, UnmetExpectation, quoted
from engy_mock.vocabulary.generation import Generation
from engy_mock.vocabulary.request import GenerationRequest
from engy_mock.vocabulary.seeds import hex_id
from engy_mock.vocabulary.wire import Call, Step

SCENARIO = "X-Engy-Mock-Scenario"
"""The header by which one request asks for a scenario, where that is allowed."""


RULE_BYTES = 2_000
"""About what a rule takes of memory, once for all that know it."""


class Mocked(Protocol):
    """The mock whose rules and scenarios they are."""

    seed: int
    settings: Settings
    catalog: Catalog
    script: Script
    scenes: Scenes
    identities: Identities
    annex: Callable[[], str] | None

    def now(self) -> float:
        """Unix time on the mock's clock."""
        ...


class Direction:
    """Asks the rules of one mock, and lets the faults that they choose act."""

    def __init__(self, mocked: Mocked) -> None:
        self._mocked = mocked
        self._underway = Underway()
        self._rules: tuple[Rule, ...] = ()

    def copy(self, mocked: Mocked) -> "Direction":
        """The same for another mock, with the same calls under way."""
        other = Direction(mocked)
        other._underway = self._underway.copy()
        return other

    def forget(self) -> None:
        """Count the calls under way anew."""
        self._underway = Underway()

    def enter(self, asked: Asked, hold: Hold) -> tuple[int, int]:
        """How many calls are being answered with this one, and how many of them are of its key."""
        return self._underway.enter(asked.key, hold)

    def is_idle(self, call: Call) -> bool:
        """Whether no rule can have a say, and none has to."""
        if self._mocked.settings.strict:
            return False
        if self._mocked.script.rules or self._mocked.scenes.stage.scenes:
            return False
        return SCENARIO not in call.headers

    def chosen(self, asked: Asked, entry: Entry) -> Chosen | None:
        """What the rules say to a call; raises InvalidRequest for a scenario that it cannot ask for."""
        aside = self._aside(asked)
        more = () if aside is None else aside.rules()
        found = self._mocked.script.choose(asked, partial(self._mocked.identities.settle, entry), more)
        self._mocked.identities.settle(entry)
        rules: tuple[Rule, ...] = ()
        if asked.refused is None:
            rules = self._mocked.script.in_force(more) if found is None else found.rules
            self._keep(rules, found, entry)
        if asked.request is not None:
            self._mocked.scenes.stage.count()
            if aside is not None:
                aside.count()
        if found is not None:
            entry.rule = found.description
        if asked.refused is None and (found is None or found.answering is None):
            self._miss(asked, entry, rules)
        return found

    def _aside(self, asked: Asked) -> Stage | None:
        """The scenario that a call asks for, if any; what has been refused is not refused again."""
        name, allowed = asked.headers.get(SCENARIO), self._mocked.settings.scenario_header
        if name is None:
            return None
        try:
            check_choice(name, allowed)
            return self._mocked.scenes.aside(name)
        except (InvalidRequest, MockError) as error:
            if asked.refused is not None:
                return None
            raise error if isinstance(error, InvalidRequest) else InvalidRequest(f"{SCENARIO}: {error}") from None

    def _keep(self, rules: tuple[Rule, ...], found: Chosen | None, entry: Entry) -> None:
        """Let an entry know its rules, and what of them is kept for it alone: phases have new ones each time."""
        entry.missed = partial(_missed, rules, found)
        before, self._rules = self._rules, rules
        if rules is not before:
            known = set(map(id, before))
            entry.rules_weight = 8 * len(rules) + RULE_BYTES * sum([id(rule) not in known for rule in rules])

    def _miss(self, asked: Asked, entry: Entry, rules: tuple[Rule, ...]) -> None:
        """Raise UnmetExpectation where each request has to meet a rule, with why this one has met none."""
        if self._mocked.settings.strict and asked.request is not None:
            entry.missed = tuple(self._mocked.script.explain(asked, rules))
            nearest = "".join(f"\n  {reason}" for reason in entry.missed)
            told = f"\nthe nearest:{nearest}" if nearest else f": {self._what_there_is(rules)}"
            raise UnmetExpectation(f"no rule answers {entry.asking}{told}")

    def _what_there_is(self, rules: tuple[Rule, ...]) -> str:
        """The rules and scenarios of which none has an answer to anything, for whoever thought that one had."""
        if not rules:
            told = "there are no rules"
        else:
            told = f"{len(rules)} rule{' brings' if len(rules) == 1 else 's bring'} faults, none answers"
        for scene in self._mocked.scenes.stage.scenes:
            phase = "" if scene.current is None else f" in its phase {scene.current.name!r:.80}"
            told += f"; scenario {scene.name} has no answers{phase}"
        return told

    def marred(
        self, exchange: Exchange, said: Generation | ApiError | bytes, found: Chosen, asked: Asked
    ) -> Iterator[Step]:
        """The same with the faults that are chosen for it."""
        entry, now = exchange.entry, self._mocked.now()
        trouble = self.trouble(
            exchange, found, asked, said.usage.cached_tokens if isinstance(said, Generation) else 0
        )
        plain: Generation | None = None
        if isinstance(said, Generation):
            plain = with_call_ids(said, entry.request_id)
            said = with_call_ids(trouble.retold(said), entry.request_id)
        steps = exchange.marred(said, trouble, self._mocked.settings, now, plain)
        if entry.generation is not None:
            self._mocked.script.spend(found, entry.generation.usage.total_tokens)
        return steps

    def marring(self, asked: Asked, entry: Entry) -> Chosen | None:
        """What the rules do to an answer that is not theirs; there is none of their own to be missed."""
        found = self._mocked.script.choose(asked, partial(identity, entry))
        self._mocked.scenes.stage.count()
        return found

    def trouble(self, exchange: Exchange, found: Chosen, asked: Asked, cached: int = 0) -> Trouble:
        """The faults that are chosen for an answer; its entry gets what stands for the plan."""
        entry, prepared, now = exchange.entry, exchange.prepared, self._mocked.now()
        catalog, seed = self._mocked.catalog, self._mocked.seed

        def occasion(used: Used) -> Occasion:
            return Occasion(
                asked=asked,
                identity=identity(entry),
                rule=used.rule.name,
                use=used.use,
                tokens=used.rule.tokens,
                now=now,
                since=now - used.rule.began,
                open_requests=exchange.crowd[0],
                open_of_key=exchange.crowd[1],
                prompt_tokens=prepared.prompt_tokens if prepared is not None else 0,
                memory=used.rule.memory,
                annex=self._mocked.annex,
                again=None if prepared is None else another(catalog, seed, prepared, cached),
            )

        occasions = {used.rule.name: occasion(used) for used in found.used}
        trouble = chosen([(own, occasions[used.rule.name]) for own, used in found.faults])
        named = (used.rule.name for used in found.used)
        # What a kind has chosen is named without its parameters: a second door's port is no part of a plan.
        words = [*(told(own) for _, own in trouble.written), *(own.kind for own in trouble.faults)]
        entry.plan = f"{self._mocked.seed}/{hex_id(16, 'plan', entry.request_id, *named, *words)}"
        return trouble


def identity(entry: Entry) -> bytes:
    """What stands for a request and how often it was seen before."""
    return entry.request_id.encode()


def _missed(rules: Sequence[Rule], found: Chosen | None, entry: Entry) -> tuple[str, ...]:
    """Why the other rules had no say in an exchange; looked at when somebody wants to know."""
    body: Mapping[str, Any]
    if entry.request is not None:
        body = entry.request.body
    else:
        body = Shortened(None, entry.body_bytes) if entry.is_body_cut else Body(entry.body).known()
    asked = Asked(
        endpoint=entry.endpoint, surface=entry.surface, request=entry.request, headers=entry.headers, body=body
    )
    return tuple(missing(rules, found, asked, identity(entry), KEPT_HEADERS))


def asked_of(
    call: Call,
    route: Route,
    *,
    request: GenerationRequest | None = None,
    body: Mapping[str, Any] | None = None,
    refused: int | None = None,
) -> Asked:
    """A call as rules see it."""
    try:
        key = key_of(call, (*route.key_headers, "authorization"))
    except InvalidKey:
        key = ""
    return Asked(
        endpoint=route.endpoint,
        surface=route.surface.name,
        request=request,
        key=key,
        headers=call.headers,
        body=(body or {}) if request is None else request.body,
        refused=refused,
        target=f"{call.path}?{call.query}" if call.query else call.path,
    )


def with_call_ids(generation: Generation, request_id: str) -> Generation:
    """The same with an id for each tool call that has none (E-115)."""
    if not any(choice.tool_calls for choice in generation.choices):
        return generation
    return replace(
        generation,
        choices=tuple(
            replace(
                choice,
                tool_calls=tuple(
                    call
                    if call.id is not None
                    else call.changed(id="call_" + hex_id(24, "call", request_id, choice.index, place))
                    for place, call in enumerate(choice.tool_calls)
                ),
            )
            for choice in generation.choices
        ),
    )


def check_choice(name: str, allowed: bool | frozenset[str]) -> None:
    """Raise InvalidRequest for a scenario that a request may not choose (Q-27)."""
    if not allowed:
        raise InvalidRequest(
            f"{SCENARIO}: no request may choose a scenario here: the setting scenario_header, or "
            "--scenario-header of `engy-mock serve`, names those that one may"
        )
    if not isinstance(allowed, bool) and name not in allowed and ANY not in allowed:
        known = ", ".join(sorted(allowed))
        raise InvalidRequest(f"{SCENARIO}: '{quoted(name)}' is none that a request may choose, but {known}")
