"""Large prompts are counted without being made, and the count is that of what would be made."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from engy_mock import EngyMock, ToolCall
from engy_mock.model import measuring, templates
from engy_mock.model import tokenizer as tokenizers
from engy_mock.model.tokenizer import bundled
from engy_mock.vocabulary.request import Conversation, Image, Message, Tool
from engy_mock.vocabulary.wire import Call

TEXTS = (
    *(
        "",
        " ",
        "  ",
        "a",
        " a",
        "a ",
        "a  b c",
        "one two three",
        "a \n b",
        " \n",
        "x\t y  z ",
        "1234 5678  90",
        "  a b",
    ),
    *(
        "\u4f60\u597d \u4e16\u754c",
        "a,b, c ,d",
        "{\n  'a': [1, 2]\n}",
        "<think> a</think> b <|user|>c",
        "\x00 \x7f a",
    ),
)


@pytest.fixture
def small_parts(monkeypatch):
    """Texts are cut wherever they may be."""
    monkeypatch.setattr(tokenizers, "_COUNTED_AT_ONCE", 1)


@pytest.mark.parametrize("marks", [False, True])
@pytest.mark.parametrize("text", [*TEXTS, " ".join(TEXTS), "".join(TEXTS), "word " * 50])
def test_counting_is_encoding(small_parts, text, marks):
    assert bundled().count(text, marks=marks) == len(bundled().encode(text, marks=marks))


@given(st.text(st.sampled_from("ab1 \n,\u4f60<|"), max_size=60), st.integers(1, 8))
def test_wherever_a_text_is_cut(text, size):
    """No cut joins or parts what belongs together."""
    before, tokenizers._COUNTED_AT_ONCE = tokenizers._COUNTED_AT_ONCE, size
    try:
        assert bundled().count(text) == len(bundled().encode(text))
    finally:
        tokenizers._COUNTED_AT_ONCE = before


def refused(engy, path, document):
    """What is said to a prompt that does not fit."""
    headers = CIMultiDict({"authorization": f"Bearer {engy.api_key}", "host": "localhost"})
    call = Call(method="POST", path=path, headers=headers, body=json.dumps(document).encode())
    for _ in engy.gateway.answer(call):
        pass
    return engy.journal.last.status, engy.journal.last.error


@pytest.mark.parametrize("level", ["off", "high"])
def test_a_conversation_has_the_length_of_its_tokens(monkeypatch, level):
    """With its tools, calls and pictures, and whichever parts its texts have."""
    monkeypatch.setattr(measuring, "LARGE", 0)
    call = ToolCall("look", place="Paris, \u4f60  x")
    prompt = Conversation(
        messages=(
            Message(role="system", text="Be brief."),
            Message(
                role="user",
                text="Why  not? Tell me.",
                parts=("Why  not?", Image(media_type="image/png", data=b"x"), " Tell me."),
            ),
            Message(role="assistant", text="", tool_calls=(call,)),
            Message(role="tool", text="<think> it rains", tool_call_id="1"),
        )
    )
    tools = (Tool(name="look", description="Looks at it."),)
    found = measuring.length(prompt, tools, level, bundled(), templates.bundled)
    assert found == len(templates.bundled(prompt, tools, level, bundled()).tokens)


def test_a_large_conversation_is_refused_with_its_exact_length():
    """E-79: nobody has made the tokens, and yet they are counted."""
    messages = [{"role": "user", "content": "why? " * 150_000}]
    status, said = refused(EngyMock(), "/v1/chat/completions", {"model": "glm-5.2", "messages": messages})
    assert (status, said[:24]) == (400, "prompt has 300010 tokens")


@pytest.mark.slow
def test_the_longest_of_large_raw_prompts_counts():
    """E-80: as if all of them had been read."""
    document = {"model": "glm-5.2", "prompt": ["short", "<|user|>why? " * 100_000], "max_tokens": 9}
    status, said = refused(EngyMock(), "/v1/completions", document)
    assert (status, said[:42]) == (400, "prompt 500000 + max_tokens 9 = 500009 toke")


def test_what_fits_is_answered_alike(monkeypatch):
    document = {"model": "glm-5.2", "messages": [{"role": "user", "content": "why not? " * 50}], "max_tokens": 5}
    said = []
    for large in (0, 1 << 40):
        monkeypatch.setattr(measuring, "LARGE", large)
        engy = EngyMock()
        assert refused(engy, "/v1/chat/completions", document) == (200, None)
        said.append((engy.journal.last.text, engy.journal.last.usage))
    assert said[0] == said[1]
