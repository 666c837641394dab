"""What counts as the same request: numbers and the order of fields do not matter, texts do."""

import pytest

from engy_mock import EngyMock
from engy_mock.vocabulary import json

TEXTS = ("[1.0]", "pi is:1.0,", '{"a":1.0}', "v2.0]", " -1.0,", 'x\\" 1.0]', '"1.0"', "1.0")
"""Texts that would be others without the `.0` in them."""


PUT = {
    "field": lambda text: {"m": text},
    "beside a number": lambda text: [{"m": [text, 1.0]}],
    "alone": str,
    "name": lambda text: {text: 1},
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "put", [lambda text: {"m": text}, lambda text: [{"m": [text, 1.0]}], str, lambda text: {text: 1}]
)
def test_texts_stay_as_they_are(put, text):
    """Whatever they look like, in any place, beside a number that is written in another way."""
    assert json.meaning(put(text)) != json.meaning(put(text.replace(".0", "")))


def test_numbers_and_orders_do_not_matter():
    """As clients in Python write 1.0 where those in JavaScript write 1 (E-14)."""
    one = {"temperature": 1.0, "messages": [{"n": [2.0, 2.5]}], "top_p": 1}
    other = {"top_p": 1.0, "messages": [{"n": [2, 2.5]}], "temperature": 1}
    assert json.meaning(one) == json.meaning(other)
    assert json.meaning({"a:1,b": 2}) != json.meaning({"a": 1, "b": 2})


def test_questions_with_such_texts_are_counted_apart():
    """Each has the id that it would have alone, whoever asks first."""

    def ids(*questions):
        engy = EngyMock()
        with engy.http_client(headers={"authorization": f"Bearer {engy.api_key}"}) as client:
            for question in questions:
                body = {"model": "glm-5.2", "max_tokens": 4, "messages": [{"role": "user", "content": question}]}
                client.post("/v1/chat/completions", json=body).raise_for_status()
        return {entry.request.last_user_text: entry.request_id for entry in engy.journal}

    asked = [f"sort {text} please" for text in ("[1.0]", "[1]", "[2.0]")]
    assert ids(*asked) == ids(*reversed(asked))
