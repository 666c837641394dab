"""What a fault is: a kind with a name and a few parameters, and up to four ways to change an answer.

A kind is one small class. Its name, given once, is the Python class, the YAML key and the word in messages.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from inspect import Parameter, Signature
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.parameters import meaning
from engy_mock.vocabulary.errors import MockError, did_you_mean
from engy_mock.vocabulary.events import Event
from engy_mock.vocabulary.generation import Generation
from engy_mock.vocabulary.limits import Limits
from engy_mock.vocabulary.text import unsendable
from engy_mock.vocabulary.wire import Step

MOST = 10**9
"""So far anybody counts: what takes memory or work has a bound of its own."""

Count = Annotated[int, Limits(ge=0, le=MOST)]
"""A number of pieces, requests or bytes."""

Some = Annotated[int, Limits(ge=1, le=MOST)]
"""The same, and one at least."""

Seconds = Annotated[float, Limits(ge=0, le=MOST)]
"""A span of mock time."""

LONGEST = 600
"""The longest pause of an answer, in seconds, but for one without end, which has a cap of its own (Q-19)."""

Pause = Annotated[float, Limits(ge=0, le=LONGEST)]
"""A pause of an answer: a span of mock time which a client waits for really where time does not stand still."""

Share = Annotated[float, Limits(ge=0, le=1)]

Status = Annotated[int, Limits(ge=400, le=599)]
"""The status of a refusal."""

ANY_ENDPOINT: frozenset[str] = frozenset()

KINDS: dict[str, type["Fault"]] = {}
"""All kinds by name, once `catalogue` has loaded them."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One way to misbehave.

    `kind` is its name, `summary` what it does in a sentence or two. `rate` is the share of the answers of its
    rule that are hit, settled by a digest. `endpoints` and `is_for_streams` say where the kind can apply: none
    named is all, None is both forms. With `is_free` an
    answer is not charged for although it ended, since it never was one. With `swaps_form` a stream is told as a
    whole answer and the other way round; with `runs_on` an answer goes on although its client has left, and is
    charged in full. One that `spares` requests leaves some of those alone that it is for: it waits for a count, a
    time, a crowd, or what such a server does not take; of any other kind that does nothing the journal tells.
    The events of a refusal are shown to kinds that take them only; its steps to all. Each method
    leaves things as they are until a kind says otherwise.
    """

    kind: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    endpoints: ClassVar[frozenset[str]] = ANY_ENDPOINT
    surfaces: ClassVar[frozenset[str]] = frozenset()
    is_for_streams: ClassVar[bool | None] = None
    is_free: ClassVar[bool] = False
    takes_refusals: ClassVar[bool] = False
    swaps_form: ClassVar[bool] = False
    runs_on: ClassVar[bool] = False
    spares: ClassVar[bool] = False

    rate: Share = 1.0

    def __post_init__(self) -> None:
        check(self)

    def chosen(self, occasion: Occasion) -> Sequence["Fault"]:
        """The faults to apply on this occasion; kinds that only decide give others, or none."""
        return (self,)

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """Another answer, before any of it is told."""
        return generation

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """Other events, whatever the dialect."""
        return events

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Other steps: heads, frames and writes, and what lies between them."""
        return steps

    def suits(self, occasion: Occasion) -> bool:
        """Whether the request is one that it can befall, where that takes more than endpoint, surface and form."""
        return True

    def misfit(self, words: Mapping[str, Any]) -> str | None:
        """Why it can never apply to requests that fit these words of `when`; None if it can."""
        endpoint, surface, stream = words.get("endpoint"), words.get("surface"), words.get("stream")
        if self.endpoints and endpoint is not None and endpoint not in self.endpoints:
            return f"it is for {' and '.join(sorted(self.endpoints))}, not for {endpoint}"
        if self.surfaces and surface is not None and surface not in self.surfaces:
            return f"it is for {' and '.join(sorted(self.surfaces))}, not for {surface}"
        if self.is_for_streams is not None and stream is not None and stream is not self.is_for_streams:
            return f"it is for {'streams' if self.is_for_streams else 'whole answers'} only"
        return None


Kind = TypeVar("Kind", bound=Fault)


@dataclass_transform(frozen_default=True)
def fault(
    kind: str,
    *,
    endpoints: Iterable[str] = (),
    surfaces: Iterable[str] = (),
    streams: bool | None = None,
    is_free: bool = False,
    refusals: bool = False,
    swaps: bool = False,
    runs_on: bool = False,
    spares: bool = False,
) -> Callable[[type[Kind]], type[Kind]]:
    """Make a class a kind of this name; its annotated fields are the parameters."""

    def named(own: type[Kind]) -> type[Kind]:
        made = dataclass(frozen=True)(own)
        made.__init__ = _checking_names(made)  # type: ignore[method-assign]
        made.kind = kind
        made.endpoints = frozenset(endpoints)
        made.surfaces = frozenset(surfaces)
        made.is_for_streams = streams
        made.is_free = is_free
        made.takes_refusals = refusals
        made.swaps_form = swaps
        made.runs_on = runs_on
        made.spares = spares
        made.summary = " ".join((own.__doc__ or "").split())
        made.__doc__ = _help(made, own.__doc__ or "")
        made.__signature__ = _Signature()  # type: ignore[attr-defined]  # what inspect looks for
        KINDS[kind] = made
        return made

    return named


def _checking_names(kind: type[Fault]) -> Callable[..., None]:
    """What makes a fault, which knows the nearest right spelling of a parameter."""
    make, known = kind.__init__, tuple(field.name for field in fields(kind))

    def make_named(self: Fault, *values: Any, **parameters: Any) -> None:
        for name in parameters:
            if name not in known:
                raise WrongParameter(name, _unknown(kind.kind, name, known))
        make(self, *values, **parameters)

    return make_named


def _unknown(kind: str, name: object, known: Sequence[str]) -> str:
    hint = did_you_mean(str(name), tuple(known)) or f" It takes {', '.join(known)}."
    return f"{kind}: unknown parameter {name!r:.80}.{hint}"


def _help(kind: type[Fault], told: str) -> str:
    """What `help` shows of a kind: what it does, what it is for, and what its parameters mean."""
    places = [f"`{name}`" for names in (kind.endpoints, kind.surfaces) for name in sorted(names)]
    if kind.is_for_streams is not None:
        places.append("streams" if kind.is_for_streams else "whole answers")
    where = f", for {', '.join(places)} only" if places else ""
    lines = [f"{told.rstrip()}\n\n    Kind `{kind.kind}`{where}.\n"]
    lines += [
        f"    - `{field.name}`: {meaning(kind.kind, kind.summary, parameter(field.name))}"
        for field in sorted(fields(kind), key=_is_kw_only)
    ]
    return "\n".join(lines) + "\n    "


def _is_kw_only(field: Field[Any]) -> bool:
    return field.kw_only is True


class _Signature:
    """The signature of a kind for readers: types without the bounds that are checked anyhow."""

    def __get__(self, made: object, kind: type[Fault]) -> Signature:
        hints = get_type_hints(kind)
        ways = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
        return Signature(
            [
                Parameter(
                    field.name,
                    ways[_is_kw_only(field)],
                    default=Parameter.empty if field.default is MISSING else field.default,
                    annotation=_plain(hints[field.name]),
                )
                for field in sorted(fields(kind), key=_is_kw_only)
            ]
        )


def _plain(hint: Any) -> Any:
    """A type without what is annotated anywhere in it."""
    if get_origin(hint) is Annotated:
        return _plain(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return Union[tuple([_plain(one) for one in get_args(hint)])]  # noqa: UP007 - of a tuple, not of two names
    return hint


@dataclass(frozen=True)
class Own(Fault):
    """A function of the test's author in the place of a fault."""

    function: Callable[[Iterator[Event]], Iterable[Event]]

    kind: ClassVar[str] = "own"

    def __post_init__(self) -> None:
        """Nothing to check: a function is a function."""

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """What the function makes of the events."""
        name = getattr(self.function, "__name__", "the function")
        found: object = self.function(events)
        if not isinstance(found, Iterable):
            raise MockError(f"{name} gave {found!r:.80}: a function in the place of a fault gives events")
        for event in found:
            if not isinstance(event, get_args(Event)):
                raise MockError(f"{name} gave {event!r:.80} among its events: that is none")
            yield event


def parameter(name: str) -> str:
    """The name of a field as scripts write it: Python's keywords have an underscore behind them."""
    return name.removesuffix("_")


_CHECKERS: dict[type[Fault], dict[str, Any]] = {}


def _checkers(kind: type[Fault]) -> Mapping[str, Any]:
    """What checks each parameter of a kind."""
    known = _CHECKERS.get(kind)
    if known is not None:
        return known
    from pydantic import ConfigDict, TypeAdapter

    hints = get_type_hints(kind, include_extras=True)
    strict = ConfigDict(strict=True, allow_inf_nan=False)
    made = {field.name: TypeAdapter(hints[field.name], config=strict) for field in fields(kind)}
    return _CHECKERS.setdefault(kind, made)


class WrongParameter(MockError):
    """A parameter that a kind does not have, or a value that it cannot have."""

    def __init__(self, parameter: str, message: str) -> None:
        super().__init__(message)
        self.parameter = parameter


def check(made: Fault) -> None:
    """Raise WrongParameter for a value that a parameter of its kind cannot have."""
    for name, adapter in _checkers(type(made)).items():
        _check_value(type(made), name, adapter, getattr(made, name))


def _check_value(kind: type[Fault], name: str, adapter: Any, value: object) -> None:
    from pydantic import ValidationError

    word = parameter(name)
    half = unsendable(value)
    if half is not None:
        said = f"{word} has half a surrogate pair, which nobody can send: {half!r:.80}"
        raise WrongParameter(word, f"{kind.kind}: {said}")
    try:
        adapter.validate_python(value)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        message = f"{kind.kind}: {word} is {value!r:.80}: {_said(errors)}{_nearest(errors[0], value)}"
        raise WrongParameter(word, message) from None


def _said(errors: Sequence[Any]) -> str:
    """What is wrong with a value: where it may be of several forms, what is wrong with it as each of them."""
    place = errors[0]["loc"]
    is_form = bool(place) and isinstance(place[-1], str)
    forms = [found for found in errors if found["loc"][:-1] == place[:-1]] if is_form else errors[:1]
    first, *more = dict.fromkeys(found["msg"] for found in forms)
    return _lowered(" or ".join([first, *(message.removeprefix("Input should be ") for message in more)]))


def _nearest(found: Any, value: object) -> str:
    """The nearest of the words that a parameter takes."""
    if found["type"] != "literal_error" or not isinstance(value, str):
        return ""
    hint = did_you_mean(value, re.findall("'([^']*)'", found["ctx"]["expected"]))
    return f".{hint}" if hint else ""


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:]


def catalogue() -> Mapping[str, type[Fault]]:
    """All kinds by name."""
    import engy_mock.scripting.faults  # noqa: F401 - loading it names them

    return KINDS


def made(wanted: object) -> Fault:
    """The fault that is meant by one, its class, a name, a mapping with `kind` or a function; raises MockError."""
    if isinstance(wanted, Fault):
        return wanted
    if isinstance(wanted, str):
        return _of_kind(wanted, {})
    if isinstance(wanted, Mapping):
        parameters = dict(wanted)
        kind = parameters.pop("kind", None)
        if not isinstance(kind, str):
            raise MockError(f"a fault needs kind, the name of one, got {wanted!r:.80}")
        return _of_kind(kind, parameters)
    if isinstance(wanted, type) and issubclass(wanted, Fault):
        return _of_kind(wanted.kind, {})
    if callable(wanted):
        return Own(wanted)
    raise MockError(f"a fault is one of the catalogue, its name, or a function of events, got {wanted!r:.80}")


def _of_kind(kind: str, parameters: Mapping[str, Any]) -> Fault:
    own = kind_named(kind)
    for mistake in wrong_parameters(own, parameters):
        raise mistake
    names = {parameter(field.name): field.name for field in fields(own)}
    return own(**{names[name]: value for name, value in parameters.items()})


def kind_named(kind: str) -> type[Fault]:
    """The kind of this name; raises MockError with the nearest one."""
    known = catalogue()
    own = known.get(kind)
    if own is None:
        raise MockError(f"unknown fault kind {kind!r:.80}.{did_you_mean(kind, tuple(known))}")
    return own


def wrong_parameters(own: type[Fault], parameters: Mapping[str, Any]) -> Iterator[WrongParameter]:
    """All that is wrong with the parameters for a kind."""
    kind, checkers = own.kind, _checkers(own)
    names = {parameter(field.name): field for field in fields(own)}
    for name, value in parameters.items():
        if name not in names:
            yield WrongParameter(str(name), _unknown(kind, name, tuple(names)))
            continue
        try:
            _check_value(own, names[name].name, checkers[names[name].name], value)
        except WrongParameter as mistake:
            yield mistake
    for name, field in names.items():
        if field.default is MISSING and field.default_factory is MISSING and name not in parameters:
            yield WrongParameter(name, f"{kind}: {name} is missing")


def told(made: Fault) -> str:
    """A fault in the words of a scenario file, for journals and messages: `reset after=2`."""
    if isinstance(made, Own):
        return getattr(made.function, "__name__", "own")
    said = [
        f"{parameter(field.name)}={getattr(made, field.name)!r}"
        for field in fields(made)
        if getattr(made, field.name) != field.default
    ]
    return " ".join([made.kind, *said])
