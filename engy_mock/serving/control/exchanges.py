"""The journal: exchanges by page, and one of them with everything that is known of it."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from engy_mock.books.entry import Entry, Fate
from engy_mock.serving.control.form import MAX_WHOLE, WHOLE, Count, Form, Query
from engy_mock.serving.control.house import House, Order, Refused
from engy_mock.serving.watch import Seen
from engy_mock.vocabulary import json
from engy_mock.vocabulary.generation import Choice, TokenLogprob

MAX_PAGE = 500
MAX_SHORT = 200
MAX_REASONS = 3

_CHUNK = re.compile(rb"([0-9a-f]{1,8})\r\n")

Ending = Literal["whole", "closed", "reset", "left"]

Word = Annotated[str, Field(max_length=200)]


class JournalQuery(Query):
    """Which exchanges: at most so many, before or after the one of a number, and with these values."""

    limit: Annotated[int, Field(ge=1, le=MAX_PAGE), WHOLE] = 50
    before: Count | None = None
    after: Annotated[int, Field(ge=-1, le=MAX_WHOLE), WHOLE] | None = None
    endpoint: Word | None = None
    model: Word | None = None
    account: Word | None = None
    status: Annotated[int, Field(ge=0, le=999), WHOLE] | None = None


class FeedQuery(Query):
    """From behind which number on; without it only what is new."""

    after: Annotated[int, Field(ge=-1, le=MAX_WHOLE), WHOLE] | None = None


class UsageForm(Form):
    """Tokens of an answer."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    reasoning_tokens: int


class Exchange(Form):
    """One exchange at a glance.

    `asked` and `said` are the beginnings of question and answer. `first_seconds` and `seconds` are of the wall,
    until the first byte and until the end; null while there is none. `fate` is what became of the client, `ending`
    of the answer: it came whole, or its connection was closed or reset before that, or the client left.
    """

    number: int
    request_id: str
    method: str
    path: str
    endpoint: str
    surface: str
    account: str
    model: str | None
    is_streamed: bool
    asked_at: float
    status: int
    usage: UsageForm | None
    charged_micro: int
    pieces_sent: int
    client_left: bool
    fate: Fate
    error: str | None
    rule: str | None
    faults: list[str]
    not_applied: list[str]
    plan: str
    asked: str
    said: str
    is_over: bool
    first_seconds: float | None
    seconds: float | None
    ending: Ending | None


class ExchangePage(Form):
    """Some exchanges, oldest first. `has_more`: there are others in the direction that was asked for."""

    exchanges: list[Exchange]
    has_more: bool
    total: int
    lost: int


class TokenForm(Form):
    """A token with its log probability and the likeliest ones in its place.

    `piece` counts in the pieces of the text, or in the tokens of a prompt.
    """

    piece: int
    token: str
    logprob: float | None
    top: list[tuple[str, float]]


class CallForm(Form):
    """A call of a tool."""

    id: str | None
    name: str
    arguments: str


class ChoiceForm(Form):
    """One answer in its pieces; `tokens` where log probabilities were asked for, `prompt_tokens` likewise."""

    index: int
    reasoning: list[str]
    text: list[str]
    tool_calls: list[CallForm]
    finish_reason: str
    tokens: list[TokenForm]
    prompt_tokens: list[TokenForm]


class WriteForm(Form):
    """What one write brought of the body, so many seconds after the request was there, without its framing."""

    seconds: float
    text: str


class ExchangeDetail(Exchange):
    """The same with request, answer, and what went over the wire.

    `body` is parsed JSON, else null and the text is in `body_text`. `head` is that of the answer as it was sent;
    it and `writes` are null once they are too long ago. `is_cut`: more was sent than is shown.
    """

    headers: dict[str, str]
    body: Any
    body_text: str | None
    is_body_cut: bool
    mismatches: list[str]
    choices: list[ChoiceForm]
    head: str | None
    writes: list[WriteForm] | None
    is_cut: bool


def listed(house: House, order: Order) -> ExchangePage:
    """A page of the journal."""
    journal, query = house.gateway.journal, order.query
    if query.before is not None and query.after is not None:
        raise Refused(400, "say either before or after", param="after")
    wanted = {
        name: value
        for name in ("endpoint", "model", "account", "status")
        if (value := getattr(query, name)) is not None
    }
    found = [
        entry
        for entry in journal
        if (query.before is None or entry.number < query.before)
        and (query.after is None or entry.number > query.after)
        and all(getattr(entry, name) == value for name, value in wanted.items())
    ]
    shown = found[: query.limit] if query.after is not None else found[-query.limit :]
    return ExchangePage(
        exchanges=[glance(house, entry) for entry in shown],
        has_more=len(found) > len(shown),
        total=len(journal),
        lost=journal.lost,
    )


def show(house: House, order: Order) -> ExchangeDetail:
    """One exchange."""
    return _detail(house, numbered(house, order.name))


def numbered(house: House, number: str) -> Entry:
    """The exchange of this number; raises Refused."""
    for entry in house.gateway.journal:
        if str(entry.number) == number:
            return entry
    raise Refused(404, f"the journal has no exchange {number!r:.40}, or none any more")


def glance(house: House, entry: Entry) -> Exchange:
    """An exchange at a glance."""
    return Exchange(**_glance(entry, house.watch.of(entry)))


def _glance(entry: Entry, seen: Seen | None) -> dict[str, Any]:
    usage, request = entry.usage, entry.request
    return {
        "number": entry.number,
        "request_id": entry.request_id,
        "method": entry.method,
        "path": entry.path,
        "endpoint": entry.endpoint,
        "surface": entry.surface,
        "account": entry.account,
        "model": entry.model,
        "is_streamed": request is not None and request.is_streamed,
        "asked_at": entry.asked_at,
        "status": entry.status,
        "usage": None
        if usage is None
        else UsageForm(
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            reasoning_tokens=usage.reasoning_tokens,
        ),
        "charged_micro": entry.charged_micro,
        "pieces_sent": entry.pieces_sent,
        "client_left": entry.client_left,
        "fate": entry.fate,
        "error": entry.error,
        "rule": entry.rule,
        "faults": list(entry.faults),
        "not_applied": list(entry.not_applied),
        "plan": entry.plan,
        "asked": "" if request is None else request.last_user_text[:MAX_SHORT],
        "said": entry.text_sent[:MAX_SHORT],
        "is_over": entry.fate != "waiting" if seen is None else seen.seconds is not None,
        "first_seconds": entry.first_byte_seconds if seen is None else seen.first_seconds,
        "seconds": entry.seconds if seen is None else seen.seconds,
        "ending": None if seen is None or seen.seconds is None else _ending(entry, seen),
    }


def _ending(entry: Entry, seen: Seen) -> Ending:
    """How the answer came to its end."""
    if entry.client_left:
        return "left"
    if seen.is_whole:
        return "whole"
    return "reset" if seen.is_reset else "closed"


def _detail(house: House, entry: Entry) -> ExchangeDetail:
    seen = house.watch.of(entry)
    body, text = None, None
    try:
        body = json.read(entry.body) if entry.body else None
    except ValueError:
        text = entry.body.decode("utf-8", "replace")
    generation = entry.generation
    return ExchangeDetail(
        **_glance(entry, seen),
        headers=dict(entry.headers),
        body=body,
        body_text=text,
        is_body_cut=entry.is_body_cut,
        mismatches=list(entry.mismatches[:MAX_REASONS]),
        choices=[] if generation is None else [choice_form(choice) for choice in generation.choices],
        head=None if seen is None else _head(seen).decode("latin-1"),
        writes=None if seen is None else list(_writes(seen)),
        is_cut=seen is not None and seen.is_cut,
    )


def _head(seen: Seen) -> bytes:
    """Status line and headers, with the empty line behind them; nothing if there are none."""
    first = seen.writes[0][1] if seen.writes else b""
    head, end, _ = first.partition(b"\r\n\r\n")
    return head + end if end else b""


def _writes(seen: Seen) -> Iterator[WriteForm]:
    """What each write brought of the body."""
    head = _head(seen)
    is_chunked = b"\r\ntransfer-encoding: chunked\r\n" in head.lower()
    for number, (at, data) in enumerate(tuple(seen.writes)):
        data = data if number else data[len(head) :]
        text = (_without_chunks(data) if is_chunked else data).decode("utf-8", "replace")
        if text:
            yield WriteForm(seconds=at, text=text)


def _without_chunks(data: bytes) -> bytes:
    """What is in whole chunks; what follows that is none stays as it is."""
    found = b""
    while mark := _CHUNK.match(data):
        size = int(mark[1], 16)
        end = mark.end() + size
        if data[end : end + 2] != b"\r\n":
            break
        found += data[mark.end() : end]
        data = data[end + 2 :]
    return found + data


def choice_form(choice: Choice) -> ChoiceForm:
    """One answer in its pieces."""
    return ChoiceForm(
        index=choice.index,
        reasoning=list(choice.reasoning or ()),
        text=list(choice.text),
        tool_calls=[CallForm(id=call.id, name=call.name, arguments=call.arguments) for call in choice.tool_calls],
        finish_reason=choice.finish_reason,
        tokens=[_token(one, at) for at, piece in enumerate(choice.logprobs or ()) for one in piece],
        prompt_tokens=[_token(one, at) for at, one in enumerate(choice.prompt_logprobs or ())],
    )


def _token(one: TokenLogprob, piece: int) -> TokenForm:
    top = [(token, logprob) for token, _, logprob in one.top]
    return TokenForm(piece=piece, token=one.token, logprob=one.logprob, top=top)
