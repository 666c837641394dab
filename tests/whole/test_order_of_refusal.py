"""Where a request breaks several rules, the first line of the documented order answers (E-68 to E-85)."""

import copy
import importlib
import itertools
import json
from typing import Any

import pytest

from engy_mock.gateway import Gateway
from engy_mock.gateway.order import ORDER
from engy_mock.vocabulary.errors import TooLarge
from engy_mock.vocabulary.wire import Call, Whole

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
BROKEN_PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


class Draft:
    """A request that is good until a cause spoils it."""

    def __init__(self) -> None:
        self.gateway = Gateway()
        self.method = "POST"
        self.path = "/v1/chat/completions"
        self.headers = {
            "host": "127.0.0.1:1",
            "authorization": "Bearer sk-engy-x",
            "content-type": "application/json",
        }
        self.body: dict[str, Any] = {
            "model": "deepseek-v4.1-flash",
            "max_tokens": 5,
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}],
        }
        self.trouble: TooLarge | None = None

    def status(self) -> tuple[int, str]:
        """What the service says: the status, and the message of the refusal."""
        call = Call(
            method=self.method,
            path=self.path,
            headers=self.headers,
            body=json.dumps(self.body).encode(),
            trouble=self.trouble,
        )
        (step,) = self.gateway.answer(call)
        assert isinstance(step, Whole)
        document = json.loads(step.body)
        return step.head.status, document.get("error", {}).get("message", "")


def host(draft: Draft) -> None:
    draft.headers["host"] = "evil.test"


def path(draft: Draft) -> None:
    draft.path = "/v1/nope"


def method(draft: Draft) -> None:
    draft.method = "PUT"


def key(draft: Draft) -> None:
    draft.headers["authorization"] = "Bearer sk-other"


def content_type(draft: Draft) -> None:
    draft.headers["content-type"] = "text/plain"


def size(draft: Draft) -> None:
    draft.trouble = TooLarge("body exceeds 33554432 bytes")


def field(draft: Draft) -> None:
    draft.body["max_tokens"] = 0


def model(draft: Draft) -> None:
    draft.body["model"] = "nope"


def input_type(draft: Draft) -> None:
    draft.body["model"] = "glm-5.2"
    draft.body["messages"][0]["content"].append(PICTURE)


def undecodable(draft: Draft) -> None:
    draft.body["messages"][0]["content"].append(BROKEN_PICTURE)


def too_many(draft: Draft) -> None:
    draft.body["messages"][0]["content"] += [PICTURE] * 11


def largest_input(draft: Draft) -> None:
    draft.body["messages"].append({"role": "user", "content": "a " * 262_200})


def worker(draft: Draft) -> None:
    draft.body["provider"] = {"zdr": True, "require_proof": True}


def capacity(draft: Draft) -> None:
    draft.gateway.fleet.enter(None)
    draft.gateway.settings.capacity = 1


def concurrency(draft: Draft) -> None:
    account = draft.gateway.accounts.default
    minutes = account.requests_per_minute, account.tokens_per_minute
    account.requests_per_minute = account.tokens_per_minute = None
    account.hold(0)
    account.max_concurrent = 1
    account.requests_per_minute, account.tokens_per_minute = minutes


def requests_per_minute(draft: Draft) -> None:
    account = draft.gateway.accounts.default
    account.requests_per_minute = 1
    account.hold(0).settle(0)


def tokens_per_minute(draft: Draft) -> None:
    account = draft.gateway.accounts.default
    requests = account.requests_per_minute
    account.requests_per_minute, account.tokens_per_minute = None, 350_000
    account.hold(0, prompt_tokens=350_000).settle(0)
    account.requests_per_minute = requests


def balance(draft: Draft) -> None:
    draft.gateway.accounts.default.balance_micro = 0


def window(draft: Draft) -> None:
    del draft.body["messages"]
    draft.body |= {"prompt": [5] * 300_000, "max_tokens": 50_000}
    if draft.path == "/v1/chat/completions":
        draft.path = "/v1/completions"


WORDS = {
    "host": "host not allowed",
    "path": "no route",
    "method": "method PUT not allowed",
    "key": "invalid api key",
    "content_type": "content type must be application/json",
    "size": "body exceeds",
    "field": "max_tokens must be at least 1, got 0",
    "model": "model nope not found",
    "input_type": "glm-5.2 does not accept images",
    "undecodable": "begin like image/png",
    "too_many": "11 images, at most 10 allowed",
    "largest_input": "takes at most 262144 input tokens",
    "window": "prompt 300000 + max_tokens 50000 = 350000 tokens",
    "worker": "no worker meets",
    "capacity": "capacity is exhausted",
    "concurrency": "concurrency limit of 1 reached",
    "requests_per_minute": "limit of 1 requests per minute reached",
    "tokens_per_minute": "limit of 350000 tokens per minute reached",
    "balance": "0 available",
}
"""What each cause is known by."""

CAUSES = [(globals()[cause.name], cause.status, WORDS[cause.name]) for cause in ORDER]
"""What spoils a request, in the order of the table."""

CLASHES = {("path", "method"), ("model", "input_type"), ("field", "window")} | {
    (name, "window") for name in ("input_type", "undecodable", "too_many", "largest_input")
}
"""Pairs that cannot meet: an unknown path has no methods, an unknown model no input types, no `max_tokens` is too
small and passes the window; prompts so long are for completions alone, which know nothing of pictures."""


@pytest.mark.parametrize("cause", ORDER, ids=lambda cause: cause.name)
def test_each_cause_has_its_place_in_the_code(cause):
    """The table says where each is looked for, and there it can be read."""
    room, _, rest = cause.where.partition(".")
    place = importlib.import_module(f"engy_mock.{room}.{rest.partition('.')[0]}")
    for name in rest.split(".")[1:]:
        place = getattr(place, name)
    assert callable(place)


@pytest.mark.parametrize(("cause", "status", "words"), CAUSES, ids=lambda value: getattr(value, "__name__", ""))
def test_each_cause_alone(cause, status, words):
    """Each spoils a request that is good without it."""
    good = Draft()
    assert good.status() == (200, "")
    spoilt = Draft()
    cause(spoilt)
    found, message = spoilt.status()
    assert found == status
    assert words in message


PAIRS = [
    pytest.param(first, second, id=f"{first[0].__name__}-{second[0].__name__}")
    for first, second in itertools.combinations(CAUSES, 2)
    if (first[0].__name__, second[0].__name__) not in CLASHES
]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_of_two_causes_the_earlier_answers(first, second):
    """All pairs: whatever comes later in the order is not even mentioned."""
    draft = Draft()
    for cause, _, _ in (second, first):
        cause(draft)
    found, message = draft.status()
    if {first[0], second[0]} == {undecodable, too_many}:
        message = message.replace("12 images", "11 images")
    assert found == first[1]
    assert first[2] in message
    assert draft.gateway.accounts.default.held_micro == 0


def test_the_rule_of_a_test_comes_last():
    """E-85: a scripted refusal is not reached by a request that is refused anyhow."""
    from engy_mock.scripting.refusals import Refusal
    from engy_mock.scripting.rules import Rule

    for cause, status, _ in CAUSES:
        draft = Draft()
        rule = Rule(description="all", conditions=(), answers=(Refusal(status=418),))
        draft.gateway.script.add(rule)
        scripted = copy.copy(draft)
        assert scripted.status()[0] == 418
        cause(draft)
        assert draft.status()[0] == status
        assert rule.used == 1


BROKEN_URI = BROKEN_PICTURE["image_url"]["url"]

WITH_A_BROKEN_PICTURE = {
    "/v1/chat/completions": {
        "max_tokens": 5,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}, BROKEN_PICTURE, BROKEN_PICTURE]}],
    },
    "/v1/responses": {
        "max_output_tokens": 16,
        "input": [{"role": "user", "content": [{"type": "input_image", "image_url": BROKEN_URI}] * 2}],
    },
    "/v1/messages": {
        "max_tokens": 5,
        "messages": [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "a",
                        "content": [
                            {
                                "type": "image",
                                "source": {"type": "base64", "media_type": "image/webp", "data": "AAAA"},
                            }
                        ],
                    }
                ],
            },
        ],
    },
}

ELSEWHERE = [
    ("nothing", {}, 400, "must hold bytes that begin like"),
    ("range", {"temperature": 9}, 400, "temperature must be at most 2"),
    ("type", {"top_p": "x"}, 400, "top_p must be a number"),
    ("choice", {"tool_choice": {"type": "zz"}}, 400, "tool_choice"),
    ("tools", {"tools": 3}, 400, "tools must be an array"),
    ("provider", {"provider": 3}, 400, "provider must be an object"),
    ("model", {"model": "nope"}, 404, "model nope not found"),
    ("model and range", {"model": "nope", "temperature": 9}, 400, "temperature must be at most 2"),
    ("no pictures", {"model": "glm-5.2"}, 400, "glm-5.2 does not accept images"),
    ("no pictures and range", {"model": "glm-5.2", "temperature": 9}, 400, "temperature must be at most 2"),
]
"""What else is wrong with a body that has a broken picture, and what the refusal says."""


@pytest.mark.parametrize("path", WITH_A_BROKEN_PICTURE)
@pytest.mark.parametrize(
    ("more", "status", "words"), [row[1:] for row in ELSEWHERE], ids=[row[0] for row in ELSEWHERE]
)
def test_a_broken_picture_is_blamed_when_all_else_is_well(path, more, status, words):
    """E-74 to E-77, wherever in a body the picture stands and whatever checks the other field."""
    draft = Draft()
    draft.path = path
    draft.body = {"model": draft.body["model"], **WITH_A_BROKEN_PICTURE[path], **more}
    found, message = draft.status()
    assert (found, words in message) == (status, True), message
