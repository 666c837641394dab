"""The documentation's own examples: their requests give their answers, and the numbers come out by counting."""

import json
import sys
import types
from collections.abc import Iterator
from types import SimpleNamespace

import openai
import pytest

from engy_mock import EngyMock, tokenizer_file


@pytest.fixture
def client(engy: EngyMock) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=engy.base_url, api_key=engy.api_key, max_retries=0) as client:
        yield client


CHAT = {
    "model": "glm-5.2",
    "max_tokens": 1024,
    "messages": [
        {"role": "system", "content": "You are a concise assistant."},
        {"role": "user", "content": "What is the capital of France?"},
    ],
}


def test_a_chat_completion(client, engy):
    """E-103: "Create a chat completion": 22 + 19 = 41 tokens, 11 of them reasoning, for 43 micro-USD."""
    raw = client.chat.completions.with_raw_response.create(**CHAT)
    body = json.loads(raw.content)
    request_id = raw.headers["X-Engy-Request-Id"]
    assert body == {
        "id": f"chatcmpl-{request_id[:24]}",
        "object": "chat.completion",
        "created": 1792281600,
        "model": "glm-5.2",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "The capital of France is Paris.",
                    "reasoning_content": "The user asks for the capital of France.",
                },
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 22,
            "completion_tokens": 19,
            "total_tokens": 41,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 11},
        },
        "x_engy": {"request_id": request_id, "charged_micro": 43},
    }
    assert list(body) == ["id", "object", "created", "model", "choices", "usage", "x_engy"]
    assert engy.journal.last.charged_micro == 43


def test_the_same_as_a_stream(client):
    """Section 10: role, ten pieces of reasoning, seven of text, the finish with its receipt, the usage."""
    chunks = list(client.chat.completions.create(**CHAT, stream=True, stream_options={"include_usage": True}))
    deltas = [chunk.choices[0].delta for chunk in chunks[:-1]]
    assert deltas[0].role == "assistant"
    assert deltas[0].content == ""
    reasoning = [delta.reasoning_content for delta in deltas[1:11]]
    assert reasoning == ["The", " user", " as", "ks", " for", " the", " capital", " of", " France", "."]
    text = [delta.content for delta in deltas[11:18]]
    assert text == ["The", " capital", " of", " France", " is", " Paris", "."]
    finish = chunks[-2]
    assert finish.choices[0].finish_reason == "stop"
    assert finish.model_extra["x_engy"]["charged_micro"] == 43
    assert chunks[-1].choices == []
    assert chunks[-1].usage.total_tokens == 41
    assert len(chunks) == 20


def test_a_completion(client):
    """E-104: "Create a completion": 5 + 3 = 8 tokens for 8 micro-USD."""
    answer = client.completions.create(
        model="glm-5.2", prompt="The capital of France is", max_tokens=8, temperature=0
    )
    choice = answer.choices[0]
    assert (choice.text, choice.finish_reason, choice.logprobs) == (" Paris.", "stop", None)
    usage = answer.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (5, 3, 8)
    assert usage.prompt_tokens_details.cached_tokens == 0
    assert usage.completion_tokens_details.reasoning_tokens == 0
    assert answer.id == "cmpl-" + answer.model_extra["x_engy"]["request_id"][:24]
    assert answer.model_extra["x_engy"]["charged_micro"] == 8


def test_continue_a_prompt(client):
    """ "Raw prompts", Continue a prompt: a rendered template is continued, marks and all."""
    answer = client.completions.create(
        model="glm-5.2",
        prompt="[gMASK]<sop><|system|>Reasoning Effort: Max<|user|>Prove that 2 is irrational."
        "<|assistant|><think>",
        max_tokens=512,
        temperature=0,
    )
    chat = client.chat.completions.create(
        model="glm-5.2",
        messages=[{"role": "user", "content": "Prove that 2 is irrational."}],
        max_tokens=512,
        temperature=0,
    )
    message = chat.choices[0].message
    assert answer.usage.prompt_tokens == chat.usage.prompt_tokens == 14
    assert answer.choices[0].text == f"{message.reasoning_content}</think>{message.content}"


def test_score_a_span(engy, monkeypatch, capsys, request):
    """E-163: "Raw prompts", Score a span, as it stands there, but for the tokenizer and the address."""
    from tokenizers import Tokenizer

    class OwnTokenizer:
        """Stands in for the class that would download the model's tokenizer."""

        @staticmethod
        def from_pretrained(name):
            assert name == "zai-org/GLM-5.2"
            own = Tokenizer.from_file(str(tokenizer_file()))
            return SimpleNamespace(
                encode=lambda text, add_special_tokens=True: (
                    own.encode(text, add_special_tokens=add_special_tokens).ids
                )
            )

    module = types.ModuleType("transformers")
    vars(module)["AutoTokenizer"] = OwnTokenizer
    monkeypatch.setitem(sys.modules, "transformers", module)
    monkeypatch.setenv("ENGY_API_KEY", engy.api_key)

    import os

    from openai import OpenAI
    from transformers import AutoTokenizer  # type: ignore[import-not-found]  # made above

    client = OpenAI(base_url=engy.base_url, api_key=os.environ["ENGY_API_KEY"])
    request.addfinalizer(client.close)
    tokenizer = AutoTokenizer.from_pretrained("zai-org/GLM-5.2")

    prefix = "The capital of France is"
    span = " Paris."

    ids = tokenizer.encode(prefix + span)
    span_len = len(tokenizer.encode(span, add_special_tokens=False))

    response = client.completions.create(
        model="glm-5.2",
        prompt=ids,
        max_tokens=1,
        temperature=0,
        extra_body={"logprob_start_len": len(ids) - span_len},
    )

    logprobs = response.choices[0].logprobs
    print(sum(x for x in logprobs.token_logprobs if x is not None))  # type: ignore[misc]  # as it stands there

    assert len(ids) == 7
    assert logprobs.model_extra["token_ids"] == ids[5:]
    assert logprobs.token_logprobs[0] is None
    assert -0.2 < logprobs.token_logprobs[1] < 0
    assert logprobs.text_offset is None
    assert float(capsys.readouterr().out) == logprobs.token_logprobs[1]


def test_score_the_whole_prompt(client):
    """E-156: "Raw prompts", Score the whole prompt: five tokens and the generated one, offsets of -1."""
    answer = client.completions.create(
        model="glm-5.2",
        prompt="The capital of France is",
        max_tokens=1,
        temperature=0,
        echo=True,
        logprobs=1,
    )
    logprobs = answer.choices[0].logprobs
    assert answer.choices[0].text == "The capital of France is Paris"
    assert logprobs.tokens == ["The", " capital", " of", " France", " is", " Paris"]
    assert logprobs.token_logprobs[0] is None
    assert all(value < 0 for value in logprobs.token_logprobs[1:])
    assert logprobs.text_offset == [-1] * 6
    assert list(logprobs.top_logprobs[5]) == [" Paris"]


def test_use_an_existing_client(client):
    """ "API overview": one greeting, an answer; the provider object goes in as an extra."""
    hello = [{"role": "user", "content": "Hello"}]
    plain = client.chat.completions.create(model="glm-5.2", messages=hello)
    assert plain.choices[0].message.content
    wished = client.chat.completions.create(
        model="glm-5.2", messages=hello, extra_body={"provider": {"zdr": True}}
    )
    assert wished.choices[0].message.content == plain.choices[0].message.content


def test_a_vendor_segment_is_ignored(client):
    """ "API overview", Model IDs: the same model, the name as it was sent."""
    hello = [{"role": "user", "content": "Hello"}]
    plain = client.chat.completions.create(model="glm-5.2", messages=hello)
    named = client.chat.completions.create(model="engy/glm-5.2", messages=hello)
    assert named.model == "engy/glm-5.2"
    assert named.choices[0].message == plain.choices[0].message
