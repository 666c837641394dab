"""What an official Python client makes of an answer: the whole of it, a part without a word, or an exception."""

from collections.abc import Callable, Iterator
from typing import Any

from anthropic import Anthropic
from openai import OpenAI
from scale_gp_beta import SGPClient

from engy_mock import EngyMock

TEXT = "one two three four"
HELLO: list[Any] = [{"role": "user", "content": "Say something."}]
PATIENCE = 10.0
IMPATIENCE = 0.2
"""Read timeouts of clients, in seconds; the short one is for what never comes."""


class Clients:
    """One client of each library, made once for each address: they take long to make."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str], Any] = {}

    def of(self, engy: EngyMock, library: str) -> Any:
        """The client of a library for a mock; it does not try again, and waits for `PATIENCE`."""
        key = (library, engy.origin)
        if key not in self._made:
            rest: dict[str, Any] = {"max_retries": 0, "timeout": PATIENCE}
            if library == "openai":
                self._made[key] = OpenAI(base_url=engy.base_url, api_key=engy.api_key, **rest)
            elif library == "anthropic":
                self._made[key] = Anthropic(base_url=engy.origin, api_key=engy.api_key, **rest)
            else:
                self._made[key] = SGPClient(base_url=engy.origin, api_key="a key", account_id="an account", **rest)
        return self._made[key]

    def close(self) -> None:
        """Close all connections."""
        for client in self._made.values():
            client.close()


Told = tuple[str, object]
"""The text that a client got, and the sign that the answer had come to its end."""


def _chat_stream(client: Any, model: str = "glm-5.2") -> Told:
    text, reason = "", None
    with client.chat.completions.create(model=model, messages=HELLO, stream=True) as stream:
        for chunk in stream:
            for choice in chunk.choices:
                text += choice.delta.content or ""
                reason = choice.finish_reason or reason
    return text, reason


def _chat(client: Any, model: str = "glm-5.2") -> Told:
    answer = client.chat.completions.create(model=model, messages=HELLO)
    if isinstance(answer, str):
        return answer, None
    (choice,) = answer.choices
    return choice.message.content, choice.finish_reason


def _chat_helper(client: Any) -> Told:
    with client.chat.completions.stream(model="glm-5.2", messages=HELLO) as stream:
        (choice,) = stream.get_final_completion().choices
    return choice.message.content, choice.finish_reason


def _responses_stream(client: Any) -> Told:
    text, last = "", None
    with client.responses.create(model="glm-5.2", input="Hello", stream=True) as stream:
        for event in stream:
            text += event.delta if event.type == "response.output_text.delta" else ""
            last = event.type if event.type == "response.completed" else None
    return text, last


def _responses_helper(client: Any) -> Told:
    with client.responses.stream(model="glm-5.2", input="Hello") as stream:
        answer = stream.get_final_response()
    return answer.output_text, answer.status


def _responses(client: Any) -> Told:
    answer = client.responses.create(model="glm-5.2", input="Hello")
    return answer.output_text, answer.status


def _messages_stream(client: Any) -> Told:
    text, last = "", None
    with client.messages.create(model="glm-5.2", max_tokens=50, messages=HELLO, stream=True) as stream:
        for event in stream:
            text += event.delta.text if event.type == "content_block_delta" else ""
            last = event.type if event.type == "message_stop" else None
    return text, last


def _messages_helper(client: Any) -> Told:
    with client.messages.stream(model="glm-5.2", max_tokens=50, messages=HELLO) as stream:
        answer = stream.get_final_message()
    return "".join([block.text for block in answer.content]), answer.stop_reason


def _messages(client: Any) -> Told:
    answer = client.messages.create(model="glm-5.2", max_tokens=50, messages=HELLO)
    if isinstance(answer, str):
        return answer, None
    return "".join([block.text for block in answer.content]), answer.stop_reason


def _scale_completions_stream(client: Any) -> Told:
    text, reason = "", None
    model = "openai/gpt-3.5-turbo-instruct"
    with client.completions.create(model=model, prompt="Hello", max_tokens=50, stream=True) as stream:
        for chunk in stream:
            for choice in chunk.choices:
                text += choice.text
                reason = choice.finish_reason or reason
    return text, reason


WAYS: dict[str, tuple[str, bool, Callable[[Any], Told]]] = {
    "OP chat": ("openai", False, _chat),
    "OP chat stream": ("openai", True, _chat_stream),
    "OP chat helper": ("openai", True, _chat_helper),
    "OP responses": ("openai", False, _responses),
    "OP responses stream": ("openai", True, _responses_stream),
    "OP responses helper": ("openai", True, _responses_helper),
    "AP": ("anthropic", False, _messages),
    "AP stream": ("anthropic", True, _messages_stream),
    "AP helper": ("anthropic", True, _messages_helper),
    "SG chat": ("scale", False, lambda client: _chat(client, "openai/gpt-4o")),
    "SG chat stream": ("scale", True, lambda client: _chat_stream(client, "openai/gpt-4o")),
    "SG completions stream": ("scale", True, _scale_completions_stream),
}
"""How answers are asked for: the library, whether it is a stream, and the call."""


def outcome(clients: Clients, engy: EngyMock, way: str, text: str = TEXT, *, patience: float = PATIENCE) -> str:
    """`ok`, `silent` if the answer is another one and nobody says so, or the exception with its cause.

    An exception of the client's own family stands as it is called there; a foreign one has its library before
    it.
    """
    library, _, call = WAYS[way]
    client = clients.of(engy, library)
    try:
        told, end = call(client if patience == PATIENCE else client.with_options(timeout=patience))
    except Exception as error:
        return _named(error)
    return "ok" if told == text and end else "silent"


def _named(error: BaseException) -> str:
    kind = type(error)
    library = kind.__module__.partition(".")[0]
    own = kind.__name__ if library in {"openai", "anthropic", "scale_gp_beta"} else f"{library}.{kind.__name__}"
    cause = error.__cause__
    return f"{own} < {type(cause).__name__}" if cause is not None and own == kind.__name__ else own


def ways(*, stream: bool) -> Iterator[str]:
    """The ways that ask for a stream, or those that do not."""
    return (way for way, (_, is_streamed, _) in WAYS.items() if is_streamed is stream)
