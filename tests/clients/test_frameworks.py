"""Frameworks that many programs are built on, pointed at a running mock by nothing but address and key.

They need the extra `clients`. Where a framework tells what OpenAI's own client tells, that is the measure.
"""

import asyncio
import gc
import importlib
import json
import warnings
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from openai import OpenAI, RateLimitError
from pydantic import BaseModel, Field

from engy_mock import EngyMock, ToolCall

pytestmark = [
    pytest.mark.slow,
    # What strangers warn their own maintainers of is no concern of these tests.
    pytest.mark.filterwarnings("ignore"),
]

HELLO = "Tell me about the weather in the mountains."
MESSAGES: list[Any] = [{"role": "user", "content": HELLO}]

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of the next days.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 7}},
            "required": ["city", "days"],
            "additionalProperties": False,
        },
    },
}


class Trip(BaseModel):
    """A trip to some place."""

    city: str
    days: int = Field(ge=1, le=9)
    stops: list[str]


def brought(name: str) -> Any:
    """A module of the extra, without the warnings of its import."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip(name.partition(".")[0], reason=f"{name} is missing: it comes with the extra `clients`")
        return importlib.import_module(name)


@pytest.fixture(scope="module", autouse=True)
def _swept() -> Iterator[None]:
    """Connections that a framework forgets to close are found here, where nobody minds, not in a later test."""
    yield
    gc.collect()


@pytest.fixture
def plain(client: OpenAI) -> SimpleNamespace:
    """What OpenAI's own client is told."""
    answer = client.chat.completions.create(model="glm-5.2", messages=MESSAGES)
    message = answer.choices[0].message
    return SimpleNamespace(
        text=message.content, reasoning=message.model_extra["reasoning_content"], usage=answer.usage
    )


def fits(arguments: dict[str, Any]) -> bool:
    """The arguments are what the schema of the weather asks for."""
    return (
        set(arguments) == {"city", "days"}
        and isinstance(arguments["city"], str)
        and arguments["days"] in range(1, 8)
    )


class TestLangChain:
    """`ChatOpenAI` of langchain-openai."""

    @pytest.fixture
    def chat(self, engy: EngyMock) -> Any:
        made = brought("langchain_openai").ChatOpenAI
        return made(model="glm-5.2", base_url=engy.base_url, api_key=engy.api_key, max_retries=0)

    def test_invoke(self, chat: Any, plain: SimpleNamespace):
        """Text, finish reason and usage are those of the plain client."""
        message = chat.invoke(HELLO)
        assert message.content == plain.text
        assert message.response_metadata["finish_reason"] == "stop"
        assert message.response_metadata["id"].startswith("chatcmpl-")
        assert message.usage_metadata == {
            "input_tokens": plain.usage.prompt_tokens,
            "output_tokens": plain.usage.completion_tokens,
            "total_tokens": plain.usage.total_tokens,
            "input_token_details": {"cache_read": 0},
            "output_token_details": {"reasoning": plain.usage.completion_tokens_details.reasoning_tokens},
        }

    def test_stream(self, chat: Any, plain: SimpleNamespace):
        """Chunks add up to the text, and with `stream_usage` to the usage of the whole answer."""
        whole = chat.invoke(HELLO)
        first, *others = chat.stream(HELLO, stream_usage=True)
        total = first
        for chunk in others:
            total += chunk
        assert len(others) > 50
        assert total.content == plain.text
        assert total.response_metadata["finish_reason"] == "stop"
        assert total.usage_metadata == whole.usage_metadata

    async def test_waiting(self, chat: Any, plain: SimpleNamespace):
        """`ainvoke`, `astream` and `abatch` are told the same."""
        assert (await chat.ainvoke(HELLO)).content == plain.text
        assert "".join([chunk.content async for chunk in chat.astream(HELLO)]) == plain.text
        assert [answer.content for answer in await chat.abatch([HELLO] * 4)] == [plain.text] * 4

    @pytest.mark.parametrize("choice", ["get_weather", "required", "any"])
    def test_tools(self, chat: Any, choice: str):
        """A demanded call has arguments that fit; streamed it is the same."""
        bound = chat.bind_tools([WEATHER], tool_choice=choice)
        message = bound.invoke(HELLO)
        (call,) = message.tool_calls
        assert (call["name"], message.response_metadata["finish_reason"]) == ("get_weather", "tool_calls")
        assert fits(call["args"])
        assert not message.invalid_tool_calls
        first, *others = bound.stream(HELLO)
        for chunk in others:
            first += chunk
        assert [call["args"] for call in first.tool_calls] == [call["args"]]

    def test_a_round_of_tools(self, engy: EngyMock, chat: Any):
        """A tool is run and its message goes back; the answer is that of the rule for the result."""

        def get_weather(city: str, days: int) -> str:
            """The weather of the next days."""
            return f"Sunny in {city} for {days} days."

        tool = brought("langchain_core.tools").tool(get_weather)
        engy.when(offers="get_weather", tool_result=False).reply(
            tool_calls=[ToolCall("get_weather", city="Paris", days=3)]
        )
        engy.when(tool_result="Sunny in Paris for 3 days.").reply("Take a hat.")
        bound = chat.bind_tools([tool])
        asked = bound.invoke(HELLO)
        results = [tool.invoke(call) for call in asked.tool_calls]
        assert bound.invoke([("user", HELLO), asked, *results]).content == "Take a hat."

    @pytest.mark.parametrize("method", ["json_schema", "function_calling"])
    def test_structured_output(self, chat: Any, method: str):
        """The made-up document becomes an object of the caller's model."""
        found = chat.with_structured_output(Trip, method=method).invoke(HELLO)
        assert isinstance(found, Trip)

    def test_json_mode(self, engy: EngyMock, chat: Any):
        """Without a schema a made-up object fits nothing, so a rule says it."""
        trip = Trip(city="Paris", days=3, stops=["Lyon"])
        engy.when(field={"response_format.type": "json_object"}).reply(json=trip.model_dump())
        assert chat.with_structured_output(Trip, method="json_mode").invoke(HELLO) == trip

    def test_logprobs(self, chat: Any, client: OpenAI):
        """They are where LangChain puts them, and those of the plain client."""
        asked: dict[str, Any] = {"logprobs": True, "top_logprobs": 3}
        found = chat.bind(**asked).invoke(HELLO).response_metadata["logprobs"]["content"]
        here = client.chat.completions.create(model="glm-5.2", messages=MESSAGES, **asked)
        assert found == [entry.to_dict() for entry in here.choices[0].logprobs.content]

    def test_responses(self, engy: EngyMock, plain: SimpleNamespace):
        """The same class on the responses route."""
        made = brought("langchain_openai").ChatOpenAI
        chat = made(model="glm-5.2", base_url=engy.base_url, api_key=engy.api_key, use_responses_api=True)
        message = chat.invoke(HELLO)
        assert message.text == plain.text
        assert message.usage_metadata["total_tokens"] == plain.usage.total_tokens
        assert "".join(chunk.text for chunk in chat.stream(HELLO)) == plain.text
        assert engy.journal.last.path == "/v1/responses"

    def test_a_refusal(self, engy: EngyMock, chat: Any):
        """OpenAI's own exception comes through."""
        engy.when().refuse(429, "too many", times=1)
        with pytest.raises(RateLimitError, match="too many"):
            chat.invoke(HELLO)
        assert chat.invoke(HELLO).content


class TestLiteLlm:
    """`litellm` by its routes for OpenAI-compatible and for Anthropic services."""

    @pytest.fixture
    async def litellm(self, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
        """The module; being asynchronous, this gives a loop to its blocking calls too, which look for one."""
        # Else its import asks another machine for prices.
        monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        litellm = brought("litellm")
        monkeypatch.setattr(litellm, "suppress_debug_info", True)
        yield litellm
        await litellm.close_litellm_async_clients()
        litellm.in_memory_llm_clients_cache.flush_cache()

    @pytest.fixture(params=["openai", "anthropic"])
    def asked(self, request: pytest.FixtureRequest, engy: EngyMock) -> dict[str, Any]:
        """The arguments of a call."""
        return {
            "model": f"{request.param}/glm-5.2",
            "api_base": {"openai": engy.base_url, "anthropic": engy.origin}[request.param],
            "api_key": engy.api_key,
            "messages": MESSAGES,
            "max_tokens": 2000,
        }

    def check(self, answer: Any, plain: SimpleNamespace) -> None:
        """The answer is that of the plain client."""
        choice = answer.choices[0]
        assert choice.message.content == plain.text
        assert choice.message.reasoning_content == plain.reasoning
        assert choice.finish_reason == "stop"
        self.check_usage(answer.usage, plain)

    def check_usage(self, found: Any, plain: SimpleNamespace) -> None:
        """The totals are those of the plain client."""
        for name in ("prompt_tokens", "completion_tokens", "total_tokens"):
            assert getattr(found, name) == getattr(plain.usage, name)

    def check_stream(self, chunks: list[Any], plain: SimpleNamespace) -> None:
        """The chunks add up to the answer of the plain client."""
        choices = [choice for chunk in chunks for choice in chunk.choices]
        assert len(choices) > 50
        assert "".join(choice.delta.content or "" for choice in choices) == plain.text
        thoughts = [getattr(choice.delta, "reasoning_content", None) or "" for choice in choices]
        assert "".join(thoughts) == plain.reasoning
        assert [choice.finish_reason for choice in choices if choice.finish_reason] == ["stop"]
        (usage,) = [chunk.usage for chunk in chunks if getattr(chunk, "usage", None)]
        self.check_usage(usage, plain)

    def test_completion(self, litellm: Any, asked: dict[str, Any], plain: SimpleNamespace):
        """Whole and streamed."""
        self.check(litellm.completion(**asked), plain)
        options = {"stream": True, "stream_options": {"include_usage": True}}
        self.check_stream(list(litellm.completion(**asked, **options)), plain)

    async def test_waiting(self, litellm: Any, asked: dict[str, Any], plain: SimpleNamespace):
        """`acompletion`, whole, streamed, and several at once."""
        self.check(await litellm.acompletion(**asked), plain)
        options = {"stream": True, "stream_options": {"include_usage": True}}
        chunks = [chunk async for chunk in await litellm.acompletion(**asked, **options)]
        self.check_stream(chunks, plain)
        for answer in await asyncio.gather(*(litellm.acompletion(**asked) for _ in range(4))):
            self.check(answer, plain)

    def test_tools(self, litellm: Any, asked: dict[str, Any]):
        """A demanded call has arguments that fit; streamed it is the same."""
        wish = {**asked, "tools": [WEATHER], "tool_choice": "required"}
        whole = litellm.completion(**wish)
        (call,) = whole.choices[0].message.tool_calls
        assert (call.function.name, whole.choices[0].finish_reason) == ("get_weather", "tool_calls")
        arguments = json.loads(call.function.arguments)
        assert fits(arguments)
        built = litellm.stream_chunk_builder(list(litellm.completion(**wish, stream=True)))
        (call,) = built.choices[0].message.tool_calls
        assert json.loads(call.function.arguments) == arguments

    def test_the_other_routes(self, litellm: Any, engy: EngyMock, plain: SimpleNamespace):
        """`responses` and `text_completion`."""
        there = {"api_base": engy.base_url, "api_key": engy.api_key}
        answer = litellm.responses(model="openai/glm-5.2", input=HELLO, **there)
        assert answer.output[-1].content[0].text == plain.text
        assert answer.usage.total_tokens == plain.usage.total_tokens
        raw = litellm.text_completion(
            model="text-completion-openai/glm-5.2", prompt="The capital of France is", temperature=0, **there
        )
        assert (raw.choices[0].text, raw.choices[0].finish_reason) == (" Paris.", "stop")
        assert [entry.path for entry in engy.journal][-2:] == ["/v1/responses", "/v1/completions"]

    @pytest.mark.parametrize(
        ("status", "kind"),
        [
            (400, "BadRequestError"),
            (401, "AuthenticationError"),
            (404, "NotFoundError"),
            (429, "RateLimitError"),
            (500, "InternalServerError"),
            (503, "ServiceUnavailableError"),
        ],
    )
    def test_refusals(self, litellm: Any, engy: EngyMock, asked: dict[str, Any], status: int, kind: str):
        """Each status is the exception that litellm has for it, with the message."""
        engy.when().refuse(status, f"told by {status}")
        with pytest.raises(getattr(litellm, kind), match=f"told by {status}") as caught:
            litellm.completion(**asked, max_retries=0)
        assert caught.value.status_code == status


class TestPydanticAi:
    """Agents of pydantic-ai on chat, responses and messages."""

    @pytest.fixture(params=["chat", "responses", "messages"])
    def route(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    def ai(self) -> Any:
        return brought("pydantic_ai")

    @pytest.fixture
    async def model(self, ai: Any, engy: EngyMock, route: str) -> AsyncIterator[Any]:
        if route == "messages":
            provider = brought("pydantic_ai.providers.anthropic").AnthropicProvider
            made = brought("pydantic_ai.models.anthropic").AnthropicModel
            there = provider(base_url=engy.origin, api_key=engy.api_key)
        else:
            provider = brought("pydantic_ai.providers.openai").OpenAIProvider
            models = brought("pydantic_ai.models.openai")
            made = {"chat": models.OpenAIChatModel, "responses": models.OpenAIResponsesModel}[route]
            there = provider(base_url=engy.base_url, api_key=engy.api_key)
        async with made("glm-5.2", provider=there) as model:
            yield model

    async def test_run(self, ai: Any, model: Any, route: str, plain: SimpleNamespace):
        """Text, thoughts, usage and finish reason are those of the plain client."""
        result = await ai.Agent(model).run(HELLO)
        assert result.output == plain.text
        answer = result.all_messages()[-1]
        thought, text = answer.parts
        # What responses tell of reasoning is no summary, and kept aside.
        told = thought.provider_details["raw_content"] if route == "responses" else [thought.content]
        assert (told, text.content) == ([plain.reasoning], plain.text)
        assert answer.finish_reason == "stop"
        assert (result.usage.input_tokens, result.usage.output_tokens, result.usage.requests) == (
            plain.usage.prompt_tokens,
            plain.usage.completion_tokens,
            1,
        )

    async def test_run_stream(self, ai: Any, model: Any, plain: SimpleNamespace):
        """Each token is a piece, and together they are the text."""
        async with ai.Agent(model).run_stream(HELLO) as stream:
            pieces = [piece async for piece in stream.stream_text(delta=True, debounce_by=None)]
        assert len(pieces) > 50
        assert "".join(pieces) == plain.text
        assert stream.usage.output_tokens == plain.usage.completion_tokens

    async def test_a_conversation(self, ai: Any, model: Any, engy: EngyMock):
        """What was said goes along with the next question, and is taken back as it was told."""
        agent = ai.Agent(model, instructions="Be brief.")
        first = await agent.run(HELLO)
        second = await agent.run("And in the valleys?", message_history=first.all_messages())
        assert second.output
        told = engy.journal.last.request.messages
        assert [message.role for message in told] == ["system", "user", "assistant", "user"]
        assert told[2].text == first.output

    async def test_output_type(self, ai: Any, model: Any):
        """An object of the caller's model in the first attempt, whole and streamed."""
        agent = ai.Agent(model, output_type=Trip)
        result = await agent.run(HELLO)
        assert isinstance(result.output, Trip)
        assert result.usage.requests == 1
        async with agent.run_stream(HELLO) as stream:
            found = [output async for output in stream.stream_output(debounce_by=None)]
        assert found[-1] == result.output

    async def test_native_output(self, ai: Any, model: Any, route: str):
        """The same by a schema for the text, where the framework knows the model to take one."""
        if route == "messages":
            with pytest.raises(ai.exceptions.UserError):
                await ai.Agent(model, output_type=ai.NativeOutput(Trip)).run(HELLO)
            return
        result = await ai.Agent(model, output_type=ai.NativeOutput(Trip)).run(HELLO)
        assert isinstance(result.output, Trip)

    async def test_prompted_output(self, ai: Any, model: Any, engy: EngyMock):
        """A schema in plain words is nothing that made-up answers know of, so a rule says what fits it."""
        trip = Trip(city="Paris", days=3, stops=["Lyon"])
        engy.when().reply(json=trip.model_dump())
        result = await ai.Agent(model, output_type=ai.PromptedOutput(Trip)).run(HELLO)
        assert result.output == trip

    @pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
    async def test_a_tool(self, ai: Any, model: Any, engy: EngyMock, is_streamed: bool):
        """The tool that a rule calls is run, and the rule for its result has the last word."""
        engy.when(offers="get_weather", tool_result=False).reply(
            tool_calls=[
                ToolCall("get_weather", city="Paris", days=3),
                ToolCall("get_weather", city="Oslo", days=1),
            ]
        )
        engy.when(tool_result="Sunny in Oslo").reply("Take a hat.")
        called = []

        def get_weather(city: str, days: int) -> str:
            """The weather of the next days."""
            called.append((city, days))
            return f"Sunny in {city}."

        agent = ai.Agent(model, tools=[get_weather])
        if is_streamed:
            async with agent.run_stream(HELLO) as result:
                output = await result.get_output()
        else:
            result = await agent.run(HELLO)
            output = result.output
        assert output == "Take a hat."
        assert sorted(called) == [("Oslo", 1), ("Paris", 3)]
        assert (result.usage.requests, result.usage.tool_calls) == (2, 2)

    async def test_refusals(self, ai: Any, model: Any, engy: EngyMock):
        """A status comes through with its body; what may pass is tried again by the official client beneath."""
        engy.when().refuse(404, "told so", times=1).refuse(429, times=2)
        with pytest.raises(ai.ModelHTTPError) as caught:
            await ai.Agent(model).run(HELLO)
        assert caught.value.status_code == 404
        assert "told so" in str(caught.value.body)
        assert (await ai.Agent(model).run(HELLO)).output
        assert [entry.status for entry in engy.journal] == [404, 429, 429, 200]
