"""How a refusal looks, by the surface that it is told on (E-191)."""

from datetime import UTC, datetime
from typing import Any

from engy_mock.dialects.field_names import in_names_of
from engy_mock.dialects.fields import PLAIN_KINDS
from engy_mock.dialects.surfaces import Surface
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import ApiError, InvalidRequest, Unprocessable, Violation
from engy_mock.vocabulary.request import Endpoint


def openai_error(error: ApiError) -> dict[str, Any]:
    """The envelope of the OpenAI dialects; `code` is the status unless the error has a code of its own."""
    return {
        "error": {
            "message": error.message,
            "type": error.openai_type,
            "param": error.param,
            "code": error.status if error.code is None else error.code or None,
        }
    }


def anthropic_error(error: ApiError) -> dict[str, Any]:
    """The envelope of the Anthropic dialect (E-192)."""
    return {"type": "error", "error": {"type": error.anthropic_type, "message": error.message}}


def detail(error: ApiError) -> dict[str, Any]:
    """The bare form of `/v5`: a text, or with 422 a list of all that is wrong (S-79)."""
    if error.status != Unprocessable.status:
        return {"detail": error.message}
    wrong = error.violations or (Violation(path=(), message=error.message),)
    return {
        "detail": [
            {"loc": [found.place, *found.path], "msg": found.message, "type": found.kind} for found in wrong
        ]
    }


_FORMS = {"error": openai_error, "detail": detail}


def refusal(error: ApiError, surface: Surface) -> bytes:
    """The body of a refusal."""
    return json.write(_FORMS[surface.error_body](error))


def judged(error: ApiError, surface: Surface, endpoint: Endpoint) -> ApiError:
    """A refusal with the fields of its endpoint, and the status that wrong ones have on a surface (S-40, S-50)."""
    error = in_names_of(error, endpoint)
    if not (surface.has_unprocessable and error.violations and isinstance(error, InvalidRequest)):
        return error
    is_plain = all(found.kind in PLAIN_KINDS for found in error.violations)
    if is_plain and endpoint in surface.plain_ranges:
        return error
    return Unprocessable(error.message, param=error.param, violations=error.violations)


def frame(error: ApiError, surface: Surface, now: int) -> bytes:
    """What a stream says of a failure, as the data of an event (E-125, S-82); `now` is in Unix seconds."""
    if surface.error_body == "error":
        return refusal(error, surface)
    content = {"error": error.message, "timestamp": f"{datetime.fromtimestamp(now, UTC):%Y-%m-%dT%H:%M:%SZ}"}
    status = {} if error.code is False else {"status_code": error.status}
    return json.write({"error": {**status, "content": content}})
