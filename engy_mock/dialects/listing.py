"""How the lists under `/v5` are asked for and paged: a query with a cursor, and the window that it opens."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl

from typing_extensions import TypedDict

from engy_mock.dialects.fields import Form, violation
from engy_mock.dialects.marks import Limits
from engy_mock.dialects.surfaces import V5
from engy_mock.model.vendors import Vendor
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import InvalidRequest, Unprocessable, Violation

DEFAULT_LIMIT = 100

Item = dict[str, Any]


class ListForm(TypedDict, total=False):
    """The query of a list (S-54, S-59)."""

    name: str
    model_vendor: Vendor
    limit: Annotated[int, Limits(ge=1, le=10_000)]
    sort_by: str
    sort_order: Literal["asc", "desc"]
    starting_after: str
    ending_before: str


_FORM = Form(ListForm)
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The items on one page; `total` counts all that match, `has_more` tells of others beyond the page."""

    items: Sequence[Item]
    limit: int
    total: int
    has_more: bool


def read_query(query: str) -> ListForm:
    """The fields of a query; raises Unprocessable that names what is wrong."""
    fields: dict[str, Any] = dict(parse_qsl(query, keep_blank_values=True))
    limit = fields.get("limit")
    if isinstance(limit, str) and _WHOLE_NUMBER.fullmatch(limit):
        fields["limit"] = int(limit)
    try:
        return _FORM.read(fields, V5)
    except InvalidRequest as error:
        raise _misplaced(*error.violations) from None


def window(rows: Sequence[tuple[str, Item]], query: ListForm, fields: Sequence[str]) -> Window:
    """The page of these rows, each with the id that cursors name; raises Unprocessable for a wrong order.

    Rows keep their order, also when they are read backwards from a cursor (S-61). An unknown cursor opens an
    empty page (S-62).
    """
    rows = _matching(rows, query)
    total, limit = len(rows), query.get("limit", DEFAULT_LIMIT)
    rows = _sorted(rows, query, fields)
    ids = [id for id, _ in rows]
    after, before = query.get("starting_after"), query.get("ending_before")
    if any(cursor and cursor not in ids for cursor in (after, before)):
        return Window(items=(), limit=limit, total=total, has_more=False)
    begin = ids.index(after) + 1 if after else 0
    end = ids.index(before) if before else len(rows)
    found = [item for _, item in rows[begin:end]]
    shown = found[-limit:] if before else found[:limit]
    return Window(items=shown, limit=limit, total=total, has_more=len(found) > limit)


def _matching(rows: Sequence[tuple[str, Item]], query: ListForm) -> Sequence[tuple[str, Item]]:
    """The rows that have what the query asks for."""
    wanted = [("name", query.get("name")), ("model_vendor", query.get("model_vendor"))]
    return [row for row in rows if all(value is None or row[1].get(name) == value for name, value in wanted)]


def _sorted(
    rows: Sequence[tuple[str, Item]], query: ListForm, fields: Sequence[str]
) -> Sequence[tuple[str, Item]]:
    """The rows in the order that the query asks for; rows that are equal in it are in the order of their ids."""
    field = query.get("sort_by")
    if field:
        if field not in fields:
            expected = f"one of {', '.join(fields)}"
            raise _misplaced(violation(("sort_by",), "literal_error", field, expected=expected))
        rows = sorted(rows, key=lambda row: (_as_text(row[1][field]), row[0]))
    return list(reversed(rows)) if query.get("sort_order") == "desc" else rows


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.text(value)


def _misplaced(*violations: Violation) -> Unprocessable:
    """A refusal of the query."""
    found = [Violation(path=v.path, message=v.message, kind=v.kind, place="query") for v in violations]
    return Unprocessable(found[0].message, violations=found)
