"""`/v5/models`: the records of an account, from their creation to their end."""

from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engy_mock.books.accounts import Account
from engy_mock.gateway import Gateway
from engy_mock.vocabulary.clock import StandingClock
from tests.dialects.called import CHAT, CHAT_PATH, KEY, RECORDS_PATH, Answer, ask, wrong

HOSTED = {"name": "mine", "model_vendor": "openai", "model_type": "chat_completion"}
IMAGE = {"command": ["serve"], "registry": "r", "repository": "x", "tag": "v1"}
LAUNCH = {
    "name": "bundle",
    "model_vendor": "launch",
    "vendor_configuration": {"model_image": {**IMAGE, "readiness_delay": 5}, "model_infra": {"cpus": 2}},
}
ENGINE = {
    "name": "llama",
    "model_vendor": "llmengine",
    "vendor_configuration": {"model": "llama-3-8b", "gpus": 1},
    "model_metadata": {"team": "a"},
}
OWN = {"x-api-key": "own key"}


@pytest.fixture
def gateway() -> Gateway:
    return Gateway()


def create(gateway: Gateway, record: dict[str, Any] = HOSTED, **fields: Any) -> dict[str, Any]:
    """A record that has been created, with these fields changed."""
    answer = ask(gateway, RECORDS_PATH, {**record, **fields})
    assert answer.status == 200, answer.data
    document = answer.json()
    assert isinstance(document, dict)
    return document


def one(gateway: Gateway, id: str, method: str = "GET", body: object = None, **more: Any) -> Answer:
    return ask(gateway, f"{RECORDS_PATH}/{quote(id, safe='')}", body, method=method, **more)


def listed(gateway: Gateway, query: str = "", **more: Any) -> dict[str, Any]:
    """One page, once its form is found right."""
    document = ask(gateway, RECORDS_PATH, query=query, **more).json()
    assert list(document) == ["object", "items", "limit", "total", "has_more"], "S-59"
    assert document["object"] == "list"
    return dict(document)


def names(gateway: Gateway, query: str = "", **more: Any) -> list[str]:
    return [item["name"] for item in listed(gateway, query, **more)["items"]]


def test_a_record(gateway: Gateway):
    """S-58: the fields of a record, and nothing beside them."""
    record = create(gateway, model_metadata={"a": [1]})
    id = record["id"]
    assert record == {
        "id": id,
        "object": "model",
        "name": "mine",
        "model_type": "chat_completion",
        "model_vendor": "openai",
        "status": "ready",
        "status_reason": None,
        "model_availability": "available",
        "model_metadata": {"a": [1]},
        "vendor_configuration": None,
        "created_at": "2026-10-18T00:00:00Z",
        "created_by_user_id": "engy-mock",
        "created_by_identity_type": "service_account",
    }
    assert one(gateway, id).json() == record == listed(gateway)["items"][0]


def test_ids_are_repeatable(gateway: Gateway):
    """S-58: ids look like UUIDs, sort in the order of creation, and are the same on every run."""
    ids = [create(gateway, name=name)["id"] for name in "cab"]
    assert [len(part) for part in ids[0].split("-")] == [8, 4, 4, 4, 12]
    assert ids == sorted(ids)
    again = Gateway()
    assert ids == [create(again, name=name)["id"] for name in "cab"]
    assert create(Gateway(seed=1), name="c")["id"] != ids[0]


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        (HOSTED, "chat_completion"),
        ({**HOSTED, "model_type": "generic"}, "generic"),
        ({**HOSTED, "model_vendor": "fireworks_ai", "model_type": "completion"}, "completion"),
        (LAUNCH, "generic"),
        ({**LAUNCH, "model_type": "generic"}, "generic"),
        (ENGINE, "chat_completion"),
        ({key: value for key, value in LAUNCH.items() if key != "model_vendor"}, "generic"),
        ({key: value for key, value in ENGINE.items() if key != "model_vendor"}, "chat_completion"),
        ({**HOSTED, "on_conflict": "error", "nobody": 1}, "chat_completion"),
        ({**HOSTED, "model_metadata": None, "on_conflict": None}, "chat_completion"),
    ],
)
def test_forms(gateway: Gateway, record: dict[str, Any], kind: str):
    """S-63: the three forms of a new record; a configuration is kept as it was sent."""
    created = create(gateway, record)
    assert created["model_type"] == kind
    assert created["vendor_configuration"] == record.get("vendor_configuration")


WRONG: list[tuple[dict[str, Any], dict[str, Any], list[Any], str]] = [
    (HOSTED, {"name": ...}, ["name"], "missing"),
    (HOSTED, {"name": ""}, ["name"], "string_too_short"),
    (HOSTED, {"name": 5}, ["name"], "string_type"),
    (HOSTED, {"model_vendor": ...}, ["model_vendor"], "missing"),
    (HOSTED, {"model_vendor": "acme"}, ["model_vendor"], "literal_error"),
    (HOSTED, {"model_vendor": 5}, ["model_vendor"], "literal_error"),
    (HOSTED, {"model_type": ...}, ["model_type"], "missing"),
    (HOSTED, {"model_type": "chat"}, ["model_type"], "literal_error"),
    (HOSTED, {"model_metadata": 5}, ["model_metadata"], "dict_type"),
    (HOSTED, {"on_conflict": "swap"}, ["on_conflict"], "literal_error"),
    (LAUNCH, {"vendor_configuration": ...}, ["vendor_configuration"], "missing"),
    (LAUNCH, {"model_type": "chat_completion"}, ["model_type"], "literal_error"),
    (
        LAUNCH,
        {"vendor_configuration": {"model_image": IMAGE}},
        ["vendor_configuration", "model_infra"],
        "missing",
    ),
    (
        LAUNCH,
        {"vendor_configuration": {"model_image": {**IMAGE, "tag": 1}, "model_infra": {}}},
        ["vendor_configuration", "model_image", "tag"],
        "string_type",
    ),
    (ENGINE, {"vendor_configuration": {}}, ["vendor_configuration", "model"], "missing"),
    (ENGINE, {"model_type": "generic"}, ["model_type"], "literal_error"),
]


@pytest.mark.parametrize(("record", "fields", "place", "kind"), WRONG, ids=lambda value: str(value)[:30])
def test_wrong_records(
    gateway: Gateway, record: dict[str, Any], fields: dict[str, Any], place: list[Any], kind: str
):
    """S-50, S-63: what is missing or wrong is 422, and nothing is created."""
    body = {key: value for key, value in {**record, **fields}.items() if value is not ...}
    assert wrong(ask(gateway, RECORDS_PATH, body)) == [(["body", *place], kind)]
    assert names(gateway) == []


@pytest.mark.parametrize("record", [LAUNCH, ENGINE], ids=["launch", "llmengine"])
@pytest.mark.parametrize("reads", ["list", "retrieve"])
def test_deployment(gateway: Gateway, record: dict[str, Any], reads: str):
    """S-64: these are being deployed when they are created, and ready when they are read."""
    created = create(gateway, record)
    assert (created["status"], created["model_availability"]) == ("deploying", "unavailable")
    read = listed(gateway)["items"][0] if reads == "list" else one(gateway, created["id"]).json()
    assert read == {**created, "status": "ready", "model_availability": "available"}


def test_ready_models_can_be_called(gateway: Gateway):
    """S-23, S-64: a record that is ready makes its model callable, one that is deploying does not."""
    body = {**CHAT, "model": "launch/bundle", "max_tokens": 1}
    assert ask(gateway, CHAT_PATH, body).status == 404
    id = create(gateway, LAUNCH)["id"]
    assert ask(gateway, CHAT_PATH, body).status == 404
    assert one(gateway, id).json()["status"] == "ready"
    assert ask(gateway, CHAT_PATH, body).status == 200
    for path in ("/v5/completions", "/v5/inference"):
        assert ask(gateway, path, {"model": "launch/bundle", "prompt": "Hi"}).status == 200
    one(gateway, id, "PATCH", {"name": "other"})
    assert ask(gateway, CHAT_PATH, body).status == 404
    assert ask(gateway, CHAT_PATH, {**body, "model": "launch/other"}).status == 200
    one(gateway, id, "DELETE")
    assert ask(gateway, CHAT_PATH, {**body, "model": "launch/other"}).status == 404


def test_records_do_not_hide_what_is_built_in(gateway: Gateway):
    """S-23: a record with the name of a built-in model changes nothing about that model."""
    before = ask(gateway, CHAT_PATH, CHAT).json()["choices"]
    create(gateway, name="gpt-4o", model_type="generic")
    assert ask(gateway, CHAT_PATH, CHAT).json()["choices"] == before


def test_clashes(gateway: Gateway):
    """S-65: a name is there once per vendor; a second is refused, and the client is told not to try again."""
    create(gateway)
    answer = ask(gateway, RECORDS_PATH, HOSTED)
    assert (answer.status, answer.detail()) == (409, "a model named 'mine' exists")
    assert answer.headers["x-should-retry"] == "false"
    assert create(gateway, model_vendor="xai")["name"] == "mine"
    assert names(gateway) == ["mine", "mine"]


def test_updates_by_creation(gateway: Gateway):
    """S-65: with `on_conflict` update the record that is there gets the new contents."""
    first = create(gateway, ENGINE)
    gateway.clock = StandingClock(1792281600 + 60)
    second = create(gateway, ENGINE, on_conflict="update", vendor_configuration={"model": "llama-3-70b"})
    assert second == {
        **first,
        "vendor_configuration": {"model": "llama-3-70b"},
        "status": "deploying",
        "model_availability": "unavailable",
    }
    assert listed(gateway)["total"] == 1
    assert create(gateway, on_conflict="update")["name"] == "mine"


def test_changed_metadata(gateway: Gateway):
    """S-66: metadata are exchanged as a whole, and nothing else changes."""
    record = create(gateway, model_metadata={"a": 1})
    changed = one(gateway, record["id"], "PATCH", {"model_metadata": {"b": 2}}).json()
    assert changed == {**record, "model_metadata": {"b": 2}}
    assert one(gateway, record["id"], "PATCH", {}).json() == changed
    assert one(gateway, record["id"], "PATCH", {"model_metadata": None, "x": 1}).json() == changed


def test_changed_configuration(gateway: Gateway):
    """S-66: a configuration is laid over the one that is there, and the model deployed again."""
    record = create(gateway, LAUNCH)
    one(gateway, record["id"])
    change = {"vendor_configuration": {"model_image": {"tag": "v2"}}, "model_metadata": {"a": 1}}
    changed = one(gateway, record["id"], "PATCH", change).json()
    assert changed["status"] == "deploying"
    assert changed["model_metadata"] == {"a": 1}
    assert changed["vendor_configuration"] == {
        "model_image": {**IMAGE, "readiness_delay": 5, "tag": "v2"},
        "model_infra": {"cpus": 2},
    }
    assert one(gateway, record["id"]).json()["status"] == "ready"


@pytest.mark.parametrize(
    ("record", "change", "status"),
    [
        (HOSTED, {"vendor_configuration": {"model": "x"}}, 400),
        (LAUNCH, {"vendor_configuration": {"model": "x"}}, 422),
        (ENGINE, {"vendor_configuration": {"model_image": {}}}, 422),
        (ENGINE, {"vendor_configuration": {"model": 5}}, 422),
        (ENGINE, {"vendor_configuration": 5}, 422),
        (HOSTED, {"name": ""}, 422),
        (HOSTED, {"on_conflict": "update", "name": "x"}, 422),
        (HOSTED, {"model_metadata": []}, 422),
    ],
)
def test_wrong_changes(gateway: Gateway, record: dict[str, Any], change: dict[str, Any], status: int):
    """S-66: what does not belong to the vendor, or is of a wrong type, is refused, and nothing changes."""
    id = create(gateway, record)["id"]
    before = one(gateway, id).json()
    answer = one(gateway, id, "PATCH", change)
    assert answer.status == status
    answer.detail()
    assert one(gateway, id).json() == before


def test_renaming(gateway: Gateway):
    """S-66: a record keeps its id under a new name; the old name is free again."""
    record = create(gateway)
    renamed = one(gateway, record["id"], "PATCH", {"name": "yours"}).json()
    assert renamed == {**record, "name": "yours"}
    assert one(gateway, record["id"], "PATCH", {"name": "yours", "on_conflict": "error"}).json() == renamed
    assert create(gateway)["id"] != record["id"]


def test_swapping(gateway: Gateway):
    """S-66: a name that another has is a clash, or exchanged with it if that is wished."""
    first, second = create(gateway, name="a"), create(gateway, name="b")
    clash = one(gateway, first["id"], "PATCH", {"name": "b", "model_metadata": {"x": 1}})
    assert (clash.status, clash.headers["x-should-retry"]) == (409, "false")
    assert one(gateway, first["id"]).json() == first, "all of a change or none"
    swapped = one(gateway, first["id"], "PATCH", {"name": "b", "on_conflict": "swap"}).json()
    assert swapped == {**first, "name": "b"}
    assert one(gateway, second["id"]).json() == {**second, "name": "a"}


def test_removal(gateway: Gateway):
    """S-16, S-66: a record is deleted by a call without a body, whatever content type it names."""
    record = create(gateway)
    answer = one(gateway, record["id"], "DELETE", headers={**KEY, "content-type": "application/json"})
    assert answer.json() == {"id": record["id"], "deleted": True, "object": "model"}
    assert names(gateway) == []
    assert one(gateway, record["id"], "DELETE").status == 404


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_no_change_while_deploying(gateway: Gateway, method: str):
    """S-66: what is being deployed cannot be changed or deleted."""
    id = create(gateway, ENGINE)["id"]
    answer = one(gateway, id, method, {"model_metadata": {}} if method == "PATCH" else None)
    assert (answer.status, answer.detail()) == (400, "model 'llama' is deploying")
    listed(gateway)
    assert one(gateway, id, method, {"model_metadata": {}} if method == "PATCH" else None).status == 200


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_unknown_ids(gateway: Gateway, method: str):
    """S-17, S-66: an id that nobody has is 404, and is told decoded."""
    answer = one(gateway, "a/b", method, {} if method == "PATCH" else None)
    assert (answer.status, answer.detail()) == (404, "model 'a/b' not found")


def test_ids_with_a_slash(gateway: Gateway):
    """S-17: a record is also found by what requests call its model, percent-encoded in the path."""
    record = create(gateway, name="a/b")
    assert ask(gateway, "/v5/models/openai%2Fa%2Fb").json() == record
    assert ask(gateway, "/v5/models/openai/a/b").status == 404
    assert ask(gateway, CHAT_PATH, {**CHAT, "model": "openai/a/b", "max_tokens": 1}).status == 200
    assert one(gateway, "openai/a/b", "DELETE").json()["id"] == record["id"]


@pytest.fixture
def five(gateway: Gateway) -> Gateway:
    """Five records of three vendors, created a second apart."""
    for second, (name, vendor) in enumerate(
        [("e", "openai"), ("b", "xai"), ("d", "openai"), ("a", "cohere"), ("c", "openai")]
    ):
        gateway.clock = StandingClock(1792281600 + second)
        create(gateway, name=name, model_vendor=vendor, model_metadata={"rank": second})
    return gateway


def id_of(gateway: Gateway, name: str) -> str:
    return str(next(item["id"] for item in listed(gateway)["items"] if item["name"] == name))


@pytest.mark.parametrize(
    ("query", "found", "total", "has_more"),
    [
        ("", "ebdac", 5, False),
        ("limit=2", "eb", 5, True),
        ("limit=5", "ebdac", 5, False),
        ("name=d", "d", 1, False),
        ("name=nobody", "", 0, False),
        ("model_vendor=openai", "edc", 3, False),
        ("model_vendor=openai&limit=2", "ed", 3, True),
        ("model_vendor=gemini", "", 0, False),
        ("sort_order=asc", "ebdac", 5, False),
        ("sort_order=desc", "cadbe", 5, False),
        ("sort_by=name", "abcde", 5, False),
        ("sort_by=name&sort_order=desc&limit=3", "edc", 5, True),
        ("sort_by=created_at&sort_order=desc", "cadbe", 5, False),
        ("sort_by=model_vendor", "aedcb", 5, False),
        ("sort_by=model_metadata", "ebdac", 5, False),
        ("sort_by=id", "ebdac", 5, False),
        ("sort_by=object&sort_order=desc", "cadbe", 5, False),
    ],
)
def test_lists(five: Gateway, query: str, found: str, total: int, has_more: bool):
    """S-59, S-60: filters, order and size; `total` counts all matches, not those of the page."""
    page = listed(five, query)
    assert "".join(item["name"] for item in page["items"]) == found
    assert (page["total"], page["has_more"]) == (total, has_more)
    assert page["limit"] == (int(query.split("limit=")[1].split("&")[0]) if "limit=" in query else 100)


@pytest.mark.parametrize(
    ("cursor", "name", "rest", "found", "has_more"),
    [
        ("starting_after", "e", "limit=2", "bd", True),
        ("starting_after", "d", "limit=2", "ac", False),
        ("starting_after", "c", "limit=2", "", False),
        ("ending_before", "c", "limit=2", "da", True),
        ("ending_before", "d", "limit=2", "eb", False),
        ("ending_before", "e", "limit=2", "", False),
        ("ending_before", "a", "limit=1", "d", True),
        ("starting_after", "b", "sort_by=name&limit=2", "cd", True),
        ("ending_before", "d", "sort_by=name&sort_order=desc", "e", False),
        ("starting_after", "e", "model_vendor=openai", "dc", False),
    ],
)
def test_cursors(five: Gateway, cursor: str, name: str, rest: str, found: str, has_more: bool):
    """S-61: pages keep the order of the list, also backwards from a cursor."""
    page = listed(five, f"{rest}&{cursor}={id_of(five, name)}")
    assert "".join(item["name"] for item in page["items"]) == found
    assert page["has_more"] == has_more


@pytest.mark.parametrize("cursor", ["starting_after", "ending_before"])
def test_unknown_cursors(five: Gateway, cursor: str):
    """S-62: a cursor that nobody has opens an empty page, the last one."""
    page = listed(five, f"{cursor}=nobody&limit=2")
    assert (page["items"], page["has_more"], page["total"]) == ([], False, 5)


@settings(max_examples=25)
@given(st.integers(1, 7), st.sampled_from(["", "sort_by=name", "sort_order=desc", "model_vendor=openai"]))
def test_paging_finds_everything_once(limit: int, order: str):
    """S-61: from page to page, in either direction, every record is met exactly once."""
    gateway = Gateway()
    for number in range(6):
        create(gateway, name=f"m{number * 5 % 7}", model_vendor="openai" if number % 2 else "xai")
    every = names(gateway, order)
    query = f"{order}&limit={limit}"
    page = listed(gateway, query)
    found = page["items"]
    while page["has_more"]:
        page = listed(gateway, f"{query}&starting_after={found[-1]['id']}")
        found = found + page["items"]
    assert [item["name"] for item in found] == every
    back = [found[-1]]
    page = {"has_more": True}
    while page["has_more"]:
        page = listed(gateway, f"{query}&ending_before={back[0]['id']}")
        back = page["items"] + back
    assert [item["name"] for item in back] == every


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("limit=0", "limit"),
        ("limit=10001", "limit"),
        ("limit=1.5", "limit"),
        ("sort_by=nobody", "sort_by"),
        ("sort_order=DESC", "sort_order"),
        ("model_vendor=acme", "model_vendor"),
    ],
)
def test_wrong_queries(gateway: Gateway, query: str, place: str):
    """S-60: a limit out of range or an unknown order is 422."""
    assert [loc for loc, _ in wrong(ask(gateway, RECORDS_PATH, query=query))] == [["query", place]]


def test_records_belong_to_an_account(gateway: Gateway):
    """S-65: another account sees nothing of them, can have the same names, and cannot call the models."""
    gateway.accounts.by_key["own key"] = Account(name="a1")
    id = create(gateway)["id"]
    assert names(gateway, headers=OWN) == []
    assert one(gateway, id, headers=OWN).status == 404
    body = {**CHAT, "model": "openai/mine", "max_tokens": 1}
    assert ask(gateway, CHAT_PATH, body).status == 200
    assert ask(gateway, CHAT_PATH, body, headers=OWN).status == 404
    assert ask(gateway, RECORDS_PATH, HOSTED, headers=OWN).json()["id"] != id
    assert ask(gateway, CHAT_PATH, body, headers=OWN).status == 200


def test_a_reset_forgets_records(gateway: Gateway):
    """S-57: after a reset there are none, nor the models that they made callable."""
    body = {**CHAT, "model": "openai/mine", "max_tokens": 1}
    id = create(gateway)["id"]
    assert ask(gateway, CHAT_PATH, body).status == 200
    gateway.reset()
    assert names(gateway) == []
    assert ask(gateway, CHAT_PATH, body).status == 404
    assert create(gateway)["id"] == id


@pytest.mark.parametrize(
    ("path", "methods"), [(RECORDS_PATH, "GET, POST"), (f"{RECORDS_PATH}/x", "DELETE, GET, PATCH")]
)
def test_routes(gateway: Gateway, path: str, methods: str):
    """S-57: the five routes, and no other method."""
    answer = ask(gateway, path, method="PUT")
    assert (answer.status, answer.headers["allow"]) == (405, methods)
    answer.detail()
