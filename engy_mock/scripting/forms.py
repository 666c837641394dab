"""What may stand in a scenario file, key by key: checked by pydantic, printed as a JSON Schema for editors."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, WithJsonSchema

from engy_mock.scripting.fault import LONGEST
from engy_mock.scripting.library import MAX_NAME, NAME
from engy_mock.scripting.matchers import Endpoint
from engy_mock.scripting.refusals import MAX_HINT
from engy_mock.scripting.sayings import MAX_COUNT
from engy_mock.vocabulary.generation import FinishReason


def told(**schema: Any) -> WithJsonSchema:
    """What the JSON Schema says of a value whose bounds are looked at later, with words of their own."""
    return WithJsonSchema(schema)


Share = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0)]
Times = Annotated[int, Field(ge=1)]
Percent = Annotated[float, Field(ge=0, le=100)]
Tokens = Annotated[int, Field(ge=0), told(type="integer", minimum=0, maximum=MAX_COUNT)]
Logprob = Annotated[float, told(type="number", minimum=-100, maximum=0)]
Hint = Annotated[float, told(type="number", minimum=0, exclusiveMaximum=MAX_HINT)]
Window = Annotated[int, Field(ge=1)]
StatusCode = Annotated[int, Field(ge=400, le=599)]
Name = Annotated[str, Field(pattern=f"^{NAME.pattern}$", max_length=MAX_NAME)]


class Form(BaseModel):
    """A mapping whose keys are all known."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True)


def _by_type(short: str, long: str) -> Callable[[Any], str]:
    """Which of two forms a value has: the long one is a mapping."""
    return lambda value: long if isinstance(value, dict | Form) else short


class WhenForm(Form):
    """The requests that a rule is for: all of this has to hold."""

    endpoint: Endpoint | None = None
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
    refused: StatusCode | None = None


class ToolCallForm(Form):
    """A call of a tool."""

    name: str
    """The name of the tool."""

    arguments: dict[str, Any] | str = Field(default_factory=dict)
    """Its arguments; a text is sent as it is, JSON or not."""

    id: str | None = None
    """The id of the call; one is made up if this is left out."""


class UsageForm(Form):
    """Token counts that stand for the real ones."""

    prompt_tokens: Tokens
    """Tokens of the prompt, cached ones among them."""

    completion_tokens: Tokens
    """Tokens of the answer, its reasoning among them."""

    cached_tokens: Tokens = 0
    """How many tokens of the prompt were known from the cache."""

    reasoning_tokens: Tokens = 0
    """How many tokens of the answer are reasoning."""


class ReplyForm(Form):
    """What is said instead of the model's own words."""

    text: str | None = None
    """The text of the answer."""

    reasoning: str | None = None
    """What the model thinks first, where it does think."""

    tool_calls: list[ToolCallForm] = Field(default_factory=list)
    """The tools that it calls."""

    json_: Any = Field(default=None, alias="json")
    """A value that becomes the text, as JSON; stands in place of `text`."""

    finish_reason: FinishReason | None = None
    """Why the answer ends; left out, it is what the answer comes to."""

    usage: UsageForm | None = None
    """Token counts that stand for the real ones."""

    logprobs: dict[str, Logprob] = Field(default_factory=dict)
    """Log probabilities by the text of a token, -100 to 0; other tokens get those of the model."""

    response: Any = None
    """The answer of an inference on a deployment of one's own, as any JSON."""

    same_as: Name | None = None
    """The name of a reply under `replies` that stands here; no other key does then."""


class RefuseForm(Form):
    """A refusal, told as the service tells this status."""

    status: StatusCode
    """The status, 400 to 599."""

    message: str | None = None
    """What is said; left out, it is what the service says."""

    retry_after: Hint | str | None = None
    """When to try again, in seconds, sent as it is written; left out, tests do not have to wait."""

    headers: dict[str, str] = Field(default_factory=dict)
    """Headers beside those of the service."""

    type: str | None = None
    """The type of the error in place of the usual one."""

    code: str | None = None
    """The code of the error in place of the usual one."""

    param: str | None = None
    """The field of the request that is to blame."""


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
    Annotated[StatusCode, Tag(STATUS)] | Annotated[RefuseForm, Tag(REFUSAL)],
    Discriminator(_by_type(STATUS, REFUSAL)),
]


class RuleForm(Form):
    """For the requests that fit `when`: a reply or a refusal, and faults on top."""

    when: WhenForm = Field(default_factory=WhenForm)
    """The requests that the rule is for; left out, it is for all that ask a model for an answer."""

    times: Times | None = None
    """How often the rule is used before it steps aside; left out, there is no end."""

    rate: Share = 1.0
    """The share of fitting requests that it is for, 0 to 1: the same ones in each run."""

    at: Annotated[list[Times], Field(min_length=1)] | None = None
    """These of the fitting requests alone, counted from 1, whether or not another rule takes them."""

    delay: Annotated[float, Field(ge=0, le=LONGEST)] | None = None
    """Seconds of mock time before the first byte."""

    pace: Annotated[float, Field(gt=0), told(type="number", minimum=1 / LONGEST)] | None = None
    """Pieces of the answer a second, in mock time."""

    reply: (
        Annotated[
            Annotated[OneReply, Tag("<one>")] | Annotated[list[OneReply], Tag("<many>")],
            Discriminator(lambda value: "<many>" if isinstance(value, list) else "<one>"),
        ]
        | None
    ) = None
    """What is said: a text, more than a text, or a list of these that is said once, one after the other."""

    refuse: OneRefusal | None = None
    """The status that the request is refused with, or more about the refusal."""

    let_through: Literal[True] | None = None
    """The model answers in its own words, and no rule behind this one has a say."""

    faults: list[OneFault] = Field(default_factory=list)
    """What goes wrong with the answer, kinds or kinds with parameters; alone, for whatever is said otherwise."""


class ModelForm(Form):
    """What is otherwise about a model."""

    context: Window | None = None
    """Tokens that prompt and answer may have together."""

    max_input: Window | None = None
    """Tokens that a prompt may have."""

    max_output: Window | None = None
    """Tokens that an answer may have."""

    listed_context: Window | None = None
    """The context that the list of models tells, which may not be true."""

    is_available: bool | None = None
    """Whether it answers."""

    is_listed: bool | None = None
    """Whether it stands in the list of models."""

    takes_images: bool | None = None
    """Whether requests may show it images."""

    ignores_schema: bool | None = None
    """Whether it answers as it likes when a schema is demanded."""

    hears_enabled: bool | None = None
    """Whether it heeds requests to think or not to think."""

    price_factor: Annotated[float, Field(ge=0)] | None = None
    """What its prices are multiplied by."""


class TermsForm(Form):
    """What is agreed with the default account: percent below the list for all models or by id, and limits."""

    discount_percent: Percent | dict[str, Percent] | None = None
    """Percent below the list prices, for all models or by id."""

    max_concurrent: Times | None = None
    """Requests that may be answered at once."""

    requests_per_minute: Times | None = None
    """Requests that a minute of mock time allows."""

    tokens_per_minute: Times | None = None
    """Tokens that a minute of mock time allows."""


class UntilForm(Form):
    """When a phase ends: after so many requests, after so much mock time, or else when told."""

    requests: Times | None = None
    """After so many requests for an answer."""

    seconds: Seconds | None = None
    """After so many seconds of mock time."""


class PhaseForm(Form):
    """A part of a scenario with rules and models of its own."""

    name: Name
    """The name by which one goes to it."""

    until: UntilForm = Field(default_factory=UntilForm)
    """When it ends; left out, when told."""

    next: Name | None = None
    """The phase that follows; left out, the next in the list."""

    rules: list[RuleForm] = Field(default_factory=list)
    """Rules that stand before those of the scenario while it lasts."""

    models: dict[str, ModelForm] = Field(default_factory=dict)
    """What is otherwise about models while it lasts, by id."""


class ScenarioForm(Form):
    """A scenario: what happens, what a good client does, and the rules that make it happen."""

    description: str
    """What happens, in a sentence or two."""

    good_client: str = ""
    """What a client does that copes."""

    include: list[Name] = Field(default_factory=list)
    """Other scenarios, by name, whose rules stand behind these."""

    replies: dict[Name, OneReply] = Field(default_factory=dict)
    """Replies by names, for rules that say the same: `reply: {same_as: NAME}`."""

    settings: dict[str, Any] = Field(default_factory=dict)
    """What the mock does otherwise than by default, by the names of `Settings`."""

    account: TermsForm = Field(default_factory=TermsForm)
    """What is agreed with the default account."""

    models: dict[str, ModelForm] = Field(default_factory=dict)
    """What is otherwise about models, by id."""

    rules: list[RuleForm] = Field(default_factory=list)
    """Rules, tried in the order written."""

    phases: list[PhaseForm] = Field(default_factory=list)
    """Parts that follow each other, the first of them at the beginning."""


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
