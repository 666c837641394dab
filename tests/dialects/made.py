"""Requests, generations and envelopes for the tests of the dialects, made by hand or by hypothesis."""

from typing import Any

from hypothesis import strategies as st

from engy_mock.dialects.chat import Chat
from engy_mock.dialects.completions import Completions
from engy_mock.dialects.dialect import Dialect, Envelope
from engy_mock.dialects.messages import Messages
from engy_mock.dialects.responses import Responses
from engy_mock.dialects.surfaces import V1
from engy_mock.vocabulary.events import Receipt
from engy_mock.vocabulary.generation import Choice, Generation, TokenLogprob, Usage
from engy_mock.vocabulary.request import GenerationRequest, ToolCall

REQUEST_ID = "3f2a9c41d8e04b7a9c1e5d20a7b6c3e1"

CHAT = {"model": "glm-5.2", "messages": [{"role": "user", "content": "Hi"}]}
COMPLETION = {"model": "glm-5.2", "prompt": "Hi"}
MESSAGES = {"model": "glm-5.2", "max_tokens": 64, "messages": [{"role": "user", "content": "Hi"}]}
RESPONSE = {"model": "glm-5.2", "input": "Hi"}


def chat(**fields: Any) -> GenerationRequest:
    """A chat request with one user message, and these fields."""
    return Chat().parse({**CHAT, **fields}, V1)


def completion(**fields: Any) -> GenerationRequest:
    """A completion request, with these fields."""
    return Completions().parse({**COMPLETION, **fields}, V1)


def messages(**fields: Any) -> GenerationRequest:
    """A messages request with one user message, and these fields."""
    return Messages().parse({**MESSAGES, **fields}, V1)


def responding(**fields: Any) -> GenerationRequest:
    """A request for a response to one user message, with these fields."""
    return Responses().parse({**RESPONSE, **fields}, V1)


def envelope(
    request: GenerationRequest, generation: Generation, *, proof: dict[str, Any] | None = None
) -> Envelope:
    """What stands around an answer to this request."""
    receipt = Receipt(request_id=REQUEST_ID, charged_micro=43, proof=proof)
    return Envelope(request=request, surface=V1, receipt=receipt, created=1792281600, usage=generation.usage)


def body(dialect: Dialect, request: GenerationRequest, *choices: Choice, **more: Any) -> bytes:
    """The whole answer with these choices."""
    generation = Generation(choices=choices, usage=Usage(prompt_tokens=5, completion_tokens=3))
    return dialect.body(generation, envelope(request, generation, **more))


def token(text: str, logprob: float | None = -0.5, *top: tuple[str, float], number: int = 7) -> TokenLogprob:
    """A token of whole characters with its alternatives."""
    return TokenLogprob(
        id=number,
        token=text,
        raw=text.encode(),
        logprob=logprob,
        top=tuple((other, other.encode(), value) for other, value in top),
    )


ODD = ["NaN", "Infinity", '"', "\\", "\n", "\u2028", "\U0001f600", "\x7f"]
texts = st.text(max_size=6) | st.sampled_from(ODD)
numbers = st.floats(min_value=-100, max_value=0)
tokens = st.builds(
    TokenLogprob,
    id=st.integers(0, 50_000),
    token=texts,
    raw=st.binary(max_size=4),
    logprob=numbers,
    top=st.lists(st.tuples(texts, st.binary(max_size=4), numbers), max_size=3, unique_by=lambda top: top[0]),
)
calls = st.builds(
    ToolCall,
    st.sampled_from(["get_weather", "look up"]),
    st.sampled_from(["{}", '{"city":"Paris"}', "not JSON"]),
    call_id=st.integers(0, 99).map(lambda number: f"call_{number:024x}"),
)


@st.composite
def choices(draw: st.DrawFn, index: int = 0) -> Choice:
    """Any choice: with or without reasoning, text, calls, log probabilities and an echoed prompt."""
    text = tuple(draw(st.lists(texts, max_size=4)))
    is_scored = draw(st.booleans())
    entries = st.lists(tokens, max_size=2).map(tuple)
    return Choice(
        index=index,
        reasoning=draw(st.none() | st.lists(texts, max_size=3).map(tuple)),
        text=text,
        tool_calls=tuple(draw(st.lists(calls, max_size=2))),
        finish_reason=draw(st.sampled_from(["stop", "length", "tool_calls"])),
        stop_sequence=draw(st.none() | texts),
        logprobs=tuple(draw(entries) for _ in text) if is_scored else None,
        prompt_logprobs=draw(st.none() | entries),
        prompt_text=draw(st.none() | texts),
        token_ids=tuple(draw(st.lists(st.integers(0, 99), max_size=2))),
    )


counts = st.integers(0, 1_000_000)
usages = st.builds(
    Usage,
    prompt_tokens=counts,
    completion_tokens=counts,
    cached_tokens=counts,
    reasoning_tokens=counts,
)


@st.composite
def generations(draw: st.DrawFn, most: int = 3) -> Generation:
    """Any generation of up to so many choices."""
    size = draw(st.integers(1, most))
    return Generation(choices=tuple(draw(choices(index)) for index in range(size)), usage=draw(usages))
