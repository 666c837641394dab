"""Why a rule took no part in an exchange, asked for afterwards: of any exchange, whoever has answered it."""

import pytest

from engy_mock import UnmetExpectation
from tests.scripting.captured import ask

KEY = "Authorization: Bearer sk-engy-other"


def hello(engy, text="hello", *, headers=(), **more):
    ask(engy, stream=False, text=text, headers=headers, **more)
    return engy.journal.last


MISSED = {
    "words that do not fit": (lambda engy: engy.when(says="France"), "last user turn lacks 'France'"),
    "one header that is kept": (
        lambda engy: engy.when(header={"User-Agent": "me"}),
        "header user-agent is absent",
    ),
    "a key": (lambda engy: engy.when(key="sk-engy-mine"), "another key"),
    "a header that is not kept": (lambda engy: engy.when(header={"X-Trace": "1"}), "another header X-Trace"),
    "a turn": (lambda engy: engy.when(at=[2, 3]), "it is for [2, 3] of the requests that fit"),
    "a function": (lambda engy: engy.when(lambda request: "it is Monday"), "it is Monday"),
    "another endpoint": (lambda engy: engy.when(endpoint="messages"), "endpoint is 'chat', not 'messages'"),
}


@pytest.mark.parametrize("has_answer", [True, False], ids=["answer", "faults"])
@pytest.mark.parametrize(("when", "reason"), MISSED.values(), ids=MISSED)
def test_a_rule_that_did_not_take_a_request_says_why(engy, when, reason, has_answer):
    """The same reason, whether another rule or the model has answered, and for rules of faults alone."""
    when(engy).reply("x") if has_answer else when(engy).faults("crlf")
    (missed,) = hello(engy).mismatches
    assert missed.startswith("when(")
    assert reason in missed
    engy.when().reply("other")
    entry = hello(engy) if "of the requests" not in missed else engy.journal.last
    assert any(reason in one for one in entry.mismatches)


def test_who_stands_before_is_named(engy):
    """Rules that fit as well and had no say because of others, or of their rate."""
    engy.when(says="spared").reply("x", rate=0.0)
    engy.when(endpoint="chat").faults("crlf")
    engy.when(says="hello").reply("once", times=1)
    engy.when().reply("first")
    engy.when(stream=False).reply("second")
    engy.when(surface="v1").faults("sse-comments")
    entry = hello(engy, "hello, spared one")
    assert entry.rule == "when(says='hello') + when(endpoint='chat')"
    assert entry.mismatches == (
        "when(says='spared'): its rate spares this request",
        "when(): when(says='hello') stands before it",
        "when(stream=False): when(says='hello') stands before it",
        "when(surface='v1'): when(endpoint='chat') stands before it",
    )
    assert hello(engy).mismatches[1] == "when(says='hello'): it has been used 1 times, which is all"
    engy.when(says="no").refuse(400)
    engy.gateway.script.rules.insert(0, engy.gateway.script.rules.pop())
    assert (
        "when(endpoint='chat'): when(says='no') refuses, which no other rule mars" in hello(engy, "no").mismatches
    )


def test_what_is_let_through_is_let_through(engy):
    engy.when().let_through()
    engy.when(says="hello").faults("crlf")
    assert hello(engy).mismatches == ("when(says='hello'): when() stands before it",)


def test_rules_of_a_later_time_are_not_asked(engy):
    """The reasons are those of the rules that were there, and no key is kept for them."""
    engy.when(says="France").reply("x")
    entry = hello(engy, headers=[KEY])
    engy.when(says="Spain").reply("y")
    assert len(entry.mismatches) == 1
    assert "sk-engy" not in repr((entry, entry.missed))


def test_a_function_is_not_asked_before_somebody_wants_to_know(engy):
    """Matching costs nothing more for it; one that says something else later is known to have said no."""
    calls = []

    def said_once(request):
        calls.append(request)
        return len(calls) > 1

    engy.when(said_once).reply("x")
    entry = hello(engy)
    assert len(calls) == 1
    assert entry.mismatches == ("when(said_once): said_once said no then",)

    def fails(request):
        calls.append(request)
        if len(calls) > 3:
            raise LookupError("gone")
        return False

    engy.reset()
    calls[:] = [None, None]
    engy.when(fails).reply("x")
    assert hello(engy).mismatches == ("when(fails): fails cannot be told any more: gone",)


def test_a_field_that_was_cut_cannot_be_told(engy):
    engy.when(field={"pad": "y"}).reply("x")
    (reason,) = hello(engy, pad="x" * 300_000).mismatches
    assert "field cannot be told any more: nobody knows 'pad' any more" in reason


def test_verify_says_what_kept_a_rule_from_being_used(engy):
    """The exchange that came nearest to it, or that the service refused the request itself."""
    engy.when(says="France", stream=True).reply("Paris.")
    hello(engy)
    hello(engy, "France")
    with pytest.raises(UnmetExpectation, match="not for exchange 1: stream is False, not True"):
        engy.verify()
    engy.reset()
    engy.when().reply("x")
    hello(engy, model="nope")
    with pytest.raises(UnmetExpectation, match="not for exchange 0: the service itself refused it with 404"):
        engy.verify()


def test_rules_that_are_kept_are_weighed(engy):
    """Phases bring rules of their own, over and over: an entry that keeps some for itself weighs more."""
    for number in range(50):
        engy.when(says=f"text {number}").reply("x")
    first, second = hello(engy), hello(engy)
    assert first.rules_weight > 50_000
    assert second.rules_weight == 0
    assert first.weight - second.weight == first.rules_weight
