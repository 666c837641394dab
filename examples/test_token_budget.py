"""Tests of a small piece of client code: what it sends, and what it makes of a refusal."""

import openai
import pytest
from openai import OpenAI


def summarise(client: OpenAI, text: str, budget: int) -> str:
    """The code under test: a summary that must not cost more tokens than its budget."""
    answer = client.chat.completions.create(
        model="glm-5.2",
        max_tokens=budget,
        reasoning_effort="none",
        messages=[
            {"role": "system", "content": "Summarise the text of the user."},
            {"role": "user", "content": text},
        ],
    )
    choice = answer.choices[0]
    return (choice.message.content or "") + ("..." if choice.finish_reason == "length" else "")


@pytest.fixture
def client(engy):
    with OpenAI(base_url=engy.base_url, api_key=engy.api_key, max_retries=0) as client:
        yield client


def test_a_summary_that_fits(engy, client):
    assert summarise(client, "A long text about rivers.", budget=500)[-1] in ".!?"
    sent = engy.journal.last.request
    assert [message.role for message in sent.messages] == ["system", "user"]
    assert sent.max_tokens == 500


def test_a_summary_that_does_not_fit_says_so(engy, client):
    assert summarise(client, "A long text about rivers.", budget=5).endswith("...")
    assert engy.journal.last.usage.completion_tokens == 5


def test_a_budget_of_nothing_is_refused(engy, client):
    with pytest.raises(openai.BadRequestError, match="max_tokens must be at least 1, got 0"):
        summarise(client, "A long text about rivers.", budget=0)
    assert engy.journal.last.charged_micro == 0
