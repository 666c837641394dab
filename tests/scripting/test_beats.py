"""Signs of life while a stream pauses: comment lines, or the pings of messages, where a setting asks for them."""

import pytest
from anthropic import Anthropic
from openai import OpenAI

from engy_mock import EngyMock, WallClock
from tests.doors.raw import Raw
from tests.scripting.captured import PATHS, STREAMING, ask, asking, body_for

TEXT = "one two three four"
COMMENT = b": keep-alive\n"
PING = b'event: ping\ndata: {"type":"ping"}\n\n'


def beats(capture, beat):
    """How many writes are nothing but a sign of life, and the body without them."""
    return capture.writes.count(beat), b"".join([write for write in capture.writes if write != beat])


@pytest.mark.parametrize("route", STREAMING)
def test_beats_in_pauses(engy, route):
    """E-118, E-176: so many as fit into the pauses before the pieces; everything else is as it was."""
    engy.when().reply(TEXT, pace=1)
    plain = ask(engy, route)
    engy.reset()
    engy.settings.keep_alive_comments = engy.settings.ping_seconds = 0.3
    engy.when().reply(TEXT, pace=1)
    count, rest = beats(ask(engy, route), PING if route == "messages" else COMMENT)
    assert (count, rest) == (4 * 3, plain.body)
    assert engy.journal.last.pieces_sent == 4
    assert engy.gateway.accounts.default.held_micro == 0


@pytest.mark.parametrize(
    ("every", "seconds", "count"),
    [(1, 3, 2), (1, 3.5, 3), (3, 3, 0), (4, 3, 0), (0.1, 0.3, 2), (None, 30, 0)],
)
def test_beats_fit_inside(engy, every, seconds, count):
    """The end of a pause has a sign of its own: what comes next."""
    engy.settings.keep_alive_comments = every
    engy.when().reply(TEXT, faults=[{"kind": "stall", "after": 1, "seconds": seconds}])
    assert beats(ask(engy), COMMENT)[0] == count


def test_each_setting_has_its_routes(engy):
    """Comments are for the OpenAI dialects, pings for messages, and whole answers have neither."""
    engy.settings.ping_seconds = 1
    engy.when().reply(TEXT, pace=0.1)
    assert beats(ask(engy), COMMENT)[0] == 0
    assert beats(ask(engy, "messages"), PING)[0] == 4 * 9
    engy.settings.ping_seconds, engy.settings.keep_alive_comments = None, 1
    assert beats(ask(engy), COMMENT)[0] == 4 * 9
    assert beats(ask(engy, "messages"), PING)[0] == 0
    assert ask(engy, stream=False).document["choices"][0]["message"]["content"] == TEXT
    engy.reset()
    assert engy.settings.keep_alive_comments is None


def test_an_endless_silence_is_silence(engy):
    """What stalls is dead, and the dead send nothing."""
    engy.settings.keep_alive_comments = 0.001
    engy.when().reply(TEXT, faults=[{"kind": "stall", "after": 1}])
    with Raw(engy.port) as raw:
        raw.send(asking(engy, PATHS["chat"], body_for("chat", stream=True)))
        heard = raw.read_until(b'"one"') + raw.read_until_quiet(0.05)
    assert COMMENT not in heard


@pytest.mark.slow
def test_official_clients_read_past_them():
    """R-1: every 50 ms a comment line without an empty line of its own, and no exception; all chunks arrive."""
    with EngyMock(clock=WallClock()) as engy:
        engy.settings.keep_alive_comments = engy.settings.ping_seconds = 0.05
        engy.when().reply(TEXT, pace=8)
        seen = ask(engy)
        assert b"id:" not in seen.body.replace(b'"id":', b"")
        assert b"retry:" not in seen.body
        assert b": keep-alive\n\n" not in seen.body
        assert beats(seen, COMMENT)[0] == 4 * 2
        with OpenAI(base_url=engy.base_url, api_key=engy.api_key, max_retries=0) as client:
            chunks = list(
                client.chat.completions.create(
                    model="glm-5.2", messages=[{"role": "user", "content": "Hello"}], stream=True
                )
            )
        assert "".join([chunk.choices[0].delta.content or "" for chunk in chunks]) == TEXT
        assert chunks[-1].choices[0].finish_reason == "stop"
        with (
            Anthropic(base_url=engy.origin, api_key=engy.api_key, max_retries=0) as other,
            other.messages.stream(
                model="glm-5.2", max_tokens=20, messages=[{"role": "user", "content": "Hello"}]
            ) as stream,
        ):
            assert stream.get_final_text() == TEXT
