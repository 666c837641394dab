"""Findings about answers that were none: by what the client says it got, or by what it sends next."""

import json

import pytest

from tests.verdict.journals import outcomes, sent, words

TEXT = "one two three four"


def marred(engy, *faults, **more):
    """One answer with these faults."""
    engy.when().reply(TEXT, faults=list(faults), times=1)
    return sent(engy, stream=True, **more)


BROKEN = [
    {"kind": "reset", "after": 2},
    {"kind": "cut", "after": 2},
    {"kind": "truncate", "after": 2},
    {"kind": "bad-chunk-size", "after": 2},
]


@pytest.mark.parametrize("fault", BROKEN, ids=lambda fault: fault["kind"])
@pytest.mark.parametrize("endpoint", ["chat", "messages", "responses"])
def test_truncated_accepted(quiet, fault, endpoint):
    """Half an answer, taken for a whole one (R-76)."""
    marred(quiet, fault, endpoint=endpoint)
    quiet.heard("one two")
    assert words(quiet) == ["truncated-accepted"]
    assert outcomes(quiet) == ["silently-wrong"]


@pytest.mark.parametrize("fault", BROKEN, ids=lambda fault: fault["kind"])
def test_truncated_and_reported(quiet, fault):
    """Who says so has accepted nothing."""
    marred(quiet, fault)
    quiet.heard(error=RuntimeError("the answer broke off"))
    assert words(quiet) == []
    assert outcomes(quiet) == ["reported"]


def test_truncated_and_told_in_own_words(quiet):
    """A text that has nothing of the answer is the client's own: it tells its caller what happened."""
    marred(quiet, *BROKEN[:1])
    quiet.heard("Sorry, please ask again later.")
    assert words(quiet) == []
    assert outcomes(quiet) == ["reported"]


def test_all_text_but_no_end(quiet):
    """Without a finish reason nobody knows that it was all (R-76)."""
    marred(quiet, "no-finish-reason")
    quiet.heard(TEXT)
    assert words(quiet) == ["truncated-accepted"]


@pytest.mark.parametrize("fault", ["no-done", "double-done", "sse-comments", "crlf", "after-done"])
def test_what_is_no_harm(quiet, fault):
    """Once the dialect's own end is there, what else is odd about a stream does not matter."""
    marred(quiet, fault)
    quiet.heard(TEXT)
    assert words(quiet) == []
    assert outcomes(quiet) == ["answered"]


def test_an_end_in_an_event_that_is_never_closed(quiet):
    """By the standard it is dropped; a reader that takes it all the same has seen the end, if it says so."""
    marred(quiet, "no-done", "last-event-unterminated")
    quiet.heard({"choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}]})
    assert words(quiet) == []
    quiet.reset()
    marred(quiet, "no-done", "last-event-unterminated")
    quiet.heard(TEXT)
    assert words(quiet) == ["truncated-accepted"]


@pytest.mark.parametrize(
    "fault",
    [
        "200-html",
        "200-empty",
        "200-json-for-stream",
        "200-error-body",
        "fail",
        "error-as-string",
    ],
    ids=str,
)
def test_silent_acceptance(quiet, fault):
    """No answer, or an error inside one, taken for an answer (R-88, R-93)."""
    marred(quiet, fault)
    quiet.heard("")
    assert words(quiet) == ["silent-acceptance"]
    assert outcomes(quiet) == ["silently-wrong"]


def test_a_refusal_swallowed(quiet):
    quiet.when().refuse(500)
    sent(quiet)
    quiet.heard("")
    assert words(quiet) == ["silent-acceptance"]


def test_a_whole_answer_that_lost_something(quiet):
    """The answer was fine, the client's text is not."""
    quiet.when().reply(TEXT)
    sent(quiet)
    quiet.heard("one two")
    assert words(quiet) == ["silent-acceptance"]


@pytest.mark.parametrize("said", [TEXT, f"  {TEXT}\n", f"Answer: {TEXT}.", "ONE TWO THREE FOUR", "three"])
def test_a_text_made_of_the_answer(quiet, said):
    """What a client makes of a whole answer is its own affair."""
    quiet.when().reply(TEXT)
    sent(quiet)
    quiet.heard(said)
    assert words(quiet) == []


RIVERS = "Rivers carry **water** to the sea."
LONG = "Rivers carry water to the sea, and on their way they feed the fields, the woods and all towns beside them."


@pytest.mark.parametrize(
    ("sent_text", "said"),
    [
        (RIVERS, "Rivers carry water to the sea"),
        (LONG, LONG.rstrip(".")),
        (RIVERS, "<p>Rivers carry <b>water</b> to the sea.</p>"),
        (RIVERS, "The model says: rivers carry water to the sea. Ask again?"),
        ("Tom &amp; Ann", "Tom & Ann said so"),
        ('{"city": "Z\\u00fcrich", "people": 1.50}', {"people": 1.5, "city": "Zürich"}),
        ('{"city": "Paris", "people": 2}', '{"people":2,"city":"Paris"}'),
        ('{"city": "Paris", "people": 2}', {"city": "Paris"}),
        ("河流把水带到海里。", "河流把水带到海里"),
    ],
    ids=str,
)
def test_what_clients_make_of_answers(quiet, sent_text, said):
    """Spaces, marks, letters of another case, words before and behind, data that was parsed: all is made of it."""
    quiet.when().reply(sent_text)
    sent(quiet)
    quiet.heard(said)
    assert words(quiet) == []
    assert outcomes(quiet) == ["answered"]


@pytest.mark.parametrize(
    ("sent_text", "said", "severity", "outcome"),
    [
        (RIVERS, "Rivers carry milk to the moon.", "error", "silently-wrong"),
        (RIVERS, "Bridges sway when many people walk in step.", "error", "silently-wrong"),
        ("河流把水带到海里。", "河流把牛奶带到月亮上。", "error", "silently-wrong"),
        (RIVERS, "positive", "warning", "answered"),
        (RIVERS, "6 words", "warning", "answered"),
        (LONG, "It praises rivers.", "warning", "answered"),
        (LONG, LONG.replace("towns", "villages"), "warning", "answered"),
        ('{"city": "Paris", "people": 2}', "A city named Paris has a population of two", "warning", "answered"),
    ],
)
def test_answer_altered(quiet, sent_text, said, severity, outcome):
    """Another answer is an error; a label, a summary and what is nearly the same may well be meant."""
    quiet.when().reply(sent_text)
    sent(quiet)
    quiet.heard(said)
    [finding] = quiet.verdict().findings
    assert (finding.word, finding.severity) == ("answer-altered", severity)
    assert outcomes(quiet) == [outcome]


def test_the_answer_of_another_call(quiet):
    """A client that mixes up its answers."""
    for says, text in (("rivers", RIVERS), ("bridges", "Bridges sway when many people walk in step.")):
        quiet.when(says=says).reply(text)
        sent(quiet, f"About {says}")
    quiet.heard(RIVERS, of=quiet.journal[1].request_id)
    [finding] = quiet.verdict().errors
    assert (finding.word, finding.exchanges) == ("answer-altered", (1,))
    assert "'Rivers carry **water** to the sea.' instead of 'Bridges sway" in finding.evidence


@pytest.mark.parametrize("said", ["made up answer", "Rivers carry water to the sea.", "N/A", "42"])
def test_made_up_answer(quiet, said):
    """A refusal is no answer, and what stands in for one looks like one."""
    quiet.when().refuse(402)
    sent(quiet)
    quiet.heard(said)
    [finding] = quiet.verdict().findings
    assert (finding.word, finding.severity) == ("made-up-answer", "error")
    assert finding.evidence == f"the answer was a 402, and the client says it got an answer: {said!r}, " + (
        "of which nothing was sent"
    )
    assert outcomes(quiet) == ["silently-wrong"]


@pytest.mark.parametrize(
    "said",
    [
        '{"error": null, "answer": "Paris"}',
        '{"answer": "Paris", "error": ""}',
        '{"answer": "Paris", "error": false, "retries": 2}',
        '{"answer": "Paris", "errors": [], "error": {"code": null}}',
        '[{"error": null}, {"answer": "Paris"}]',
        "{'error': None, 'failed': False, 'answer': 'Paris'}",
        "answer: Paris\nerror: null\nerrors: {}\n",
        "Paris (errors=0)",
        '"answer": "Paris",\n"error": {"code": null, "failure": []},',
    ],
)
def test_an_error_that_is_none_reports_nothing(quiet, said):
    """A place for an error in which there is none does not make an invented answer a report."""
    quiet.when().refuse(402)
    sent(quiet)
    quiet.heard(said)
    assert words(quiet) == ["made-up-answer"]


@pytest.mark.parametrize(
    "said",
    [
        "Sorry, no answer today.",
        "The model could not be reached.",
        "Upstream said 402",
        "Bitte später erneut versuchen.",
        "抱歉。请稍后再试。",
        '{"error": {"status": 503}}',
        '{"error": "none left", "answer": null}',
        '{"answer": null, "success": false}',
        '{"answer": "Sorry, no worker."}',
        "{'error': 'busy', 'answer': None}",
        "error: none of the workers is free",
    ],
)
def test_failures_told_in_own_words(quiet, said):
    """Words of failure are a report."""
    quiet.when().refuse(402)
    sent(quiet)
    quiet.heard(said)
    assert words(quiet) == []
    assert outcomes(quiet) == ["reported"]


def test_another_text_than_half_an_answer(quiet):
    """What came was half an answer, what the caller has is another one."""
    marred(quiet, *BROKEN[:1])
    quiet.heard("Bridges sway.")
    assert words(quiet) == ["made-up-answer"]


def test_an_oracle_knows_better_than_a_comparison(quiet):
    """Whether a text is another answer, a test that knows decides."""
    quiet.when().reply(RIVERS)
    sent(quiet)
    quiet.heard("Rivers carry milk to the moon.")
    assert words(quiet, oracle=lambda group, texts: None) == []
    assert words(quiet, oracle=lambda group, texts: "milk") == ["silent-acceptance"]
    assert words(quiet, ignore=["answer-altered"]) == []


def test_undetectable_damage(quiet):
    """A piece came twice, and nothing on the wire says so: wrong, but no fault of the client."""
    marred(quiet, {"kind": "duplicate-chunk", "after": 1})
    quiet.heard("one two two three four")
    [finding] = quiet.verdict().findings
    assert (finding.word, finding.severity) == ("undetectable-damage", "warning")
    assert outcomes(quiet) == ["answered"]


def test_what_is_ignored_is_no_outcome_either(quiet):
    """Who may put words of its own in place of an answer has reported that there is none."""
    marred(quiet, *BROKEN[:1])
    quiet.heard(RIVERS, of=quiet.journal.last.request_id)
    assert quiet.verdict().outcomes == {"silently-wrong": 1}
    assert quiet.verdict(ignore=["made-up-answer"]).outcomes == {"reported": 1}


def test_malformed_chunk_ignored(quiet):
    """An event that cannot be read was passed over; what it said is lost or not."""
    marred(quiet, {"kind": "malformed-json", "after": 1})
    quiet.heard(TEXT)
    assert words(quiet) == ["malformed-chunk-ignored"]


def test_malformed_chunk_reported(quiet):
    marred(quiet, {"kind": "malformed-json", "after": 1})
    quiet.heard(error=RuntimeError("an event cannot be read"))
    assert words(quiet) == []


def conversation(*texts):
    """A history of turns, and the next question."""
    roles = ("user", "assistant")
    return [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]


def test_half_an_answer_in_the_next_request(quiet):
    """No hook is needed where the client sends half an answer back as if it were whole."""
    marred(quiet, *BROKEN[:1])
    sent(quiet, messages=conversation("Hello", "one two", "And then?"), at=1)
    [error] = quiet.verdict().errors
    assert (error.word, error.exchanges) == ("truncated-accepted", (0, 1))
    assert "exchange 1 sends it back as an answer" in error.evidence


@pytest.mark.parametrize(
    "texts", [("Hello", "one two"), ("Hello", "Sorry.", "Again?"), ("Hello", TEXT, "And then?")]
)
def test_what_does_not_show_it(quiet, texts):
    """A half that is to be continued, other words, and the whole answer of another attempt."""
    marred(quiet, *BROKEN[:1])
    sent(quiet, messages=conversation(*texts), at=1)
    assert quiet.verdict().errors == ()


@pytest.mark.parametrize(
    ("error", "found"),
    [
        (ValueError("something went wrong"), ["error-class-lost"]),
        (TypeError("'NoneType' object is not subscriptable"), ["error-class-lost"]),
        (RuntimeError("the service said 402"), []),
        (RuntimeError("the available balance does not cover the request"), []),
    ],
)
def test_error_class_lost_of_a_refusal(quiet, error, found):
    """Whoever reports a refusal tells its status, or what it says."""
    quiet.when().refuse(402)
    sent(quiet)
    quiet.heard(error=error)
    assert words(quiet) == found
    assert outcomes(quiet) == ["reported"]


def test_a_status_in_a_cause(quiet):
    """The status may stand in a cause of the error."""

    class Refused(Exception):
        status_code = 402

    quiet.when().refuse(402)
    sent(quiet)
    try:
        try:
            raise Refused
        except Refused as cause:
            raise RuntimeError("no answer") from cause
    except RuntimeError as error:
        quiet.heard(error=error)
    assert words(quiet) == []


def test_error_class_lost_of_a_broken_answer(quiet):
    """A crash of the reader tells nobody what happened; an error made for it does."""
    marred(quiet, {"kind": "malformed-json", "after": 1})
    quiet.heard(error=json.JSONDecodeError("x", "y", 0))
    assert words(quiet) == ["error-class-lost"]


def test_good_answer_lost(quiet):
    """A legal answer that breaks the client."""
    marred(quiet, "comment-after-id")
    quiet.heard(error=json.JSONDecodeError("x", "y", 0))
    assert words(quiet) == ["good-answer-lost"]


def test_a_client_that_had_enough(quiet):
    """Who leaves a stream that speaks may have what it wanted."""
    quiet.when().reply("a " * 9000)
    entry = sent(quiet, stream=True, leaves_after=2)
    assert entry.fate == "left"
    assert entry.text_sent + entry.text_unsent == entry.text
    quiet.heard("a a a")
    assert words(quiet) == []
    assert outcomes(quiet) == ["answered"]


def test_an_oracle(quiet):
    """A test that knows the answers says so with a function."""

    def oracle(group, texts):
        return None if texts == ("Paris.",) else f"Paris is the answer to exchange {group.exchanges[0]}"

    quiet.when().reply("Paris.")
    sent(quiet)
    quiet.heard("Paris.")
    assert quiet.verdict(oracle=oracle).findings == ()
    sent(quiet, "Another one")
    quiet.heard("Rome.")
    verdict = quiet.verdict(oracle=oracle)
    assert [(one.word, one.evidence) for one in verdict.findings] == [
        ("silent-acceptance", "Paris is the answer to exchange 1")
    ]
    assert [group.outcome for group in verdict.groups] == ["answered", "silently-wrong"]


def test_long_outputs_are_looked_at_in_no_time():
    """Neither long words nor many empty values in each other are gone through again and again."""
    from engy_mock.verdict.likeness import is_excuse

    assert not is_excuse("x" * 200_000)
    assert not is_excuse("{'a': " * 10_000)
    assert not is_excuse("a: {" * 10_000 + "}" * 10_000)
