"""What chat and completions let a client wish alike: sampling, limits, thinking, workers, the cache."""

from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any, Literal, Required

from typing_extensions import TypedDict

from engy_mock.dialects.marks import Count, Limits, Name, StringOrStrings
from engy_mock.vocabulary.request import Effort, ProviderWish, Sampling, ThinkingWish

Temperature = Annotated[float, Limits(ge=0, le=2)]
TopP = Annotated[float, Limits(gt=0, le=1)]
Share = Annotated[float, Limits(ge=0, le=1)]
Penalty = Annotated[float, Limits(ge=-2, le=2)]
TokenId = Annotated[str, Limits(pattern="^[0-9]{1,18}$")]
Bias = Annotated[float, Limits(ge=-100, le=100)]


class ReasoningForm(TypedDict, total=False):
    """The field `reasoning`."""

    effort: Effort | None
    enabled: bool | None


class ProviderForm(TypedDict, total=False):
    """The field `provider`; other keys pass (E-66)."""

    zdr: bool | None
    require_proof: bool | None


class StreamOptionsForm(TypedDict, total=False):
    """The field `stream_options`."""

    include_usage: bool | None


class WishesForm(TypedDict, total=False):
    """The fields that both endpoints have."""

    model: Required[Name]
    max_tokens: Count | None
    stream: bool | None
    temperature: Temperature | None
    top_p: TopP | None
    top_k: int | None
    min_p: Share | None
    presence_penalty: Penalty | None
    frequency_penalty: Penalty | None
    seed: int | None
    logit_bias: dict[TokenId, Bias] | None
    stop: StringOrStrings | None
    n: Count | None
    reasoning_effort: Effort | None
    reasoning: ReasoningForm | None
    chat_template_kwargs: dict[str, Any] | None
    prompt_cache_key: str | None
    user: str | None
    provider: ProviderForm | None


_SAMPLING_FIELDS = frozenset(Sampling.__dataclass_fields__)
_NO_SAMPLING = Sampling()
_remembered_sampling = lru_cache(maxsize=256)(Sampling)
_NO_THINKING_WISH = ThinkingWish()
_THINKING_FIELDS = frozenset({"reasoning_effort", "reasoning", "chat_template_kwargs"})
_NO_PROVIDER_WISH = ProviderWish()
_TEMPLATE_SWITCHES: tuple[Literal["enable_thinking", "thinking"], ...] = ("enable_thinking", "thinking")


def sampling(form: WishesForm) -> Sampling:
    """How tokens are to be drawn."""
    if _SAMPLING_FIELDS.isdisjoint(form):
        return _NO_SAMPLING
    wished = _remembered_sampling(
        temperature=_number(form.get("temperature")),
        top_p=_number(form.get("top_p")),
        top_k=form.get("top_k"),
        min_p=_number(form.get("min_p")),
        presence_penalty=_number(form.get("presence_penalty")),
        frequency_penalty=_number(form.get("frequency_penalty")),
        seed=form.get("seed"),
    )
    bias = form.get("logit_bias")
    if not bias:
        return wished
    return replace(wished, logit_bias={int(token): value + 0.0 for token, value in bias.items()})


def stops(form: WishesForm) -> tuple[str, ...]:
    """Where the text is to end; empty strings do not count (E-54)."""
    stop = form.get("stop")
    if not stop:
        return ()
    return (stop,) if isinstance(stop, str) else tuple(text for text in stop if text)


def thinking(form: WishesForm) -> ThinkingWish:
    """What is wished about reasoning: the first of the documented fields that says something (E-127)."""
    if _THINKING_FIELDS.isdisjoint(form):
        return _NO_THINKING_WISH
    reasoning = form.get("reasoning") or {}
    effort = form.get("reasoning_effort") or reasoning.get("effort")
    if effort is not None:
        return ThinkingWish(effort=effort)
    enabled = reasoning.get("enabled")
    if enabled is not None:
        return ThinkingWish(enabled=enabled)
    switches = form.get("chat_template_kwargs") or {}
    for name in _TEMPLATE_SWITCHES:
        if isinstance(switches.get(name), bool):
            return ThinkingWish(enabled=switches[name])
    return _NO_THINKING_WISH


def provider(form: WishesForm) -> ProviderWish:
    """What is demanded of the workers."""
    wish = form.get("provider")
    if not wish:
        return _NO_PROVIDER_WISH
    return ProviderWish(zdr=wish.get("zdr") or False, require_proof=wish.get("require_proof") or False)


def includes_usage(options: StreamOptionsForm | None) -> bool:
    """Whether a stream is to end with the token counts."""
    return (options or {}).get("include_usage") is True


def cache_key(form: WishesForm) -> str | None:
    """Whose prompts may share a cache: `prompt_cache_key`, else `user` (E-65)."""
    return form.get("prompt_cache_key") or form.get("user") or None


def _number(value: float | None) -> float | None:
    """The number as a float, with one zero only."""
    return None if value is None else value + 0.0
