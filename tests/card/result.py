"""What became of one call that met a fault: how it ended for the program, and what the verdict found."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from engy_mock import EngyMock
from engy_mock.verdict.attempt import Attempt
from engy_mock.verdict.verdict import CallGroup, Verdict
from tests.matrix.content import Content
from tests.matrix.job import Job
from tests.matrix.outcome import Heard

Sign = Literal[
    "answered", "recovered", "reported", "gave-up", "raw", "silent", "passed-on", "details", "hung", "n/a"
]

SIGNS: tuple[Sign, ...] = get_args(Sign)

MEANINGS: Mapping[Sign, str] = {
    "answered": "the right text and tool calls at the first attempt, and all else as without the fault",
    "recovered": "the same, by another attempt",
    "reported": "an exception of the client's own family",
    "gave-up": "the same, at once, though nothing of an answer had come yet and another attempt would have helped",
    "raw": "an exception that the client's own family does not cover",
    "silent": "an answer that is none, or not whole, taken for one, though the wire told it",
    "passed-on": "another text or other tool calls than were meant, handed on as they came",
    "details": "the right text and tool calls, but another finish reason, usage, reasoning or logprobs",
    "hung": "no end until a watchdog came",
}

SILENT = frozenset({"truncated-accepted", "silent-acceptance"})

GUESSED = frozenset({"answer-altered"})
"""What the verdict says of a client that hands on what is no text: the mock is told that as it is printed."""

UNTOLD = frozenset({"gave-up", "no-backoff", "no-jitter", "retry-after-ignored", "retry-storm"})
"""Findings about waits, of which fixtures ask for a millisecond, and one that a sign stands for."""


@dataclass(frozen=True, slots=True)
class Result:
    """How a call ended, the class of its exception if there was one, and the words of what was found."""

    sign: Sign
    error: str = ""
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join([self.sign, self.error or "-", *self.words]) if self.error or self.words else self.sign


NOWHERE = Result("n/a")


def read(text: str) -> Result:
    """A result as it is written; raises ValueError for anything else."""
    sign, *rest = text.split()
    found = next((known for known in SIGNS if known == sign), None)
    if found is None:
        raise ValueError(f"no result: {text!r}")
    error = rest[0] if rest and rest[0] != "-" else ""
    return Result(found, error, tuple(rest[1:]))


def tell(engy: EngyMock, heard: Heard, got: Content) -> None:
    """Say to the mock what its client has got, if the call came to an end."""
    if heard.exception is not None:
        engy.heard(error=heard.exception)
    elif heard.is_over:
        finish = _finish(got)
        engy.heard(
            {
                "choices": [
                    {"index": index, "message": {"content": text}, "finish_reason": finish}
                    for index, text in enumerate(texts(got))
                ]
            }
        )


def judged(verdict: Verdict, heard: Heard, got: Content, calm: Content, job: Job) -> Result:
    """The result of a call, given what the same call gets without the fault."""
    group = verdict.groups[-1] if verdict.groups else None
    words = _words(verdict, group)
    if not heard.is_over:
        return Result("hung", "", words)
    if heard.error:
        return Result(_failure(group, heard, is_whole=job.form == "whole"), heard.error, words)
    if _finish(got) == "failed":
        # The answer itself says so, and the program has that.
        return Result("passed-on", "", tuple([word for word in words if word not in SILENT]))
    if SILENT & set(words):
        return Result("silent", "", words)
    has_asked_anew = len(verdict.groups) > 1 and is_anew(group)
    # An attempt that never got as far as the journal has left its trace in the header of the next one.
    has_recovered = group is not None and (
        group.outcome == "recovered" or has_asked_anew or bool(Attempt(group.entries[-1]).count)
    )
    if (texts(got), tool_calls(got)) != (texts(calm), tool_calls(calm)):
        return Result("passed-on", "", tuple([word for word in words if word not in GUESSED]))
    if got != calm and not (has_recovered and is_anew(group)):
        return Result("details", "", words)
    return Result("recovered" if has_recovered else "answered", "", words)


def is_anew(group: CallGroup | None) -> bool:
    """Whether the last attempt met no fault: an agent may have asked otherwise than before."""
    return group is not None and not group.entries[-1].faults


def _words(verdict: Verdict, group: CallGroup | None) -> tuple[str, ...]:
    """What was found in the last call."""
    own = set(group.exchanges) if group is not None else set()
    found = {finding.word for finding in verdict.findings if own & set(finding.exchanges)}
    return tuple(sorted(found - UNTOLD))


def _failure(group: CallGroup | None, heard: Heard, *, is_whole: bool) -> Sign:
    if not heard.is_own:
        return "raw"
    if group is None or len(group.entries) > 1:
        return "reported"
    last = Attempt(group.entries[0])
    has_begun = last.transfer is not None and last.transfer.head is not None and last.state != "refused"
    return "gave-up" if last.is_retryable and (is_whole or not has_begun) else "reported"


def texts(got: Content) -> list[str]:
    """The texts of an answer, one for each choice or one for all blocks."""
    if "text" in got:
        return [got["text"]]
    if "choices" in got:
        return [choice["text"] + choice.get("refusal", "") for choice in _values(got["choices"])]
    if "blocks" in got:
        return ["".join(block[1] or "" for block in _values(got["blocks"]) if block[0] == "text")]
    if "pieces" in got:
        return ["".join(text for (kind, _), text in got["pieces"].items() if kind in _TEXT_PIECES)]
    parts = [part for item in got.get("items", ()) if item[0] == "message" for part in item[1]]
    return ["".join(part[1] or part[2] or "" for part in parts)]


_TEXT_PIECES = frozenset({"response.output_text.delta", "response.refusal.delta"})


def tool_calls(got: Content) -> list[Any]:
    """The tool calls of an answer, in their order."""
    if "text" in got:
        return list(got["calls"])
    if "choices" in got:
        return [list(_values(choice["calls"])) for choice in _values(got["choices"])]
    if "blocks" in got:
        return [block for block in _values(got["blocks"]) if block[0] not in ("text", "thinking")]
    if "pieces" in got:
        return [
            got["names"],
            [text for (kind, _), text in got["pieces"].items() if kind.endswith("arguments.delta")],
        ]
    return [item[2:] for item in got.get("items", ()) if item[0] == "function_call"]


def _finish(got: Content) -> str | None:
    found = got.get("finish")
    if "choices" in got:
        found = next((choice["finish"] for choice in _values(got["choices"]) if choice["finish"]), None)
    if isinstance(found, list):
        found = found[-1] if "pieces" in got else found[0]
    return found if isinstance(found, str) else None


def _values(found: Any) -> list[Any]:
    return list(found.values()) if isinstance(found, dict) else list(found)
