"""What released Python clients make of faults of the transfer and of server-sent events, by class and cause.

An outcome that changes with a release of a client is a changed row, not a broken mock.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import anthropic
import openai
import pytest

from engy_mock import EngyMock, WallClock
from tests.scripting.faults.official import IMPATIENCE, PATIENCE, TEXT, WAYS, Clients, outcome, ways

pytestmark = pytest.mark.matrix

ODD_TEXT = "né 漢字 a😀b 😀 end"

CONNECTION = "APIConnectionError < "
JSON, ASSERTION, RUNTIME = "json.JSONDecodeError", "builtins.AssertionError", "builtins.RuntimeError"


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """A fault and its outcome for the clients of OpenAI, Anthropic and Scale; None where it finds no place.

    `but` are the ways of asking with another outcome than their client has elsewhere.
    """

    kind: str
    given: dict[str, Any] = field(default_factory=dict)
    stream: bool = True
    op: str | None = "ok"
    ap: str | None = "ok"
    sg: str | None = "ok"
    but: dict[str, str | None] = field(default_factory=dict)
    text: str = TEXT
    patience: float = PATIENCE

    def of(self, way: str) -> str | None:
        """The outcome of one way of asking."""
        return self.but.get(way, {"OP": self.op, "AP": self.ap, "SG": self.sg}[way[:2]])


def same(kind: str, outcome: str | None, **more: Any) -> Symptom:
    """The same outcome for all."""
    return Symptom(kind=kind, op=outcome, ap=outcome, sg=outcome, **more)


def broken(kind: str, cause: str, **more: Any) -> Symptom:
    """A stream that breaks: only one client makes an exception of its own of that."""
    rest: dict[str, Any] = {"ap": f"httpx2.{cause}", "sg": f"httpx.{cause}", **more}
    return Symptom(kind=kind, op=CONNECTION + cause, **rest)


def stalled(kind: str, **more: Any) -> Symptom:
    """A stream that falls silent for good."""
    rest: dict[str, Any] = {"ap": "httpx2.ReadTimeout", "sg": "httpx.ReadTimeout", "patience": IMPATIENCE}
    return Symptom(kind=kind, op="APITimeoutError < ReadTimeout", **(rest | more))


def marked(kind: str, op: str, **more: Any) -> Symptom:
    """A fault of `[DONE]`, which no other than chat has."""
    elsewhere: dict[str, str | None] = {"OP responses stream": None, "OP responses helper": None}
    return Symptom(kind=kind, op=op, ap=None, sg=None, but=elsewhere, **more)


UNTOLD: dict[str, str | None] = {"OP responses helper": RUNTIME}
"""The only way of asking that minds when the end is missing."""

RESPONSES_FAIL: dict[str, str | None] = {"OP responses stream": "silent", "OP responses helper": RUNTIME}
"""A terminal event that tells of a failure is no exception where events are read one by one."""

NO_RESPONSES: dict[str, str | None] = {"OP responses stream": None, "OP responses helper": None}
NO_CHAT: dict[str, str | None] = {"OP chat stream": None, "OP chat helper": None}
AFTER = {"after": 2}

SYMPTOMS = (
    # Transport
    same("reset-before-headers", CONNECTION + "ReadError"),
    same("reset-before-headers", CONNECTION + "ReadError", stream=False),
    broken("reset", "ReadError"),
    broken("reset", "ReadError", given={"after": 3}),
    same("reset", CONNECTION + "ReadError", stream=False),
    broken("cut", "RemoteProtocolError", given=AFTER),
    same("cut", CONNECTION + "RemoteProtocolError", stream=False),
    same("truncate", "silent", given=AFTER, but=UNTOLD),
    same("truncate", JSON, given=AFTER, stream=False),
    same("empty-reply", CONNECTION + "RemoteProtocolError"),
    same("empty-reply", CONNECTION + "RemoteProtocolError", stream=False),
    same("garbage-reply", CONNECTION + "RemoteProtocolError"),
    same("garbage-reply", CONNECTION + "RemoteProtocolError", stream=False),
    broken("bad-chunk-size", "RemoteProtocolError", given=AFTER),
    same("bad-chunk-size", CONNECTION + "RemoteProtocolError", stream=False),
    broken(
        "content-length-long",
        "RemoteProtocolError",
        # Who stops at `[DONE]` does not see what is missing behind it.
        but={"OP chat stream": "ok", "OP chat helper": "ok"},
    ),
    same("content-length-long", CONNECTION + "RemoteProtocolError", stream=False),
    same("content-length-short", "silent", but=UNTOLD),
    same("content-length-short", JSON, stream=False),
    broken("gzip-corrupt", "DecodingError", given=AFTER),
    same("gzip-corrupt", CONNECTION + "DecodingError", stream=False),
    same("gzip-truncated", "silent", but={"OP chat helper": ASSERTION, **UNTOLD}),
    same("gzip-truncated", JSON, stream=False),
    same("gzip-unflushed", "ok"),
    # The clients on httpx offer zstd where `zstandard` is installed, and frame by frame it is read as it should.
    Symptom(kind="zstd-per-event", op=None, ap=None, sg="ok"),
    broken("double-content-encoding", "DecodingError"),
    same("double-content-encoding", CONNECTION + "DecodingError", stream=False),
    same("slow-headers", "APITimeoutError < ReadTimeout", patience=IMPATIENCE),
    same("slow-headers", "APITimeoutError < ReadTimeout", patience=IMPATIENCE, stream=False),
    stalled("slow-first-event"),
    same("dribble", "ok"),
    same("dribble", "ok", stream=False),
    stalled("stall", given=AFTER),
    same("stall", "APITimeoutError < ReadTimeout", patience=IMPATIENCE, stream=False),
    stalled("stall-before-terminator"),
    stalled("half-open", given=AFTER),
    same("early-hints", "ok"),
    same("early-hints", "ok", stream=False),
    same("redirect-loop", CONNECTION + "TooManyRedirects"),
    same("redirect-loop", CONNECTION + "TooManyRedirects", stream=False),
    same("redirect-to-http", CONNECTION + "TooManyRedirects", stream=False),
    same("http10", "ok"),
    same("http10", "ok", stream=False),
    same("http10", "silent", given=AFTER, but=UNTOLD),
    same("http10", JSON, given=AFTER, stream=False),
    same("trailers", "ok"),
    same("trailers", "ok", stream=False),
    # SSE
    marked("no-done", "ok"),
    Symptom(kind="done-under-v5", op=None, ap=None, sg=JSON),
    # The helper of Anthropic's client has the reason before the last event.
    same("last-event-unterminated", "silent", but={"AP helper": "ok", **UNTOLD}),
    same("crlf", "ok"),
    same("cr-only", "ok"),
    same("mixed-line-ends", "ok"),
    same("data-no-space", "ok"),
    same("data-two-spaces", "ok"),
    same("multi-line-data", "ok"),
    same("sse-comments", "ok"),
    same("sse-comments", "ok", given={"bare": True}),
    same("sse-comments", "ok", given={"where": "before-done", "bare": True}),
    Symptom(kind="comment-as-data", op=JSON, sg=JSON),
    Symptom(kind="comment-after-id", op=JSON, sg=JSON),
    Symptom(kind="retry-block", op=JSON, sg=JSON),
    Symptom(kind="empty-data", op=JSON, sg=JSON),
    Symptom(kind="event-without-data", op=JSON),
    Symptom(kind="named-events", ap=None, sg="silent", but=NO_RESPONSES),
    Symptom(kind="unknown-event-name", sg=None, but=NO_CHAT),
    Symptom(kind="event-name-missing", op=None, sg=None, ap="silent", but={"AP helper": ASSERTION}),
    Symptom(kind="type-missing", op=None, sg=None, ap="silent", but={"AP helper": ASSERTION}),
    # The first event is lost, which tells the beginning or the first piece.
    same("bom", "ok", but={"AP helper": ASSERTION, "SG completions stream": "silent"}),
    same("utf8-split", "ok", text=ODD_TEXT),
    same("utf8-split", "ok", text=ODD_TEXT, stream=False),
    same("surrogate-split", "silent", text=ODD_TEXT, but={"OP responses helper": "ok"}),
    same("utf8-invalid", "builtins.UnicodeDecodeError"),
    same("utf8-invalid", "builtins.UnicodeDecodeError", stream=False),
    same("bytewise", "ok"),
    same("one-write", "ok"),
    same("many-per-write", "ok"),
    same("giant-event", "ok"),
    # They arrive, and so the text is another one.
    same("odd-characters", "silent"),
    marked("after-done", "ok"),
    marked("double-done", "ok"),
    marked("done-variant", JSON),
    marked("done-variant", "ok", given={"text": "[DONE] "}),
    marked("done-variant", "ok", given={"text": "data:[DONE]"}),
    Symptom(kind="raw-text-error", op=JSON, ap="silent", sg=JSON),
    same("malformed-json", JSON, given=AFTER),
    Symptom(kind="fail", op="APIError", ap="APIStatusError", sg="httpx.RemoteProtocolError", but=RESPONSES_FAIL),
    Symptom(
        kind="fail",
        given={"after": 2, "frame": True},
        op="APIError",
        ap="APIStatusError",
        # The error is a chunk whose choices are null.
        sg="builtins.TypeError",
        but=RESPONSES_FAIL,
    ),
    same("fail", "silent", given={"after": 2, "frame": False}, but=UNTOLD),
    same("fail", "InternalServerError", stream=False),
    Symptom(
        kind="refusal-in-stream",
        op="APIError",
        ap="APIStatusError",
        sg="builtins.TypeError",
        but=RESPONSES_FAIL,
    ),
    Symptom(kind="error-as-string", op="APIError", ap=None, sg="builtins.TypeError"),
    Symptom(kind="error-event", op="APIError", ap=None, sg="silent", but=NO_RESPONSES),
    # What a helper puts together from the last event is right.
    same("duplicate-chunk", "silent", given=AFTER, but={"OP responses helper": "ok"}),
    same("reordered-chunks", "silent", given={"after": 1}, but={"OP responses helper": "ok"}),
    same("replayed-stream", "silent", given=AFTER, but=UNTOLD),
)


def _cases() -> Iterator[tuple[Symptom, str]]:
    """Each row with each way of asking; of stalls, which take their time, the plainest way of each client."""
    for symptom in SYMPTOMS:
        for way in ways(stream=symptom.stream):
            if symptom.patience == PATIENCE or way in {"OP chat stream", "AP stream", "SG chat stream", "OP chat"}:
                yield symptom, way


def _name(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "-".join([value.kind, *[f"{word}={said}" for word, said in value.given.items()]])


@pytest.mark.parametrize(("symptom", "way"), list(_cases()), ids=_name)
def test_symptoms(engy, clients, symptom, way):
    """R-57 to R-67, R-70 to R-74, R-78, R-79, R-87: the outcome for each way of asking."""
    engy.when().reply(symptom.text, faults=[{"kind": symptom.kind, **symptom.given}])
    wanted = symptom.of(way)
    got = outcome(clients, engy, way, symptom.text, patience=symptom.patience)
    assert got == (wanted or "ok")
    applied = [len(entry.faults) for entry in engy.journal]
    assert set(applied) == {1 if wanted else 0}
    # That a client has left is noticed a moment later.
    assert engy.gateway.accounts.default.held_micro == 0 or symptom.patience == IMPATIENCE


def test_every_way_is_told_of():
    """The table leaves nobody out."""
    assert {way for _, way in _cases()} == set(WAYS)


RETRIED = {
    "reset-before-headers": 2,
    "empty-reply": 2,
    "garbage-reply": 2,
    "gzip-corrupt": 2,
    "slow-headers": 2,
    "redirect-loop": 42,
    "gzip-truncated": 1,
    "content-length-short": 1,
}
"""How many requests two attempts, or one, come to."""


@pytest.mark.parametrize(("kind", "count"), RETRIED.items())
@pytest.mark.parametrize("library", ["openai", "anthropic"])
def test_what_is_tried_again(engy, clients, monkeypatch, kind, count, library):
    """Connection errors, timeouts and what cannot be unpacked are tried again; broken JSON is not."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    engy.when().reply(TEXT, faults=[kind])
    way = {"openai": "OP chat", "anthropic": "AP"}[library]
    patience = IMPATIENCE if kind == "slow-headers" else PATIENCE
    client = clients.of(engy, library).with_options(max_retries=1, timeout=patience)
    with pytest.raises(Exception, match=r"."):
        WAYS[way][2](client)
    assert len(engy.journal) == count


@pytest.mark.parametrize("kind", ["reset", "cut", "stall", "fail"])
@pytest.mark.parametrize("way", ["OP chat stream", "AP stream", "SG chat stream"])
def test_nothing_is_tried_again_in_mid_stream(engy, clients, kind, way):
    """R-57, R-63: once the stream has begun a failure is final."""
    engy.when().reply(TEXT, faults=[{"kind": kind, "after": 1}])
    library, _, call = WAYS[way]
    patience = IMPATIENCE if kind == "stall" else PATIENCE
    client = clients.of(engy, library).with_options(max_retries=3, timeout=patience)
    with pytest.raises(Exception, match=r"."):
        call(client)
    assert len(engy.journal) == 1


def test_errors_in_a_stream_have_a_status_or_none(engy, clients):
    """R-63, R-65, R-67, E-125, E-178: OpenAI's exception has no status, Anthropic's that of the stream, 200."""
    for kind in ("overloaded_error", "rate_limit_error", "api_error"):
        engy.reset()
        engy.when().reply(TEXT, faults=[{"kind": "fail", "after": 3, "type": kind, "message": "too much"}])
        with pytest.raises(anthropic.APIStatusError, match="too much") as of_anthropic:
            WAYS["AP stream"][2](clients.of(engy, "anthropic"))
        assert type(of_anthropic.value) is anthropic.APIStatusError
        assert of_anthropic.value.status_code == 200
        assert of_anthropic.value.body == {"type": "error", "error": {"type": kind, "message": "too much"}}
        with pytest.raises(openai.APIError, match="too much") as of_openai:
            WAYS["OP chat stream"][2](clients.of(engy, "openai"))
        assert type(of_openai.value) is openai.APIError
        assert not hasattr(of_openai.value, "status_code")
        assert (of_openai.value.type, of_openai.value.code) == (kind, "500")


def test_failed_responses_are_events(engy, clients):
    """E-190: `response.failed` is the last event, with what was said until then and the error."""
    engy.when().reply(TEXT, faults=[{"kind": "fail", "after": 2, "message": "worker lost"}])
    stream = clients.of(engy, "openai").responses.create(model="glm-5.2", input="Hello", stream=True)
    last = list(stream)[-1]
    assert last.type == "response.failed"
    assert (last.response.error.code, last.response.error.message) == ("server_error", "worker lost")
    assert last.response.output[0].content[0].text == "one two"
    assert engy.journal.last.charged_micro == 0


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        ("stall-with-comments", "OP chat stream"),
        ("stall-with-comments", "AP stream"),
        ("stall-with-pings", "AP stream"),
    ],
)
def test_signs_of_life_keep_a_client_waiting(kind, way):
    """No read timeout ever fires, so that only somebody who watches the content notices."""
    clients, outcomes = Clients(), []
    with EngyMock(time_scale=0.02) as engy:
        engy.when().reply(TEXT, faults=[{"kind": kind, "after": 1}])
        waiting = threading.Thread(
            target=lambda: outcomes.append(outcome(clients, engy, way, patience=IMPATIENCE))
        )
        waiting.start()
        waiting.join(4 * IMPATIENCE)
        assert waiting.is_alive()
        engy.reset()
        waiting.join(PATIENCE)
    assert "Error" in outcomes[0]
    clients.close()


def test_a_dribble_is_within_the_timeout(clients):
    """Timeouts are for each read: an answer that takes longer as a whole arrives."""
    with EngyMock(clock=WallClock()) as engy:
        engy.when().reply(TEXT, faults=[{"kind": "dribble", "seconds": 0.07, "size": 40}])
        began = monotonic()
        assert outcome(clients, engy, "OP chat", patience=0.6) == "ok"
        assert monotonic() - began > 0.6
