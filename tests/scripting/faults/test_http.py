"""The faults of section "HTTP" on the wire: what arrives on each route, whole and streamed, and what it costs."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from engy_mock import EngyMock
from engy_mock.scripting.fault import catalogue, made, told
from engy_mock.vocabulary.clock import START, http_date
from tests.scripting.captured import PATHS, Capture, ask, send

# fmt: off
KINDS = {
    "200-html", "200-html-as-json", "200-plain-text", "200-empty", "200-json-for-stream", "sse-for-json",
    "200-error-body", "200-wrapped", "200-all-null", "200-choices-missing", "key-revoked", "balance-runs-out",
    "denied-as", "model-vanishes", "route-missing", "wrong-method-or-type", "retryable-status", "413-plain",
    "422-detail", "429-without-header", "retry-after", "conflicting-retry-hints", "should-retry",
    "quota-exhausted", "flapping", "429-forever", "html-error", "empty-error", "truncated-error",
    "status-wrapped", "no-worker", "reason-phrase", "content-type-odd", "headers-duplicate", "headers-huge",
    "headers-many", "request-id-odd", "clock-skew", "replay-differs",
}
# fmt: on
"""All kinds of the section."""

V1 = tuple(route for route in PATHS if not route.startswith("v5"))
WITH_CHOICES = tuple(route for route in PATHS if route.removeprefix("v5 ") in ("chat", "completions"))
BOTH = (False, True)
WORDS = "one two three four"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A fault with what arrives: the status, what else to look at, and whether the answer is paid for."""

    fault: Any
    status: int
    check: Callable[[Capture, str, bool], object]
    is_paid: bool = False
    routes: tuple[str, ...] = tuple(PATHS)
    forms: tuple[bool, ...] = BOTH

    @property
    def name(self) -> str:
        return told(made(self.fault))


def with_kind(kind: str, **parameters: Any) -> dict[str, Any]:
    return {"kind": kind, **parameters}


def error_of(seen: Capture) -> Any:
    """The inside of an envelope, or what stands under `detail`."""
    document = seen.document
    return document["error"] if "error" in document else document["detail"]


def message_of(seen: Capture) -> str:
    error = error_of(seen)
    if isinstance(error, list):
        return str(error[0]["msg"])
    return str(error["message"] if isinstance(error, dict) else error)


def is_web_page(title: str, content_type: str = "text/html") -> Callable[[Capture, str, bool], None]:
    def check(seen: Capture, route: str, stream: bool) -> None:
        assert seen.headers["content-type"].partition(";")[0] == content_type
        assert seen.body.startswith(b"<!DOCTYPE html>")
        assert f"<title>{title}</title>".encode() in seen.body
        assert b"four" not in seen.body

    return check


def is_plain(text: str) -> Callable[[Capture, str, bool], None]:
    def check(seen: Capture, route: str, stream: bool) -> None:
        assert seen.headers["content-type"].startswith("text/plain")
        assert seen.body == text.encode()

    return check


def is_bodiless(seen: Capture, route: str, stream: bool) -> None:
    assert (seen.headers["content-length"], seen.rest) == ("0", b"")


def is_one_document(seen: Capture, route: str, stream: bool) -> None:
    assert seen.headers["content-type"] == "application/json"
    assert WORDS in json.dumps(seen.document)
    assert seen.document.get("object", "message") in ("chat.completion", "text_completion", "response", "message")


def is_stream(seen: Capture, route: str, stream: bool) -> None:
    assert seen.headers["content-type"].startswith("text/event-stream")
    assert len(seen.documents) >= 4
    if route in ("chat", "completions"):
        assert seen.events[-1] == ("", "[DONE]")


def says(*parts: str) -> Callable[[Capture, str, bool], None]:
    def check(seen: Capture, route: str, stream: bool) -> None:
        assert seen.headers["content-type"] == "application/json"
        assert all(part in message_of(seen) for part in parts)

    return check


def documents(seen: Capture, stream: bool) -> list[dict[str, Any]]:
    """The chunks of a stream, or the whole answer as the only one."""
    return seen.documents if stream else [seen.document]


def is_wrapped(seen: Capture, route: str, stream: bool) -> None:
    for document in documents(seen, stream):
        assert set(document) == {"data", "success"}
        assert document["success"] is True
        assert document["data"]


def is_emptied(seen: Capture, route: str, stream: bool) -> None:
    for document in documents(seen, stream):
        inner = document.pop("data")
        assert set(document) == set(inner)
        assert not any(document.values())


def has_no_choices(seen: Capture, route: str, stream: bool) -> None:
    assert not any("choices" in document for document in documents(seen, stream))
    assert all("model" in document for document in documents(seen, stream))


def has_null_choices(seen: Capture, route: str, stream: bool) -> None:
    assert all(document["choices"] is None for document in documents(seen, stream))


def is_error_under_200(seen: Capture, route: str, stream: bool) -> None:
    assert "miner timeout" in message_of(seen)
    if route in ("chat", "completions", "responses"):
        assert error_of(seen)["code"] == 504
    assert "choices" not in seen.document


def is_untyped_error_with_nulls(seen: Capture, route: str, stream: bool) -> None:
    """E-202: the error of a 504, with its code and without a type."""
    assert [seen.document[name] for name in ("id", "choices", "model")] == [None] * 3
    if not route.startswith("v5"):
        assert "type" not in error_of(seen)


def is_half(seen: Capture, route: str, stream: bool) -> None:
    assert seen.is_complete
    assert seen.body[:1] == b"{"
    with pytest.raises(ValueError, match=r"."):
        _ = seen.document


def is_list_of_details(seen: Capture, route: str, stream: bool) -> None:
    assert list(seen.document) == ["detail"]
    assert seen.document["detail"][0]["loc"] == ["body", "messages"]


def has_headers(**wanted: str | None) -> Callable[[Capture, str, bool], None]:
    """Headers with these values; None is an absent one."""

    def check(seen: Capture, route: str, stream: bool) -> None:
        for name, value in wanted.items():
            assert seen.headers.get(name.replace("_", "-")) == value, name

    return check


def has_no_hint(seen: Capture, route: str, stream: bool) -> None:
    assert not [name for name in seen.headers if "retry" in name or "ratelimit" in name]


def hints(**wanted: str) -> Callable[[Capture, str, bool], None]:
    """These hints and no other."""

    def check(seen: Capture, route: str, stream: bool) -> None:
        found = {name: value for name, value in seen.headers.items() if "retry" in name or "ratelimit" in name}
        assert found == {name.replace("_", "-"): value for name, value in wanted.items()}

    return check


def hints_in_the_body(seen: Capture, route: str, stream: bool) -> None:
    has_no_hint(seen, route, stream)
    error = error_of(seen)
    assert (error if isinstance(error, dict) else seen.document)["retry_after"] == 7


def hints_in_words(seen: Capture, route: str, stream: bool) -> None:
    has_no_hint(seen, route, stream)
    assert message_of(seen).endswith("try again in 7 s")


def contradicts_itself(seen: Capture, route: str, stream: bool) -> None:
    assert (seen.headers["retry-after"], seen.headers["retry-after-ms"]) == ("1", "60000")
    resets = [value for name, value in seen.headers.items() if "reset" in name]
    assert resets == (["2026-10-18T00:00:20Z"] if route == "messages" else ["20s"])


def is_a_spent_quota(seen: Capture, route: str, stream: bool) -> None:
    assert "retry-after" not in seen.headers
    if route.startswith("v5"):
        assert list(seen.document) == ["detail"]
    else:
        assert error_of(seen)["type"] == "insufficient_quota"
    if route in ("chat", "completions", "responses"):
        assert error_of(seen)["code"] == "insufficient_quota"


def is_answered(seen: Capture, route: str, stream: bool) -> None:
    assert "four" in "".join(text for document in documents(seen, stream) for text in [json.dumps(document)])


def has_phrase(phrase: bytes) -> Callable[[Capture, str, bool], None]:
    def check(seen: Capture, route: str, stream: bool) -> None:
        assert seen.head.split(b"\r\n")[0] == b"HTTP/1.1 200 " + phrase
        is_answered(seen, route, stream)

    return check


def count_of(seen: Capture, name: str) -> int:
    return seen.head.lower().count(f"\r\n{name}: ".encode())


def is_doubled(seen: Capture, route: str, stream: bool) -> None:
    assert count_of(seen, "content-type") == count_of(seen, "x-engy-mock-plan") == 2
    assert count_of(seen, "content-length") + count_of(seen, "transfer-encoding") == 1
    is_answered(seen, route, stream)


def is_long(seen: Capture, route: str, stream: bool) -> None:
    assert len(seen.headers["x-engy-mock-filler"]) > 8 * 1024
    is_answered(seen, route, stream)


def is_many(seen: Capture, route: str, stream: bool) -> None:
    assert len(seen.headers) > 100
    is_answered(seen, route, stream)


def has_no_id(seen: Capture, route: str, stream: bool) -> None:
    assert not [name for name in seen.headers if "request-id" in name]
    is_answered(seen, route, stream)


def has_two_ids(seen: Capture, route: str, stream: bool) -> None:
    lines = seen.head.decode().split("\r\n")
    ids = [line.partition(": ")[2] for line in lines if line.startswith("x-request-id: ")]
    assert len(ids) == len(set(ids)) == 2


def has_ids_that_differ(seen: Capture, route: str, stream: bool) -> None:
    assert seen.headers["request-id"] != seen.headers["x-request-id"]
    assert len(seen.headers["request-id"]) == 32


def is_an_hour_late(seen: Capture, route: str, stream: bool) -> None:
    assert count_of(seen, "date") == 1
    assert seen.headers["date"] == http_date(START + 3600)
    for document in documents(seen, stream):
        created = [document.get("created"), document.get("created_at")]
        created.append(document.get("response", {}).get("created_at") if stream else None)
        assert set(created) <= {None, START + 3600}
        assert route == "messages" or any(created) or "responses" in route


ROWS = [
    Row(fault="200-html", status=200, check=is_web_page("Welcome")),
    Row(fault="200-html-as-json", status=200, check=is_web_page("Welcome", "application/json")),
    Row(fault="200-plain-text", status=200, check=is_plain("The service is being restarted.\n")),
    Row(fault="200-empty", status=200, check=is_bodiless),
    Row(fault="200-json-for-stream", status=200, check=is_one_document, is_paid=True, forms=(True,)),
    Row(fault="sse-for-json", status=200, check=is_stream, is_paid=True, forms=(False,)),
    Row(fault="200-error-body", status=200, check=is_error_under_200),
    Row(
        fault=with_kind("200-error-body", status=504, nulls=True, typed=False),
        status=200,
        check=is_untyped_error_with_nulls,
    ),
    Row(fault=with_kind("200-error-body", status=400), status=200, check=says("the request is invalid")),
    Row(fault="200-wrapped", status=200, check=is_wrapped, is_paid=True),
    Row(fault="200-all-null", status=200, check=is_emptied, is_paid=True),
    Row(fault="200-choices-missing", status=200, check=has_no_choices, is_paid=True, routes=WITH_CHOICES),
    Row(
        fault=with_kind("200-choices-missing", null=True),
        status=200,
        check=has_null_choices,
        is_paid=True,
        routes=WITH_CHOICES,
    ),
    Row(fault=with_kind("key-revoked", requests=0), status=401, check=says("invalid api key")),
    Row(fault=with_kind("balance-runs-out", requests=0), status=402, check=says("balance")),
    Row(fault=with_kind("balance-runs-out", tokens=0), status=402, check=says("balance")),
    Row(fault="denied-as", status=403, check=says("key does not open")),
    Row(fault=with_kind("denied-as", status=401), status=401, check=says("key does not open")),
    Row(fault=with_kind("denied-as", status=404, what="model"), status=404, check=says("model does not exist")),
    Row(fault="model-vanishes", status=404, check=says("model does not exist")),
    Row(fault="route-missing", status=404, check=says("no route", "/v1/v1")),
    Row(fault=with_kind("route-missing", body="html"), status=404, check=is_web_page("404 Not Found")),
    Row(fault="wrong-method-or-type", status=405, check=has_headers(allow="GET")),
    Row(fault=with_kind("wrong-method-or-type", status=406), status=406, check=says("accepts")),
    Row(fault=with_kind("wrong-method-or-type", status=415), status=415, check=says("content type")),
    Row(fault="retryable-status", status=408, check=has_headers(retry_after_ms="1")),
    Row(fault=with_kind("retryable-status", status=409), status=409, check=says("conflict")),
    Row(fault=with_kind("retryable-status", status=425), status=425, check=says("too early")),
    Row(fault="413-plain", status=413, check=is_plain("Request body exceeds the limit\n")),
    Row(
        fault=with_kind("413-plain", cause="media"),
        status=413,
        check=is_plain("Media in the request exceed the limit\n"),
    ),
    Row(fault="422-detail", status=422, check=is_list_of_details),
    Row(fault="429-without-header", status=429, check=has_no_hint),
    Row(fault="retry-after", status=429, check=hints(retry_after="1")),
    Row(fault=with_kind("retry-after", value=7.0, place="json"), status=429, check=hints_in_the_body),
    Row(fault=with_kind("retry-after", value=7.0, place="message"), status=429, check=hints_in_words),
    Row(fault="conflicting-retry-hints", status=429, check=contradicts_itself),
    Row(fault="should-retry", status=429, check=has_headers(x_should_retry="false", retry_after_ms=None)),
    Row(
        fault=with_kind("should-retry", value=True),
        status=400,
        check=has_headers(x_should_retry="true", retry_after_ms="1"),
    ),
    Row(fault="quota-exhausted", status=429, check=is_a_spent_quota),
    Row(fault="flapping", status=429, check=has_headers(retry_after="1", retry_after_ms="1")),
    Row(fault=with_kind("429-forever", value=30.0), status=429, check=hints(retry_after="30")),
    Row(fault="html-error", status=502, check=is_web_page("502 Bad Gateway")),
    *(
        Row(fault=with_kind("html-error", status=status), status=status, check=is_web_page(f"{status} {phrase}"))
        for status, phrase in [
            (500, "Internal Server Error"),
            (503, "Service Unavailable"),
            (504, "Gateway Timeout"),
            (520, "Unknown Error"),
            (524, "A Timeout Occurred"),
            (529, "Overloaded"),
        ]
    ),
    Row(fault=with_kind("empty-error", status=503), status=503, check=is_bodiless),
    Row(fault=with_kind("truncated-error", status=500), status=500, check=is_half),
    Row(fault="status-wrapped", status=500, check=says("the request is invalid")),
    Row(fault=with_kind("status-wrapped", outer=503, inner=404), status=503, check=says("model does not exist")),
    Row(fault="no-worker", status=503, check=has_headers(retry_after="1", retry_after_ms="1")),
    Row(fault=with_kind("no-worker", hint=False), status=503, check=has_no_hint),
    Row(fault="reason-phrase", status=200, check=has_phrase(b""), is_paid=True),
    Row(fault=with_kind("reason-phrase", text="Fine"), status=200, check=has_phrase(b"Fine"), is_paid=True),
    Row(fault="content-type-odd", status=200, check=has_headers(content_type=None), is_paid=True),
    Row(
        fault=with_kind("content-type-odd", value="plain"),
        status=200,
        check=has_headers(content_type="text/plain"),
        is_paid=True,
    ),
    Row(
        fault=with_kind("content-type-odd", value="charset"),
        status=200,
        check=has_headers(content_type="application/json; charset=x-unheard-of"),
        is_paid=True,
        forms=(False,),
    ),
    Row(fault="headers-duplicate", status=200, check=is_doubled, is_paid=True),
    Row(fault="headers-huge", status=200, check=is_long, is_paid=True),
    Row(fault="headers-many", status=200, check=is_many, is_paid=True),
    Row(fault="request-id-odd", status=200, check=has_no_id, is_paid=True, routes=V1),
    Row(
        fault=with_kind("request-id-odd", form="doubled"),
        status=200,
        check=has_two_ids,
        is_paid=True,
        routes=V1,
    ),
    Row(
        fault=with_kind("request-id-odd", form="different"),
        status=200,
        check=has_ids_that_differ,
        is_paid=True,
        routes=V1,
    ),
    Row(fault="clock-skew", status=200, check=is_an_hour_late, is_paid=True),
]


@pytest.mark.parametrize("route", PATHS)
@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_what_arrives(engy: EngyMock, row: Row, route: str):
    """D-7, E-202, E-203: status, form and headers on each route, the journal, and who pays."""
    for stream in row.forms if route in row.routes else ():
        if stream and route == "completions":
            continue  # streams are not offered there
        engy.reset()
        engy.when().reply(WORDS, faults=[row.fault])
        seen = ask(engy, route, stream=stream)
        assert (seen.status, seen.ending, seen.is_complete) == (row.status, "fin", True)
        row.check(seen, route, stream)
        entry = engy.journal.last
        assert (entry.status, entry.faults, entry.not_applied) == (row.status, (row.name,), ())
        # Models under `/v5` cost nothing.
        assert (entry.charged_micro > 0) is (row.is_paid and not route.startswith("v5"))
        assert engy.gateway.accounts.default.held_micro == 0
        assert engy.gateway.defects == []


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.forms != BOTH or row.routes != tuple(PATHS)], ids=lambda row: row.name
)
def test_what_finds_no_place(engy: EngyMock, row: Row):
    """D-8: on other routes, and in the other form, the answer is as it would be, and the journal says so."""
    if made(row.fault).kind == "content-type-odd":
        return  # it is for all: its row for streams would only read otherwise
    route, stream = ("chat", not row.forms[0]) if row.forms != BOTH else ("v5 responses", True)
    engy.when().reply(WORDS, faults=[row.fault])
    seen = ask(engy, route, stream=stream)
    is_answered(seen, route, stream)
    assert (engy.journal.last.faults, engy.journal.last.not_applied) == ((), (row.name,))


def test_two_mocks_send_the_same_bytes(engy: EngyMock):
    """D-1: head and body, whatever the fault, from a mock that has answered others before."""
    with EngyMock() as other:
        for row in ROWS:
            for route, stream in (("chat", row.forms[-1]), ("messages", row.forms[0])):
                seen = []
                for mock in (engy, other):
                    mock.reset()
                    mock.when().reply(WORDS, faults=[row.fault])
                    seen.append(ask(mock, route, stream=stream).raw)
                assert seen[0] == seen[1], (row.name, route)


def test_every_kind_has_a_row():
    """D-7: each kind of the section is in the table, but for the one that needs two requests."""
    assert set(catalogue()) >= KINDS
    assert {made(row.fault).kind for row in ROWS} == KINDS - {"replay-differs"}


@pytest.mark.parametrize("route", ["chat", "messages", "v5 chat"])
def test_a_replay_is_another_request(engy: EngyMock, route: str):
    """`replay-differs`: another id, another answer, another charge, though the body is the same."""
    engy.when().faults("replay-differs")
    first, second, third = (ask(engy, route, stream=False).document for _ in range(3))
    assert len({document["id"] for document in (first, second, third)}) == 3
    texts = [json.dumps(document.get("choices", document.get("content"))) for document in (first, second, third)]
    assert len(set(texts)) == 3
    assert [entry.faults for entry in engy.journal] == [(), ("replay-differs",), ("replay-differs",)]
    charges = [entry.charged_micro for entry in engy.journal]
    assert sum(charges) == engy.gateway.accounts.default.charged_micro
    assert route.startswith("v5") or all(charges)
    ask(engy, route, stream=False, text="Something else.")
    assert engy.journal.last.faults == ()


@pytest.mark.parametrize(
    ("fault", "statuses"),
    [
        (with_kind("key-revoked", requests=2), [200, 200, 401, 401]),
        ("key-revoked", [200, 401, 401, 401]),
        ("balance-runs-out", [200, 402, 402, 402]),
        (with_kind("balance-runs-out", requests=3), [200, 200, 200, 402]),
        (with_kind("model-vanishes", times=2), [404, 404, 200, 200]),
        ("flapping", [429, 200, 429, 200]),
        (with_kind("flapping", pattern=[500, 503, 200]), [500, 503, 200, 500]),
        ("429-forever", [429, 429, 429, 429]),
    ],
    ids=str,
)
def test_one_after_the_other(engy: EngyMock, fault: Any, statuses: list[int]):
    """Kinds that depend on how often the rule was used; while they are calm, nothing is counted as not applied."""
    engy.when().reply(WORDS, faults=[fault])
    assert [ask(engy).status for _ in range(4)] == statuses
    assert all(entry.not_applied == () for entry in engy.journal)
    assert [bool(entry.faults) for entry in engy.journal] == [status != 200 for status in statuses]


def test_tokens_are_counted_as_they_are_told(engy: EngyMock):
    """`balance-runs-out`: the tokens of all answers of the rule, refusals and other rules not counted."""
    engy.when(model="kimi-k3").reply("Much longer than all the other answers of this test, which are short.")
    engy.when().reply(WORDS, faults=[with_kind("balance-runs-out", tokens=25)])
    assert [ask(engy, model="kimi-k3").status for _ in range(3)] == [200, 200, 200]
    assert [ask(engy).status for _ in range(4)] == [200, 200, 402, 402]
    totals = [entry.usage.total_tokens for entry in engy.journal if entry.usage is not None]
    assert totals[3] < 25 <= totals[3] + totals[4]


def test_a_model_is_listed_although_it_has_vanished(engy: EngyMock):
    """E-206: the list still has it, requests do not find it."""
    engy.when(model="glm-5.2").faults("model-vanishes")
    assert (ask(engy).status, ask(engy, model="kimi-k3").status) == (404, 200)
    from openai import OpenAI

    with OpenAI(base_url=engy.base_url, api_key=engy.api_key) as client:
        assert "glm-5.2" in [model.id for model in client.models.list()]


def test_a_balance_runs_out_between_two_attempts(engy: EngyMock):
    """The first attempt fails for another reason, the second finds nothing left."""
    engy.when().refuse(500, times=1)
    engy.when().faults(with_kind("balance-runs-out", requests=0))
    assert [ask(engy).status for _ in range(3)] == [500, 402, 402]


def test_errors_of_a_rule_keep_their_words(engy: EngyMock):
    """Forms of refusals: what the rule says is told in the form that the kind has."""
    told_so: list[tuple[str, int, Callable[[Capture, str, bool], object]]] = [
        ("429-without-header", 429, has_no_hint),
        ("200-error-body", 200, says("told so")),
        ("status-wrapped", 500, says("told so")),
        ("html-error", 503, is_web_page("503 Service Unavailable")),
        ("empty-error", 503, is_bodiless),
        ("truncated-error", 503, is_half),
        ("reason-phrase", 503, says("told so")),
        ("headers-many", 503, says("told so")),
        ("should-retry", 503, has_headers(x_should_retry="false")),
        ("retry-after", 503, hints(retry_after="1")),
        ("conflicting-retry-hints", 429, contradicts_itself),
        ("quota-exhausted", 429, is_a_spent_quota),
    ]
    for kind, status, check in told_so:
        for route in ("chat", "messages", "v5 chat"):
            own = 429 if status == 429 else 503
            engy.reset()
            engy.when().refuse(own, "told so", faults=[kind])
            seen = ask(engy, route)
            assert seen.status == status, kind
            check(seen, route, True)
            assert (engy.journal.last.faults, engy.journal.last.not_applied) == ((kind,), ()), kind
            assert engy.gateway.accounts.default.held_micro == 0


def test_kinds_that_decide_by_use_leave_refusals_alone(engy: EngyMock):
    """A refusal of the rule is no answer that could be denied."""
    engy.when().refuse(418, faults=["model-vanishes"])
    assert ask(engy).status == 418
    assert engy.journal.last.not_applied == ("model-vanishes",)


@pytest.mark.parametrize(("is_hurried", "hint"), [(True, "1"), (False, None)])
def test_tests_are_hurried_along(engy: EngyMock, is_hurried: bool, hint: str | None):
    """What clients try again has a hint of a millisecond, as refusals of rules have; a setting turns it off."""
    engy.settings.hurries_retries = is_hurried
    for kind in ("html-error", "no-worker", "retryable-status", "status-wrapped", "flapping", "quota-exhausted"):
        engy.when(says=kind).faults(kind)
        seen = ask(engy, text=kind)
        assert seen.headers.get("retry-after-ms") == hint, kind
    engy.when(says="denied").faults("denied-as")
    assert "retry-after-ms" not in ask(engy, text="denied").headers


def test_a_rule_that_says_when_keeps_its_word(engy: EngyMock):
    """A hint that the rule has written is not overridden by one for tests."""
    engy.when().refuse(503, retry_after=9, faults=["should-retry"])
    has_headers(retry_after="9", retry_after_ms=None, x_should_retry="false")(ask(engy), "chat", True)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (with_kind("html-error", status=404), "html-error: status is 404"),
        (with_kind("flapping", pattern=[]), "flapping: pattern is []"),
        (with_kind("flapping", pattern=[204]), "flapping: pattern is [204]"),
        (with_kind("reason-phrase", text="a\r\nb"), "reason-phrase: text is 'a\\r\\nb'"),
        (with_kind("retry-after", form="soon"), "retry-after: form is 'soon'"),
        (with_kind("retry-after", form="text", value=3.0), "retry-after: form 'text' stands for no number"),
        (with_kind("denied-as", status=400), "denied-as: status is 400"),
        (with_kind("should-retry", value="true"), "should-retry: value is 'true'"),
    ],
    ids=str,
)
def test_what_a_kind_cannot_be(engy: EngyMock, fault: Any, said: str):
    """Parameters are checked when they are written."""
    from engy_mock import MockError

    with pytest.raises(MockError) as caught:
        engy.when().faults(fault)
    assert str(caught.value).startswith(said)


def test_generic_inference_is_not_left_out(engy: EngyMock):
    """The kinds act on `/v5/inference` too."""
    for kind, status in [("200-wrapped", 200), ("html-error", 502), ("sse-for-json", 200), ("denied-as", 403)]:
        engy.reset()
        engy.when(endpoint="inference").faults(kind)
        seen = send(engy, "/v5/inference", {"model": "openai/gpt-4o", "args": {"prompt": "Hello"}})
        assert seen.status == status
        assert engy.journal.last.faults == (kind,)
    assert engy.gateway.defects == []
