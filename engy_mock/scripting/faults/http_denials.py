"""Faults that deny an answer in the words of the dialect: keys, balances, models, routes, capacity ("HTTP")."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field

from engy_mock.scripting.fault import Count, Fault, Status, fault
from engy_mock.scripting.heads import instead, with_headers
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.pages import page
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.refusing import Refusing, refused, reworded
from engy_mock.vocabulary import errors
from engy_mock.vocabulary.events import Event, Refused
from engy_mock.vocabulary.wire import Step


@fault("key-revoked", spares=True)
class KeyRevoked(Fault):
    """Accept the key for so many requests, then answer 401."""

    requests: Count = 1

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """Nothing yet, or the refusal."""
        return () if occasion.use < self.requests else (Refusing(Refusal(status=401)),)


@fault("balance-runs-out", spares=True)
class BalanceRunsOut(Fault):
    """Answer 402 once the rule has been used for so many requests, or its answers have come to so many tokens.

    Attempts count as requests. Without both, it is after the first request.
    """

    requests: Count | None = None
    tokens: Count | None = None

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """Nothing yet, or the refusal."""
        requests = 1 if self.requests is None and self.tokens is None else self.requests
        is_spent = (requests is not None and occasion.use >= requests) or (
            self.tokens is not None and occasion.tokens >= self.tokens
        )
        return (Refusing(Refusal(status=402)),) if is_spent else ()


DENIALS = {
    "key": "the api key does not open this",
    "model": "the model does not exist, or the key does not open it",
}


@fault("denied-as", refusals=True)
class DeniedAs(Fault):
    """Deny a key or a model with 403, 401 or 404: services do not agree on which."""

    status: Literal[401, 403, 404] = 403
    what: Literal["key", "model"] = "key"

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal."""
        return refused(events, self.status, usual=self.status, message=DENIALS[self.what])


@fault("model-vanishes", spares=True)
class ModelVanishes(Fault):
    """Answer 404 for a model that is in the list: for so many requests, or from now on."""

    times: Count | None = None

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """The refusal, or nothing any more."""
        if self.times is not None and occasion.use >= self.times:
            return ()
        return (Refusing(Refusal(status=404, param="model")),)


@fault("route-missing", refusals=True)
class RouteMissing(Fault):
    """Answer 404 as if the path were wrong, like `/v1/v1`: in the dialect's envelope, or with an HTML page."""

    body: Literal["json", "html"] = "json"

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal."""
        refusal = Refusal(status=404, message="no route POST '/v1/v1'")
        yield Refused(refusal.error(hurries=False))

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The page, if it is one."""
        if self.body == "json":
            return steps
        html = ("Content-Type", "text/html")
        return instead(steps, lambda head: with_headers(head, html), page("404 Not Found", "proxy"))


@fault("wrong-method-or-type", refusals=True)
class WrongMethodOrType(Fault):
    """Refuse the method with 405, what the client accepts with 406, or what it sends with 415."""

    status: Literal[405, 406, 415] = 405

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal."""
        for event in refused(events, self.status, usual=self.status, message=METHODS_AND_TYPES[self.status]):
            error = event.error
            if isinstance(error, errors.MethodNotAllowed):
                error = reworded(error, headers=(("Allow", "GET"), *error.headers))
            yield Refused(error, event.is_exact)


METHODS_AND_TYPES = {
    405: "method POST not allowed",
    406: "nothing that the client accepts can be sent",
    415: "content type must be application/json",
}


@fault("retryable-status", refusals=True)
class RetryableStatus(Fault):
    """Refuse with a status that some clients try again: 408, 409 or 425."""

    status: Literal[408, 409, 425] = 408

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal."""
        return refused(events, self.status, usual=self.status, message=RETRYABLE[self.status])


RETRYABLE = {408: "the request took too long", 409: "conflict", 425: "too early"}


@fault("quota-exhausted", refusals=True)
class QuotaExhausted(Fault):
    """Refuse with a 429 that never passes: code and type `insufficient_quota`."""

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal."""
        for event in refused(events, 429, usual=429, message="the quota of this plan is used up"):
            word = "insufficient_quota"
            headers = [one for one in event.error.headers if one[0] != "Retry-After"]
            yield Refused(reworded(event.error, type=word, code=word, headers=headers), event.is_exact)


@fault("flapping", spares=True)
class Flapping(Fault):
    """Refuse and answer in turn, with these statuses again and again; 200 is an answer."""

    pattern: Annotated[Sequence[Literal[200] | Status], Field(min_length=1)] = (429, 200)

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """What is next."""
        status = self.pattern[occasion.use % len(self.pattern)]
        return () if status == 200 else (Refusing(Refusal(status=status)),)


@fault("no-worker", refusals=True)
class NoWorker(Fault):
    """Refuse with 503, since no worker meets the wishes of the request; with or without a hint to try again."""

    hint: bool = True

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal."""
        for event in refused(events, errors.NoWorker.status, usual=errors.NoWorker.status, is_exact=not self.hint):
            yield event if self.hint else Refused(reworded(event.error, headers=()), is_exact=True)
