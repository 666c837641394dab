"""An exchange as a test for pytest: the rule that brings it about, the request, and what became of it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from engy_mock.books.entry import Entry
from engy_mock.serving.copying.literals import WIDTH, Code, call, literal
from engy_mock.serving.copying.losses import losses
from engy_mock.serving.copying.restaging import Restaged, key_header

SENT = ("content-type", "anthropic-version", "anthropic-beta")
"""The headers of the request that say something about what is asked, and are sent again."""

PATIENCE = 30
"""Seconds that the test waits for an answer; nothing that ends takes so long."""

HINTED = "early-hints"
"""The fault after which `http.client` leaves, as it takes a 103 for the answer: how much is sent is a chance."""

SILENCE = 1
"""Seconds after which it takes an answer for one that never ends."""


def as_test(entry: Entry, again: Restaged, seed: int) -> str:
    """The text of a file that passes as it stands."""
    has_trouble = bool(again.entry.faults)
    body = _body(entry)
    needs_json = bool(entry.body) and not body.startswith("b")
    imports = ["import json"] if needs_json else []
    imports.append(f"from contextlib import closing{', suppress' if has_trouble else ''}")
    imports.append(f"from http.client import HTTPConnection{', HTTPException' if has_trouble else ''}")
    foreign = ["import pytest"] if seed else []
    rule = "" if again.rule is None else _rule(again.rule)
    names = [name for name in ("ToolCall", "Usage") if f"{name}(" in rule]
    if names:
        foreign.append(f"from engy_mock import {', '.join(names)}")
    lines = [f'"""Copied from engy-mock: {entry.method} {_told(entry)}."""', "", *imports]
    lines += ["", *foreign] if foreign else []
    lines += ["", f"BODY = {body}"] if entry.body else []
    lines += ["", ""]
    lines += [f"@pytest.mark.engy(seed={seed})"] if seed else []
    lines += [f"def test_exchange_{entry.number}(engy):"]
    lines += [f"    {line}" for line in rule.splitlines()]
    lines += [""] if rule else []
    lines += [f"    # Not copied: {json.dumps(loss)[1:-1]}." for loss in losses(entry, again.entry)]
    lines += ["    # Put your own code in the place of this block: what it makes of the answer is what you test."]
    lines += [f"    {line}" for line in _request(entry, again, needs_json=needs_json)]
    lines += ["", "    exchange = engy.journal.last"]
    lines += [f"    {line}" for claim in _claims(entry, again) for line in f"assert {claim}".splitlines()]
    return "\n".join(lines) + "\n"


def _told(entry: Entry) -> str:
    """What became of it, in a few words that stand in a docstring."""
    said = f"{entry.path} got {entry.status or 'no answer'}"
    said += f", {', '.join(entry.faults)}" if entry.faults else ""
    return json.dumps(said)[1:-1].replace('\\"', "'").replace("\\", "/")[: WIDTH - 40]


def _body(entry: Entry) -> str:
    """The body as a value, or as bytes if it is no JSON."""
    try:
        return literal(entry.json(), len("BODY = "))
    except ValueError:
        return repr(entry.body)


def _rule(rule: Mapping[str, Any]) -> str:
    """The rule in the words of Python."""
    when = call("engy.when", [], rule["when"])
    words = {name: rule[name] for name in ("faults", "delay", "pace") if name in rule}
    if "reply" in rule:
        said = rule["reply"] if isinstance(rule["reply"], dict) else {"text": rule["reply"]}
        said = {**said, **words}
        if "tool_calls" in said:
            said["tool_calls"] = [_tool_call(own) for own in said["tool_calls"]]
        if "usage" in said:
            said["usage"] = Code(call("Usage", [], said["usage"]))
        return call(f"{when}.reply", [said.pop("text")] if "text" in said else [], said)
    if "refuse" in rule:
        said = rule["refuse"] if isinstance(rule["refuse"], dict) else {"status": rule["refuse"]}
        said = dict(said)
        values = [said.pop(name) for name in ("status", "message") if name in said]
        return call(f"{when}.refuse", values, {**said, **words})
    if "let_through" in rule:
        return call(f"{when}.let_through", [], words)
    return call(f"{when}.faults", words.pop("faults", ()), words)


def _tool_call(own: Mapping[str, Any]) -> Code:
    words = {"call_id": own["id"]} if "id" in own else {}
    return Code(call("ToolCall", [own["name"], own["arguments"]], words))


def _request(entry: Entry, again: Restaged, *, needs_json: bool) -> Iterator[str]:
    """The lines that send it and read what there is of an answer."""
    headers: dict[str, Any] = {}
    if again.shows_key:
        [(name, value)] = key_header(entry.path, "{engy.api_key}").items()
        headers[name] = Code("engy.api_key" if value == "{engy.api_key}" else f'f"{value}"')
    headers |= {name: entry.headers[name] for name in SENT if name in entry.headers}
    yield from f"headers = {literal(headers, 14)}".splitlines()
    seconds = SILENCE if again.hangs else PATIENCE
    yield f'with closing(HTTPConnection("127.0.0.1", engy.port, timeout={seconds})) as connection:'
    indent = "    "
    if again.entry.faults:
        yield f"{indent}with suppress(OSError, HTTPException):  # it may break off"
        indent *= 2
    body = ("json.dumps(BODY)" if needs_json else "BODY") if entry.body else "None"
    yield f"{indent}connection.request({literal(entry.method)}, {literal(entry.path)}, {body}, headers)"
    yield f"{indent}connection.getresponse().read()"


def _claims(entry: Entry, again: Restaged) -> Iterator[str]:
    """What holds for the exchange, and for the one that the test makes of it."""
    mine = again.entry
    for name in ("status", "error", "text"):
        value = getattr(mine, name)
        if value == getattr(entry, name) and (value or name == "status"):
            yield f"exchange.{name} == {literal(value)}"
    if entry.tool_calls and [own.name for own in entry.tool_calls] == [own.name for own in mine.tool_calls]:
        yield f"[call.name for call in exchange.tool_calls] == {literal([own.name for own in mine.tool_calls])}"
    if mine.faults:
        yield f"exchange.faults == {literal(mine.faults, 35)}"
    stays = all(own.partition(" ")[0] != HINTED for own in mine.faults)
    if stays and mine.pieces_sent == entry.pieces_sent and entry.generation is not None:
        yield f"exchange.pieces_sent == {entry.pieces_sent}"
