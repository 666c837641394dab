"""A profile: which troubles a bad day is made of, read from a file whose every mistake has a line."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from engy_mock.campaigns.choices import possible
from engy_mock.campaigns.forms import CountForm, ProfileForm, SpanForm, TroubleForm, keys_under
from engy_mock.scripting import notation
from engy_mock.scripting.early import Early
from engy_mock.scripting.fault import made
from engy_mock.scripting.library import ENDINGS
from engy_mock.scripting.notation import Place, Sheet
from engy_mock.scripting.refusals import Refusal
from engy_mock.vocabulary.errors import MockError, did_you_mean, quoted

SHIPPED = Path(__file__).parent / "profiles"
OWN_FOLDER = "profiles"
"""The folder beside a project's configuration in which its own profiles stand."""

DOES = ("fault", "refuse", "delay")
"""What a trouble can do; each of them has exactly one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One kind of trouble with what is left open of it.

    `does` says what happens, `when` to which requests; `weight` is how likely it is beside the others.
    """

    does: str
    what: Any
    when: Mapping[str, Any]
    weight: float = 1.0
    rate: Any = 1.0
    times: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a file says: a run has from `least` to `most` of these troubles.

    `endpoints` are the dialects that have any, none named is all.
    """

    name: str
    source: str
    description: str
    least: int
    most: int
    endpoints: tuple[str, ...] = ()
    rows: tuple[Row, ...]


def named(wanted: str | Path, folders: Iterable[Path] = ()) -> Profile:
    """The profile of this name, or in the file at this path; raises MockError."""
    if isinstance(wanted, Path) or wanted.endswith(ENDINGS) or "/" in wanted or "\\" in wanted:
        return from_file(Path(wanted))
    places = (*folders, SHIPPED)
    for folder in places:
        for ending in ENDINGS:
            path = folder / f"{wanted}{ending}"
            if "\0" not in wanted and path.is_file():
                return from_file(path)
    known = names(folders)
    hint = did_you_mean(wanted, known) or f" Known are {', '.join(known)}; a path names a file of your own."
    raise MockError(f"there is no profile {quoted(wanted)!r}.{hint}")


def names(folders: Iterable[Path] = ()) -> list[str]:
    """The profiles that can be found, in order."""
    found = [path.stem for folder in (*folders, SHIPPED) if folder.is_dir() for path in folder.iterdir()]
    return sorted(dict.fromkeys(found))


def from_file(path: Path) -> Profile:
    """The profile in a file; raises MockError with file, line, key and what instead."""
    return from_sheet(notation.read_file(path), path.name.partition(".")[0])


def from_sheet(sheet: Sheet, name: str) -> Profile:
    """The profile in what has been read; raises MockError."""
    if not isinstance(sheet.value, dict):
        kind = type(sheet.value).__name__
        raise MockError(f"{sheet.at(())}: a profile is a mapping with description and troubles, got {kind}")
    try:
        form = ProfileForm.model_validate(sheet.value)
    except ValidationError as error:
        mistakes = error.errors(include_url=False)
        # A key that there is not is the likelier reason for one that is missing than the other way round.
        found = next((one for one in mistakes if one["type"] == "extra_forbidden"), mistakes[0])
        place = _in_file(found["loc"], sheet)
        if found["type"] == "missing":
            place = (*place, found["loc"][-1])
        raise MockError(f"{sheet.at(place)}: {_complaint(found, place)}") from None
    least, most = (form.kinds.from_, form.kinds.to) if isinstance(form.kinds, CountForm) else (form.kinds,) * 2
    if least > most:
        raise MockError(f"{sheet.at(('kinds',))}: from {least} to {most} is no number of kinds")
    if "kinds" in form.model_fields_set and most > len(form.troubles):
        said = f"{most} kinds cannot be in a run, where there are {len(form.troubles)} troubles"
        raise MockError(f"{sheet.at(('kinds',))}: {said}")
    rows = []
    for number, own in enumerate(form.troubles):
        try:
            rows.append(_row(own, form))
        except MockError as error:
            raise MockError(f"{sheet.at(('troubles', number))}: {error}") from None
    return Profile(
        name=name,
        source=sheet.source,
        description=form.description.strip(),
        least=least,
        most=most,
        endpoints=tuple(form.endpoints),
        rows=tuple(rows),
    )


def _in_file(place: Sequence[str | int], sheet: Sheet) -> Place:
    """A place without the names of types, which are no part of the file."""
    found: Place = ()
    for step in place:
        if (*found, step) in sheet.lines:
            found = (*found, step)
    return found


def _complaint(found: Any, place: Place) -> str:
    last = place[-1] if place else ""
    if found["type"] == "extra_forbidden":
        known = keys_under(place[:-1])
        hint = did_you_mean(str(last), known) or (f" Known are {', '.join(known)}." if known else "")
        return f"unknown key {str(last)!r:.80}.{hint}"
    if found["type"] == "missing":
        return f"{last} is missing"
    return f"{quoted(found['input'])} is not allowed: {found['msg'][:1].lower() + found['msg'][1:]}"


def _row(form: TroubleForm, profile: ProfileForm) -> Row:
    said = [word for word in DOES if getattr(form, word) is not None]
    if len(said) != 1:
        raise MockError(f"a trouble has one of {', '.join(DOES)}, got {' and '.join(said) or 'none'}")
    does, what = said[0], getattr(form, said[0])
    when = form.when.model_dump(exclude_none=True)
    if profile.stream is not None:
        when.setdefault("stream", profile.stream)
    for one in all_of(does, what):
        _check(does, one, when)
        if does == "fault" and isinstance(made(one), Early) and (form.rate, form.times) != (1, None):
            raise MockError(
                f"fault {made(one).kind!r} acts before a request is read: no rate or times can choose one"
            )
    rate, times = (
        value.model_dump(by_alias=True) if isinstance(value, SpanForm) else value
        for value in (form.rate, form.times)
    )
    for value in possible(rate):
        if not 0 <= value <= 1:
            raise MockError(f"rate is {value!r}: a share is 0 to 1")
    for value in possible(times):
        if value is not None and (type(value) is not int or value < 1):
            raise MockError(f"times is {value!r}: it must be at least 1")
    return Row(does=does, what=what, when=when, weight=form.weight, rate=rate, times=times)


def all_of(does: str, what: Any) -> Iterator[Any]:
    """What a row may come to, as far as it has to be looked at: every choice once, beside the first others."""
    if does == "delay":
        yield from possible(what)
        return
    for one in possible(what) if isinstance(what, list) else (what,):
        if not isinstance(one, Mapping):
            yield one
            continue
        first = {name: next(possible(value)) for name, value in one.items()}
        yield first
        for name, value in one.items():
            yield from ({**first, name: other} for other in possible(value))


def _check(does: str, one: Any, when: Mapping[str, Any]) -> None:
    """Raise MockError for what no rule could do to these requests."""
    if does == "fault":
        if not isinstance(one, str | Mapping):
            raise MockError(f"a fault is the name of a kind, or a mapping with kind, got {one!r:.80}")
        own = made(one)
        reason = own.misfit(when)
        if reason is not None:
            raise MockError(f"fault {own.kind!r} can never apply: {reason}")
    elif does == "refuse":
        try:
            Refusal(**one) if isinstance(one, Mapping) else Refusal(status=one)
        except TypeError as error:
            raise MockError(f"refuse: {str(error).rpartition('() ')[2]}") from None
    elif isinstance(one, bool) or not isinstance(one, int | float) or one < 0:
        raise MockError(f"delay is {one!r:.80}: it is a number of seconds from 0")
