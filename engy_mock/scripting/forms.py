"""What may stand in a scenario file, key by key: checked by pydantic, printed as a JSON Schema for editors."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from engy_mock.scripting.library import MAX_NAME
from engy_mock.vocabulary.generation import FinishReason

Share = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0)]
Times = Annotated[int, Field(ge=1)]
Percent = Annotated[float, Field(ge=0, le=100)]
Tokens = Annotated[int, Field(ge=0)]
Window = Annotated[int, Field(ge=1)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=MAX_NAME)]


class Form(BaseModel):
    """A mapping whose keys are all known."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


def _by_type(short: str, long: str) -> Callable[[Any], str]:
    """Which of two forms a value has: the long one is a mapping."""
    return lambda value: long if isinstance(value, dict | Form) else short


class WhenForm(Form):
    """The requests that a rule is for: all of this has to hold."""

    endpoint: (
        Literal["chat", "completions", "messages", "responses", "inference", "models", "count_tokens", "records"]
        | None
    ) = None
    surface: Literal["v1", "v5"] | None = None
    model: str | None = None
    stream: bool | None = None
    says: str | None = None
    system: str | None = None
    offers: str | None = None
    tool_result: bool | str | None = None
    key: str | None = None
    header: dict[str, str] | None = None
    field: dict[str, Any] | None = None
    refused: Annotated[int, Field(ge=400, le=599)] | None = None


class ToolCallForm(Form):
    """A call of a tool."""

    name: str
    arguments: dict[str, Any] | str = Field(default_factory=dict)
    id: str | None = None


class UsageForm(Form):
    """Token counts that stand for the real ones."""

    prompt_tokens: Tokens
    completion_tokens: Tokens
    cached_tokens: Tokens = 0
    reasoning_tokens: Tokens = 0


class ReplyForm(Form):
    """What is said instead of the model's own words."""

    text: str | None = None
    reasoning: str | None = None
    tool_calls: list[ToolCallForm] = Field(default_factory=list)
    json_: Any = Field(default=None, alias="json")
    finish_reason: FinishReason | None = None
    usage: UsageForm | None = None
    logprobs: dict[str, float] = Field(default_factory=dict)
    response: Any = None
    same_as: Name | None = None


class RefuseForm(Form):
    """A refusal, told as the service tells this status."""

    status: Annotated[int, Field(ge=400, le=599)]
    message: str | None = None
    retry_after: float | str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    type: str | None = None
    code: str | None = None
    param: str | None = None


class FaultForm(BaseModel):
    """A fault with parameters; which there are depends on the kind."""

    model_config = ConfigDict(extra="allow")

    kind: str


TEXT, REPLY, STATUS, REFUSAL, KIND, FAULT = "<text>", "<reply>", "<status>", "<refusal>", "<kind>", "<fault>"

OneReply = Annotated[
    Annotated[str, Tag(TEXT)] | Annotated[ReplyForm, Tag(REPLY)], Discriminator(_by_type(TEXT, REPLY))
]
OneFault = Annotated[
    Annotated[str, Tag(KIND)] | Annotated[FaultForm, Tag(FAULT)], Discriminator(_by_type(KIND, FAULT))
]
OneRefusal = Annotated[
    Annotated[int, Tag(STATUS)] | Annotated[RefuseForm, Tag(REFUSAL)], Discriminator(_by_type(STATUS, REFUSAL))
]


class RuleForm(Form):
    """For the requests that fit `when`: a reply or a refusal, and faults on top."""

    when: WhenForm = Field(default_factory=WhenForm)
    times: Times | None = None
    rate: Share = 1.0
    at: Annotated[list[Times], Field(min_length=1)] | None = None
    delay: Seconds | None = None
    pace: Annotated[float, Field(gt=0)] | None = None
    reply: (
        Annotated[
            Annotated[OneReply, Tag("<one>")] | Annotated[list[OneReply], Tag("<many>")],
            Discriminator(lambda value: "<many>" if isinstance(value, list) else "<one>"),
        ]
        | None
    ) = None
    refuse: OneRefusal | None = None
    faults: list[OneFault] = Field(default_factory=list)


class ModelForm(Form):
    """What is otherwise about a model."""

    context: Window | None = None
    max_input: Window | None = None
    max_output: Window | None = None
    listed_context: Window | None = None
    is_available: bool | None = None
    is_listed: bool | None = None
    takes_images: bool | None = None
    ignores_schema: bool | None = None
    hears_enabled: bool | None = None
    price_factor: Annotated[float, Field(ge=0)] | None = None


class TermsForm(Form):
    """What is agreed with the default account: percent below the list for all models or by id, and limits."""

    discount_percent: Percent | dict[str, Percent] | None = None
    max_concurrent: Times | None = None
    requests_per_minute: Times | None = None
    tokens_per_minute: Times | None = None


class UntilForm(Form):
    """When a phase ends: after so many requests, after so much mock time, or else when told."""

    requests: Times | None = None
    seconds: Seconds | None = None


class PhaseForm(Form):
    """A part of a scenario with rules and models of its own."""

    name: Name
    until: UntilForm = Field(default_factory=UntilForm)
    next: Name | None = None
    rules: list[RuleForm] = Field(default_factory=list)
    models: dict[str, ModelForm] = Field(default_factory=dict)


class ScenarioForm(Form):
    """A scenario: what happens, what a good client does, and the rules that make it happen."""

    description: str
    good_client: str = ""
    include: list[Name] = Field(default_factory=list)
    replies: dict[Name, OneReply] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)
    account: TermsForm = Field(default_factory=TermsForm)
    models: dict[str, ModelForm] = Field(default_factory=dict)
    rules: list[RuleForm] = Field(default_factory=list)
    phases: list[PhaseForm] = Field(default_factory=list)


FORMS: dict[str, type[Form]] = {
    "": ScenarioForm,
    "rules": RuleForm,
    "when": WhenForm,
    "reply": ReplyForm,
    "replies": ReplyForm,
    "refuse": RefuseForm,
    "tool_calls": ToolCallForm,
    "usage": UsageForm,
    "phases": PhaseForm,
    "until": UntilForm,
    "models": ModelForm,
    "account": TermsForm,
}
"""Which form stands under which key, for naming the keys that it has."""


def keys_under(place: tuple[str | int, ...]) -> tuple[str, ...]:
    """The keys that are known at a place of a scenario file."""
    words = [step for step in place if isinstance(step, str)]
    if len(words) > 1 and words[-2] in ("models", "replies"):
        words = words[:-1]
    form = FORMS.get(words[-1] if words else "")
    if form is None:
        return ()
    return tuple(field.alias or name for name, field in form.model_fields.items())


def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario file, each kind of fault with its parameters."""
    from pydantic import TypeAdapter

    from engy_mock.scripting.fault import catalogue, parameter

    document = ScenarioForm.model_json_schema()
    kinds: list[dict[str, Any]] = []
    for name, kind in sorted(catalogue().items()):
        own = TypeAdapter(kind).json_schema()
        own.pop("$defs", None)
        properties = {parameter(field): value for field, value in own.get("properties", {}).items()}
        for value in properties.values():
            value.pop("title", None)
        kinds.append(
            {
                "type": "object",
                "description": (kind.__doc__ or "").strip().partition("\n")[0],
                "properties": {"kind": {"const": name}, **properties},
                "required": ["kind", *[parameter(field) for field in own.get("required", ())]],
                "additionalProperties": False,
            }
        )
    document["$defs"]["FaultForm"] = {"oneOf": kinds}
    rule = document["$defs"]["RuleForm"]["properties"]
    rule["faults"]["items"] = {
        "oneOf": [{"enum": sorted(catalogue())}, {"$ref": "#/$defs/FaultForm"}],
    }
    return {**document, "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "engy_mock scenario"}
