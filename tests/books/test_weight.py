"""What the journal takes an exchange to weigh, and what it weighs (Q-35)."""

import gc
import json
import tracemalloc

import pytest
from multidict import CIMultiDict

from engy_mock import EngyMock
from engy_mock.books.journal import MAX_BYTES
from engy_mock.vocabulary.wire import Call

WORDS = "the quick brown fox jumps over a lazy dog while nobody looks at "
TIMES = 3


def chat(number, content, **more):
    messages = [{"role": "user", "content": f"{number} {content}"}]
    return {"model": "glm-5.2", "messages": messages, "max_tokens": 8, **more}


def turns(number):
    turns = [{"role": "user", "content": f"{number} {place}"} for place in range(1000)]
    return {"model": "glm-5.2", "messages": turns, "max_tokens": 8}


def tokens(number):
    return {"model": "glm-5.2", "prompt": [500 + (place * 7 + number) % 900 for place in range(10_000)]}


def told(engy, path, document):
    """The entry of one exchange."""
    headers = CIMultiDict({"authorization": f"Bearer {engy.api_key}", "host": "localhost"})
    call = Call(method="POST", path=path, headers=headers, body=json.dumps(document).encode())
    for _ in engy.gateway.answer(call):
        pass
    assert engy.journal.last.status == 200
    return engy.journal.last


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("/v1/chat/completions", lambda number: chat(number, WORDS * 30)),
        ("/v1/chat/completions", lambda number: chat(number, WORDS * 1500)),
        ("/v1/chat/completions", lambda number: chat(number, "x", metadata={"x": WORDS * 1500})),
        ("/v1/chat/completions", lambda number: chat(number, "x", metadata={f"k{n}": [n] for n in range(2000)})),
        ("/v1/chat/completions", turns),
        ("/v1/completions", tokens),
        ("/v1/completions", lambda number: {"model": "glm-5.2", "prompt": f"{number} {WORDS * 1500}"}),
    ],
    ids=["2 KB", "100 KB", "beside", "nested", "turns", "tokens", "prompt"],
)
def test_an_exchange_weighs_what_it_is_said_to(path, document):
    """The bound is in bytes of memory: neither is it passed, nor are exchanges lost for which there is room."""
    engy = EngyMock()
    engy.settings.prompt_cache = False  # it has a bound of its own
    told(engy, path, document(-1))
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        said = sum(told(engy, path, document(number)).weight for number in range(TIMES))
        engy.gateway._understanding.forget()
        gc.collect()
        weighed = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert 0.6 * weighed < said < 2.5 * weighed


def test_hundreds_of_large_requests_find_room():
    """A request of 100 KiB is kept as sent and as understood, and little more."""
    entry = told(EngyMock(), "/v1/chat/completions", chat(0, "x" * 100 * 1024))
    assert MAX_BYTES / entry.weight > 300
