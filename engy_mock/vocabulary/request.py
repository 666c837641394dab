"""What a client asks for, whatever dialect it spoke: one frozen `GenerationRequest`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from json import dumps
from typing import Any, Literal

from engy_mock.vocabulary.errors import MockError

Endpoint = Literal["chat", "completions", "messages", "responses", "inference"]
Role = Literal["system", "user", "assistant", "tool"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]

EFFORTS: tuple[Effort, ...] = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture in a message; `data` are its decoded bytes."""

    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True, init=False)
class ToolCall:
    """A call of a function; `arguments` is JSON text, `{}` if there is nothing to pass.

    `ToolCall("get_weather", city="Paris")` writes the arguments from values, whatever their names: `id=` and
    `name=` are arguments of the tool as well. A mapping in their place has those that Python cannot name so. The
    id of the call is `call_id`; without it one is made up.
    """

    name: str
    arguments: str = "{}"
    id: str | None = None

    def __init__(
        self,
        name: str,
        /,
        arguments: str | Mapping[str, Any] = "{}",
        *,
        call_id: str | None = None,
        **values: Any,
    ) -> None:
        if isinstance(arguments, Mapping):
            values = {**arguments, **values}
        elif not isinstance(arguments, str):
            raise MockError(f"ToolCall takes arguments as a text or a mapping, got {arguments!r:.80}")
        elif values and arguments != "{}":
            raise MockError(
                f"ToolCall takes a text or values, not both: {arguments!r:.80} and {', '.join(values)}"
            )
        if values or not isinstance(arguments, str):
            try:
                arguments = dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            except (TypeError, ValueError, RecursionError) as error:
                raise MockError(f"the arguments of a ToolCall cannot be written as JSON: {error}") from None
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "arguments", arguments or "{}")
        object.__setattr__(self, "id", call_id)

    def __repr__(self) -> str:
        told = "" if self.id is None else f", call_id={self.id!r}"
        return f"ToolCall({self.name!r}, {self.arguments!r}{told})"

    def changed(self, **fields: str | None) -> "ToolCall":
        """The same with other fields."""
        name, arguments = fields.get("name", self.name), fields.get("arguments", self.arguments)
        return ToolCall(name or "", arguments or "", call_id=fields.get("id", self.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation.

    `text` joins the text parts; `parts` keeps text and pictures in their order where there are pictures.
    """

    role: Role
    text: str = ""
    parts: tuple[str | Image, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None

    @property
    def images(self) -> tuple[Image, ...]:
        """The pictures of this turn."""
        return tuple(part for part in self.parts if isinstance(part, Image))


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Turns that a chat template renders into a prompt."""

    messages: tuple[Message, ...]

    @property
    def is_prefilled(self) -> bool:
        """The last turn is the assistant's, so the model continues it."""
        return self.messages[-1].role == "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class RawPrompt:
    """Prompts that reach the model as they are: text or token ids, one answer for each."""

    prompts: tuple[str | tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How tokens are drawn from the model's distribution; None means the model's default."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    seed: int | None = None
    logit_bias: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function that is offered to the model; `parameters` is its JSON Schema."""

    name: str
    description: str | None = None
    parameters: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChoice:
    """Whether the model may call tools, must, must not, or must call the one named."""

    mode: Literal["auto", "required", "none", "named"] = "auto"
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseFormat:
    """The form asked of the text: `text`, `json_object`, or `json_schema` with its schema."""

    type: str = "text"
    schema: Any = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingWish:
    """What was said about reasoning, in the order in which it counts."""

    effort: Effort | None = None
    enabled: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """Which log probabilities are asked for.

    `logprobs` turns them on; `top` alternatives stand beside each token; `echo` repeats the prompt;
    `start` is the token offset in the prompt from which it is scored.
    """

    logprobs: bool = False
    top: int = 0
    echo: bool = False
    start: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderWish:
    """What is demanded of the workers."""

    zdr: bool = False
    require_proof: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """One request as the pretend model understands it.

    `model` is the name as sent, `body` the whole parsed body as sent. `max_tokens` None means the model's
    maximum. `copies` answers are made for each prompt, `best_of` is only counted.
    """

    endpoint: Endpoint
    surface: str
    model: str
    prompt: Conversation | RawPrompt
    sampling: Sampling = Sampling()
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    copies: int = 1
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice = ToolChoice()
    parallel_tool_calls: bool = True
    response_format: ResponseFormat = ResponseFormat()
    thinking: ThinkingWish = ThinkingWish()
    scoring: Scoring = Scoring()
    is_streamed: bool = False
    include_usage: bool = False
    cache_key: str | None = None
    provider: ProviderWish = ProviderWish()
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The turns of the conversation; none for a raw prompt."""
        return self.prompt.messages if isinstance(self.prompt, Conversation) else ()

    @property
    def last_user_text(self) -> str:
        """The text of the last user turn, or the last raw text prompt."""
        if isinstance(self.prompt, RawPrompt):
            return next((p for p in reversed(self.prompt.prompts) if isinstance(p, str)), "")
        return next((m.text for m in reversed(self.prompt.messages) if m.role == "user"), "")

    @property
    def last_user_texts(self) -> tuple[str, ...]:
        """The same of a conversation; of raw prompts all that are texts, as each of them is asked."""
        if isinstance(self.prompt, RawPrompt):
            return tuple([prompt for prompt in self.prompt.prompts if isinstance(prompt, str)]) or ("",)
        return (self.last_user_text,)
