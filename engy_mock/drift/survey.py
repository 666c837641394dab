"""A survey of one server: what it costs at most, what was asked, and where the answers differ from the mock's."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Protocol

from multidict import CIMultiDict

from engy_mock.books.keys import made_key
from engy_mock.drift.answer import Answer, of_steps
from engy_mock.drift.checks import CHECKS, MODEL, Check
from engy_mock.drift.claims import model_is
from engy_mock.drift.cost import Tariff
from engy_mock.drift.shape import differences, shape_of
from engy_mock.gateway import Gateway, Settings
from engy_mock.model.cards import CARDS
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.wire import Call

SEEN_HEADERS = (
    "allow",
    "cache-control",
    "content-type",
    "request-id",
    "retry-after",
    "x-engy-request-id",
    "x-request-id",
)
"""The headers that are compared: whether they are there, and what those in `ALIKE` say."""

ALIKE = frozenset({"allow", "cache-control"})
BAD_KEY = "sk-no-such-key"
DEFAULT_MODEL = "deepseek-v4.1-flash"
"""The cheapest of the models that do not think unless they are asked to."""

MAX_SAID = 12
"""So many differences of one answer are told."""


class Server(Protocol):
    """What is looked at."""

    def ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Its answer to a request, `path` being below its base URL; raises OSError if there is none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one check: the differences, or why it was not made."""

    check: Check
    differences: tuple[str, ...] = ()
    skipped: str | None = None
    cost_micro: int = 0

    def plain(self) -> dict[str, Any]:
        """The same for other programs."""
        return {
            "name": self.check.name,
            "rule": self.check.rule,
            "request": f"{self.check.method} {self.check.path}",
            "differences": list(self.differences),
            "skipped": self.skipped,
            "cost_micro": self.cost_micro,
        }


@dataclass(slots=True, kw_only=True)
class Survey:
    """The checks of one server with one model, at its prices, with at most `limit_micro` to spend.

    Whatever a server could charge for counts against the limit before it is asked, should it be refused or not.
    What an answer does not prove to have cost less counts as the most that its request can cost. `most_unasked` is
    the highest charge for what should cost nothing anywhere.
    """

    server: Server
    key: str
    model: str
    limit_micro: int
    tariff: Tariff
    checks: Sequence[Check] = CHECKS
    spent_micro: int = 0
    most_unasked: int = 0
    _is_silent: bool = False
    _mock: Gateway = field(default_factory=lambda: Gateway(settings=Settings(hurries_retries=False)))
    _known: dict[str, tuple[Answer, int]] = field(default_factory=dict)

    @property
    def estimate_micro(self) -> int:
        """What all checks cost at most, if the server refuses what it should."""
        return sum([self.cost_of(check) for check in self.checks if self._is_answered(check)])

    def results(self) -> Iterator[Result]:
        """Make one check after the other; a server that has fallen silent once is asked no more."""
        for check in self.checks:
            if self._is_silent:
                yield Result(check=check, skipped="not asked: the server has fallen silent")
                continue
            # Once the server has charged for what cannot cost anything, nothing counts as free any more.
            most = max(self.cost_of(check), self.most_unasked)
            if most and self.spent_micro + most > self.limit_micro:
                yield Result(check=check, skipped=f"it could cost {most} micro-USD, and the limit would be passed")
                continue
            yield self._made(check)

    def cost_of(self, check: Check) -> int:
        """What a check costs at most, in micro-USD, on a server that answers what it should refuse as well."""
        expected, usage = self._expected(check)
        if check.method == "GET" or check.key != "good":
            return 0  # there is nothing, or nobody, to charge for it
        if expected.status == 200 and not usage:
            return 0  # free by the contract, and not a thing that a model answers
        _, _, _, body = self._request(check, self.key)
        # Of what should be refused nobody has counted the tokens: there are not more than bytes.
        return self.tariff.most(usage or len(body), check.body)

    def _is_answered(self, check: Check) -> bool:
        """Whether this very model answers; some accept what others refuse (E-89)."""
        _, usage = self._expected(check)
        return check.is_paid or usage > 0

    def _made(self, check: Check) -> Result:
        expected, _ = self._expected(check)
        most = self.cost_of(check)
        try:
            found = self.server.ask(*self._request(check, self.key))
        except OSError as error:
            self._is_silent = isinstance(error, TimeoutError)
            self.spent_micro += most
            said = f"no answer: {error.strerror or type(error).__name__}"
            return Result(check=check, differences=(said,), cost_micro=most)
        proven = self.tariff.proven(found)
        cost = most if proven is None else proven
        if not most:
            self.most_unasked = max(self.most_unasked, cost)
        self.spent_micro += cost
        wrong = _compared(check, expected, found)
        if check.is_paid and not wrong:
            other = model_is(check.body["model"].replace(MODEL, self.model))(found)
            wrong += [] if other is None else [other]
        return Result(check=check, differences=tuple(wrong), cost_micro=cost)

    def _expected(self, check: Check) -> tuple[Answer, int]:
        """What the mock answers, and how many tokens it counts in the prompt."""
        known = self._known.get(check.name)
        if known is not None:
            return known
        method, path, headers, body = self._request(check, made_key("api key", 0))
        call = Call(
            method=method, path=f"/v1{path}", headers=CIMultiDict({"host": "localhost", **headers}), body=body
        )
        answer = of_steps(self._mock.answer(call))
        usage = self._mock.journal.last.usage
        known = answer, 0 if usage is None else usage.prompt_tokens
        return self._known.setdefault(check.name, known)

    def _request(self, check: Check, key: str) -> tuple[str, str, dict[str, str], bytes]:
        headers = dict(check.headers)
        body = b""
        if check.raw is not None:
            body = check.raw
        elif check.body is not None:
            named = check.body.get("model", "")
            body = json.write({**check.body, "model": named.replace(MODEL, self.model)} if named else check.body)
        if check.method != "GET":
            headers.setdefault("content-type", "application/json")
        if check.key != "none":
            shown = key if check.key == "good" else BAD_KEY
            headers[check.shows] = f"Bearer {shown}" if check.shows == "authorization" else shown
        return check.method, check.path, headers, body


class KeyRefused(MockError):
    """The server does not take the key, so that every check would tell that and nothing else."""


def begun(server: Server, key: str, model: str | None, limit_micro: int) -> Survey:
    """A survey of a server. Raises MockError if it cannot be reached, has no model or refuses the key."""
    shown = {"authorization": f"Bearer {key}"}
    try:
        listed = server.ask("GET", "/models", shown, b"")
        # A body that is none costs nothing, and only who has shown a good key is told so (E-71).
        tried = server.ask("POST", "/chat/completions", {**shown, "content-type": "application/json"}, b"{")
    except OSError as error:
        raise MockError(f"the server cannot be reached: {error.strerror or error}") from None
    if tried.status in (401, 403):
        raise KeyRefused(f"the key is refused with {tried.status}")
    rows = listed.document.get("data") if isinstance(listed.document, dict) else None
    named = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    prices = {row["id"]: found for row in named if isinstance(row.get("id"), str) and (found := _prices(row))}
    known = {card.id: card for card in CARDS}
    if model is None:
        both = [one for one in known if one in prices]
        model = DEFAULT_MODEL if DEFAULT_MODEL in both or not both else min(both, key=lambda one: prices[one][1])
    if model not in known:
        raise MockError(f"the mock has no model {model!r:.80}: take one of {', '.join(known)}")
    card = known[model]
    of_prompt, of_answer = prices.get(model, (card.prices.input, card.prices.output))
    tariff = Tariff(input=of_prompt, output=of_answer, longest=card.max_output)
    survey = Survey(server=server, key=key, model=model, limit_micro=limit_micro, tariff=tariff)
    survey.spent_micro = survey.most_unasked = tariff.proven(tried) or 0
    return survey


def _compared(check: Check, expected: Answer, found: Answer) -> list[str]:
    """In what an answer differs from the one that is expected."""
    if found.status != expected.status:
        return [f"status {found.status}, expected {expected.status}"]
    wrong: list[str] = []
    if found.trouble != expected.trouble:
        wrong.append(found.trouble or "the answer does not break off")
    for name in SEEN_HEADERS:
        here, there = expected.headers.get(name), found.headers.get(name)
        if (here is None) is not (there is None):
            wrong.append(f"header {name}: {'missing' if there is None else 'there'}, expected otherwise")
        elif name in ALIKE and here != there:
            wrong.append(f"header {name}: {there!r:.80}, expected {here!r:.80}")
    if found.kind != expected.kind:
        return [*wrong, f"content type {found.kind!r:.80}, expected {expected.kind!r:.80}"]
    if expected.is_stream:
        wrong += _in_streams(expected, found)
    else:
        wrong += differences(shape_of([expected.document]), shape_of([found.document]))
    # Claims are about what only an answer of the right kind has.
    claims = [claim(found) for claim in check.claims]
    wrong += [text for text in claims if text is not None]
    return wrong if len(wrong) <= MAX_SAID else [*wrong[:MAX_SAID], f"and {len(wrong) - MAX_SAID} more"]


def _in_streams(expected: Answer, found: Answer) -> Iterator[str]:
    here, there = _order(expected), _order(found)
    if here != there:
        yield f"order of events {' > '.join(there)}, expected {' > '.join(here)}"
    for kind in dict.fromkeys(here):
        if kind in there:
            both = [
                shape_of([one.document for one in each.events if one.kind == kind]) for each in (expected, found)
            ]
            for text in differences(*both):
                yield f"{kind}: {text}"


def _order(answer: Answer) -> list[str]:
    """The kinds of the events, each once where several follow each other."""
    kinds = [event.kind for event in answer.events]
    return [kind for place, kind in enumerate(kinds) if place == 0 or kinds[place - 1] != kind]


def _prices(row: Mapping[str, Any]) -> tuple[Decimal, Decimal] | None:
    """What a token costs in micro-USD, of a prompt and of an answer."""
    pricing = row.get("pricing")
    try:
        assert isinstance(pricing, dict)
        made = Decimal(pricing["prompt"]) * 10**6, Decimal(pricing["completion"]) * 10**6
    except (AssertionError, KeyError, TypeError, ValueError, InvalidOperation):
        return None
    return made if all(price.is_finite() and price >= 0 for price in made) else None
