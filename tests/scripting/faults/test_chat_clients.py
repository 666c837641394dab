"""What the official `openai` client for Python makes of faults of chat: raw streams, its helper, whole answers."""

import math
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletion

from engy_mock import EngyMock
from tests.scripting.captured import QUESTION, TOOL
from tests.scripting.faults.compared import CALL, CALLS, TEXT

ASKED: dict[str, Any] = {
    "model": "glm-5.2",
    "messages": [{"role": "user", "content": QUESTION}],
    "tools": [{"type": "function", "function": TOOL}],
}


@pytest.fixture
def client(engy: EngyMock) -> Iterator[OpenAI]:
    """A client that does not retry, so that nothing can succeed at the second attempt."""
    with OpenAI(base_url=engy.base_url, api_key=engy.api_key, max_retries=0) as client:
        yield client


def helped(client: OpenAI, **more: Any) -> ChatCompletion:
    """What the streaming helper puts together."""
    with client.chat.completions.stream(**ASKED, **more) as stream:
        return stream.get_final_completion()


@pytest.mark.parametrize("done", [True, False])
def test_an_answer_without_a_reason_is_taken_for_complete(engy, client, done):
    """R-76: no exception anywhere: the text is there, and only a missing reason tells."""
    engy.when().reply(**TEXT, faults=[{"kind": "no-finish-reason", "done": done}])
    chunks = list(client.chat.completions.create(**ASKED, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "one two three four"
    assert {chunk.choices[0].finish_reason for chunk in chunks} == {None}
    assert helped(client).choices[0].finish_reason is None


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize(
    ("fault", "reply", "error", "words"),
    [
        ("tool-index-missing", CALL, TypeError, "list indices must be integers"),
        ("tool-index-null", CALL, TypeError, "index. value is not an integer"),
        ("tool-index-gap", CALLS, IndexError, "list index out of range"),
        ("tool-index-from-one", CALL, IndexError, "list index out of range"),
        ("choice-index-missing", TEXT, TypeError, "list indices must be integers"),
        ("choices-missing", TEXT, TypeError, "not iterable"),
        ("choices-null", TEXT, TypeError, "not iterable"),
        ("content-parts", TEXT, RuntimeError, "index"),
        ("object-missing", TEXT, AssertionError, "^$"),
    ],
)
def test_what_breaks_the_helper(engy, client, fault, reply, error, words):
    """The helper fails with something that is no error of the client's own, which who reads raw never sees."""
    engy.when().reply(**reply, faults=[fault])
    assert list(client.chat.completions.create(**ASKED, stream=True))
    with pytest.raises(error, match=words) as caught:
        helped(client)
    assert not isinstance(caught.value, openai.OpenAIError)


@pytest.mark.parametrize(
    ("fault", "reply", "calls"),
    [
        ("tool-name-repeated", CALL, [("get_weatherget_weather", '{"city":"Paris"}')]),
        ("tool-index-reused", CALLS, [("get_weatherget_weather", '{"city":"Paris"}{"city":"Rome","days":3}')]),
        ("tool-name-split", CALL, [("get_weather", '{"city":"Paris"}')]),
        ("tool-name-late", CALL, [("get_weather", '{"city":"Paris"}')]),
        ("tool-name-empty-later", CALL, [("get_weather", '{"city":"Paris"}')]),
        ("tool-calls-interleaved", CALLS, [("get_weather", call.arguments) for call in CALLS["tool_calls"]]),
        ("tool-args-split", CALL, [("get_weather", '{"city":"Paris"}')]),
        ("tool-args-empty", CALL, [("get_weather", "")]),
        ("tool-args-truncated", CALL, [("get_weather", '{"city":')]),
    ],
)
def test_what_the_helper_takes_in_silence(engy, client, fault, reply, calls):
    """R-89, R-90: doubled names, calls in one, empty and broken arguments: no exception tells of them."""
    engy.when().reply(**reply, faults=[fault])
    message = helped(client).choices[0].message
    found = [(call.function.name, call.function.arguments) for call in message.tool_calls or ()]
    assert found == calls


@pytest.mark.parametrize("is_streamed", [True, False])
def test_empty_arguments_are_passed_on(engy, client, is_streamed):
    """What is no JSON at all reaches the caller as it was sent."""
    engy.when().reply(**CALL, faults=["tool-args-empty"])
    if is_streamed:
        chunks = client.chat.completions.create(**ASKED, stream=True)
        told = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]
    else:
        told = list(client.chat.completions.create(**ASKED).choices[0].message.tool_calls or ())
    assert [call.function.arguments for call in told] == [""]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("content-filter", openai.ContentFilterFinishReasonError),
        ("reasoning-only", openai.LengthFinishReasonError),
    ],
)
def test_ends_that_the_helper_calls_errors(engy, client, fault, error):
    """An answer that was cut cannot be parsed: the helper says so, in its own words."""
    engy.when().reply(**TEXT, faults=[fault])
    with pytest.raises(error):
        helped(client)


def test_numbers_that_are_none_are_taken(engy, client):
    """Python reads `NaN` and `-Infinity` although JSON has neither: the caller computes with them."""
    engy.when().reply(**TEXT, faults=["logprob-not-finite"])
    answer = client.chat.completions.create(**ASKED, logprobs=True)
    first, second, *_ = answer.choices[0].logprobs.content
    assert first.logprob == -math.inf
    assert math.isnan(second.logprob)
