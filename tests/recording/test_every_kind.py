"""A cassette under every kind of fault: who got the answer gets the next one, and who did not gets it again."""

from typing import Any

import anthropic
import openai
import pytest

from engy_mock import EngyMock, MockError
from engy_mock.scripting.fault import catalogue
from tests.recording.conftest import recorders

FIRST, SECOND = "one two three four", "five six seven eight"
ASKED: Any = [{"role": "user", "content": "Count!"}]
PATIENCE = 0.5
"""Some kinds fall silent for ever."""

READ_WITH_CARE = {
    "choices-missing",
    "choices-null",
    "comment-after-id",
    "done-variant",
    "empty-data",
    "event-name-missing",
    "event-without-data",
    "retry-block",
    "type-missing",
}
"""Kinds of a stream that have the whole answer, which not every official client can read: it counts as read."""

NOT_THE_SAME = {"comment-as-data", "last-event-unterminated", "no-finish-reason", "refusal", "tool-unknown"}
"""Kinds that add to an answer, leave its end out or change what is no text of it: not every client minds that."""


def openai_client(origin: str) -> Any:
    """The official client for chat."""
    return openai.OpenAI(base_url=f"{origin}/v1", api_key="sk-engy-of-a-client", max_retries=0)


def anthropic_client(origin: str) -> Any:
    """The official client for messages."""
    return anthropic.Anthropic(base_url=origin, api_key="sk-engy-of-a-client", max_retries=0)


def chat(client: Any, stream: bool, patience: float) -> str:
    """The text that the client hears."""
    words: Any = {"model": "glm-5.2", "messages": ASKED, "timeout": patience}
    if not stream:
        return str(client.chat.completions.create(**words).choices[0].message.content)
    heard = ""
    for chunk in client.chat.completions.create(**words, stream=True):
        heard += "".join([choice.delta.content or "" for choice in chunk.choices])
    return heard


def messages(client: Any, stream: bool, patience: float) -> str:
    """The same for messages."""
    words: Any = {"model": "glm-5.2", "messages": ASKED, "max_tokens": 50, "timeout": patience}
    if not stream:
        return "".join([block.text for block in client.messages.create(**words).content])
    heard = ""
    for event in client.messages.create(**words, stream=True):
        if event.type == "content_block_delta" and event.delta.type == "text_delta":
            heard += event.delta.text
    return heard


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("made", "ask"), [(openai_client, chat), (anthropic_client, messages)])
def test_what_was_read_is_used_up_and_nothing_else(tmp_path, engy, made, ask, stream):
    """After each kind the next request gets the second answer if the first could be read, and else the first.

    Every other kind, by turns with the other form.
    """
    with EngyMock() as service, recorders(tmp_path) as start:
        recorder = start(service.base_url, key=service.api_key)
        for text in (FIRST, SECOND):
            service.reset()
            service.when().reply(text)
            with made(recorder.origin) as client:
                assert ask(client, stream, 20.0) == text
    wrong, seen = [], 0
    client = made(engy.origin)
    for kind in sorted(catalogue())[stream::2]:
        engy.reset()
        engy.play(recorder.tape.path, "strict")
        try:
            engy.when().faults(kind, times=1)
        except MockError:
            continue
        try:
            heard = ask(client, stream, PATIENCE)
        except Exception as error:  # clients fail in any way
            heard = type(error).__name__
        if not len(engy.journal) or not engy.journal.last.faults:
            continue
        seen += 1
        then = ask(client, stream, 20.0)
        assert then in (FIRST, SECOND), kind
        if (heard == FIRST) is not (then == SECOND) and kind not in NOT_THE_SAME | READ_WITH_CARE:
            wrong.append((kind, heard, then))
    client.close()
    assert wrong == []
    assert seen > 30
