"""Violations in our words: all of them, in a stable order, short, printable, without a trace of pydantic."""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engy_mock.dialects.chat import Chat
from engy_mock.dialects.completions import Completions
from engy_mock.dialects.dialect import Dialect
from engy_mock.dialects.fields import shown
from engy_mock.dialects.surfaces import V1
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import ApiError, InvalidRequest
from engy_mock.vocabulary.request import GenerationRequest
from tests.dialects.made import CHAT, COMPLETION

LEAKS = ("pydantic", "http", "Input should", "Form", "validat", "is invalid", "~", "{", "dictionary")
"""What no message of ours contains, unless the client said it."""


def violations(dialect: Dialect, body: Any) -> list[tuple[str, str]]:
    """Field and kind of each violation."""
    with pytest.raises(InvalidRequest) as caught:
        dialect.parse(body, V1)
    return [(violation.param, violation.kind) for violation in caught.value.violations]


def test_all_violations_in_the_order_of_the_form():
    """However the body is ordered, the violations are the same, and the first gives message and param."""
    body = {
        "stop": [1, "x", 2],
        "messages": [{"role": "user"}, {"role": "user", "content": [{"type": "text"}, 5]}],
        "temperature": 3,
        "top_logprobs": 99,
        "max_tokens": "many",
    }
    expected = [
        ("model", "missing"),
        ("max_tokens", "int_type"),
        ("temperature", "less_than_equal"),
        ("stop[0]", "string_type"),
        ("stop[2]", "string_type"),
        ("messages[0].content", "missing"),
        ("messages[1].content[0].text", "missing"),
        ("messages[1].content[1]", "model_attributes_type"),
        ("top_logprobs", "less_than_equal"),
    ]
    assert violations(Chat(), body) == expected
    assert violations(Chat(), dict(reversed(body.items()))) == expected
    with pytest.raises(InvalidRequest, match=r"^model is required$") as caught:
        Chat().parse(body, V1)
    assert caught.value.param == "model"


def test_relations_are_reported_together():
    """What only two fields together get wrong is collected as well."""
    body = {**CHAT, "tool_choice": "required", "response_format": {"type": "json_schema"}}
    assert violations(Chat(), body) == [
        ("tool_choice", "tools_missing"),
        ("response_format.json_schema.schema", "missing"),
    ]


@pytest.mark.parametrize("body", [[], None, 5, "x", True])
def test_a_body_that_is_no_object(body: Any):
    """E-6: another top-level kind is refused, with no field to blame."""
    with pytest.raises(InvalidRequest, match=r"^body must be an object, got ") as caught:
        Chat().parse(body, V1)
    assert caught.value.param is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (0, "0"),
        (-0.0, "-0.0"),
        ("hot", '"hot"'),
        ('a"b\n', '"a\\"b\\n"'),
        ("ß\u202e", '"ß\\x202e"'),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        ("x" * 10**6, '"' + "x" * 76 + "..."),
        ([0] * 10**6, "[" + "0," * 38 + "..."),
        (10**300, "1" + "0" * 76 + "..."),
    ],
)
def test_shown(value: object, text: str):
    """A value is shown as JSON, cut short, with nothing unprintable in it."""
    assert shown(value) == text


def test_a_number_beyond_all_floats():
    """An integer that no float can hold is refused and not a failure."""
    with pytest.raises(InvalidRequest, match=r"^temperature must fit a 64-bit floating point number, got 10"):
        Chat().parse({**CHAT, "temperature": 10**400}, V1)


def test_foreign_keys_are_short_and_printable():
    """E-196: the keys of a client's own map show up in the path, cut and escaped."""
    with pytest.raises(InvalidRequest) as caught:
        Chat().parse({**CHAT, "logit_bias": {"\x1b" + "k" * 10**6: "v" * 10**6}}, V1)
    for violation in caught.value.violations:
        assert violation.message.isprintable()
        assert violation.message.count("k") + violation.message.count("v") < 200


def test_odd_keys_do_not_confuse_the_path():
    """Keys that look like the marks of a union are only keys."""
    body = {**CHAT, "logit_bias": {"~0": 1, "[key]": 1, "5": "x"}}
    assert violations(Chat(), body) == [
        ("logit_bias", "string_pattern_mismatch"),
        ("logit_bias", "string_pattern_mismatch"),
        ("logit_bias.5", "float_type"),
    ]


def test_fields_that_are_named_like_types_do_not_confuse_the_path():
    """A field that is named like the type of its object keeps its place in the path."""
    content = [
        {"type": "text", "text": 5, "image_url": 1},
        {"type": "image_url", "image_url": {"url": 5, "image_url": {"url": 1}}, "text": "x"},
    ]
    body = {**CHAT, "messages": [{"role": "user", "user": {"content": 1}, "content": content}]}
    assert violations(Chat(), body) == [
        ("messages[0].content[0].text", "string_type"),
        ("messages[0].content[1].image_url.url", "string_type"),
    ]


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
anything = st.recursive(
    scalars | st.sampled_from(["text", "image_url", "function", "user", "tool", "json_schema", "required"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
WORDS = [
    "arguments", "content", "effort", "enabled", "function", "id", "image_url", "include_usage",
    "json_schema", "name", "parameters", "reasoning_content", "require_proof", "role", "schema", "text",
    "tool_call_id", "tool_calls", "type", "url", "zdr",
]  # fmt: skip
FIELDS = [
    "chat_template_kwargs", "echo", "frequency_penalty", "logit_bias", "logprob_start_len", "logprobs",
    "max_completion_tokens", "max_tokens", "messages", "min_p", "model", "n", "parallel_tool_calls",
    "presence_penalty", "prompt", "prompt_cache_key", "provider", "reasoning", "reasoning_effort",
    "response_format", "seed", "stop", "stream", "stream_options", "temperature", "tool_choice", "tools",
    "top_k", "top_logprobs", "top_p", "user",
]  # fmt: skip
deep = st.recursive(
    anything,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, min_size=1, max_size=4)
    ),
    max_leaves=12,
)
likely = st.dictionaries(st.sampled_from(FIELDS), deep, max_size=5)


def spoken(dialect: Dialect, body: Any) -> GenerationRequest | ApiError:
    """What a body becomes: a request, or a refusal in our own words; nothing else."""
    answer: GenerationRequest | ApiError
    try:
        answer = dialect.parse(body, V1)
    except ApiError as error:
        answer = error
    if isinstance(answer, GenerationRequest):
        assert (answer.endpoint, answer.body) == (dialect.endpoint, body)
        return answer
    first = answer.violations[0]
    assert (answer.status, answer.message, answer.param or "") == (400, first.message, first.param)
    for violation in answer.violations:
        ours = violation.message.partition(", got ")[0]
        assert ours.startswith(violation.param or "body")
        # The keys of this map are the client's own.
        if not violation.param.startswith("logit_bias"):
            assert not [leak for leak in LEAKS if leak in ours]
        assert violation.message.isprintable()
        assert len(violation.message) < 320
    return answer


@pytest.mark.parametrize("dialect", [Chat(), Completions()], ids=["chat", "completions"])
@given(body=anything | likely)
def test_any_body_is_a_request_or_a_refusal(dialect: Dialect, body: Any):
    """Q-15: whatever JSON arrives, it is read or refused."""
    spoken(dialect, json.read(json.write(body)))


@pytest.mark.parametrize(
    ("dialect", "base"), [(Chat(), CHAT), (Completions(), COMPLETION)], ids=["chat", "completions"]
)
@given(fields=likely)
def test_any_field_is_read_or_refused(dialect: Dialect, base: dict[str, Any], fields: dict[str, Any]):
    """The same for bodies that have what is required, so that the fields themselves are to blame."""
    spoken(dialect, {**base, **fields})


@given(
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    fields=st.dictionaries(st.sampled_from(WORDS), deep, max_size=4),
)
def test_any_message_is_read_or_refused(role: str, fields: dict[str, Any]):
    """The same for the inside of messages."""
    spoken(Chat(), {**CHAT, "messages": [{"role": role, **fields}]})


RICH: dict[str, Any] = {
    **CHAT,
    "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "t"}, {"type": "text", "text": "u"}]},
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "content": "r", "tool_call_id": "c"},
    ],
    "max_tokens": 5,
    "stream": True,
    "stream_options": {"include_usage": True},
    "temperature": 1,
    "stop": ["a", "b"],
    "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {}}}],
    "tool_choice": "auto",
    "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}},
    "reasoning": {"effort": "low", "enabled": True},
    "logit_bias": {"5": 1},
    "top_logprobs": 2,
    "provider": {"zdr": True},
}


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of everything in a JSON value."""
    steps: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        steps = value.items()
    elif isinstance(value, list):
        steps = enumerate(value)
    for step, item in steps:
        yield (*path, step)
        yield from places(item, (*path, step))


def changed(value: Any, path: tuple[str | int, ...], other: Any) -> Any:
    """The value with something else at this path."""
    if not path:
        return other
    items: Any = dict(value) if isinstance(value, dict) else list(value)
    items[path[0]] = changed(value[path[0]], path[1:], other)
    return items


@given(path=st.sampled_from(list(places(RICH))), other=deep)
def test_the_blame_falls_on_what_was_changed(path: tuple[str | int, ...], other: Any):
    """A good body with one strange thing in it is read, or refused for nothing but that thing."""
    answer = spoken(Chat(), changed(RICH, path, other))
    if isinstance(answer, ApiError):
        assert {violation.path[0] for violation in answer.violations} == {path[0]}


def test_pydantic_is_not_loaded():
    """Neither a mock nor a request loads pydantic, nor what reads scenarios: both take long."""
    code = (
        "import sys, engy_mock.mock, engy_mock.gateway; from engy_mock.dialects import completions, surfaces\n"
        "completions.Completions().parse({'model': 'm', 'prompt': 'p'}, surfaces.V1)\n"
        "print('pydantic' in sys.modules, 'yaml' in sys.modules)"
    )
    top = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=top)
    assert done.stdout.split() == ["False", "False"]
