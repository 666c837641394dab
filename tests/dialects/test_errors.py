"""How refusals look on each surface."""

import json

import pytest

from engy_mock.dialects import errors
from engy_mock.dialects.chat import Chat
from engy_mock.dialects.completions import Completions
from engy_mock.dialects.surfaces import V1, V5
from engy_mock.vocabulary.errors import (
    ApiError,
    InsufficientBalance,
    InvalidKey,
    InvalidRequest,
    MethodNotAllowed,
    MockFailed,
    ModelNotFound,
    NoWorker,
    PermissionDenied,
    RateLimited,
    TooLarge,
    UnsupportedMediaType,
    UpstreamFailed,
    UpstreamTimeout,
)

TABLE = [
    (InvalidRequest("m", param="stop"), 400, "invalid_request_error"),
    (InvalidKey("m"), 401, "authentication_error"),
    (InsufficientBalance("m"), 402, "insufficient_quota"),
    (PermissionDenied("m"), 403, "permission_error"),
    (ModelNotFound("m", param="model"), 404, "invalid_request_error"),
    (MethodNotAllowed("m"), 405, "invalid_request_error"),
    (TooLarge("m"), 413, "invalid_request_error"),
    (UnsupportedMediaType("m"), 415, "invalid_request_error"),
    (RateLimited("m"), 429, "rate_limit_error"),
    (UpstreamFailed("m"), 502, "server_error"),
    (NoWorker("m"), 503, "service_unavailable_error"),
    (UpstreamTimeout("m"), 504, "timeout_error"),
]


@pytest.mark.parametrize(("error", "code", "kind"), TABLE, ids=[str(row[1]) for row in TABLE])
def test_the_envelope(error: ApiError, code: int, kind: str):
    """E-191, E-193: every cause has its type; the code is the status as a number."""
    for dialect in (Chat(), Completions()):
        document = json.loads(dialect.error(error, V1, "id"))
        assert document == {"error": {"message": "m", "type": kind, "param": error.param, "code": code}}
        assert list(document["error"]) == ["message", "type", "param", "code"]


def test_a_code_of_its_own():
    """E-191: window refusals have a string in place of the status."""
    error = InvalidRequest("too long", code="context_length_exceeded")
    assert json.loads(errors.refusal(error, V1))["error"]["code"] == "context_length_exceeded"


def test_a_fault_in_the_mock():
    """E-193: it says so, in the same envelope."""
    assert json.loads(errors.refusal(MockFailed(), V1))["error"]["message"] == "the mock failed"


def test_the_bare_form():
    """S-79: under `/v5` a refusal is a detail."""
    assert errors.refusal(InvalidKey("invalid api key"), V5) == b'{"detail":"invalid api key"}'
