"""What of an answer went out, asked of the journal: the bytes that the client got, also of healthy answers."""

import pytest

from engy_mock import EngyMock, MockError
from tests.scripting.captured import MODELS, PATHS, STREAMING, ask, body_for
from tests.verdict.journals import sent

ROUTES = [(route, stream) for stream in (False, True) for route in PATHS if not stream or route in STREAMING]


@pytest.mark.parametrize("more", [{}, {"tools": True}], ids=["words", "tools"])
@pytest.mark.parametrize(("route", "stream"), ROUTES)
def test_a_healthy_answer_is_told_once_more(engy, route, stream, more):
    """The same bytes in every dialect, the first time and when the answer itself was told from memory."""
    if "completions" in (route, route.removeprefix("v5 ")):
        more = {}
    for _ in range(3):
        answer = ask(engy, route, stream=stream, **more)
        entry = engy.journal.last
        assert answer.status == 200
        assert entry.course.steps == (), "nothing is kept for it"
        assert entry.body_sent == answer.body
        if stream:
            assert list(entry.events_sent) == [event for event in answer.body.decode().split("\n\n") if event]
        else:
            assert entry.events_sent == ()


@pytest.mark.parametrize("stream", [True, False])
def test_what_was_in_force_then_counts(engy, stream):
    """Proofs, prices and settings are those of the exchange, whatever has changed since."""
    engy.settings.messages_cache_counts = True
    answers = [
        ask(engy, "messages", stream=stream, text="long " * 100),
        ask(engy, "chat", stream=stream, provider={"require_proof": True}),
        ask(engy, "responses", stream=stream, metadata={"a": "b"}),
    ]
    engy.settings.messages_cache_counts = False
    engy.accounts.default.discount_percent = 50
    engy.clock.advance(1000)
    for answer, entry in zip(answers, engy.journal, strict=True):
        assert entry.body_sent == answer.body


@pytest.mark.parametrize("kind", ["reset", "crlf", "sse-comments", "html-error", "no-done"])
def test_an_answer_with_faults_is_known_as_it_was_sent(engy, kind):
    engy.when().reply("one two three", faults=[{"kind": kind}])
    answer = ask(engy, stream=True)
    entry = engy.journal.last
    assert entry.body_sent == answer.body or kind == "reset"
    line = "\r\n" if kind == "crlf" else "\n"
    expected = entry.body_sent.decode().split(2 * line) if entry.status == 200 else []
    assert list(entry.events_sent) == [event for event in expected if event]


def test_a_refusal_is_known(engy):
    answer = ask(engy, stream=True, model="nope")
    assert engy.journal.last.body_sent == answer.body
    assert engy.journal.last.events_sent == ()


@pytest.mark.parametrize("after", [0, 2])
def test_a_client_that_left_has_not_got_it_all(quiet, after):
    """As far as pieces got through to it."""
    quiet.settings.one_event_per_write = True
    quiet.when().reply("one two three four")
    entry = sent(quiet, stream=True, leaves_after=2 + after)
    assert entry.fate == "left"
    assert [event.count('"content":"') for event in entry.events_sent].count(1) == entry.pieces_sent + (after > 0)
    assert len(entry.events_sent) < 6


def test_what_cannot_be_told_is_no_silence(engy):
    """A page, a field that was cut, and an answer that was too large are no empty answers."""
    with engy.http_client() as client:
        client.get("/v1/models")
    with pytest.raises(MockError, match="does not keep what the page of exchange 0 said"):
        engy.journal.last.body_sent  # noqa: B018
    ask(engy, "responses", stream=True, instructions="stay calm " * 30_000)
    with pytest.raises(MockError, match="nobody knows 'instructions' any more"):
        engy.journal.last.events_sent  # noqa: B018
    engy.when().reply("x", faults=[{"kind": "giant-event", "size": 8}])
    ask(engy, stream=True)
    with pytest.raises(MockError, match="was too large for the journal to keep"):
        engy.journal.last.body_sent  # noqa: B018


def test_a_healthy_answer_under_way_is_not_told():
    """Nobody knows how much of it a client has until it is over."""
    engy = EngyMock()
    body = body_for("chat", stream=True)
    assert body["model"] not in MODELS.values()
    entry = sent(engy, stream=True, is_over=False, leaves_after=2)
    assert entry.course.ended is None
    with pytest.raises(MockError, match="is under way"):
        entry.body_sent  # noqa: B018
