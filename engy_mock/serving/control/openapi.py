"""All routes as an OpenAPI document, made of the tables by which they are found."""

from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic.json_schema import models_json_schema
from typing_extensions import is_typeddict

from engy_mock.dialects.routes import ROUTES, Route
from engy_mock.serving.control.feed import LAST_SEEN
from engy_mock.serving.control.guard import CONTROL
from engy_mock.serving.control.table import Operation

REF = "#/components/schemas/{model}"

_LAST_SEEN = (
    {
        "name": LAST_SEEN,
        "in": "header",
        "required": False,
        "schema": {"type": "integer"},
        "description": "The id of the last event that was seen, which counts before `after`.",
    },
)
_STREAMED = frozenset({"chat", "completions", "messages", "responses", "inference"})
JSON = "application/json"
_CONTENT: Mapping[str, tuple[str, ...]] = {
    "json": (JSON,),
    "openapi": (JSON,),
    "feed": ("text/event-stream",),
    "metrics": ("text/plain",),
    "page": ("text/html",),
    "file": ("text/css", "text/javascript", "image/svg+xml"),
}
"""What each kind of control route answers with."""

_KEYS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "authorization": ("bearer", {"type": "http", "scheme": "bearer"}),
    "x-api-key": ("apiKey", {"type": "apiKey", "in": "header", "name": "x-api-key"}),
}
_JSON_TYPES: Mapping[type, tuple[str, ...]] = {
    NoneType: ("null",),
    bool: ("boolean",),
    int: ("integer",),
    float: ("number",),
    str: ("string",),
    list: ("array",),
    dict: ("object",),
}
_REFUSAL = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "status", "param"],
            "properties": {
                "message": {"type": "string"},
                "status": {"type": "integer"},
                "param": {"type": ["string", "null"]},
            },
        }
    },
}


def document(version: str, operations: Iterable[Operation]) -> dict[str, Any]:
    """The OpenAPI 3.1 document of control and imitated routes."""
    rows = tuple(operations)
    forms = dict.fromkeys([form for row in rows for form in (row.takes, row.gives) if form is not None])
    inputs = dict.fromkeys([(row.takes, "validation") for row in rows if row.takes is not None])
    outputs = dict.fromkeys([(row.gives, "serialization") for row in rows if row.gives is not None])
    names, definitions = models_json_schema([*inputs, *outputs], ref_template=REF)  # type: ignore[list-item]
    assert len(forms) <= len(names)
    paths: dict[str, dict[str, Any]] = {}
    for row in rows:
        paths.setdefault(row.full_path, {})[row.method.lower()] = _control(row, names)
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _imitated(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "engy_mock",
            "version": version,
            "description": "A pretend LLM inference service: what it imitates, and what controls it.",
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": {**definitions.get("$defs", {}), "ControlRefusal": _REFUSAL},
            "securitySchemes": {
                **{name: dict(scheme) for name, scheme in _KEYS.values()},
                "control": {
                    "type": "apiKey",
                    "in": "header",
                    "name": CONTROL,
                    "description": "The control token, or anything where none is set.",
                },
            },
        },
    }


def _control(row: Operation, names: Mapping[Any, Any]) -> dict[str, Any]:
    """One route of the control API."""
    kinds = _CONTENT[row.kind]
    schema: Mapping[str, Any] = {"type": "object" if kinds == (JSON,) else "string"}
    if row.gives is not None:
        schema = names[row.gives, "serialization"]
    refusals = [
        "400",
        "403",
        "405",
        "413",
        "415",
        *(("404",) if "{name}" in row.path or row.kind == "metrics" else ()),
    ]
    refusals += ["409"] if row.path == "clock" and row.method == "PATCH" else []
    refused = {"application/json": {"schema": {"$ref": REF.format(model="ControlRefusal")}}}
    named = (row.path or "the_page").replace("/{name}", "_one").replace(".", "_")
    told: dict[str, Any] = {
        "operationId": f"{row.method.lower()}_{named}",
        "tags": ["control"],
        "summary": row.summary,
        "security": [] if row.is_open else [{"control": []}],
        "parameters": [*_name_in(row.path), *_query(row), *(_LAST_SEEN if row.kind == "feed" else ())],
        "responses": {
            "200": {"description": "Done.", "content": {kind: {"schema": schema} for kind in kinds}},
            **{
                status: {"description": "Not done.", "content": refused}
                for status in sorted([*refusals, *([] if row.is_open else ["401"])])
            },
        },
    }
    if row.takes is not None:
        body = {"schema": names[row.takes, "validation"]}
        told["requestBody"] = {"required": True, "content": {"application/json": body}}
    return told


def _query(row: Operation) -> list[dict[str, Any]]:
    """The fields of its query."""
    if row.query is None:
        return []
    schema = row.query.model_json_schema()
    return [
        {"name": name, "in": "query", "required": name in schema.get("required", ()), "schema": own}
        for name, own in schema["properties"].items()
    ]


def _name_in(path: str) -> list[dict[str, Any]]:
    """The name in its path, if it has one."""
    if "{name}" not in path:
        return []
    return [{"name": "name", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}]


def _fields(shape: type) -> dict[str, Any]:
    """What the fields of a request are by the form that reads them; how they depend on each other is not told."""
    hints = get_type_hints(shape)
    return {
        "type": "object",
        "required": sorted(getattr(shape, "__required_keys__", ())),
        "properties": {name: {"type": types} if (types := _types(hint)) else {} for name, hint in hints.items()},
    }


def _types(hint: Any) -> list[str]:
    """The JSON types of a field; none if it may be anything."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        parts = [_types(part) for part in get_args(hint)]
        return list(dict.fromkeys([one for part in parts for one in part])) if all(parts) else []
    if origin is Annotated:
        return _types(get_args(hint)[0])
    if origin is Literal:
        return list(dict.fromkeys([one for value in get_args(hint) for one in _types(type(value))]))
    plain = origin or hint
    if is_typeddict(plain):
        return ["object"]
    return next((list(names) for kind, names in _JSON_TYPES.items() if plain is kind), [])


def _imitated(route: Route) -> dict[str, Any]:
    """One route of the service that is pretended."""
    answers: dict[str, Any] = {"application/json": {"schema": {"type": "object"}}}
    if route.endpoint in _STREAMED:
        answers["text/event-stream"] = {"schema": {"type": "string"}}
    ids = {name: {"schema": {"type": "string"}} for name in route.id_headers}
    name = route.path.strip("/").replace("/{name}", "_one").replace("/", "_")
    told: dict[str, Any] = {
        "operationId": f"{route.method.lower()}_{name}",
        "tags": [route.surface.name],
        "summary": f"{route.endpoint} under /{route.surface.name}",
        "security": [{_KEYS[header][0]: []} for header in route.key_headers] + ([] if route.needs_key else [{}]),
        "parameters": _name_in(route.path),
        "responses": {
            "200": {"description": "The answer.", "headers": ids, "content": answers},
            "default": {
                "description": "A refusal in the envelope of the route.",
                "headers": ids,
                "content": {"application/json": {"schema": {"type": "object"}}},
            },
        },
    }
    if route.method in ("POST", "PATCH"):
        schema: dict[str, Any] = {"type": "object"}
        if route.endpoint in _STREAMED:
            schema = _fields(route.dialect.shape(route.surface))
        told["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return told
