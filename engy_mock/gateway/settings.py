"""What a mock does otherwise than by default."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from json import dumps
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args, get_type_hints

from engy_mock.books.fleet import WORKERS, Worker
from engy_mock.books.journal import MAX_BYTES, MAX_ENTRIES
from engy_mock.model.engine import MAX_IMAGE_BYTES, MAX_IMAGES
from engy_mock.model.overflow import Wording
from engy_mock.model.tempo import Tempo, Wanted
from engy_mock.vocabulary.errors import MockError, did_you_mean
from engy_mock.vocabulary.limits import Limits

if TYPE_CHECKING:
    from pydantic import TypeAdapter


_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)*|\[[0-9A-Fa-f:.]+\]", re.ASCII)

Answers = Literal["plain", "asked", "markdown"]

_CHOICES = {"answers": get_args(Answers), "overflow_wording": get_args(Wording)}
"""The words that some settings take."""

_OTHER_KINDS = frozenset({"literal_error", "float_type", "dataclass_type", "dataclass_exact_type"})
"""The mistakes that a value makes in the eyes of kinds that it is not meant to be."""


@dataclass(slots=True, kw_only=True)
class Settings:
    """What the mock does otherwise than by default; a value that cannot be is a MockError when it is set.

    `closed_accounts`: only registered keys are valid. `one_event_per_write`: no two events of a stream
    share a write. `allowed_hosts`: names accepted in `Host` beside the loopback ones. `cors_origins`:
    origins whose pages may read answers in a browser, beside those of this machine.
    `messages_cache_counts`: messages tell how much of the prompt was cached. `v5_accepts_bearer`: a
    bearer key opens `/v5` too. `v5_named_events`: streamed responses have `event:` lines there.
    `hurries_retries`: refusals that clients try again carry a hint of one millisecond; those for want of room or
    of a worker only while the clock stands.
    `strict_tools`: responses refuse tools that are no functions. `max_images`, `max_image_bytes`: the most
    pictures in a request, and the most bytes of one. `scenario_header`: a request may ask for a
    scenario of its own by `X-Engy-Mock-Scenario`, for one of these, or, if true or `*`, for any.
    `strict`: a request that no rule answers is a
    mistake of the test, and the model says nothing of its own. `prompt_cache`: prompts are remembered.
    `workers`: what the pretend workers can promise. `capacity`: so many requests of all accounts together
    are answered at once, None for any number. `overflow_wording`: whose phrase refuses a prompt that does not
    fit. `keep_alive_comments`, `ping_seconds`: while a stream pauses, a comment line, or in messages a ping,
    comes every so many seconds. `answers`: plain sentences, what the question asks for in words (asked), or
    Markdown always (markdown). `pace`: how fast answers come, by a profile (instant, realistic, slow), in tokens
    a second, or as a `Tempo`; `pace_by_model` says otherwise for a model. That takes real time under a clock that
    waits, none under one that stands. `journal_entries`, `journal_bytes`: so many exchanges, and about so much
    memory, are kept; then the oldest make room.
    """

    closed_accounts: bool = False
    one_event_per_write: bool = False
    allowed_hosts: frozenset[str] = frozenset()
    cors_origins: frozenset[str] = frozenset()
    messages_cache_counts: bool = False
    v5_accepts_bearer: bool = False
    v5_named_events: bool = False
    hurries_retries: bool = True
    strict_tools: bool = False
    max_images: Annotated[int, Limits(ge=0)] = MAX_IMAGES
    max_image_bytes: Annotated[int, Limits(ge=0)] = MAX_IMAGE_BYTES
    scenario_header: bool | frozenset[str] = False
    strict: bool = False
    prompt_cache: bool = True
    workers: tuple[Worker, ...] = WORKERS
    capacity: Annotated[int, Limits(ge=1)] | None = None
    overflow_wording: Wording = "engy"
    keep_alive_comments: Annotated[float, Limits(gt=0)] | None = None
    ping_seconds: Annotated[float, Limits(gt=0)] | None = None
    answers: Answers = "plain"
    pace: Wanted = "instant"
    pace_by_model: Mapping[str, Wanted] = field(default_factory=dict)
    journal_entries: Annotated[int, Limits(ge=1)] = MAX_ENTRIES
    journal_bytes: Annotated[int, Limits(ge=1)] = MAX_BYTES

    def __setattr__(self, name: str, value: object) -> None:
        good = value if _is_plainly_good(name, value) else checked(name, value)
        # A mapping is copied: whoever has it may change it, or give it to several mocks.
        object.__setattr__(self, name, dict(good) if isinstance(good, Mapping) else good)

    @classmethod
    def of(cls, wanted: object) -> Self:
        """New ones that are as some others, as a mapping says, or as usual for None; raises MockError."""
        if isinstance(wanted, cls):
            return replace(wanted)
        if wanted is None:
            return cls()
        if not isinstance(wanted, Mapping):
            raise MockError(f"settings= takes Settings or a mapping, got {wanted!r:.80}")
        settings = cls()
        for name, value in wanted.items():
            setattr(settings, str(name), value)
        return settings


_DEFAULTS = {field.name: field.default for field in fields(Settings)}
"""What need not be looked at: most settings of most mocks."""


def _is_plainly_good(name: str, value: object) -> bool:
    """Whether a value is seen to be one of the setting without a library that has to be loaded."""
    if name == "pace_by_model":
        return value == {}
    if name not in _DEFAULTS:
        return False
    usual = _DEFAULTS[name]
    is_alike = type(value) is type(usual) and (value == usual or isinstance(value, bool))
    return is_alike or (isinstance(value, str) and value in _CHOICES.get(name, ()))


def checked(name: str, value: object) -> Any:
    """The value that a setting has if this is said of it; raises MockError for a setting or value there is not.

    Lists stand for the sets and tuples that a file cannot write, and mappings for workers.
    """
    from pydantic import ValidationError

    known = tuple(field.name for field in fields(Settings))
    if name not in known:
        hint = did_you_mean(name, known) or f" Known are {', '.join(known)}."
        raise MockError(f"there is no setting {name!r:.80}.{hint}")
    adapter = _adapter(name)
    value = frozenset(value) if isinstance(value, set) else value
    value = list(value) if isinstance(value, tuple) else value
    value = [value] if isinstance(value, str) and name == "scenario_header" else value
    try:
        return _named(name, _read(adapter, value))
    except ValidationError as error:
        # Where several kinds of values are possible, the one counts that the value comes nearest to.
        errors = error.errors(include_url=False)
        found = next((one for one in errors if one["type"] not in _OTHER_KINDS), errors[0])
        steps = [step for step in found["loc"] if isinstance(step, int) or step.islower()]
        steps = [step for step in steps if str(step).replace("_", "").isalnum()]
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
        message = found["msg"][:1].lower() + found["msg"][1:]
        raise MockError(f"setting {name}{place} is {found['input']!r:.80}: {message}") from None


def _read(adapter: "TypeAdapter[Any]", value: object) -> Any:
    if not isinstance(value, list | dict):
        return adapter.validate_python(value)
    if any(isinstance(item, Worker) for item in value):
        return adapter.validate_python(tuple(value))
    if isinstance(value, dict) and any(isinstance(item, Tempo) for item in value.values()):
        return adapter.validate_python(value)
    return adapter.validate_json(dumps(value, default=repr), strict=True)


def _named(setting: str, value: Any) -> Any:
    """The value, whose names of hosts and origins can be such; raises MockError."""
    if setting == "cors_origins":
        from engy_mock.gateway.origins import checked_origin

        return frozenset([checked_origin(origin) for origin in sorted(value)])
    if setting == "allowed_hosts":
        for host in sorted(value):
            if not _HOST.fullmatch(host):
                raise MockError(
                    f"setting allowed_hosts has {host!r:.80}: name each host that is meant, as mock.test, "
                    "without scheme or port"
                )
        return frozenset(map(str.lower, value))
    return value


def described() -> dict[str, Any]:
    """The JSON Schema of each setting by its name, with what it means."""
    told = " ".join((Settings.__doc__ or "").split())
    found: dict[str, Any] = {}
    for one in fields(Settings):
        meaning = re.search(rf"`{one.name}`(?:, `\w+`)*(?:: |\s)(.*?)(?=\. `|\.$|; `)", told)
        text = "" if meaning is None else meaning[1][:1].upper() + meaning[1][1:] + "."
        found[one.name] = {**_adapter(one.name).json_schema(), "description": text}
    return found


@cache
def _adapter(name: str) -> "TypeAdapter[Any]":
    from pydantic import ConfigDict, TypeAdapter

    hints = get_type_hints(Settings, include_extras=True)
    return TypeAdapter(hints[name], config=ConfigDict(strict=True, extra="forbid", allow_inf_nan=False))
