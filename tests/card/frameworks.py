"""The frameworks for Python, pointed at a mock by address, key and read timeout, and as they come else."""

import asyncio
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from logging import CRITICAL, getLogger
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.matrix.content import Content, content
from tests.matrix.job import Address
from tests.matrix.outcome import Heard, failed

Fields = Mapping[str, Any]
Ask = Callable[[str, Fields, Address], Content]


@cache
def brought(name: str) -> Any:
    """A module of a framework, without the warnings of its import."""
    # Else the import of litellm asks another machine for prices.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module(name)


@contextmanager
def trusting(authority: str) -> Iterator[None]:
    """While this lasts, whoever asks the environment trusts this certificate."""
    before = os.environ.get("SSL_CERT_FILE")
    with TemporaryDirectory(prefix="engy-mock-") as folder:
        if authority:
            trusted = Path(folder) / "authority.pem"
            trusted.write_text(authority, "ascii")
            os.environ["SSL_CERT_FILE"] = str(trusted)
        try:
            yield
        finally:
            if before is None:
                os.environ.pop("SSL_CERT_FILE", None)
            else:
                os.environ["SSL_CERT_FILE"] = before


def ask(
    client: str, form: str, fields: Fields, address: Address, between: Callable[[], object], calls: int
) -> Heard:
    """What the program gets from the last of so many calls; `between` them something may happen."""
    heard = Heard()
    for call in range(calls):
        if call:
            between()
        try:
            heard = Heard(said={"content": ASK[client](form, fields, address)})
        except Exception as error:
            heard = failed(error, families(client))
    return heard


def families(client: str) -> tuple[type[Exception], ...]:
    """The classes that the errors which a framework promises descend from."""
    if client == "LC":
        return (brought("openai").OpenAIError, brought("langchain_core.exceptions").LangChainException)
    if client == "LL":
        return (brought("openai").OpenAIError,)
    exceptions = brought("pydantic_ai.exceptions")
    return (exceptions.AgentRunError, exceptions.UserError)


def lang_chain(form: str, fields: Fields, address: Address) -> Content:
    """`ChatOpenAI`, invoked or streamed, with the tools bound."""
    rest = dict(fields)
    model, messages, tools = rest.pop("model"), rest.pop("messages"), rest.pop("tools")
    rest.pop("stream_options", None)
    if "provider" in rest:
        rest["extra_body"] = {"provider": rest.pop("provider")}
    chat = brought("langchain_openai").ChatOpenAI(
        model=model, base_url=f"{address.origin}/v1", api_key=address.api_key, timeout=address.read_seconds
    )
    bound = chat.bind_tools(tools).bind(**rest)
    if form == "whole":
        message = bound.invoke(messages)
    else:
        pieces = list(bound.stream(messages))
        message = pieces[0]
        for piece in pieces[1:]:
            message += piece
    calls = [[call["name"], call["args"]] for call in message.tool_calls]
    calls += [[call["name"], call["args"]] for call in message.invalid_tool_calls]
    usage = message.usage_metadata or {}
    return {
        "choices": [
            {
                "text": str(message.text),
                "refusal": message.additional_kwargs.get("refusal") or "",
                "reasoning": "",
                "calls": calls,
                "finish": message.response_metadata.get("finish_reason"),
            }
        ],
        "usage": [usage.get("input_tokens"), usage.get("output_tokens")],
    }


def lite_llm(form: str, fields: Fields, address: Address) -> Content:
    """`completion`, whole or streamed, by the route for OpenAI-compatible services."""
    litellm = brought("litellm")
    litellm.suppress_debug_info = True
    # It writes a traceback for each stream that it cannot count.
    getLogger("LiteLLM").setLevel(CRITICAL)
    asked = {
        **fields,
        "model": f"openai/{fields['model']}",
        "api_base": f"{address.origin}/v1",
        "api_key": address.api_key,
        "timeout": address.read_seconds,
    }
    if "provider" in asked:
        asked["extra_body"] = {"provider": asked.pop("provider")}

    async def inside() -> Any:
        # Its blocking calls too look for a loop.
        if form == "whole":
            return {"whole": litellm.completion(**asked).model_dump(warnings=False)}
        return {"events": [piece.model_dump(warnings=False) for piece in litellm.completion(**asked, stream=True)]}

    return content("chat", asyncio.run(inside()))


def pydantic_ai(form: str, fields: Fields, address: Address) -> Content:
    """An agent, run or run as a stream, whose tools are somebody else's to run."""
    return asyncio.run(_agent(form, fields, address))


async def _agent(form: str, fields: Fields, address: Address) -> Content:
    ai = brought("pydantic_ai")
    provider = brought("pydantic_ai.providers.openai").OpenAIProvider(
        base_url=f"{address.origin}/v1", api_key=address.api_key
    )
    functions = [tool["function"] for tool in fields["tools"]]
    tools = [ai.ToolDefinition(name=one["name"], parameters_json_schema=one["parameters"]) for one in functions]
    settings = {"timeout": address.read_seconds, "max_tokens": fields["max_tokens"]}
    question = fields["messages"][0]["content"]
    async with brought("pydantic_ai.models.openai").OpenAIChatModel(fields["model"], provider=provider) as model:
        agent = ai.Agent(
            model,
            output_type=[str, ai.DeferredToolRequests],
            toolsets=[ai.ExternalToolset(tools)],
            model_settings=settings,
        )
        if form == "whole":
            return _response((await agent.run(question)).response)
        async with agent.run_stream(question) as stream:
            async for _ in stream.stream_output(debounce_by=None):
                pass
            return _response(stream.response)


def _response(response: Any) -> Content:
    parts = {
        kind: [part for part in response.parts if part.part_kind == kind]
        for kind in ("text", "thinking", "tool-call")
    }
    choice = {
        "text": "".join(part.content for part in parts["text"]),
        "reasoning": "".join(part.content for part in parts["thinking"]),
        "calls": [[part.tool_name, part.args] for part in parts["tool-call"]],
        "finish": response.finish_reason,
    }
    return {"choices": [choice], "usage": [response.usage.input_tokens, response.usage.output_tokens]}


ASK: Mapping[str, Ask] = {"LC": lang_chain, "LL": lite_llm, "PA": pydantic_ai}
