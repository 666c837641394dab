"""`POST /v5/inference`: any payload, handed to the vendor."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engy_mock.dialects.dialect import Envelope
from engy_mock.dialects.fold import tell
from engy_mock.dialects.inference import Inference
from engy_mock.dialects.surfaces import V5
from engy_mock.gateway import Gateway
from engy_mock.model.catalog import Catalog
from engy_mock.model.engine import Engine
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import UpstreamFailed
from engy_mock.vocabulary.events import Failure, Raw, Receipt
from engy_mock.vocabulary.generation import Reply, Usage
from tests.dialects.called import INFERENCE, INFERENCE_PATH, Answer, ask, wrong
from tests.dialects.made import REQUEST_ID

CATALOG = Catalog()


@pytest.fixture(scope="module")
def gateway() -> Gateway:
    return Gateway()


def infer(gateway: Gateway, **fields: Any) -> Answer:
    """The answer to a request for inference with these fields."""
    body = {**INFERENCE, **fields}
    return ask(gateway, INFERENCE_PATH, {name: value for name, value in body.items() if value is not ...})


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"prompt": "Hi"},
        {"prompt": 5},
        {"inputs": [1.5, None, {"a": "\u00e9"}]},
        {"stream": False},
        {"stream": 1},
    ],
    ids=str,
)
def test_the_answer(gateway: Gateway, args: dict[str, Any]):
    """S-74: the arguments as they were received, and a made-up text."""
    document = infer(gateway, args=args).json()
    assert list(document) == ["object", "response"]
    assert document["object"] == "generic_inference"
    assert document["response"]["args"] == args
    assert isinstance(document["response"]["output"], str)
    assert document["response"]["output"]


@pytest.mark.parametrize("args", [..., None])
def test_no_arguments(gateway: Gateway, args: Any):
    """S-73: arguments may be left out."""
    assert infer(gateway, args=args).json()["response"]["args"] == {}


@pytest.mark.parametrize(
    ("field", "value", "place", "kind"),
    [
        ("model", ..., ["model"], "missing"),
        ("args", [], ["args"], "dict_type"),
        ("args", "x", ["args"], "dict_type"),
        ("inference_configuration", 5, ["inference_configuration"], "dict_type"),
        ("inference_configuration", {"num_retries": "x"}, ["inference_configuration", "num_retries"], "int_type"),
        ("stream", "x", ["stream"], "bool_type"),
    ],
)
def test_wrong(gateway: Gateway, field: str, value: Any, place: list[Any], kind: str):
    """S-73: what is missing or of a wrong type is 422."""
    assert wrong(infer(gateway, **{field: value})) == [(["body", *place], kind)]


def test_configuration(gateway: Gateway):
    """S-73: retries and timeouts have no effect."""
    asked = infer(gateway, inference_configuration={"num_retries": 9, "timeout_seconds": 1}, other=1)
    assert asked.data == infer(gateway).data


def test_the_words_depend_on_the_arguments(gateway: Gateway):
    """S-74, E-13: other arguments get another text, the same ones the same."""
    texts = [infer(gateway, args={"q": q}).json()["response"]["output"] for q in ("rivers", "bread", "rivers")]
    assert texts[0] == texts[2] != texts[1]


@pytest.mark.parametrize(
    "fields", [{"args": {"prompt": "Hi", "stream": True}}, {"args": {"prompt": "Hi"}, "stream": True}], ids=str
)
def test_a_stream(gateway: Gateway, fields: dict[str, Any]):
    """S-1, S-75: pieces of the text, if either switch is on, and no end mark."""
    answer = infer(gateway, **fields)
    chunks = answer.chunks()
    assert b"[DONE]" not in answer.data
    assert {tuple(chunk) for chunk in chunks} == {("object", "response")}
    assert {chunk["object"] for chunk in chunks} == {"generic_inference.chunk"}
    whole = infer(gateway, args={"prompt": "Hi"}).json()["response"]["output"]
    assert "".join(chunk["response"] for chunk in chunks) == whole


@pytest.mark.parametrize("stream", [False, 1, "true", None])
def test_no_stream(gateway: Gateway, stream: Any):
    """S-75: nothing but true switches the stream on among the arguments."""
    assert not infer(gateway, args={"prompt": "Hi", "stream": stream}).is_streamed


values = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=40)
@given(values)
def test_any_dictated_response(response: Any):
    """S-74, S-75: a rule may set any JSON as the response, which comes whole or as the one chunk of a stream."""
    dialect = Inference()
    request = dialect.parse(INFERENCE, V5)
    engine = Engine(CATALOG)
    card = CATALOG.find_at_vendor(request.model)
    assert card is not None
    generation = engine.generate(engine.prepare(request, card), Reply(response=response))
    receipt = Receipt(request_id=REQUEST_ID, charged_micro=0)
    around = Envelope(request=request, surface=V5, receipt=receipt, created=1792281600, usage=generation.usage)
    whole = json.read(dialect.body(generation, around))
    assert whole == {"object": "generic_inference", "response": json.read(json.write(response))}
    stream = dialect.encoder(around)
    told = b"".join(stream.encode(event) for event in tell(generation))
    assert json.read(told.removeprefix(b"data: ")) == {**whole, "object": "generic_inference.chunk"}


def test_troubles():
    """S-82: a failure that is to be told has a frame, and raw bytes pass as they are."""
    dialect = Inference()
    request = dialect.parse(INFERENCE, V5)
    usage = Usage(prompt_tokens=0, completion_tokens=0)
    receipt = Receipt(request_id=REQUEST_ID, charged_micro=0)
    around = Envelope(request=request, surface=V5, receipt=receipt, created=1792281600, usage=usage)
    stream = dialect.encoder(around)
    assert b'"status_code":502' in stream.encode(Failure(UpstreamFailed("upstream failed")))
    assert stream.encode(Raw(b": x\n")) == b": x\n"
