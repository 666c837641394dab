"""Behaviours of a service that has too much to do: late answers, full queues, limits, failures ("Behaviour")."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from engy_mock.scripting.fault import LONGEST, MOST, Count, Fault, Pause, Seconds, Share, Some, Status, fault
from engy_mock.scripting.heads import Header, Headers, limit_headers, reheaded, with_headers
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.pace import Delay
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.refusing import Refusing
from engy_mock.vocabulary.limits import Limits
from engy_mock.vocabulary.wire import Head, Step

Span = Annotated[float, Limits(ge=0.001, le=MOST)]


@fault("cold-start", spares=True)
class ColdStart(Fault):
    """Answer 503 for the first so many seconds of mock time, each time with a hint at how many are left."""

    seconds: Seconds = 30.0

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """The refusal, or nothing any more."""
        left = math.ceil(self.seconds - occasion.since)
        if occasion.since >= self.seconds:
            return ()
        return (Refusing(Refusal(status=503, message="the model is starting", retry_after=left)),)


@fault("warm-up", spares=True)
class WarmUp(Fault):
    """Begin the first so many answers late, by so many seconds each."""

    seconds: Pause = 5.0
    requests: Count = 3

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """The delay, or nothing any more."""
        return (Delay(self.seconds),) if occasion.use < self.requests else ()


@fault("load-latency", spares=True)
class LoadLatency(Fault):
    """Begin late, by so many seconds `per` each other request that is being answered."""

    per: Pause = 0.1

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """The delay, if there are others."""
        others = occasion.open_requests - 1
        return (Delay(min(self.per * others, LONGEST)),) if others > 0 else ()


@fault("slow-tokenizer")
class SlowTokenizer(Fault):
    """Begin late, by so many seconds `per` each token of the prompt."""

    per: Pause = 0.001

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """The delay."""
        return (Delay(min(self.per * occasion.prompt_tokens, LONGEST)),)


@fault("queue-full", spares=True)
class QueueFull(Fault):
    """Answer 429 to a request that finds so many others being answered."""

    limit: Count = 4

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """Nothing, or the refusal."""
        return _crowded(occasion.open_requests, self.limit, f"the queue is full: {self.limit} requests at once")


@fault("key-concurrency", spares=True)
class KeyConcurrency(Fault):
    """Answer 429 to a request that finds so many others of its key being answered."""

    limit: Count = 4

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """Nothing, or the refusal."""
        return _crowded(occasion.open_of_key, self.limit, f"concurrency limit of {self.limit} reached")


def _crowded(count: int, limit: int, message: str) -> Sequence[Fault]:
    return () if count <= limit else (Refusing(Refusal(status=429, message=message), limit=limit),)


@fault("quota-refill")
class QuotaRefill(Fault):
    """Allow so many requests and tokens in each span of so many seconds; headers tell what is left.

    Spans of mock time follow one another from the moment at which the rule came into force. Without `requests` and
    `tokens` 60 requests are allowed. The tokens of an answer count from its beginning.
    """

    requests: Count | None = None
    tokens: Count | None = None
    seconds: Span = 60.0

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """The headers, and the refusal if nothing is left."""
        requests = 60 if self.requests is None and self.tokens is None else self.requests
        span = int(occasion.since // self.seconds)
        left = math.ceil((span + 1) * self.seconds - occasion.since)
        before = occasion.memory.count(repr(self), "requests", span)
        spent = occasion.tokens - occasion.memory.first(occasion.tokens, repr(self), "tokens", span)
        done: list[Fault] = []
        headers: list[Header] = []
        for unit, limit, used, own in (("requests", requests, before, 1), ("tokens", self.tokens, spent, 0)):
            if limit is None:
                continue
            if used >= limit and not done:
                words = f"limit of {limit} {unit} in {self.seconds:g} s reached"
                done.append(Refusing(Refusal(status=429, message=words, retry_after=left), limit=limit))
            rest = max(0, limit - used - own)
            headers += limit_headers(
                occasion.asked, unit, limit=limit, remaining=rest, seconds=left, now=occasion.now
            )
        return (*done, Headers(tuple(headers)))


@fault("brown-out", spares=True)
class BrownOut(Fault):
    """Fail more and more often: the share of failures goes from `from` to `to` in so many requests, and stays."""

    from_: Share = 0.0
    to: Share = 1.0
    requests: Some = 100
    status: Status = 503

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """Nothing, or the refusal."""
        share = self.from_ + (self.to - self.from_) * min(1.0, occasion.use / self.requests)
        if occasion.draws(self.kind).at(0) >= share:
            return ()
        return (Refusing(Refusal(status=self.status, message="the service is overloaded")),)


@fault("limit-headers-drift")
class LimitHeadersDrift(Fault):
    """Let limit headers tell the opposite: nothing is left where an answer is given, plenty where none is."""

    limit: Some = 60

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """The headers of both cases."""

        def left(remaining: int) -> tuple[Header, ...]:
            return limit_headers(
                occasion.asked, "requests", limit=self.limit, remaining=remaining, seconds=60, now=occasion.now
            )

        return (Drifting(left(0), left(self.limit - 1)),)


@dataclass(frozen=True)
class Drifting(Fault):
    """Put these headers on answers, and those on refusals."""

    kind: ClassVar[str] = "drifting"

    answered: tuple[Header, ...]
    refused: tuple[Header, ...]

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Another head."""
        return reheaded(steps, self._changed)

    def _changed(self, head: Head) -> Head:
        return with_headers(head, *(self.refused if head.status >= 400 else self.answered))
