"""`POST /v5/completions`: what it accepts, what it answers, and how it streams."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engy_mock.dialects.completions import Completions
from engy_mock.dialects.dialect import Envelope
from engy_mock.dialects.fold import tell
from engy_mock.dialects.surfaces import V5
from engy_mock.gateway import Gateway
from engy_mock.vocabulary.errors import UpstreamFailed
from engy_mock.vocabulary.events import Failure, Raw, Receipt
from engy_mock.vocabulary.generation import Choice, Generation, Usage
from engy_mock.vocabulary.request import RawPrompt
from tests.dialects.called import COMPLETION, COMPLETIONS_PATH, Answer, ask, wrong
from tests.dialects.made import REQUEST_ID, generations

EARLY = "It was a quiet morning, and the"


@pytest.fixture(scope="module")
def gateway() -> Gateway:
    return Gateway()


def complete(gateway: Gateway, **fields: Any) -> Answer:
    """The answer to a completion request with these fields."""
    body = {**COMPLETION, **fields}
    return ask(gateway, COMPLETIONS_PATH, {name: value for name, value in body.items() if value is not ...})


def choices(gateway: Gateway, **fields: Any) -> list[dict[str, Any]]:
    document = complete(gateway, **fields).json()
    assert isinstance(document["choices"], list)
    return document["choices"]


def texts(gateway: Gateway, **fields: Any) -> list[str]:
    return [choice["text"] for choice in choices(gateway, **fields)]


def folded(answer: Answer, *, is_scored: bool) -> tuple[list[dict[str, Any]], Any]:
    """The choices and the usage that a client puts together from chunks."""
    found: dict[int, dict[str, Any]] = {}
    usage = None
    for chunk in answer.chunks():
        usage = chunk.get("usage", usage)
        for choice in chunk["choices"]:
            lists: dict[str, list[Any]] = {
                "text_offset": [],
                "token_logprobs": [],
                "tokens": [],
                "top_logprobs": [],
            }
            whole = found.setdefault(
                choice["index"],
                {
                    "finish_reason": None,
                    "index": choice["index"],
                    "text": "",
                    "logprobs": lists if is_scored else None,
                },
            )
            assert whole["finish_reason"] is None, "something follows the end of a choice"
            whole["text"] += choice["text"]
            whole["finish_reason"] = choice["finish_reason"]
            for name, values in (choice["logprobs"] or {}).items():
                whole["logprobs"][name] += values
    return list(found.values()), usage


GOOD: list[tuple[str, Any]] = [
    ("model", "anthropic/claude-sonnet-4"),
    ("prompt", ["One", "Two"]),
    ("max_tokens", 0),
    ("n", 128),
    ("best_of", 1),
    ("best_of", 20),
    ("echo", True),
    ("logprobs", 0),
    ("logprobs", 5),
    ("stop", "."),
    ("stop", ["a", "b", "c", "d"]),
    ("stop", []),
    ("stream", False),
    ("stream_options", {"include_usage": True}),
    ("stream_options", {"anything": 1}),
    ("temperature", 0),
    ("temperature", 2.0),
    ("top_p", 0),
    ("top_p", 1),
    ("frequency_penalty", -2),
    ("frequency_penalty", 2),
    ("presence_penalty", -2.0),
    ("presence_penalty", 2.0),
    ("logit_bias", {"50256": -100, "any": 100.0}),
    ("seed", -5),
    ("suffix", "the end"),
    ("user", "u-1"),
]


@pytest.mark.parametrize(("field", "value"), GOOD, ids=lambda value: str(value)[:30])
def test_accepted(gateway: Gateway, field: str, value: Any):
    """S-25 to S-39: every documented field takes the values at the ends of its range."""
    fields = {"max_tokens": 1} | {field: value}
    assert complete(gateway, **fields).status == 200


@pytest.mark.parametrize(
    "field", ["max_tokens", "n", "best_of", "echo", "logprobs", "stop", "temperature", "user"]
)
def test_null_is_absence(gateway: Gateway, field: str):
    """E-8: null for an optional field is as if it had not been sent."""
    assert choices(gateway, **{field: None}) == choices(gateway)


WRONG_TYPES: list[tuple[str, Any, list[Any], str]] = [
    ("model", ..., ["model"], "missing"),
    ("model", 5, ["model"], "string_type"),
    ("model", None, ["model"], "string_type"),
    ("prompt", ..., ["prompt"], "missing"),
    ("prompt", None, ["prompt"], "string_type"),
    ("prompt", 5, ["prompt"], "string_type"),
    ("prompt", {}, ["prompt"], "list_type"),
    ("prompt", [1, 2, 3], ["prompt", 0], "string_type"),
    ("prompt", [[1, 2], [3]], ["prompt", 0], "string_type"),
    ("prompt", ["one", 2], ["prompt", 1], "string_type"),
    ("max_tokens", "5", ["max_tokens"], "int_type"),
    ("max_tokens", 1.5, ["max_tokens"], "int_type"),
    ("max_tokens", True, ["max_tokens"], "int_type"),
    ("n", "2", ["n"], "int_type"),
    ("best_of", [], ["best_of"], "int_type"),
    ("echo", 1, ["echo"], "bool_type"),
    ("logprobs", True, ["logprobs"], "int_type"),
    ("stop", 5, ["stop"], "string_type"),
    ("stop", ["a", 5], ["stop", 1], "string_type"),
    ("stream", "yes", ["stream"], "bool_type"),
    ("stream_options", [], ["stream_options"], "dict_type"),
    ("stream_options", {"include_usage": 1}, ["stream_options", "include_usage"], "bool_type"),
    ("temperature", "hot", ["temperature"], "float_type"),
    ("top_p", True, ["top_p"], "float_type"),
    ("frequency_penalty", "1", ["frequency_penalty"], "float_type"),
    ("presence_penalty", [], ["presence_penalty"], "float_type"),
    ("logit_bias", [1], ["logit_bias"], "dict_type"),
    ("logit_bias", {"5": "x"}, ["logit_bias", "5"], "float_type"),
    ("seed", 1.5, ["seed"], "int_type"),
    ("suffix", 1, ["suffix"], "string_type"),
    ("user", 1, ["user"], "string_type"),
]


@pytest.mark.parametrize(("field", "value", "place", "kind"), WRONG_TYPES, ids=lambda value: str(value)[:30])
def test_wrong_types(gateway: Gateway, field: str, value: Any, place: list[Any], kind: str):
    """S-26, S-40: what is missing or of a wrong type is 422, and the list says where."""
    assert wrong(complete(gateway, **{field: value})) == [(["body", *place], kind)]


def test_all_that_is_wrong(gateway: Gateway):
    """S-40, S-79: several wrong fields are told at once, those out of range too."""
    assert wrong(complete(gateway, prompt=..., echo="x", n=0)) == [
        (["body", "n"], "greater_than_equal"),
        (["body", "prompt"], "missing"),
        (["body", "echo"], "bool_type"),
    ]


OUT_OF_RANGE: list[tuple[dict[str, Any], str]] = [
    ({"max_tokens": -1}, "max_tokens must be at least 0, got -1"),
    ({"n": 0}, "n must be at least 1, got 0"),
    ({"n": 129}, "n must be at most 128, got 129"),
    ({"best_of": 1, "n": 2}, "best_of must be at least n, which is 2, got 1"),
    ({"best_of": 0}, "best_of must be at least n, which is 1, got 0"),
    ({"best_of": 2, "stream": True}, "best_of must be at most 1 in a stream, got 2"),
    ({"prompt": ["a"] * 9, "n": 128}, "n asks for 1152 choices, at most 1024 allowed, got 128"),
    ({"prompt": ["a"] * 1025}, "prompt asks for 1025 choices, at most 1024 allowed"),
    ({"logprobs": 6}, "logprobs must be at most 5, got 6"),
    ({"logprobs": -1}, "logprobs must be at least 0, got -1"),
    ({"stop": ["1", "2", "3", "4", "5"]}, 'stop must have at most 4 items, got ["1","2","3","4","5"]'),
    ({"temperature": 2.1}, "temperature must be at most 2, got 2.1"),
    ({"temperature": -0.1}, "temperature must be at least 0, got -0.1"),
    ({"top_p": 1.5}, "top_p must be at most 1, got 1.5"),
    ({"frequency_penalty": 3}, "frequency_penalty must be at most 2, got 3"),
    ({"presence_penalty": -3}, "presence_penalty must be at least -2, got -3"),
    ({"logit_bias": {"5": 101}}, "logit_bias.5 must be at most 100, got 101"),
    ({"prompt": ""}, 'prompt must not be empty, got ""'),
    ({"prompt": []}, "prompt must not be empty, got []"),
]


@pytest.mark.parametrize(("fields", "message"), OUT_OF_RANGE, ids=lambda value: str(value)[:30])
def test_out_of_range(gateway: Gateway, fields: dict[str, Any], message: str):
    """S-27 to S-36, S-40: a number out of its range, too many stops or a bad `best_of` is 400."""
    answer = complete(gateway, **fields)
    assert (answer.status, answer.detail()) == (400, message)


def test_unknown_fields(gateway: Gateway):
    """S-19: fields that nobody knows are accepted, those of `/v1` too, and have no effect."""
    odd = {"top_k": "x", "min_p": 7, "provider": 1, "reasoning_effort": 0, "logprob_start_len": "x", "nobody": {}}
    assert choices(gateway, **odd) == choices(gateway)


def test_the_answer(gateway: Gateway):
    """S-41, S-42: the fields of a whole answer, in their order, and nothing beside them."""
    answer = complete(gateway)
    document = answer.json()
    id = document.pop("id")
    assert id.startswith("cmpl-")
    assert len(id) == len("cmpl-") + 24
    assert set(id.removeprefix("cmpl-")) <= set("0123456789abcdef")
    assert document == {
        "object": "text_completion",
        "created": 1792281600,
        "model": "openai/gpt-4o",
        "choices": [{"finish_reason": "stop", "index": 0, "text": " Paris.", "logprobs": None}],
        "system_fingerprint": "fp_engy_mock",
        "usage": {
            "prompt_tokens": 5,
            "completion_tokens": 3,
            "total_tokens": 8,
            "completion_tokens_details": {
                "accepted_prediction_tokens": 0,
                "audio_tokens": 0,
                "reasoning_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
            "prompt_tokens_details": {"audio_tokens": 0, "cached_tokens": 0},
        },
    }
    assert list(document["choices"][0]) == ["finish_reason", "index", "text", "logprobs"]
    assert b": " not in answer.data


def test_default_length(gateway: Gateway):
    """S-27: without a limit an answer has at most 16 tokens."""
    document = complete(gateway, prompt=EARLY).json()
    assert document["choices"][0]["finish_reason"] == "length"
    assert document["usage"]["completion_tokens"] == 16


def test_no_length(gateway: Gateway):
    """S-27: a limit of 0 gives an empty answer that its limit cut."""
    document = complete(gateway, max_tokens=0, n=2, logprobs=1).json()
    empty: dict[str, list[Any]] = {"text_offset": [], "token_logprobs": [], "tokens": [], "top_logprobs": []}
    assert [(c["text"], c["finish_reason"], c["logprobs"]) for c in document["choices"]] == [
        ("", "length", empty),
        ("", "length", empty),
    ]
    assert document["usage"]["completion_tokens"] == 0


@pytest.mark.parametrize("limit", [1, 3, 8, 16])
def test_limits_cut(gateway: Gateway, limit: int):
    """S-27, E-13: a limit cuts every copy and changes none."""
    whole, cut = (
        texts(gateway, prompt=EARLY, n=3, max_tokens=60),
        choices(gateway, prompt=EARLY, n=3, max_tokens=limit),
    )
    for text, choice in zip(whole, cut, strict=True):
        assert text.startswith(choice["text"])
        assert choice["finish_reason"] == "length"


def test_stops_cut(gateway: Gateway):
    """S-32, E-13: text ends before the first match, and is the same up to there."""
    (whole,) = texts(gateway, prompt=EARLY, max_tokens=60)
    stop = whole.split()[3]
    (cut,) = choices(gateway, prompt=EARLY, max_tokens=60, stop=["never", f" {stop}"])
    assert cut["text"] == whole[: whole.index(f" {stop}")]
    assert cut["finish_reason"] == "stop"


@pytest.mark.parametrize("temperature", [0, 1, 2])
@pytest.mark.parametrize("prompt", ["The capital of France is", EARLY, "def f(x):", "?"])
def test_copies_differ(gateway: Gateway, prompt: str, temperature: float):
    """S-28, S-44: copies differ from their first token on, however likely one answer is, and always alike."""
    fields = {"prompt": prompt, "n": 12, "temperature": temperature, "max_tokens": 1}
    assert len(set(texts(gateway, **fields))) == 12
    assert texts(gateway, **fields) == texts(Gateway(), **fields)


def test_more_copies_begin_with_the_same(gateway: Gateway):
    """S-28, S-44: the first copies are the same however many there are."""
    assert texts(gateway, n=2) == texts(gateway, n=5)[:2]
    assert texts(gateway) == texts(gateway, n=5)[:1]


def test_as_many_copies_as_can_be(gateway: Gateway):
    """S-28, S-44: 128 copies are 128 texts."""
    assert len(set(texts(gateway, n=128, max_tokens=4))) == 128


def test_order_of_choices(gateway: Gateway):
    """S-44: prompt i, copy j has the index i * n + j, and says what it says alone."""
    prompts = ["The capital of France is", EARLY, "Bread is"]
    found = choices(gateway, prompt=prompts, n=2)
    assert [choice["index"] for choice in found] == [0, 1, 2, 3, 4, 5]
    assert [choice["text"] for choice in found] == [
        text for p in prompts for text in texts(gateway, prompt=p, n=2)
    ]


def test_best_of(gateway: Gateway):
    """S-29: of so many tries the first `n` are returned."""
    assert choices(gateway, n=2, best_of=7) == choices(gateway, n=2)


def test_counts(gateway: Gateway):
    """S-45: sums over all choices, each prompt counted once."""
    usages = [complete(gateway, prompt=p, n=3).json()["usage"] for p in ("The capital of France is", EARLY)]
    both = complete(gateway, prompt=["The capital of France is", EARLY], n=3).json()["usage"]
    for name in ("prompt_tokens", "completion_tokens", "total_tokens"):
        assert both[name] == sum(usage[name] for usage in usages)
    assert usages[0]["prompt_tokens"] == 5
    assert both["total_tokens"] == both["prompt_tokens"] + both["completion_tokens"]


EFFECTIVE: list[dict[str, Any]] = [
    {"temperature": 0.1},
    {"top_p": 0.5},
    {"frequency_penalty": 1.5},
    {"presence_penalty": 1.5},
    {"seed": 7},
]


@pytest.mark.parametrize("fields", EFFECTIVE, ids=str)
def test_fields_that_feed_the_content(gateway: Gateway, fields: dict[str, Any]):
    """S-34, S-35, S-37: these shape the content of some answers."""
    prompts = [f"{EARLY} {noun}" for noun in ("baker", "captain", "gardener", "teacher", "pilot", "judge")]
    plain = texts(gateway, prompt=prompts, max_tokens=30)
    assert texts(gateway, prompt=prompts, max_tokens=30, **fields) != plain


def test_defaults(gateway: Gateway):
    """S-34: temperature and `top_p` are 1 unless something else is asked."""
    assert texts(gateway, prompt=EARLY, temperature=1, top_p=1) == texts(gateway, prompt=EARLY)


WITHOUT_EFFECT: list[dict[str, Any]] = [
    {"logit_bias": {"0": 100, "300": 100, "abc": -100}},
    {"suffix": "and so on."},
    {"user": "somebody"},
    {"stream_options": {"include_usage": True}},
    {"echo": False},
    {"best_of": 3},
]


@pytest.mark.parametrize("fields", WITHOUT_EFFECT, ids=str)
@pytest.mark.parametrize("model", ["openai/gpt-4o", "openai/gpt-3.5-turbo-instruct"])
def test_fields_without_effect(gateway: Gateway, model: str, fields: dict[str, Any]):
    """S-33, S-36, S-38, S-39: these are checked, and change nothing on any model."""
    assert choices(gateway, model=model, **fields) == choices(gateway, model=model)


@pytest.mark.parametrize("asked", [0, 1, 5])
def test_logprobs(gateway: Gateway, asked: int):
    """S-31, S-43: four lists of equal length; the alternatives are as many as asked, and the chosen token."""
    for choice in choices(gateway, prompt=EARLY, logprobs=asked, n=3):
        logprobs = choice["logprobs"]
        assert list(logprobs) == ["text_offset", "token_logprobs", "tokens", "top_logprobs"]
        assert len({len(column) for column in logprobs.values()}) == 1
        assert "".join(logprobs["tokens"]) == choice["text"]
        for token, value, top in zip(
            logprobs["tokens"], logprobs["token_logprobs"], logprobs["top_logprobs"], strict=True
        ):
            assert top[token] == value
            assert -100 <= value <= 0
            assert asked <= len(top) <= asked + 1
        for token, offset in zip(logprobs["tokens"], logprobs["text_offset"], strict=True):
            assert choice["text"][offset:].startswith(token)


def test_logprobs_leave_the_content_alone(gateway: Gateway):
    """S-31, E-13: whoever asks for log probabilities gets the same text."""
    assert texts(gateway, prompt=EARLY, logprobs=5, n=2) == texts(gateway, prompt=EARLY, n=2)


def test_echo(gateway: Gateway):
    """S-30: the prompt comes before the text, each its own."""
    prompts = ["The capital of France is", "Caf\u00e9 \U0001f389"]
    plain = texts(gateway, prompt=prompts, n=2)
    asked = [prompt for prompt in prompts for _ in range(2)]
    assert texts(gateway, prompt=prompts, n=2, echo=True) == [p + t for p, t in zip(asked, plain, strict=True)]


@pytest.mark.parametrize(
    "prompt", ["The capital of France is", "Caf\u00e9 \U0001f389 \u6771\u4eac", "[gMASK]<sop>x"]
)
@pytest.mark.parametrize("limit", [0, 6])
def test_echo_with_logprobs(gateway: Gateway, prompt: str, limit: int):
    """S-43: the prompt's tokens come first, offsets count from the beginning of the prompt, the first is null."""
    document = complete(gateway, prompt=prompt, echo=True, logprobs=2, max_tokens=limit).json()
    (choice,) = document["choices"]
    logprobs = choice["logprobs"]
    size = document["usage"]["prompt_tokens"]
    assert len({len(column) for column in logprobs.values()}) == 1
    assert len(logprobs["tokens"]) >= size
    assert (logprobs["token_logprobs"][0], logprobs["top_logprobs"][0]) == (None, None)
    assert None not in logprobs["token_logprobs"][1:]
    assert logprobs["text_offset"][0] == 0
    assert logprobs["text_offset"] == sorted(logprobs["text_offset"])
    for token, offset in zip(logprobs["tokens"], logprobs["text_offset"], strict=True):
        if not token.startswith("bytes:"):
            assert choice["text"][offset:].startswith(token)
    if limit:
        assert logprobs["text_offset"][size] == len(prompt)


def test_long_echoes(gateway: Gateway):
    """S-30, S-43: no limit of `/v1` on scored tokens holds here."""
    prompt = "word " * 1500
    document = complete(gateway, prompt=prompt, echo=True, logprobs=0, max_tokens=1).json()
    assert document["usage"]["prompt_tokens"] > 1024
    assert len(document["choices"][0]["logprobs"]["tokens"]) == document["usage"]["total_tokens"]


COMMON = ["id", "object", "created", "model", "choices", "system_fingerprint"]


def test_a_stream(gateway: Gateway):
    """S-1 to S-4, S-46: whole objects with pieces of text, then one with the reason, and no end mark."""
    answer = complete(gateway, stream=True)
    assert answer.headers["cache-control"] == "no-cache"
    assert b"[DONE]" not in answer.data
    assert answer.data.endswith(b"}\n\n")
    chunks = answer.chunks()
    assert [chunk["choices"] for chunk in chunks] == [
        [{"finish_reason": None, "index": 0, "text": " Paris", "logprobs": None}],
        [{"finish_reason": None, "index": 0, "text": ".", "logprobs": None}],
        [{"finish_reason": "stop", "index": 0, "text": "", "logprobs": None}],
    ]
    assert all(list(chunk) == COMMON for chunk in chunks)
    assert len({tuple(str(chunk[name]) for name in COMMON if name != "choices") for chunk in chunks}) == 1
    assert chunks[0]["id"].startswith("cmpl-")


def test_bytes_of_a_chunk():
    """S-46: a chunk byte for byte, as the reference shows it."""
    request = Completions().parse({**COMPLETION, "stream": True}, V5)
    generation = Generation(choices=(Choice(text=(" Paris",)),), usage=Usage(prompt_tokens=5, completion_tokens=2))
    stream = Completions().encoder(surrounded(request, generation))
    first = next(data for event in tell(generation) if (data := stream.encode(event)))
    assert first == (
        b'data: {"id":"cmpl-3f2a9c41d8e04b7a9c1e5d20","object":"text_completion","created":1792281600,'
        b'"model":"openai/gpt-4o","choices":[{"finish_reason":null,"index":0,"text":" Paris","logprobs":null}],'
        b'"system_fingerprint":"fp_engy_mock"}\n\n'
    )


def test_streams_of_several_choices(gateway: Gateway):
    """S-47: one choice after the other, in the order of their index."""
    chunks = complete(gateway, stream=True, prompt=["The capital of France is", EARLY], n=2).chunks()
    indexes = [chunk["choices"][0]["index"] for chunk in chunks]
    assert indexes == sorted(indexes)
    assert set(indexes) == {0, 1, 2, 3}


def test_usage_in_a_stream(gateway: Gateway):
    """S-48: only who asks for it gets one more chunk, without choices and with the usage."""
    fields = {"stream": True, "n": 2}
    plain = complete(gateway, **fields).chunks()
    asked = complete(gateway, **fields, stream_options={"include_usage": True}).chunks()
    assert not [chunk for chunk in plain if "usage" in chunk or not chunk["choices"]]
    *before, last = asked
    assert [chunk["choices"] for chunk in before] == [chunk["choices"] for chunk in plain]
    assert not [chunk for chunk in before if "usage" in chunk]
    assert list(last) == [*COMMON, "usage"]
    assert last["choices"] == []
    assert last["usage"] == complete(gateway, n=2).json()["usage"]


STREAMED: list[dict[str, Any]] = [
    {},
    {"n": 3},
    {"prompt": ["The capital of France is", EARLY], "n": 2},
    {"logprobs": 0},
    {"logprobs": 3, "n": 2},
    {"echo": True},
    {"echo": True, "logprobs": 2, "n": 2},
    {"echo": True, "logprobs": 2, "max_tokens": 0},
    {"max_tokens": 0},
    {"stop": ["."], "logprobs": 1},
    {"prompt": "Caf\u00e9 \U0001f389", "echo": True, "logprobs": 5},
]


@pytest.mark.parametrize("fields", STREAMED, ids=str)
def test_a_stream_says_what_the_whole_answer_says(gateway: Gateway, fields: dict[str, Any]):
    """S-46, E-13: put together, the chunks are the whole answer."""
    whole = complete(gateway, **fields).json()
    answer = complete(gateway, **fields, stream=True, stream_options={"include_usage": True})
    assert folded(answer, is_scored="logprobs" in fields) == (whole["choices"], whole["usage"])


def surrounded(request: Any, generation: Generation) -> Envelope:
    receipt = Receipt(request_id=REQUEST_ID, charged_micro=0)
    return Envelope(request=request, surface=V5, receipt=receipt, created=1792281600, usage=generation.usage)


@settings(max_examples=60)
@given(
    generations(),
    st.booleans(),
    st.none() | st.integers(0, 5),
)
def test_any_stream_folds(generation: Generation, echo: bool, logprobs: int | None):
    """S-46: the chunks of any answer, however odd, are its whole answer."""
    fields = {"echo": echo, "logprobs": logprobs, "stream": True, "stream_options": {"include_usage": True}}
    request = Completions().parse({**COMPLETION, **fields}, V5)
    around = surrounded(request, generation)
    whole = json.loads(Completions().body(generation, around))
    encoder = Completions().encoder(around)
    told: dict[int, str] = {}
    reasons: dict[int, str] = {}
    for event in tell(generation):
        for line in encoder.encode(event).decode().split("\n\n")[:-1]:
            for choice in json.loads(line.removeprefix("data: "))["choices"]:
                told[choice["index"]] = told.get(choice["index"], "") + choice["text"]
                if choice["finish_reason"] is not None:
                    reasons[choice["index"]] = choice["finish_reason"]
    assert told == {choice["index"]: choice["text"] for choice in whole["choices"]}
    assert reasons == {choice["index"]: choice["finish_reason"] for choice in whole["choices"]}
    assert set(reasons.values()) <= {"stop", "length", "content_filter"}


def test_failures_in_a_stream():
    """S-82: a failure that is to be told has a frame of its own, and raw bytes pass as they are."""
    request = Completions().parse({**COMPLETION, "stream": True}, V5)
    generation = Generation(choices=(), usage=Usage(prompt_tokens=0, completion_tokens=0))
    encoder = Completions().encoder(surrounded(request, generation))
    assert encoder.encode(Failure(UpstreamFailed("upstream failed"))) == (
        b'data: {"error":{"status_code":502,"content":'
        b'{"error":"upstream failed","timestamp":"2026-10-18T00:00:00Z"}}}\n\n'
    )
    assert encoder.encode(Raw(b": x\n")) == b": x\n"


def test_what_the_request_is(gateway: Gateway):
    """S-20, S-26: the journal keeps the request as it was understood."""
    complete(gateway, prompt=["One", "Two"], n=3, max_tokens=2, stream=False)
    request = gateway.journal.last.request
    assert request is not None
    assert (request.endpoint, request.surface, request.model) == ("completions", "v5", "openai/gpt-4o")
    assert (request.prompt, request.copies) == (RawPrompt(prompts=("One", "Two")), 3)


@pytest.mark.parametrize("field", ["max_tokens", "n", "best_of", "logprobs", "seed"])
def test_whole_numbers_may_be_written_as_fractions(field: str):
    """Scale's page calls these fields numbers: 2.0 is 2, and 2.5 is still none (S-27 to S-31)."""
    answers = [complete(Gateway(), **{field: value}).data for value in (2, 2.0)]
    assert answers[0] == answers[1]
    assert complete(Gateway(), **{field: 2.5}).status == 422
