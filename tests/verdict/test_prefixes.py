"""Conversations that keep their beginning, and those that do not, told apart among others."""

from typing import Any

import pytest

from engy_mock import ToolCall, UnmetExpectation
from engy_mock.dialects.gist import gist
from engy_mock.vocabulary.request import ThinkingWish

ROLES = {"s": "system", "u": "user", "a": "assistant"}


@pytest.fixture
def say(engy):
    """Send a conversation whose messages tell their roles by their first letters; `=` is the last answer."""
    engy.when(says="u scripted").reply("a scripted")

    with engy.http_client(headers={"Authorization": f"Bearer {engy.api_key}"}) as client:

        def say(*texts, **more):
            answer = engy.journal.last.text if len(engy.journal) else ""
            messages = [
                {"role": "assistant", "content": answer}
                if text == "="
                else {"role": ROLES[text[0]], "content": text}
                for text in texts
            ]
            body = {"model": "glm-5.2", "messages": messages, "max_tokens": 8, "reasoning_effort": "none"}
            assert client.post("/v1/chat/completions", json=body | more).status_code == 200
            return engy.journal.last.text

        yield say


CHANGED = {
    "the first message, with the answer": (
        [["u one"], ["u 1", "=", "u two"]],
        r"message 0 \(user\) has changed",
    ),
    "the first message, with another answer": (
        [["u one"], ["u 1", "a ok", "u two"]],
        r"message 0 \(user\) has changed",
    ),
    "an answer": (
        [["u one"], ["u one", "a x", "u two"], ["u one", "a y", "u two", "=", "u three"]],
        r"message 1 \(assistant\) has changed",
    ),
    "a history cut at the front": (
        [
            ["u one", "a x", "u two"],
            ["u one", "a x", "u two", "a y", "u three"],
            ["u two", "a y", "u three", "a z", "u 4"],
        ],
        "messages 0 to 1 are gone",
    ),
    "a history cut behind its instructions": (
        [["s be", "u one", "a x", "u two"], ["s be", "u two", "=", "u three"]],
        "messages 1 to 2 are gone",
    ),
    "instructions that tell the time": (
        [["s it is 10:00", "u one"], ["s it is 10:01", "u one", "=", "u two"]],
        r"message 0 \(system\) has changed",
    ),
    "instructions that come later": (
        [["u one"], ["s be", "u one", "=", "u two"]],
        r"message 0 \(system\) has come in between",
    ),
    "answers that are left out": (
        [["u one"], ["u one", "a x", "u two"], ["u one", "u two", "u three"]],
        r"message 1 \(assistant\) is gone",
    ),
    "one of two conversations": (
        [["u one"], ["u other"], ["u other", "a b", "u c"], ["u 1", "a x", "u two"]],
        r"message 0 \(user\) has changed",
    ),
}


@pytest.mark.parametrize(("turns", "said"), CHANGED.values(), ids=CHANGED)
def test_what_has_changed_is_found(engy, say, turns, said):
    *before, last = turns
    for turn in before:
        say(*turn)
    engy.check_prompts(keeps_prefix=True)
    say(*last)
    with pytest.raises(UnmetExpectation, match=f"{said} since"):
        engy.check_prompts(keeps_prefix=True)


KEPT = {
    "one that grows": [["u one"], ["u one", "=", "u two"], ["u one", "a x", "u three"]],
    "two at once": [
        ["s be", "u one"],
        ["s be", "u uno"],
        ["s be", "u one", "a x", "u two"],
        ["s be", "u uno", "a equis", "u two"],
        ["s be", "u one", "a x", "u two", "a y", "u three"],
        ["s be", "u uno", "a equis", "u two", "a y", "u three"],
    ],
    "the same question to begin with": [
        ["u hello"],
        ["u hello"],
        ["u hello", "a hi", "u one"],
        ["u hello", "a hi", "u two"],
        ["u hello", "a hi", "u two", "a 2", "u more"],
        ["u hello", "a hi", "u one", "a 1", "u more"],
    ],
    "questions behind the same examples": [
        ["s be", "u like", "a this", "u one"],
        ["s be", "u like", "a this", "u two"],
        ["s be", "u like", "a this", "u three"],
    ],
    "questions alone": [["u one"], ["u two"], ["s be", "u one"], ["s do", "u three"]],
    "the same again": [["u one"], ["u one", "a x", "u two"], ["u one", "a x", "u two"], ["u one"]],
    "another question after all": [
        ["u one"],
        ["u one", "a x", "u two"],
        ["u one", "a x", "u two", "a y", "u three"],
        ["u one", "a x", "u instead"],
        ["u one", "a x", "u instead", "a z", "u four"],
    ],
    "an answer that was begun": [["u one", "a {"], ["u one", "a {}", "u two"]],
    "the same answers everywhere": [
        ["u scripted one"],
        ["u scripted uno"],
        ["u scripted one", "a scripted", "u scripted two"],
        ["u scripted uno", "a scripted", "u scripted dos"],
    ],
}


@pytest.mark.parametrize("turns", KEPT.values(), ids=KEPT)
def test_what_has_not_changed_is_left_alone(engy, say, turns):
    for turn in turns:
        say(*turn)
    engy.check_prompts(keeps_prefix=True)


EFFORTS = {
    "less": ("max", "none", r"from max to off \(the prompts have 3 tokens in common\) since"),
    "more": ("none", "high", "from off to high"),
    "other": ("max", "high", "from max to high"),
}


@pytest.mark.parametrize(("first", "second", "said"), EFFORTS.values(), ids=EFFORTS)
def test_an_effort_that_changes_costs_the_prefix(engy, say, first, second, said):
    """E-94, E-139: it stands at the beginning of the prompt, so the cache knows nothing any more."""
    say("s " + "be " * 100, "u one", reasoning_effort=first)
    say("s " + "be " * 100, "u one", "a x", "u two", reasoning_effort=first)
    engy.check_prompts(keeps_prefix=True)
    assert engy.journal.last.usage.cached_tokens > 0
    say("s " + "be " * 100, "u one", "a x", "u two", "a y", "u three", reasoning_effort=second)
    assert engy.journal.last.usage.cached_tokens == 0
    with pytest.raises(UnmetExpectation, match=f"the effort of reasoning has changed {said}"):
        engy.check_prompts(keeps_prefix=True)


def test_an_answer_that_is_begun_costs_the_prefix_of_who_thinks(engy, say):
    """E-96: nobody thinks before an answer that is begun, and the prompt no longer says how hard to."""
    say("s " + "be " * 100, "u one", reasoning_effort="max")
    say("s " + "be " * 100, "u one", "a x", "u two", "a {", reasoning_effort="max")
    assert engy.journal.last.usage.cached_tokens == 0
    with pytest.raises(UnmetExpectation, match="has changed from max to off"):
        engy.check_prompts(keeps_prefix=True)


def test_an_effort_that_no_prompt_tells_may_change(engy, say):
    """Whether a model thinks at all stands at the end of its prompt, where nothing is lost."""
    model = next(card.id for card in engy.catalog if card.level(ThinkingWish()) == "on")
    say("s " + "be " * 100, "u one", model=model, reasoning_effort="high")
    say("s " + "be " * 100, "u one", "a x", "u two", model=model)
    assert engy.journal.last.usage.cached_tokens > 0
    engy.check_prompts(keeps_prefix=True)


def test_conversations_have_keys(engy, say):
    """What begins in the middle is a conversation of its own if its key, or its model, says so."""
    say("u one")
    say("u other", "a x", "u two", prompt_cache_key="b")
    say("u other", "a x", "u two", model="kimi-k3")
    engy.check_prompts(keeps_prefix=True)
    say("u other", "a x", "u two")
    with pytest.raises(UnmetExpectation, match=r"message 0 \(user\) has changed"):
        engy.check_prompts(keeps_prefix=True)


def test_a_call_and_its_result_are_turns(engy, say):
    """The id of a call tells whose answer is repeated."""
    engy.when(says="weather", tool_result=False).reply(tool_calls=[ToolCall("f", city="Paris")])
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    with engy.http_client(headers={"Authorization": f"Bearer {engy.api_key}"}) as client:

        def ask(*messages):
            body = {"model": "glm-5.2", "messages": list(messages), "tools": tools, "max_tokens": 8}
            return client.post("/v1/chat/completions", json=body).json()["choices"][0]["message"]

        question = {"role": "user", "content": "The weather?"}
        calling = ask(question)
        result = {"role": "tool", "tool_call_id": calling["tool_calls"][0]["id"], "content": "Sunny."}
        ask(question, calling, result)
        engy.check_prompts(keeps_prefix=True)
        ask({"role": "user", "content": "Another question?"}, calling, result)
    with pytest.raises(UnmetExpectation, match=r"message 0 \(user\) has changed"):
        engy.check_prompts(keeps_prefix=True)


REFUSED = {
    "a field": {"temperature": "x"},
    "several fields": {"temperature": "x", "top_p": 7, "tool_choice": "required"},
    "a message": {"messages": [{"role": "nobody", "content": "u four"}]},
    "the key": {"key": "nobody's"},
}


@pytest.mark.parametrize("wrong", REFUSED.values(), ids=REFUSED)
def test_who_was_refused_has_changed_it_too(engy, wrong):
    """A request counts as sent, whatever it was refused for; one that keeps its beginning is left alone."""

    def ask(client, *texts, wrong):
        messages = [{"role": ROLES[text[0]], "content": text} for text in texts] + wrong.get("messages", [])
        body = {"model": "glm-5.2", "max_tokens": 8, "reasoning_effort": "high"} | wrong | {"messages": messages}
        headers = {"Authorization": f"Bearer {body.pop('key', engy.api_key)}"}
        return client.post("/v1/chat/completions", json=body, headers=headers).status_code

    with engy.http_client() as client:
        assert ask(client, "u one", "a x", "u two", wrong={}) == 200
        assert ask(client, "u one", "a x", "u two", "a y", "u three", wrong=wrong) in (400, 401)
        engy.check_prompts(keeps_prefix=True)
        assert ask(client, "u one", "a X", "u two", "a y", "u three", "a z", "u 4", wrong=wrong) in (400, 401)
    with pytest.raises(UnmetExpectation, match=r"message 1 \(assistant\) has changed since"):
        engy.check_prompts(keeps_prefix=True)


CALLED = '{"city":"Paris"}'

HISTORIES: dict[str, tuple[dict[str, Any], tuple[str, Any]]] = {
    "/v1/chat/completions": (
        {
            "messages": [
                {"role": "developer", "content": "be"},
                {"role": "user", "content": [{"type": "text", "text": "u "}, {"type": "text", "text": "one"}]},
                {
                    "role": "assistant",
                    "content": "a",
                    "tool_calls": [
                        {"id": "c", "type": "function", "function": {"name": "f", "arguments": CALLED}}
                    ],
                },
                {"role": "tool", "tool_call_id": "c", "content": "Sunny."},
            ],
            "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        },
        ("messages", {"role": "user"}),
    ),
    "/v1/messages": (
        {
            "max_tokens": 8,
            "system": [{"type": "text", "text": "be"}],
            "messages": [
                {"role": "user", "content": "u one"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "a"},
                        {"type": "tool_use", "id": "c", "name": "f", "input": {"city": "Paris"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "c", "content": "Sunny."},
                        {"type": "text", "text": "u two"},
                    ],
                },
            ],
            "tools": [{"name": "f", "input_schema": {"type": "object"}}],
        },
        ("messages", {"role": "user"}),
    ),
    "/v1/responses": (
        {
            "instructions": "be",
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "u one"}]},
                {"role": "assistant", "content": "a"},
                {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": CALLED},
                {"type": "function_call", "id": "fc_2", "call_id": "d", "name": "f", "arguments": CALLED},
                {"type": "function_call_output", "call_id": "c", "output": "Sunny."},
                {"type": "function_call_output", "call_id": "d", "output": "Rainy."},
            ],
            "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}],
        },
        ("input", {"role": "user"}),
    ),
}


@pytest.mark.parametrize("path", HISTORIES)
def test_a_broken_turn_breaks_no_other(engy, path):
    """All turns but that are read as the service would have read them, so that they count as kept."""
    body, (field, broken) = HISTORIES[path]
    body = {"model": "glm-5.2"} | body
    with engy.http_client(headers={"Authorization": f"Bearer {engy.api_key}"}) as client:
        assert client.post(path, json=body).status_code == 200
        more = {"role": "assistant", "content": "b"}
        assert client.post(path, json=body | {field: [*body[field], more, broken]}).status_code == 400
    whole, refused = engy.journal
    read = gist(refused.method, refused.path, refused.json())
    assert read.messages[: len(whole.request.messages)] == whole.request.messages
    assert read.tools == whole.request.tools
    engy.check_prompts(keeps_prefix=True)
