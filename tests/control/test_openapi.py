"""The OpenAPI document is valid, has every route, and is kept to."""

import re
from typing import Any, get_type_hints

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from engy_mock.dialects.routes import ROUTES
from engy_mock.serving.control.table import OPERATIONS

EVERY = [(route.method, route.path) for route in ROUTES] + [(row.method, row.full_path) for row in OPERATIONS]


@pytest.fixture
def document(ask):
    return ask("GET", "openapi.json")


def test_it_is_valid(document):
    assert document["openapi"] == "3.1.0"
    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


def test_it_has_every_route_and_no_other(document):
    """It is made of the tables by which calls are found."""
    found = [(method.upper(), path) for path, methods in document["paths"].items() for method in methods]
    assert sorted(found) == sorted(EVERY)


def test_operations_have_names_of_their_own(document):
    names = [one["operationId"] for methods in document["paths"].values() for one in methods.values()]
    assert len(set(names)) == len(names) == len(EVERY)


def test_keys_are_told_where_they_are_needed(document):
    paths = document["paths"]
    assert paths["/v1/messages"]["post"]["security"] == [{"bearer": []}, {"apiKey": []}]
    assert paths["/v1/models"]["get"]["security"] == [{"bearer": []}, {}]
    assert paths["/v5/completions"]["post"]["security"] == [{"apiKey": []}]
    assert paths["/_mock/health"]["get"]["security"] == []
    assert paths["/_mock/reset"]["post"]["security"] == [{"control": []}]


def test_answers_are_as_described(ask, document):
    """Every answer that can be had without a body validates against its schema."""
    ask.engy.account("a")
    ask.engy.scenario("phases")
    ask.chat(logprobs=True, top_logprobs=2)
    names = {"scenarios": "phases", "accounts": "a", "journal": "0", "copies": "0"}
    checked = 0
    for row in OPERATIONS:
        if row.method == "GET" and row.gives is not None:
            path = row.path.replace("{name}", names.get(row.path.partition("/")[0], ""))
            content = document["paths"][row.full_path]["get"]["responses"]["200"]["content"]
            schema = {**content["application/json"]["schema"], "components": document["components"]}
            Draft202012Validator(schema).validate(ask("GET", path))
            checked += 1
    assert checked == len([row for row in OPERATIONS if row.method == "GET" and row.gives is not None]) > 8


NAMES = {"accounts/{name}": "default", "models/{name}": "glm-5.2", "scenarios/{name}": "phases"}
NEEDED: dict[str, dict[str, Any]] = {
    "rules": {"rules": [{"reply": "x"}]},
    "plan": {"path": "/v1/models"},
    "models/{name}": {"is_available": True},
}
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    5,
    1.5,
    "5",
    "yes",
    "",
    [],
    [True],
    ["5"],
    {},
    {"5": "5"},
    {"5": True},
    {"x": {"y": None}},
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "row", [row for row in OPERATIONS if row.takes], ids=lambda row: f"{row.method} {row.path}"
)
def test_what_the_document_forbids_is_refused(ask, document, row):
    """Field by field, each value of each kind: by its name and its value, and nothing becomes another thing."""
    content = document["paths"][row.full_path][row.method.lower()]["requestBody"]["content"]
    schema = {**content["application/json"]["schema"], "components": document["components"]}
    validator = Draft202012Validator(schema)
    before = ask("GET", "settings"), ask("GET", "accounts"), ask("GET", "clock"), ask("GET", "models")
    refused = 0
    for name in row.takes.model_fields:
        for value in VALUES:
            body = {**NEEDED.get(row.path, {}), name: value}
            if validator.is_valid(body):
                continue
            path = row.path.replace("{name}", NAMES.get(row.path, ""))
            error = ask(row.method, path, body, status=400)["error"]
            assert error["param"].partition(".")[0] == name
            assert re.search(", not |extra inputs|field required|unexpected keyword", error["message"])
            refused += 1
    assert refused > 5 * len(row.takes.model_fields)
    assert before == (ask("GET", "settings"), ask("GET", "accounts"), ask("GET", "clock"), ask("GET", "models"))


def test_the_document_tells_bounds(document):
    schemas = document["components"]["schemas"]
    number = schemas["AccountToOpen"]["properties"]["balance_micro"]["anyOf"][0]
    assert number == {"type": "integer", "minimum": 0, "maximum": 2**53 - 1}
    assert not [name for name, one in schemas.items() for own in _parts(one) if {"ge", "le"} & own.keys()]


def _parts(schema):
    """A schema and all within it."""
    if isinstance(schema, dict):
        yield schema
    for own in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from _parts(own)


def test_whole_numbers_may_be_written_as_fractions(ask):
    """JSON Schema takes 5.0 for an integer."""
    assert ask("PATCH", "accounts/default", {"balance_micro": 5.0})["balance_micro"] == 5
    assert ask("PATCH", "settings", {"capacity": 3.0})["capacity"] == 3


def test_requests_have_the_fields_that_are_read(document):
    """By the very forms that read them."""
    body = document["paths"]["/v1/chat/completions"]["post"]["requestBody"]["content"]["application/json"][
        "schema"
    ]
    assert body["required"] == ["messages", "model"]
    assert body["properties"]["max_tokens"]["type"] == ["integer", "null"]
    assert body["properties"]["stop"]["type"] == ["string", "array", "null"]
    assert body["properties"]["messages"]["type"] == ["array"]
    for route in ROUTES:
        if route.shows is None:
            found = document["paths"][route.path]["post"]["requestBody"]["content"]["application/json"]["schema"]
            assert found["properties"].keys() == get_type_hints(route.dialect.shape(route.surface)).keys()
