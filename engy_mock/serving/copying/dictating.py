"""The rules that can have made an exchange what it was, in the words of scenario files."""

from collections.abc import Iterator, Mapping
from typing import Any

from engy_mock.books.entry import Entry
from engy_mock.scripting.reach import PAGES
from engy_mock.scripting.refusals import in_seconds
from engy_mock.serving.copying.losses import error_of, headers_of
from engy_mock.serving.copying.written import Unreadable, read_fault
from engy_mock.vocabulary.generation import UNSAID, Choice, Usage
from engy_mock.vocabulary.request import ToolCall
from engy_mock.vocabulary.seeds import hex_id

MAX_SAYS = 80
"""A rule is for requests that say no more of the question than so many characters."""

TIMING = {"delay": ("delay", "seconds"), "pace": ("pace", "per_second")}
"""Faults that rules write as keys of their own: the key, and the parameter that is its value."""

BY_CHANCE = frozenset({"brown-out"})
"""Faults that act or do not by a draw of the rule that has them: under another rule they draw anew."""

OWN_WORDS = frozenset({400, 401, 403, 404, 405, 413, 415, 422})
"""The statuses with which the service refuses a request for what stands in it."""

HINTS = ("Retry-After", "retry-after-ms")
"""The headers that say when to come back, as the service writes them."""


def candidates(entry: Entry) -> Iterator[dict[str, Any] | None]:
    """The rules that come into question, the simplest first; None is no rule at all."""
    marring, is_refused = _marring(entry), entry.status >= 400
    is_own = entry.rule is None or not (entry.generation or is_refused)
    if is_own and not marring and (not is_refused or entry.status in OWN_WORDS):
        yield None
    when = _for(entry)
    if marring:
        yield {**when, **marring}
        if is_refused:
            yield {"when": {**when["when"], "refused": entry.status}, **marring}
    # At last without the faults: some act by what has happened before, which no single rule brings back.
    for said in (marring, {}) if marring else (marring,):
        for answer in dictations(entry):
            if said or "let_through" not in answer or entry.generation is not None:
                yield {**answer, **said}


def dictations(entry: Entry) -> Iterator[dict[str, Any]]:
    """Rules that answer it whatever the service would say of its own; none if it stands before all rules."""
    if not entry.endpoint:
        return
    when = _for(entry)
    if entry.generation is not None:
        yield {**when, "reply": _reply(entry)}
    if entry.status >= 400:
        yield {**when, "refuse": _refusal(entry)}
    elif len(entry.generation.choices) > 1 if entry.generation is not None else entry.endpoint in PAGES:
        # No reply has several texts, and no rule words a page: the service itself has to say it.
        yield {**when, "let_through": True}


def refined(rule: Mapping[str, Any] | None, mine: Entry, entry: Entry) -> Mapping[str, Any] | None:
    """The same rule with what is still another thing in the exchange that it has made."""
    if rule is None:
        return None
    if "refuse" in rule and mine.status == entry.status:
        return {**rule, "refuse": _worded(rule["refuse"], mine, entry)}
    if "reply" in rule and mine.generation is not None and entry.generation is not None:
        said = rule["reply"] if isinstance(rule["reply"], dict) else {"text": rule["reply"]}
        more: dict[str, Any] = {}
        reason = entry.generation.choices[0].finish_reason
        if mine.generation.choices[0].finish_reason != reason:
            more["finish_reason"] = reason
        if mine.generation.usage != entry.generation.usage and "response" not in said:
            more["usage"] = _counts(entry.generation.usage)
        return {**rule, "reply": {**said, **more}} if more else rule
    return rule


def _for(entry: Entry) -> dict[str, Any]:
    """For which requests: those of its kind that begin with the same words."""
    when: dict[str, Any] = {}
    if entry.endpoint:
        when["endpoint"] = entry.endpoint
    if entry.surface == "v5":
        when["surface"] = "v5"
    request = entry.request
    if request is not None:
        if request.is_streamed:
            when["stream"] = True
        said = request.last_user_text.strip().partition("\n")[0][:MAX_SAYS].strip()
        if said and said.isprintable():
            when["says"] = said
    return {"when": when}


def _marring(entry: Entry) -> dict[str, Any]:
    """The faults that changed it, and how slow it was."""
    said: dict[str, Any] = {}
    faults: list[Any] = []
    for written in entry.faults:
        try:
            own = read_fault(written)
        except Unreadable:
            continue  # a function of somebody's own, which no text can bring back
        if own["kind"] in BY_CHANCE:
            continue
        own.pop("rate", None)
        key, parameter = TIMING.get(own["kind"], (None, ""))
        if key is not None:
            said[key] = float(own[parameter])
        else:
            faults.append(own if len(own) > 1 else own["kind"])
    return {"faults": faults, **said} if faults else said


def _reply(entry: Entry) -> Any:
    assert entry.generation is not None
    choice: Choice = entry.generation.choices[0]
    said: dict[str, Any] = {}
    if choice.response is not UNSAID:
        said["response"] = choice.response
    elif choice.text or not choice.tool_calls:
        # What ended it stood behind it, and ends it again.
        said["text"] = choice.whole_text + (choice.stop_sequence or "")
    if choice.reasoning:
        said["reasoning"] = choice.whole_reasoning
    if choice.tool_calls:
        said["tool_calls"] = [_call(entry, place, call) for place, call in enumerate(choice.tool_calls)]
    usual = "tool_calls" if choice.tool_calls else "stop"
    if choice.finish_reason not in (usual, "length"):
        said["finish_reason"] = choice.finish_reason
    if entry.generation.is_usage_dictated:
        said["usage"] = _counts(entry.generation.usage)
    return said["text"] if said.keys() == {"text"} else said


def _call(entry: Entry, place: int, call: ToolCall) -> dict[str, str]:
    """A call of a tool; an id that was made up is made up again."""
    said = {"name": call.name, "arguments": call.arguments}
    made_up = "call_" + hex_id(24, "call", entry.request_id, 0, place)
    return said if call.id in (None, made_up) else {**said, "id": str(call.id)}


def _counts(usage: Usage) -> dict[str, int]:
    """Counts of tokens without those that nobody has to write."""
    said = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
    more = {"cached_tokens": usage.cached_tokens, "reasoning_tokens": usage.reasoning_tokens}
    return said | {name: count for name, count in more.items() if count}


def _refusal(entry: Entry) -> Any:
    return entry.status if entry.error is None else {"status": entry.status, "message": entry.error}


def _worded(refusal: Any, mine: Entry, entry: Entry) -> Any:
    """A refusal with the headers, the type and the code that the service does not give it of its own."""
    theirs, own = headers_of(entry), headers_of(mine)
    said: dict[str, Any] = {}
    headers = {name: value for name, value in theirs.items() if own.get(name) != value}
    if {name: theirs.get(name) for name in HINTS} != {name: own.get(name) for name in HINTS}:
        # Without one of its own a rule has the usual one, and another one for clients in a test.
        hint = theirs.get(HINTS[0])
        headers.pop(HINTS[0], None)
        said |= {} if hint is None else {"retry_after": _hint(hint)}
    if headers:
        said["headers"] = headers
    before = error_of(mine)
    for name, value in error_of(entry).items():
        if before.get(name) != value and (value is None or isinstance(value, str)):
            said[name] = value or ""
    if not said:
        return refusal
    return {**(refusal if isinstance(refusal, dict) else {"status": refusal}), **said}


def _hint(written: str) -> float | str:
    """A hint in seconds as a rule has it, a number where that is sent in the same letters."""
    try:
        number = float(written)
        seconds = int(number) if number == int(number) else number
        return seconds if in_seconds(seconds) == written else written
    except (ValueError, OverflowError):
        return written
