"""The words of a verdict: what can be wrong with a client, how bad that is, and what a good one does."""

from dataclasses import dataclass
from typing import Literal, get_args

Severity = Literal["error", "warning"]
FailLevel = Literal["error", "warning", "never"]

FAIL_LEVELS: tuple[FailLevel, ...] = get_args(FailLevel)


@dataclass(frozen=True, slots=True)
class Word:
    """One thing that can be wrong: how bad it is unless a case says otherwise, and what a good client does."""

    severity: Severity
    advice: str


WORDS: dict[str, Word] = {
    "retry-after-ignored": Word(
        "error", "Wait at least as long as the answer asks for, or give up and report the refusal."
    ),
    "retried-non-retryable": Word(
        "error",
        "Report what no other attempt mends: a 4xx but 408, 409 and 429, and x-should-retry: false.",
    ),
    "retried-spent-quota": Word(
        "error", "Look at the code of a 429: a spent quota stays spent, so report it after one attempt."
    ),
    "retried-permanent-error": Word(
        "error",
        "Look at the error inside a 5xx: what it calls the fault of the request stays one.",
    ),
    "retry-storm": Word("error", "Bound the attempts of one call, by number and by time."),
    "truncated-accepted": Word(
        "error",
        "Take an answer for whole only when its end was there: finish reason, last event, last chunk.",
    ),
    "silent-acceptance": Word(
        "error", "Compare what came with what was asked for, and report what is no answer or has an error inside."
    ),
    "never-ended": Word("error", "Set timeouts: for connecting, for silence within an answer, and for the whole."),
    "answer-altered": Word(
        "error", "Give the caller the answer to its own question, as it came or as something that was made of it."
    ),
    "made-up-answer": Word(
        "error", "Where there is no answer, raise an error or say so: what stands in for one looks like one."
    ),
    "undetectable-damage": Word(
        "warning", "No sign on the wire told it: only checks of the answer itself, or its usage, can find it."
    ),
    "broken-tool-call-executed": Word(
        "error", "Parse the arguments of a tool call before it runs, and tell the model what was wrong with them."
    ),
    "tool-executed-twice": Word("error", "Run each tool call once, by its id, however often its answer came."),
    "poisoned-history": Word(
        "error",
        "Send no tool call back whose arguments are not JSON: drop it, or send `{}` with the error.",
    ),
    "no-backoff": Word("warning", "Let the waits between attempts grow, and begin with some tenths of a second."),
    "no-jitter": Word("warning", "Draw each wait at random, so that callers that failed together return apart."),
    "good-answer-lost": Word(
        "warning", "Read all that can be read: comments, other line ends, unknown fields and events, odd orders."
    ),
    "gave-up": Word("warning", "Try again what may pass, and report it when it does not."),
    "no-read-timeout": Word("warning", "Set a timeout for silence in the middle of an answer, and report it."),
    "malformed-chunk-ignored": Word("warning", "Stop at an event that cannot be read: what it said is lost."),
    "charged-twice": Word("warning", "Wait longer than answers take: each attempt is paid for."),
    "error-class-lost": Word("warning", "Report what the service said, its status above all."),
}
"""All words; they are stable, since tests pin them."""
