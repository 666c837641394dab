"""Whatever body comes to responses, it is answered, or refused in the envelope (Q-14, Q-15)."""

import copy
import json
from functools import cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engy_mock.gateway import Gateway
from engy_mock.vocabulary.wire import Call, End, Whole, Write
from tests.dialects.heard_responses import heard, response

SCHEMAS = st.sampled_from(
    [
        {},
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        {"$ref": "#"},
        {"$ref": "#/nowhere"},
        {"type": "array", "minItems": 3, "items": {"enum": [1, None, "x"]}},
        {"type": "integer", "minimum": 5, "maximum": 1},
        {"type": "string", "pattern": "("},
        {"allOf": [{"type": "string"}, {"type": "object"}]},
    ]
)
PNG = "data:image/png;base64,iVBORw0KGgoAAQ=="
ODD: list[Any] = [
    None, True, False, 0, -1, 0.5, -0.0, 1e308, 10**400, -(2**64), "", "x", "\x00", "\u2028", "x" * 3000,
    [], {}, [[]], [None], {"": ""}, {"type": "x"}, [{"type": "function"}], {"type": ["x"]}, PNG,
]  # fmt: skip

texts = st.text(max_size=12)
parts = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(["input_text", "output_text"]), "text": texts}),
    st.fixed_dictionaries({"type": st.just("input_image"), "image_url": st.just(PNG)}),
)
content = texts | st.lists(parts, max_size=3)
calls = {"type": st.just("function_call"), "call_id": texts, "name": texts, "arguments": texts}
results = {"type": st.just("function_call_output"), "call_id": texts, "output": content}
items = st.one_of(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "system", "developer"]), "content": content},
        optional={"type": st.just("message"), "id": texts},
    ),
    st.fixed_dictionaries(calls, optional={"id": texts}),
    st.fixed_dictionaries(results, optional={"id": texts}),
    st.fixed_dictionaries({"type": st.just("reasoning"), "summary": st.just([])}, optional={"content": st.none()}),
)
tools = st.fixed_dictionaries(
    {"type": st.sampled_from(["function", "web_search"]), "name": st.sampled_from(["f", "g"])},
    optional={"parameters": SCHEMAS, "description": texts, "strict": st.booleans()},
)
formats = st.one_of(
    st.fixed_dictionaries({"type": st.just("json_schema"), "schema": SCHEMAS, "name": texts}),
    st.fixed_dictionaries({"type": st.sampled_from(["json_object", "text"])}),
)
efforts = st.sampled_from(["none", "low", "max"])
bodies: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "model": st.sampled_from(["kimi-k3", "glm-5.3-flash", "x/deepseek-v4.1-flash"]),
        "input": texts | st.lists(items, min_size=1, max_size=4),
        "max_output_tokens": st.integers(1, 12),
    },
    optional={
        "instructions": texts,
        "tools": st.lists(tools, max_size=3),
        "tool_choice": st.sampled_from(["auto", "none", "required", {"type": "function", "name": "f"}]),
        "text": st.fixed_dictionaries({}, optional={"format": formats, "verbosity": st.just("low")}),
        "reasoning": st.fixed_dictionaries({}, optional={"effort": efforts, "summary": st.just("auto")}),
        "temperature": st.floats(0, 2),
        "top_p": st.floats(0.01, 1),
        "top_logprobs": st.integers(0, 3),
        "include": st.just(["message.output_text.logprobs"]),
        "metadata": st.dictionaries(texts, texts, max_size=2),
        "stream": st.booleans(),
        "provider": st.fixed_dictionaries({}, optional={"zdr": st.booleans()}),
        "user": texts,
    },
)


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A body with something odd in one or two places."""
    body: Any = copy.deepcopy(draw(bodies))
    for _ in range(draw(st.integers(1, 2))):
        holder = body
        while True:
            place = draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
            if not isinstance(holder[place], dict | list) or not holder[place] or not draw(st.integers(0, 3)):
                break
            holder = holder[place]
        holder[place] = copy.deepcopy(draw(st.sampled_from(ODD)))
    return body


@cache
def gateway() -> Gateway:
    return Gateway()


def answer(body: Any) -> tuple[int, bytes, bool]:
    """Status and body of the answer, and whether it was streamed."""
    call = Call(
        method="POST",
        path="/v1/responses",
        headers={"authorization": "Bearer sk-engy-test"},
        body=json.dumps(body).encode(),
    )
    first, *steps = gateway().answer(call)
    if isinstance(first, Whole):
        return first.head.status, first.body, False
    assert isinstance(steps[-1], End)
    return 200, b"".join(step.data for step in steps if isinstance(step, Write)), True


@settings(max_examples=60)
@given(body=bodies)
def test_any_good_body(body: dict[str, Any]):
    """R-9: whatever is asked for, the client's types take the answer, or it is refused with a reason."""
    status, data, is_streamed = answer(body)
    if status != 200:
        assert (status, list(json.loads(data))) == (400, ["error"])
    elif is_streamed:
        heard(data)
    else:
        response(data)


@settings(max_examples=80)
@given(body=mutated() | st.sampled_from(ODD))
def test_no_body_breaks_it(body: Any):
    """Q-15: an answer that comes to its end, or a refusal that says why; never a 5xx."""
    status, data, is_streamed = answer(body)
    assert status in (200, 400, 404)
    if is_streamed:
        assert b'\ndata: {"type":"response.' in data[data.rindex(b"event: ") :]
    elif status == 200:
        assert json.loads(data)["status"] in ("completed", "incomplete")
    else:
        error = json.loads(data)["error"]
        assert list(error) == ["message", "type", "param", "code"]
        assert error["message"]
