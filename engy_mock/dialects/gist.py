"""What a request asks for, as far as its body can be read: also of one that the service refuses."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from engy_mock.dialects import routes
from engy_mock.dialects.routes import Route
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import ApiError
from engy_mock.vocabulary.request import (
    Conversation,
    Endpoint,
    GenerationRequest,
    Message,
    RawPrompt,
    Role,
    Tool,
    ToolCall,
)

PROMPT_FIELDS = ("system", "instructions", "messages", "input", "prompt", "args", "tools")
"""The fields of any dialect that become part of a prompt."""

_ROLES: dict[object, Role] = {
    "system": "system",
    "developer": "system",
    "assistant": "assistant",
    "tool": "tool",
    "user": "user",
}


def gist(method: str, path: str, body: Mapping[str, Any]) -> GenerationRequest | None:
    """The request in a JSON object that was sent to a path; None where no model is asked.

    What breaks a rule of its dialect is read all the same: without the fields that do, or where these tell the
    prompt, with the model, the turns and the tools that it names. All fields are in its `body`.
    """
    route = _route(method, path)
    if route is None:
        return None
    rest = dict(body)
    while True:
        try:
            return replace(route.dialect.parse(rest, route.surface), body=body)
        except ApiError as error:
            blamed = {one.path[0] for one in error.violations if one.path} - {*PROMPT_FIELDS, "model"}
            if blamed.isdisjoint(rest):
                return _as_far_as_it_goes(body, route.dialect.endpoint, route.surface.name)
            rest = {name: value for name, value in rest.items() if name not in blamed}


def is_sound(method: str, path: str, body: Mapping[str, Any]) -> bool:
    """Whether the dialect of a path takes this JSON object as it is, so that its prompt is known."""
    route = _route(method, path)
    with suppress(ApiError):
        return route is not None and bool(route.dialect.parse(body, route.surface))
    return False


def fields_read(endpoint: Endpoint) -> frozenset[str]:
    """The fields that a prompt is read from where a request breaks a rule."""
    prompts = {"prompt"} if endpoint == "completions" else {*PROMPT_FIELDS} - {"prompt"}
    return frozenset({"model", "tools", *prompts})


def _route(method: str, path: str) -> Route | None:
    """Where an answer of a model is asked for; None elsewhere."""
    with suppress(ApiError):
        route, _ = routes.find(method, path)
        return route if route.page is None else None
    return None


def _as_far_as_it_goes(body: Mapping[str, Any], endpoint: Endpoint, surface: str) -> GenerationRequest:
    model, offered = body.get("model"), body.get("tools")
    prompt: Conversation | RawPrompt
    if endpoint == "completions":
        prompt = RawPrompt(prompts=tuple(_prompts(body.get("prompt"))))
    else:
        prompt = Conversation(messages=tuple(_turns(body)))
    return GenerationRequest(
        endpoint=endpoint,
        surface=surface,
        model=model if isinstance(model, str) else "",
        prompt=prompt,
        tools=tuple([_tool(tool) for tool in _objects(offered)]),
        is_streamed=body.get("stream") is True,
        body=body,
    )


def _prompts(prompt: object) -> Iterator[str | tuple[int, ...]]:
    """Raw prompts: one text, several, or tokens."""
    items = prompt if isinstance(prompt, list) else [prompt]
    tokens = tuple([item for item in items if type(item) is int])
    yield from [tokens] if tokens else []
    for item in items:
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            yield tuple([token for token in item if type(token) is int])


def _turns(body: Mapping[str, Any]) -> list[Message]:
    """The turns of any dialect, in their order."""
    texts = [_text(body.get(name)) for name in ("system", "instructions")]
    turns = [Message(role="system", text=text) for text in texts if text]
    for name in ("messages", "input", "args"):
        said = body.get(name)
        for item in said if isinstance(said, list) else [json.text(said) if isinstance(said, dict) else said]:
            if isinstance(item, str):
                turns.append(Message(role="user", text=item))
            elif isinstance(item, dict) and _goes_on(turns, item):
                turns[-1] = replace(turns[-1], tool_calls=(*turns[-1].tool_calls, _call(item)))
            elif isinstance(item, dict):
                turns += _turn(item)
    return turns


def _goes_on(turns: Sequence[Message], item: Mapping[str, Any]) -> bool:
    """Whether an item is a call that belongs to the turn before it."""
    return item.get("type") == "function_call" and bool(turns) and turns[-1].role == "assistant"


def _turn(item: Mapping[str, Any]) -> Iterator[Message]:
    """One turn, with the calls in it; results that stand among its blocks are turns of their own."""
    kind, content = item.get("type"), item.get("content")
    blocks = _objects(content)
    for block in blocks:
        if block.get("type") == "tool_result":
            yield Message(role="tool", text=_text(block.get("content")), tool_call_id=_id(block))
    calls = [item] if kind == "function_call" else _objects(item.get("tool_calls"))
    calls = [*calls, *[block for block in blocks if block.get("type") == "tool_use"]]
    role = item.get("role")
    text = _text(content)
    if kind == "function_call_output":
        yield Message(role="tool", text=_text(item.get("output")), tool_call_id=_id(item))
    elif kind == "function_call":
        yield Message(role="assistant", tool_calls=tuple(map(_call, calls)))
    elif text or calls or not blocks:
        # Whoever has no role that there is counts as the user: what is said is not lost.
        said_by = _ROLES.get(role, "user") if isinstance(role, str) else "user"
        by_call = _id(item) if said_by == "tool" else None
        yield Message(role=said_by, text=text, tool_calls=tuple(map(_call, calls)), tool_call_id=by_call)


def _call(call: Mapping[str, Any]) -> ToolCall:
    function = call.get("function")
    said = function if isinstance(function, dict) else call
    name = said.get("name")
    arguments = said.get("arguments", said.get("input"))
    if not isinstance(arguments, str):
        arguments = "{}" if arguments is None else json.text(arguments)
    return ToolCall(name if isinstance(name, str) else "", arguments, call_id=_id(call))


def _id(item: Mapping[str, Any]) -> str | None:
    """What ties a call to its result, whatever the dialect calls it."""
    found = [item.get(name) for name in ("call_id", "tool_call_id", "tool_use_id", "id")]
    return next((one for one in found if isinstance(one, str)), None)


def _tool(tool: Mapping[str, Any]) -> Tool:
    function = tool.get("function")
    said = function if isinstance(function, dict) else tool
    name, description = said.get("name"), said.get("description")
    parameters = said.get("parameters", said.get("input_schema"))
    return Tool(
        name=name if isinstance(name, str) else "",
        description=description if isinstance(description, str) else None,
        parameters=parameters if isinstance(parameters, dict) else None,
    )


def _text(content: object) -> str:
    """The text of a content, whether it is one or has parts."""
    if isinstance(content, str):
        return content
    texts = [part if isinstance(part, str) else part.get("text") for part in _parts(content)]
    return "".join([text for text in texts if isinstance(text, str)])


def _parts(content: object) -> list[Any]:
    return [part for part in content if isinstance(part, str | dict)] if isinstance(content, list) else []


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
