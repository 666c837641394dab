"""A model of `/v1` at a vendor: what it says under `/v5` is what it says at home."""

import json
from typing import Any

import pytest

from engy_mock import EngyMock
from engy_mock.cli.rows import add_models
from engy_mock.gateway import Gateway
from engy_mock.model.cards import CARDS
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.wire import Call, Whole

HEADERS = {"host": "localhost", "authorization": "Bearer sk-engy-x", "x-api-key": "k"}
QUESTION = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why do bridges sway?"}]
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"properties": {"q": {"type": "string"}}}}}
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
SETTLED: list[dict[str, Any]] = [
    {},
    {"max_tokens": 9},
    {"temperature": 0},
    {"temperature": 1, "top_p": 1},
    {"temperature": 1.5, "seed": 3},
    {"stop": "the"},
    {"tools": [TOOL]},
    {"tools": [TOOL], "tool_choice": "required"},
    {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}},
]
QUIET = [card.id for card in CARDS if card.can_stop_thinking]
"""The models that can answer without thinking, as all do under `/v5`."""


@pytest.fixture(scope="module")
def gateway() -> Gateway:
    gateway = Gateway(seed=5)
    for model in QUIET:
        gateway.catalog.add_like(f"openai/{model}", model)
    gateway.settings.prompt_cache = False
    return gateway


def ask(gateway: Gateway, path: str, body: dict[str, Any]) -> Any:
    """A whole answer."""
    (step,) = gateway.answer(Call(method="POST", path=path, headers=HEADERS, body=json.dumps(body).encode()))
    assert isinstance(step, Whole)
    assert step.head.status == 200, step.body
    return json.loads(step.body)


def counts(usage: dict[str, Any]) -> tuple[int, int]:
    """Prompt and completion tokens, whatever a dialect calls them."""
    names = (
        ("prompt_tokens", "completion_tokens") if "prompt_tokens" in usage else ("input_tokens", "output_tokens")
    )
    return usage[names[0]], usage[names[1]]


def said(message: dict[str, Any]) -> tuple[str | None, list[Any]]:
    return message["content"], [call["function"] for call in message.get("tool_calls", ())]


@pytest.mark.parametrize("settled", SETTLED, ids=lambda settled: "+".join(settled) or "defaults")
@pytest.mark.parametrize("model", ["glm-5.2", "kimi-k3", "qwen3.8-27b"])
def test_chat(gateway: Gateway, model: str, settled: dict[str, Any]):
    """E-13, S-24: the same conversation with the same settings has the same content and the same counts."""
    home = {"model": model, "messages": QUESTION, "reasoning_effort": "none", **settled}
    own = ask(gateway, "/v1/chat/completions", home)
    there = ask(gateway, "/v5/chat/completions", {"model": f"openai/{model}", "messages": QUESTION, **settled})
    assert said(there["choices"][0]["message"]) == said(own["choices"][0]["message"])
    assert there["choices"][0]["finish_reason"] == own["choices"][0]["finish_reason"]
    assert counts(there["usage"]) == counts(own["usage"])


def test_other_dialects(gateway: Gateway):
    """E-13, S-44: responses and raw prompts are alike as well; further copies of an answer are others."""
    asked = {"instructions": "Be brief.", "input": "Why do bridges sway?"}
    own = ask(gateway, "/v1/responses", {"model": "glm-5.2", "reasoning": {"effort": "none"}, **asked})
    there = ask(gateway, "/v5/responses", {"model": "openai/glm-5.2", **asked})
    assert there["output"][0]["content"] == own["output"][0]["content"]
    assert counts(there["usage"]) == counts(own["usage"])
    assert (there["temperature"], there["top_p"]) == (own["temperature"], own["top_p"])
    raw = {"prompt": "Once upon a time", "max_tokens": 12}
    home = ask(gateway, "/v1/completions", {"model": "glm-5.2", **raw})
    copies = ask(gateway, "/v5/completions", {"model": "openai/glm-5.2", "n": 2, **raw})
    assert copies["choices"][0]["text"] == home["choices"][0]["text"] != copies["choices"][1]["text"]


def test_its_tokens_and_template_come_along():
    """A template that was given to the model at home is the one at the vendor, until that has its own."""
    gateway = Gateway()
    gateway.catalog.add_like("azure/k", "kimi-k3")
    body = {"model": "azure/k", "messages": QUESTION}
    usual = ask(gateway, "/v5/chat/completions", body)["usage"]["prompt_tokens"]
    gateway.catalog.use("kimi-k3", chat_template="{{ 'x ' * 50 }}<|assistant|>")
    longer = ask(gateway, "/v5/chat/completions", body)["usage"]["prompt_tokens"]
    assert longer > usual
    gateway.catalog.use("azure/k", chat_template="{{ 'x' }}<|assistant|>")
    assert ask(gateway, "/v5/chat/completions", body)["usage"]["prompt_tokens"] < usual


def test_where_it_is_listed(gateway: Gateway):
    """E-33, S-55: under `/v5` alone, and as a chat model."""
    lists = {}
    for path in ("/v1/models", "/v5/chat/completions/models"):
        (step,) = gateway.answer(Call(method="GET", path=path, headers=HEADERS, body=b""))
        assert isinstance(step, Whole)
        lists[path] = json.loads(step.body)
    assert [row["id"] for row in lists["/v1/models"]["data"]] == [card.id for card in CARDS]
    rows = [(row["model_vendor"], row["model_name"]) for row in lists["/v5/chat/completions/models"]["items"]]
    assert set(rows) >= {("openai", model) for model in QUIET}


def test_a_file_of_models(tmp_path):
    """A name of a vendor is one of `/v5`, whatever it is like; any other is one of `/v1`."""
    path = tmp_path / "models.yaml"
    path.write_text(
        "models:\n"
        "  openai/glm-5.2: {like: glm-5.2, max_output: 50}\n"
        "  azure/gpt: {like: openai/gpt-4o}\n"
        "  org/own: {like: glm-5.2}\n"
        "  openai/gpt-4o: {context: 500}\n"
    )
    gateway = Gateway()
    add_models(path, gateway.catalog)
    cards = {card.id: card for card in gateway.catalog}
    assert [cards[id].vendor for id in ("openai/glm-5.2", "azure/gpt", "org/own")] == ["openai", "azure", None]
    assert [cards[id].speaker for id in ("openai/glm-5.2", "azure/gpt")] == ["glm-5.2", "azure/gpt"]
    assert (cards["openai/glm-5.2"].max_output, cards["openai/gpt-4o"].context) == (50, 500)
    there = ask(gateway, "/v5/chat/completions", {"model": "openai/glm-5.2", "messages": QUESTION})
    own = ask(
        gateway,
        "/v1/chat/completions",
        {"model": "glm-5.2", "messages": QUESTION, "reasoning_effort": "none", "max_tokens": 50},
    )
    assert said(there["choices"][0]["message"]) == said(own["choices"][0]["message"])


def test_like_nobody():
    """The author of a test is told the nearest name."""
    with pytest.raises(MockError, match="Did you mean 'glm-5"):
        EngyMock().catalog.add_like("openai/mine", "glm5.2")


def test_numbers_are_waived_where_the_model_sets_them(gateway: Gateway):
    """E-89, S-50: that is a matter of the model that is meant, not of one of the same name."""
    ask(gateway, "/v5/chat/completions", {"model": "openai/kimi-k3", "messages": QUESTION, "temperature": 9})
    plain = Gateway()
    body = json.dumps({"model": "openai/kimi-k3", "messages": QUESTION, "temperature": 9}).encode()
    (step,) = plain.answer(Call(method="POST", path="/v5/chat/completions", headers=HEADERS, body=body))
    assert isinstance(step, Whole)
    assert step.head.status == 422


@pytest.mark.parametrize("name", [5, "", "/x", "openai/", "openai/a b", "openai/x\n", "a//b"])
def test_names_that_no_request_could_have(name):
    with pytest.raises(MockError, match="a model is called name or vendor/name"):
        EngyMock().catalog.add_like(name, "glm-5.2")
