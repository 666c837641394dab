"""Bodies and queries that nobody would think of: schemathesis makes them out of the OpenAPI document.

They need the extra `clients`.
"""

from collections.abc import Iterator
from importlib import import_module

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable

from engy_mock import EngyMock
from engy_mock.dialects.routes import ROUTES
from engy_mock.serving.control.table import OPERATIONS

pytestmark = pytest.mark.slow

EXAMPLES = 15
CONTROL = {"X-Engy-Mock-Control": "1", "User-Agent": "python"}
FUZZED = [(row.method, row.full_path) for row in OPERATIONS if row.kind in ("json", "openapi")]
IMITATED = [(route.method, route.path) for route in ROUTES]


@pytest.fixture(scope="module")
def engy() -> Iterator[EngyMock]:
    with EngyMock(control=True) as engy:
        yield engy


@pytest.fixture(scope="module")
def schema(engy):
    return import_module("schemathesis").openapi.from_url(f"{engy.origin}/_mock/openapi.json")


def fuzz(schema, engy, method, path, headers, checks):
    """Send what fits the schema and what does not; raises what a check finds."""
    modes = import_module("schemathesis").GenerationMode
    operation = schema[path][method]
    for mode in (modes.POSITIVE, modes.NEGATIVE):
        strategy = operation.as_strategy(generation_mode=mode)

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=strategy)
        def one(case):
            case.call_and_validate(engy.origin, headers=headers, checks=checks)

        try:
            one()
        except Unsatisfiable:
            # There are operations about which nothing can be wrong.
            assert mode is modes.NEGATIVE


@pytest.mark.parametrize(("method", "path"), FUZZED)
def test_control_keeps_to_its_document(schema, engy, method, path):
    """Whatever is sent: the statuses, types and shapes of the document, and never a 5xx (Q-15)."""
    common, own = import_module("schemathesis.checks"), import_module("schemathesis.specs.openapi.checks")
    common.load_all_checks()
    checks = [common.not_a_server_error, own.status_code_conformance]
    checks += [own.content_type_conformance, own.response_schema_conformance]
    fuzz(schema, engy, method, path, CONTROL, checks)


@pytest.mark.parametrize(("method", "path"), IMITATED)
def test_imitated_routes_never_fail(schema, method, path):
    """Whatever is sent: a refusal, never a 5xx (Q-15, R-40)."""
    checks = import_module("schemathesis.checks")
    checks.load_all_checks()
    # A mock of its own: the settings of the other are fuzzed as well, how much its journal keeps among them.
    with EngyMock() as engy:
        key = {"Authorization": f"Bearer {engy.api_key}", "x-api-key": "k"}
        fuzz(schema, engy, method, path, key, [checks.not_a_server_error])
        assert {(entry.method, entry.status // 100 == 5) for entry in engy.journal} == {(method, False)}
        assert engy.gateway.defects == []
