"""Which recorded answer a request gets: the one that was given to the very same, or to one much like it."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Literal, NamedTuple, get_args

from engy_mock.dialects import routes
from engy_mock.gateway.replaying import Recorded, RecordedFrame
from engy_mock.recording import secrets
from engy_mock.recording.cassette import Cassette, EventForm, ExchangeForm, read
from engy_mock.recording.said import of_body, of_stream
from engy_mock.recording.stream import payload
from engy_mock.recording.tape import request_body
from engy_mock.vocabulary import credentials, json
from engy_mock.vocabulary.errors import ApiError, MockError, UnmetExpectation, did_you_mean, quoted
from engy_mock.vocabulary.events import Raw
from engy_mock.vocabulary.request import GenerationRequest
from engy_mock.vocabulary.wire import Call

Manner = Literal["strict", "lenient"]
MANNERS: tuple[Manner, ...] = get_args(Manner)

MAX_SHOWN = 3
"""So many differences are named."""

_MISSING = object()

log = logging.getLogger("engy_mock")


def checked_manner(manner: object) -> Manner:
    """How a cassette is played; raises MockError for a way that there is not."""
    if manner not in MANNERS:
        hint = did_you_mean(str(manner), MANNERS)
        raise MockError(f"a cassette is played {' or '.join(MANNERS)}, not {manner!r:.80}.{hint}")
    return manner


def player(path: str | Path, manner: Manner = "strict") -> "Player":
    """What plays the cassette in a file; raises MockError. What in it was never finished is told in the log."""
    checked_manner(manner)
    if not isinstance(path, str | Path):
        raise MockError(f"cassette= takes the path of a file, got {path!r:.80}")
    cassette = read(Path(path))
    for note in cassette.notes:
        log.warning("%s", note)
    return Player(cassette, manner)


@dataclass(frozen=True, slots=True)
class Question:
    """What a request is recognised by: its place, its body, and what it says as far as that is understood."""

    method: str
    path: str
    query: str
    body: Any
    meaning: bytes
    request: GenerationRequest | None

    @property
    def gist(self) -> tuple[Any, ...]:
        """What a request much like it shares with it."""
        request = self.request
        if request is None:
            return (self.method, self.path, self.meaning)
        return (self.method, self.path, request.is_streamed, request.model, request.last_user_text)


class Tracks:
    """The exchanges of a cassette, ready to be played."""

    def __init__(self, cassette: Cassette) -> None:
        self.cassette = cassette
        self.questions = [_asked(exchange) for exchange in cassette.exchanges]
        self.answers = [_answer(exchange, cassette.source) for exchange in cassette.exchanges]


class Player:
    """Plays a cassette, from any thread. Equal requests get their answers in the order in which they came.

    `strict` knows only requests with the same method, path, query and body, each as often as it was recorded; what
    a fault has kept from its client does not count.
    `lenient` takes also those that ask the same model the same last question, as often as they like, and leaves
    all others to the mock.
    """

    def __init__(self, cassette: Cassette | Tracks, manner: Manner = "strict") -> None:
        self._tracks = cassette if isinstance(cassette, Tracks) else Tracks(cassette)
        self._manner = checked_manner(manner)
        self._played: set[int] = set()
        self._lock = Lock()

    def rewind(self) -> None:
        """Nothing has been asked for yet."""
        with self._lock:
            self._played.clear()

    def copy(self) -> "Player":
        """Another one that goes on from here by itself."""
        other = Player(self._tracks, self._manner)
        with self._lock:
            other._played = set(self._played)
        return other

    def answer(self, call: Call) -> Recorded | None:
        """What was answered to such a call; None leaves it to the mock. Raises UnmetExpectation."""
        question = _question(call.method, call.path, call.query, call.body, _keys(call))
        with self._lock:
            place = self._place(question)
            if place is None:
                if self._manner == "strict":
                    raise UnmetExpectation(self._explained(question))
                return None
            self._played.add(place)
        return self._tracks.answers[place]

    def give_back(self, recorded: Recorded) -> None:
        """An answer has not reached its client: the exchange counts as not played."""
        place = next(place for place, one in enumerate(self._tracks.answers) if one is recorded)
        with self._lock:
            self._played.discard(place)

    def _place(self, question: Question) -> int | None:
        """The first exchange that has not been played and fits."""
        equal = [place for place, one in enumerate(self._tracks.questions) if _is_equal(one, question)]
        left = [place for place in equal if place not in self._played]
        if left or self._manner == "strict":
            return left[0] if left else None
        gist = question.gist
        alike = [place for place, one in enumerate(self._tracks.questions) if one.gist == gist]
        left = [place for place in alike if place not in self._played]
        return left[0] if left else equal[-1] if equal else alike[-1] if alike else None

    def _explained(self, question: Question) -> str:
        """Why no exchange fits: the nearest one, and in what it differs."""
        source, what = (
            Path(self._tracks.cassette.source).name,
            f"{quoted(question.method)} {quoted(question.path)}",
        )
        known = self._tracks.questions
        times = sum([_is_equal(one, question) for one in known])
        if times:
            return f"{source}: {what} was recorded {times} times, and this is one more"
        if not known:
            return f"{source}: nothing was recorded, and {what} is asked"
        found = [(_differences(one, question), place) for place, one in enumerate(known)]
        # Another path says more than any number of fields.
        # Of two that are equally near, the one with the same question is meant.
        nearest, place = min(
            found,
            key=lambda one: (
                *_weight(one[0]),
                not _asks_the_same(known[one[1]], question),
                one[1] in self._played,
                one[1],
            ),
        )
        more = f", and {len(nearest) - MAX_SHOWN} more" if len(nearest) > MAX_SHOWN else ""
        number = self._tracks.cassette.exchanges[place].exchange
        return (
            f"{source}: {what} was never recorded; the nearest is exchange {number}, "
            f"which differs in {'; '.join([one.said for one in nearest[:MAX_SHOWN]])}{more}"
        )


def _is_equal(one: Question, other: Question) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in ("method", "path", "query", "meaning"))


def _asks_the_same(one: Question, other: Question) -> bool:
    both = one.request, other.request
    return both[0] is not None and both[1] is not None and both[0].last_user_text == both[1].last_user_text


class Difference(NamedTuple):
    """A place in which two requests differ: in words, and how much differs there."""

    said: str
    values: int = 1


def _weight(differences: Sequence[Difference]) -> tuple[bool, int]:
    is_elsewhere = any(one.said.startswith(("method", "path")) for one in differences)
    return is_elsewhere, sum([one.values for one in differences])


def _differences(recorded: Question, asked: Question) -> list[Difference]:
    """In what two requests differ, place by place."""
    found = [
        Difference(f"{name}: recorded {quoted(getattr(recorded, name))}, asked {quoted(getattr(asked, name))}")
        for name in ("method", "path", "query")
        if getattr(recorded, name) != getattr(asked, name)
    ]
    return [*found, *_in_values(recorded.body, asked.body, "")]


def _in_values(recorded: Any, asked: Any, path: str) -> Iterator[Difference]:
    if isinstance(recorded, dict) and isinstance(asked, dict):
        for name in dict.fromkeys([*recorded, *asked]):
            step = f"{path}.{name}" if path else str(name)
            yield from _in_values(recorded.get(name, _MISSING), asked.get(name, _MISSING), step)
    elif isinstance(recorded, list) and isinstance(asked, list):
        for place in range(max(len(recorded), len(asked))):
            pair = [one[place] if place < len(one) else _MISSING for one in (recorded, asked)]
            yield from _in_values(pair[0], pair[1], f"{path}[{place}]")
    elif recorded is _MISSING or asked is _MISSING or _meaning(recorded) != _meaning(asked):
        # Where one of them has a text in place of an object, all that is in the object differs.
        values = _values(recorded) + _values(asked) if _is_nested(recorded) or _is_nested(asked) else 1
        yield Difference(f"{path or 'body'}: recorded {_shown(recorded)}, asked {_shown(asked)}", values)


def _is_nested(value: Any) -> bool:
    return isinstance(value, dict | list)


def _values(value: Any) -> int:
    """How many values there are in one."""
    if _is_nested(value):
        return 1 + sum(map(_values, value.values() if isinstance(value, dict) else value))
    return 0 if value is _MISSING else 1


def _meaning(value: Any) -> bytes:
    """What stands for a JSON value, however the keys of its objects are ordered."""
    return json.meaning(_sorted(value))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _shown(value: Any) -> str:
    return "nothing" if value is _MISSING else f"{quoted(json.text(value)):.80}"


def _keys(call: Call) -> dict[str, str]:
    """The keys that a client shows, which were not written down either."""
    return dict.fromkeys(credentials.shown(call), "key of the client")


def _question(method: str, path: str, query: str, data: bytes, keys: dict[str, str]) -> Question:
    form = request_body(data, keys) if data else {}
    path, query = secrets.clean(path, keys), secrets.clean_query(query, keys)
    return _understood(method, path, query, form.get("json", form.get("text", form.get("base64"))))


def _asked(exchange: ExchangeForm) -> Question:
    request, value = exchange.request, None
    if request.body is not None:
        body = request.body
        value = body.base64 if body.base64 is not None else body.json_ if body.text is None else body.text
    return _understood(request.method, request.path, request.query, value)


def _understood(method: str, path: str, query: str, value: Any) -> Question:
    request: GenerationRequest | None = None
    if isinstance(value, str):
        # A value that is too deep for a cassette stands there as its text.
        with suppress(ValueError):
            value = json.read(value)
    if isinstance(value, dict):
        with suppress(ApiError):
            route, _ = routes.find(method, path)
            request = None if route.page is not None else route.dialect.parse(value, route.surface)
    return Question(method, path, query, value, _meaning(value), request)


def _answer(exchange: ExchangeForm, source: str) -> Recorded:
    """A recorded answer as the gateway tells it."""
    answer = exchange.answer
    headers = [
        (name, value)
        for name, values in answer.headers.items()
        for value in (values if isinstance(values, list) else [values])
    ]
    description = f"cassette {Path(source).name}, exchange {exchange.exchange}"
    ending: Literal["end", "close", "reset"] = "reset" if answer.ending == "left" else answer.ending
    if answer.cut:
        ending = "reset"
    body = b"" if answer.body is None else answer.body.data
    frames: tuple[RecordedFrame, ...] | None = None
    if answer.events is not None:
        said, events = of_stream([_payload(one) for one in answer.events])
        frames = tuple(
            [
                RecordedFrame(one.at / 1000, one.data, Raw(one.data) if isinstance(event, Raw) else event)
                for one, event in zip(answer.events, events, strict=True)
            ]
        )
    else:
        said = of_body(_value(body))
    return Recorded(
        status=answer.status,
        headers=tuple(headers),
        at=answer.at / 1000,
        body=body,
        frames=frames,
        ending=ending,
        generation=said.generation() if answer.status < 400 else None,
        description=description,
    )


def _payload(event: EventForm) -> str:
    return payload(event.text or "")


def _value(data: bytes) -> Any:
    try:
        return json.read(data)
    except ValueError:
        return None
