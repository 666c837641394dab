"""Counts and durations for Prometheus; needs the extra `metrics`."""

import re

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from engy_mock.serving.access_log import route_of
from engy_mock.serving.watch import Seen, Watch

TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

_SCENARIO = re.compile(r"scenario ([a-z0-9-]+)")
_KIND = re.compile(r"[a-z0-9-]+")


class Metrics:
    """The metrics of one mock; labels are of bounded number, whatever clients send."""

    def __init__(self, watch: Watch) -> None:
        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "engy_mock_requests", "Exchanges that are over.", ["route", "status", "scenario"], registry=registry
        )
        self._tokens = Counter(
            "engy_mock_tokens", "Tokens of answers that came to their end.", ["route", "kind"], registry=registry
        )
        self._charged = Counter(
            "engy_mock_charged_micro_usd", "What answers have cost.", ["route"], registry=registry
        )
        self._faults = Counter(
            "engy_mock_faults", "Faults that were chosen.", ["kind", "applied"], registry=registry
        )
        self._first = Histogram(
            "engy_mock_first_byte_seconds",
            "From the whole request to the first byte.",
            ["route"],
            buckets=SECONDS,
            registry=registry,
        )
        self._whole = Histogram(
            "engy_mock_answer_seconds",
            "From the whole request to the end of the answer.",
            ["route"],
            buckets=SECONDS,
            registry=registry,
        )
        answers = Gauge("engy_mock_open_answers", "Answers under way.", registry=registry)
        streams = Gauge("engy_mock_open_streams", "Those of them that are streams.", registry=registry)
        answers.set_function(lambda: len(watch.open))
        streams.set_function(lambda: sum([seen.is_streamed for seen in watch.open]))
        watch.listeners.append(self)

    def text(self) -> tuple[str, bytes]:
        """Content type and body of the page."""
        return TYPE, generate_latest(self._registry)

    def began(self, seen: Seen) -> None:
        """Everything is counted at the end."""

    def ended(self, seen: Seen) -> None:
        """Count an exchange."""
        entry, route = seen.entry, route_of(seen.call.method, seen.call.path)
        if entry is None:
            return
        found = _SCENARIO.search(entry.rule or "")
        self._requests.labels(route, str(entry.status), found[1] if found else "").inc()
        self._charged.labels(route).inc(entry.charged_micro)
        if entry.usage is not None:
            usage = entry.usage
            for kind, count in (
                ("prompt", usage.prompt_tokens),
                ("completion", usage.completion_tokens),
                ("cached", usage.cached_tokens),
                ("reasoning", usage.reasoning_tokens),
            ):
                self._tokens.labels(route, kind).inc(count)
        for faults, applied in ((entry.faults, "yes"), (entry.not_applied, "no")):
            for fault in faults:
                named = _KIND.match(fault)
                self._faults.labels(named[0] if named else "-", applied).inc()
        if seen.first_seconds is not None:
            self._first.labels(route).observe(seen.first_seconds)
        if seen.seconds is not None:
            self._whole.labels(route).observe(seen.seconds)
