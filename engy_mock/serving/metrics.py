"""Counts and durations for Prometheus, added up as exchanges end and written when they are asked for.

The library that writes them is the extra `metrics`; it is imported with the first page.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from engy_mock.serving.access_log import route_of
from engy_mock.serving.watch import Seen, Watch

if TYPE_CHECKING:
    from prometheus_client.core import CollectorRegistry, Metric

TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

_SCENARIO = re.compile(r"scenario ([a-z0-9-]+)")
_KIND = re.compile(r"[a-z0-9-]+")

_route_of = lru_cache(maxsize=256)(route_of)


class Durations:
    """How often a span of seconds fell between two bounds, and what all of them make together."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(SECONDS) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(SECONDS, seconds)] += 1
        self.total += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """How many took at most so long."""
        found, below = [], 0
        for bound, count in zip((*SECONDS, "+Inf"), self.counts, strict=True):
            below += count
            found.append((str(bound), float(below)))
        return found


class OfRoute:
    """What adds up for one route."""

    __slots__ = ("cached", "charged", "completion", "first", "prompt", "reasoning", "whole")

    def __init__(self) -> None:
        self.charged = self.prompt = self.completion = self.cached = self.reasoning = 0
        self.first = Durations()
        self.whole = Durations()


class Metrics:
    """The metrics of one mock; labels are of bounded number, whatever clients send."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._lock = Lock()
        self._registry: CollectorRegistry | None = None
        self._requests: Counter[tuple[str, str, str]] = Counter()
        self._faults: Counter[tuple[str, str]] = Counter()
        self._routes: dict[str, OfRoute] = {}
        watch.listeners.append(self)

    def text(self) -> tuple[str, bytes]:
        """Content type and body of the page."""
        from prometheus_client import CollectorRegistry, generate_latest

        if self._registry is None:
            self._registry = CollectorRegistry()
            self._registry.register(self)
        return TYPE, generate_latest(self._registry)

    def began(self, seen: Seen) -> None:
        """Everything is counted at the end."""

    def ended(self, seen: Seen) -> None:
        """Count an exchange."""
        entry = seen.entry
        if entry is None:
            return
        route = _route_of(seen.call.method, seen.call.path)
        found = None if entry.rule is None else _SCENARIO.search(entry.rule)
        with self._lock:
            self._requests[route, str(entry.status), found[1] if found else ""] += 1
            sums = self._routes.get(route)
            if sums is None:
                sums = self._routes[route] = OfRoute()
            sums.charged += entry.charged_micro
            usage = entry.usage
            if usage is not None:
                sums.prompt += usage.prompt_tokens
                sums.completion += usage.completion_tokens
                sums.cached += usage.cached_tokens
                sums.reasoning += usage.reasoning_tokens
            for faults, applied in ((entry.faults, "yes"), (entry.not_applied, "no")):
                for fault in faults:
                    named = _KIND.match(fault)
                    self._faults[named[0] if named else "-", applied] += 1
            if seen.first_seconds is not None:
                sums.first.add(seen.first_seconds)
            if seen.seconds is not None:
                sums.whole.add(seen.seconds)

    def collect(self) -> Iterator["Metric"]:
        """All of it as the library wants it."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        requests = CounterMetricFamily(
            "engy_mock_requests", "Exchanges that are over.", labels=["route", "status", "scenario"]
        )
        tokens = CounterMetricFamily(
            "engy_mock_tokens", "Tokens of answers that came to their end.", labels=["route", "kind"]
        )
        charged = CounterMetricFamily("engy_mock_charged_micro_usd", "What answers have cost.", labels=["route"])
        faults = CounterMetricFamily("engy_mock_faults", "Faults that were chosen.", labels=["kind", "applied"])
        first = HistogramMetricFamily(
            "engy_mock_first_byte_seconds", "From the whole request to the first byte.", labels=["route"]
        )
        whole = HistogramMetricFamily(
            "engy_mock_answer_seconds", "From the whole request to the end of the answer.", labels=["route"]
        )
        with self._lock:
            for labels, count in self._requests.items():
                requests.add_metric(labels, count)
            for labels_of_fault, count in self._faults.items():
                faults.add_metric(labels_of_fault, count)
            for route, sums in self._routes.items():
                charged.add_metric([route], sums.charged)
                if sums.prompt:
                    for kind in ("prompt", "completion", "cached", "reasoning"):
                        tokens.add_metric([route, kind], getattr(sums, kind))
                for family, durations in ((first, sums.first), (whole, sums.whole)):
                    if any(durations.counts):
                        family.add_metric([route], durations.buckets(), durations.total)
        yield from (requests, tokens, charged, faults, first, whole)
        under_way = self._watch.open
        yield GaugeMetricFamily("engy_mock_open_answers", "Answers under way.", len(under_way))
        yield GaugeMetricFamily(
            "engy_mock_open_streams",
            "Those of them that are streams.",
            sum([seen.is_streamed for seen in under_way]),
        )
