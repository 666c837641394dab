"""The proof of an answer: made up, in the documented layout, in the place of each dialect."""

import json
import math
from base64 import b64decode
from typing import Any

import pytest

from engy_mock import EngyMock, Reply, ToolCall
from tests.books.routes import CHAT, COMPLETIONS, MESSAGES, RESPONSES, V1, V5, bearer, body
from tests.dialects.called import Answer, ask

DEMANDED = {"provider": {"require_proof": True}}


@pytest.fixture
def engy() -> EngyMock:
    return EngyMock()


def asked(engy: EngyMock, path: str = CHAT, text: Any = "Hello", **fields: Any) -> Answer:
    answer = ask(engy.gateway, path, body(path, text, **{**DEMANDED, **fields}), headers=bearer())
    assert answer.status == 200
    return answer


def proof(answer: Answer) -> Any:
    return answer.json()["proof"]


@pytest.mark.parametrize("path", V1)
@pytest.mark.parametrize("most", [1, 32, 33, 300])
def test_layout(engy, path, most):
    """E-146, E-147: last at the top of the whole answer; one proof for each 32 output tokens or part of it."""
    answer = asked(engy, path, **{"max_output_tokens" if path == RESPONSES else "max_tokens": most})
    document = answer.json()
    assert list(document)[-1] == "proof"
    shown = document["proof"]
    usage = engy.journal.last.usage
    assert list(shown) == ["scheme", "model_root", "prompt_ids", "output_token_ids", "n_tokens", "toploc"]
    assert shown["scheme"] == "toploc"
    assert len(bytes.fromhex(shown["model_root"])) == 32
    assert len(shown["prompt_ids"]) == usage.prompt_tokens
    assert len(shown["output_token_ids"]) == shown["n_tokens"] == usage.completion_tokens <= most
    toploc = shown["toploc"]
    assert list(toploc) == ["proofs", "topk", "decode_batching_size", "skip_prefill"]
    assert list(toploc.values())[1:] == [128, 32, True]
    assert [len(b64decode(one, validate=True)) for one in toploc["proofs"]] == [258] * math.ceil(
        usage.completion_tokens / 32
    )


@pytest.mark.parametrize("path", V1)
@pytest.mark.parametrize("wish", [None, {}, {"require_proof": False}, {"zdr": True}])
def test_none_unless_demanded(engy, path, wish):
    """E-105, E-146: the key is not there."""
    assert "proof" not in asked(engy, path, provider=wish).json()


@pytest.mark.parametrize("path", V5)
def test_none_on_v5(engy, path):
    """There are no proofs on that surface (S-19)."""
    assert "proof" not in asked(engy, path).data.decode()


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (CHAT, lambda data: data["choices"] and data["choices"][0]["finish_reason"]),
        (MESSAGES, lambda data: data["type"] == "message_delta"),
        (RESPONSES, lambda data: data["type"] in ("response.completed", "response.incomplete")),
    ],
)
@pytest.mark.parametrize("most", [40, 2000])
def test_places_in_streams(engy, path, place, most):
    """E-123, E-146: on one event only, and the same as in the whole answer."""
    limit = {"max_output_tokens" if path == RESPONSES else "max_tokens": most}
    whole = proof(asked(engy, path, **limit))
    lines = asked(engy, path, stream=True, **limit).data.decode().splitlines()
    told = [line.removeprefix("data: ") for line in lines if line.startswith("data: {")]
    events = [json.loads(data) for data in told]
    holders = [data for data in events if '"proof"' in json.dumps(data)]
    assert holders == [data for data in events if place(data)]
    (holder,) = holders
    shown = holder["response"] if path == RESPONSES else holder
    assert shown["proof"] == whole
    assert list(shown)[-1] == "proof"


def test_output_ids_are_all_that_is_counted(engy):
    """E-100, E-147: reasoning, its end, text, the marks of calls and the end of the turn, decoded again."""
    tokenizer = engy.catalog.tokenizer(engy.catalog.find("glm-5.2"))
    engy.when().reply(Reply(text="Wait.", reasoning="I see.", tool_calls=(ToolCall("look", at="Paris"),)))
    ids = proof(asked(engy, max_tokens=100))["output_token_ids"]
    said = 'I see.</think>Wait.<tool_call>look{"at":"Paris"}</tool_call><|endoftext|>'
    assert tokenizer.decode(ids) == said
    for most in range(1, len(ids) + 1):
        shown = proof(asked(engy, max_tokens=most))
        assert shown["output_token_ids"] == ids[:most]
        assert shown["n_tokens"] == engy.journal.last.usage.completion_tokens == most


def test_removed_calls_and_stops(engy):
    """E-101, E-137: calls that are removed were made; of what a stop cut off one token was made."""
    engy.when().reply(Reply(text="One two three four", tool_calls=(ToolCall("look"),)))
    answer = asked(engy, max_tokens=100, tool_choice="none")
    assert proof(answer)["n_tokens"] == answer.json()["usage"]["completion_tokens"]
    stopped = asked(engy, max_tokens=100, stop=" three")
    tokenizer = engy.catalog.tokenizer(engy.catalog.find("glm-5.2"))
    assert tokenizer.decode(proof(stopped)["output_token_ids"]) == "One two three"
    assert stopped.json()["usage"]["completion_tokens"] == 3


def test_a_batch_is_proved_as_one(engy):
    """E-147, E-150: prompts and outputs one after the other, as the counts are sums."""
    single = [proof(asked(engy, COMPLETIONS, text, max_tokens=40)) for text in ("A ship", "The old bridge")]
    both = proof(asked(engy, COMPLETIONS, ["A ship", "The old bridge"], max_tokens=40))
    for name in ("prompt_ids", "output_token_ids"):
        assert both[name] == single[0][name] + single[1][name]
    assert both["n_tokens"] == single[0]["n_tokens"] + single[1]["n_tokens"]


def test_what_a_proof_stands_for(engy):
    """E-147: the root belongs to the model under any seed; proofs change with prompt and output, from there on."""
    long: dict[str, Any] = {"max_tokens": 200}
    first = proof(asked(engy, **long))
    assert proof(asked(engy, **long)) == first
    assert proof(asked(EngyMock(seed=1), **long))["model_root"] == first["model_root"]
    assert proof(asked(engy, model="any/glm-5.2", **long)) == first
    assert proof(asked(engy, model="glm-5.3", **long))["model_root"] != first["model_root"]
    shorter = proof(asked(engy, max_tokens=40))
    proofs, short = first["toploc"]["proofs"], shorter["toploc"]["proofs"]
    assert short[0] == proofs[0]
    assert short[1] != proofs[1]
    assert len({*proofs, *short}) == len(proofs) + 1
    assert proof(asked(engy, text="Hello!", **long))["toploc"]["proofs"][0] != proofs[0]
