"""The headers of answers: what kind they are, how they are found again, and when to come back."""

from engy_mock.books.entry import Entry
from engy_mock.dialects.routes import Route
from engy_mock.vocabulary.errors import ApiError, RateLimited

JSON = ("Content-Type", "application/json")
PLAN = "X-Engy-Mock-Plan"
"""The header with the seed of the mock and what stands for the plan of the answer."""

STREAM = (("Content-Type", "text/event-stream; charset=utf-8"), ("Cache-Control", "no-cache"))


def id_headers(route: Route, entry: Entry) -> tuple[tuple[str, str], ...]:
    """The headers by which an answer can be found again: its request id (E-11), its seed and plan."""
    return (*[(name, entry.request_id) for name in route.id_headers], (PLAN, entry.plan))


def refusal_headers(error: ApiError, route: Route, now: float) -> tuple[tuple[str, str], ...]:
    """The headers that belong to a refusal (E-194)."""
    if isinstance(error, RateLimited):
        return (*error.headers, *route.limit_headers(error, now))
    return error.headers
