"""From the journal to a verdict: its exchanges as calls, what each of them shows, and what they show together."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from engy_mock.books.entry import Entry
from engy_mock.books.journal import Journal
from engy_mock.verdict import retries, silence, tools
from engy_mock.verdict.attempt import Attempt
from engy_mock.verdict.call import OPEN, Call
from engy_mock.verdict.finding import Finding
from engy_mock.verdict.grouping import calls
from engy_mock.verdict.verdict import CallGroup, Outcome, Verdict, check_level
from engy_mock.verdict.waits import Watches
from engy_mock.verdict.words import WORDS, FailLevel, Severity
from engy_mock.vocabulary.clock import Clock, WallClock, monotonic
from engy_mock.vocabulary.errors import MockError, did_you_mean

Oracle = Callable[[CallGroup, Sequence[str] | None], object]
"""What a test knows of its answers: told a call and the texts that the client says it got, it may complain."""

PATIENCE = 30.0
"""So many seconds of silence no client should bear."""

_SILENT_WORDS = frozenset({"truncated-accepted", "silent-acceptance", "answer-altered", "made-up-answer"})

_GUESSED_WORDS = frozenset({"answer-altered", "made-up-answer"})
"""What is told by comparing texts, and left to an oracle that knows better."""


def judged(
    journal: Journal,
    clock: Clock,
    *,
    fail_level: FailLevel = "error",
    ignore: Iterable[str] = (),
    patience: float = PATIENCE,
    since: int = 0,
    oracle: Oracle | None = None,
) -> Verdict:
    """What the exchanges from number `since` on say of the client; raises MockError for an unknown word."""
    ignored = _checked(ignore)
    check_level(fail_level)
    now = monotonic()
    watches = Watches(WallClock().now() - now, is_standing=not clock.waits_for_real())
    entries = [entry for entry in journal if entry.number >= since]
    found = calls(entries, [heard for heard in journal.heard if heard.behind > since], watches)
    sent_back = _sent_back(entries)
    findings: list[Finding] = []
    groups: list[CallGroup] = []
    for call in found:
        own = list(retries.found_in(call, watches))
        own += silence.found_in(call, sent_back)
        own += _hanging(call, now, patience)
        if oracle is not None:
            own = [finding for finding in own if finding.word not in _GUESSED_WORDS]
        own = [finding for finding in own if finding.word not in ignored]
        outcome = _outcome(call, own)
        if outcome == "gave-up" and retries.may_pass(call.last, watches):
            own.append(_gave_up(call))
        group = CallGroup(entries=tuple([attempt.entry for attempt in call.attempts]), outcome=outcome)
        if oracle is not None and "silent-acceptance" not in ignored:
            own += (complaints := list(_complaints(oracle, group, call)))
            if complaints:
                group = CallGroup(entries=group.entries, outcome="silently-wrong")
        findings += retries.deduplicated(own)
        groups.append(group)
    findings += tools.found_in(found)
    findings += retries.in_step(found, watches)
    kept = [finding for finding in findings if finding.word not in ignored]
    kept.sort(key=lambda one: (one.severity != "error", one.exchanges, one.word))
    first = entries[0].number if entries else 0
    lost = max(0, first - since) if journal.lost else 0
    return Verdict(findings=tuple(kept), groups=tuple(groups), lost=lost, fail_level=fail_level)


def _checked(words: Iterable[str]) -> frozenset[str]:
    words = (words,) if isinstance(words, str) else tuple(words)
    for word in words:
        if word not in WORDS:
            raise MockError(f"ignore: no finding has the word {word!r:.80}.{did_you_mean(word, tuple(WORDS))}")
    return frozenset(words)


def _outcome(call: Call, findings: Sequence[Finding]) -> Outcome:
    last, heard = call.last, call.heard
    if heard is None and last.state in OPEN:
        is_hung = any(finding.word == "no-read-timeout" and finding.severity == "error" for finding in findings)
        return "hung" if is_hung else "under-way"
    if any(_is_silent(finding) for finding in findings):
        return "silently-wrong"
    if heard is not None and (heard.error is not None or _says_otherwise(call)):
        return "reported"
    if heard is not None or _has_answer(last):
        return "answered" if len(call.tries) == 1 else "recovered"
    return "gave-up"


def _is_silent(finding: Finding) -> bool:
    """Whether it says that the caller has something wrong and does not know it, though it could be known."""
    return finding.word in _SILENT_WORDS and finding.severity == "error"


def _says_otherwise(call: Call) -> bool:
    """Whether the client told its caller something else than the answer, which it did not get."""
    heard, last = call.heard, call.last
    return heard is not None and not _has_answer(last) and silence.is_own_words(heard, last)


def _has_answer(attempt: Attempt) -> bool:
    """Whether the client got an answer, or as much of one as it wanted: it left while something was said."""
    if attempt.state == "left":
        return not attempt.is_left_in_silence
    return attempt.state in {"good", "unknown", "unreadable"} or attempt.has_told_its_end


def _hanging(call: Call, now: float, patience: float) -> Iterator[Finding]:
    """Attempts whose silence nobody ended but the mock, or that have lasted for too long."""
    for attempt in call.attempts:
        course = attempt.entry.course
        if attempt.state != "silent":
            continue
        lasted = (course.ended or now) - (course.last or course.arrived)
        if course.ended is not None or lasted >= patience:
            end = "until the mock ended it" if course.ended is not None else "and still does"
            evidence = f"the answer fell silent for ever, and the client bore it {end}"
            # Who went on from there, or told somebody, has found an end, though late.
            is_hung = attempt is call.last and call.heard is None
            severity: Severity = "error" if is_hung else "warning"
            yield Finding.of("no-read-timeout", (attempt.number,), evidence, severity=severity, silence=lasted)


def _gave_up(call: Call) -> Finding:
    last, count = call.last, len(call.tries)
    how = {"refused": f"was refused with {last.status}", "left": "was left in silence"}
    said = how.get(last.state, silence.UNFINISHED.get(last.state, silence.WRONG.get(last.state, "failed")))
    last_one = "the only attempt" if count == 1 else f"the last of {count} attempts"
    evidence = f"{last_one} ended in what may pass ({said}), and nothing says that it was reported"
    return Finding.of("gave-up", call.numbers, evidence)


def _complaints(oracle: Oracle, group: CallGroup, call: Call) -> Iterator[Finding]:
    """What the test's own knowledge has to say."""
    said = oracle(group, None if call.heard is None else tuple(call.heard.texts))
    if said is not None and said is not True:
        evidence = said if isinstance(said, str) else "the oracle of the test says that it is wrong"
        yield Finding.of("silent-acceptance", call.numbers, evidence)


def _sent_back(entries: Iterable[Entry]) -> dict[str, list[int]]:
    """The turns of the assistant in all requests, but those that are to be continued, with their numbers."""
    found: dict[str, list[int]] = {}
    for entry in entries:
        messages = () if entry.request is None else entry.request.messages
        for message in messages[:-1]:
            if message.role == "assistant" and message.text:
                found.setdefault(message.text, []).append(entry.number)
    return found
