"""The route table: a route is a dialect on a surface."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Literal
from urllib.parse import unquote

from engy_mock.dialects.dialect import Dialect, Page
from engy_mock.dialects.limits import Headers, anthropic_limits, no_limits, openai_limits
from engy_mock.dialects.surfaces import V1, V5, Surface
from engy_mock.vocabulary.errors import MethodNotAllowed, NotFound, RateLimited, quoted

ID_HEADERS = ("X-Engy-Request-Id", "x-request-id")
"""The headers of every answer that carry its request id (E-11)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What answers on one path with one method: the page if there is one, else the model in its dialect.

    The dialect also tells the refusals. Both are loaded when they are first asked for: what a run does not use
    costs it nothing. `key_headers` can carry the key, the first that is there counts; without `needs_key` a
    key that is missing or invalid is no reason to refuse.
    `id_headers` carry the request id, `limit_headers` makes those of a 429 out of the limit and the time.
    `serves` says what a page is for.
    A path that ends in `/{name}` stands for any one segment there.
    """

    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: str
    surface: Surface
    speaks: Callable[[], Dialect]
    shows: Callable[[], Page] | None = None
    key_headers: tuple[str, ...] = ("authorization",)
    needs_key: bool = True
    id_headers: tuple[str, ...] = ID_HEADERS
    limit_headers: Callable[[RateLimited, float], Headers] = openai_limits
    serves: str = ""

    @property
    def endpoint(self) -> str:
        """What a call on it is for."""
        return self.serves or self.speaks().endpoint

    @property
    def dialect(self) -> Dialect:
        """How requests are read and answers told here."""
        return self.speaks()

    @property
    def page(self) -> Page | None:
        """What answers here without the model."""
        return None if self.shows is None else self.shows()


@cache
def _chat() -> Dialect:
    from engy_mock.dialects.chat import Chat

    return Chat()


@cache
def _completions() -> Dialect:
    from engy_mock.dialects.completions import Completions

    return Completions()


@cache
def _messages(*, has_limit: bool = True) -> Dialect:
    from engy_mock.dialects.messages import Messages

    return Messages(has_limit=has_limit)


@cache
def _count_tokens() -> Page:
    from engy_mock.dialects.count_tokens import CountTokens

    return CountTokens()


@cache
def _responses(*, takes_previous: bool = False, names_events: bool = True) -> Dialect:
    from engy_mock.dialects.responses import Responses

    return Responses(takes_previous=takes_previous, names_events=names_events)


@cache
def _inference() -> Dialect:
    from engy_mock.dialects.inference import Inference

    return Inference()


@cache
def _model_list() -> Page:
    from engy_mock.dialects.model_list import ModelList

    return ModelList()


@cache
def _chat_models() -> Page:
    from engy_mock.dialects.chat_models import ChatModels

    return ChatModels()


@cache
def _records(name: Literal["RecordChange", "RecordCreation", "RecordList", "RecordRemoval", "RecordView"]) -> Page:
    from engy_mock.dialects import model_records

    page: Page = getattr(model_records, name)()
    return page


_MESSAGES_KEYS = ("authorization", "x-api-key")
_MESSAGES_IDS = (*ID_HEADERS, "request-id")
_v5 = partial(Route, surface=V5, key_headers=("x-api-key",), id_headers=(), limit_headers=no_limits)
_record = partial(_v5, speaks=_chat, serves="records")

ROUTES = (
    Route(method="POST", path="/v1/chat/completions", surface=V1, speaks=_chat),
    Route(method="POST", path="/v1/completions", surface=V1, speaks=_completions),
    Route(
        method="POST",
        path="/v1/messages",
        surface=V1,
        speaks=_messages,
        key_headers=_MESSAGES_KEYS,
        id_headers=_MESSAGES_IDS,
        limit_headers=anthropic_limits,
    ),
    Route(
        method="POST",
        path="/v1/messages/count_tokens",
        surface=V1,
        speaks=partial(_messages, has_limit=False),
        shows=_count_tokens,
        serves="count_tokens",
        key_headers=_MESSAGES_KEYS,
        id_headers=_MESSAGES_IDS,
        limit_headers=anthropic_limits,
    ),
    Route(method="POST", path="/v1/responses", surface=V1, speaks=_responses),
    Route(
        method="GET",
        path="/v1/models",
        surface=V1,
        speaks=_chat,
        shows=_model_list,
        serves="models",
        needs_key=False,
    ),
    _v5(method="POST", path="/v5/completions", speaks=_completions),
    _v5(method="POST", path="/v5/chat/completions", speaks=_chat),
    _v5(method="GET", path="/v5/chat/completions/models", speaks=_chat, shows=_chat_models, serves="models"),
    _v5(method="POST", path="/v5/responses", speaks=partial(_responses, takes_previous=True, names_events=False)),
    _v5(method="POST", path="/v5/inference", speaks=_inference),
    _record(method="GET", path="/v5/models", shows=partial(_records, "RecordList")),
    _v5(
        method="POST", path="/v5/models", speaks=_chat, shows=partial(_records, "RecordCreation"), serves="records"
    ),
    _v5(
        method="GET",
        path="/v5/models/{name}",
        speaks=_chat,
        shows=partial(_records, "RecordView"),
        serves="records",
    ),
    _v5(
        method="PATCH",
        path="/v5/models/{name}",
        speaks=_chat,
        shows=partial(_records, "RecordChange"),
        serves="records",
    ),
    _v5(
        method="DELETE",
        path="/v5/models/{name}",
        speaks=_chat,
        shows=partial(_records, "RecordRemoval"),
        serves="records",
    ),
)

ALIASES = {
    "/v4/beta/completions": "/v5/completions",
    "/v4/beta/chat/completions": "/v5/chat/completions",
}
"""Other paths of the same routes (S-77)."""

_BY_PATH: dict[str, dict[str, Route]] = {}
for _route in ROUTES:
    _BY_PATH.setdefault(_route.path, {})[_route.method] = _route

_ANY = "/{name}"
_SPEAKERS = (
    Route(method="POST", path="/v1/messages/", surface=V1, speaks=_messages, id_headers=_MESSAGES_IDS),
    _v5(method="POST", path="/v5/", speaks=_chat),
    _v5(method="POST", path="/v4/beta/", speaks=_chat),
    Route(method="POST", path="/", surface=V1, speaks=_chat),
)
"""Who speaks where nothing is served, by how the path begins (E-5)."""


def find(method: str, path: str) -> tuple[Route, str]:
    """The route of a call and the name at the end of its path; raises NotFound or MethodNotAllowed (E-4)."""
    found, name = _at(path)
    if found is None:
        raise NotFound(f"no route {quoted(method)} {quoted(path)}")
    route = found.get(method)
    if route is None:
        allowed = ", ".join(sorted(found))
        raise MethodNotAllowed(
            f"method {quoted(method)} not allowed on {quoted(path)}", headers=(("Allow", allowed),)
        )
    return route, name


def methods(path: str) -> list[str]:
    """The methods that are served on a path; raises NotFound."""
    found, _ = _at(path)
    if found is None:
        raise NotFound(f"no route {quoted(path)}")
    return sorted(found)


def reader(route: Route, *, strict_tools: bool) -> Dialect:
    """What reads the requests of a route; with `strict_tools` it refuses tools that are no functions (E-181)."""
    dialect = route.dialect
    if strict_tools and dialect.endpoint == "responses":
        from engy_mock.dialects.responses import Responses

        assert isinstance(dialect, Responses)
        return replace(dialect, strict_tools=True)
    return dialect


def speaker(path: str) -> Route:
    """The route that tells what goes wrong on a path, known or not (E-5)."""
    found, _ = _at(path)
    if found is not None:
        return next(iter(found.values()))
    below = f"{_canonical(path)}/"
    return next((route for route in _SPEAKERS if below.startswith(route.path)), _SPEAKERS[-1])


def _canonical(path: str) -> str:
    """The path that stands in the table for this one (S-6, S-77)."""
    if path.startswith("/public/v5/"):
        path = path.removeprefix("/public")
    return ALIASES.get(path, path)


def _at(path: str) -> tuple[dict[str, Route] | None, str]:
    path = _canonical(path)
    found = _BY_PATH.get(path)
    if found is not None:
        return found, ""
    before, _, name = path.rpartition("/")
    return (_BY_PATH.get(before + _ANY), unquote(name)) if name else (None, "")
