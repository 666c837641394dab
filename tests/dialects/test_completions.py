"""Raw prompts, plain completions, and the three ways to score text."""

import json
from pathlib import Path
from typing import Any

import pytest
from openai.types import Completion

from engy_mock.dialects.completions import Completions
from engy_mock.dialects.surfaces import V1
from engy_mock.vocabulary.errors import InvalidRequest
from engy_mock.vocabulary.events import Receipt
from engy_mock.vocabulary.generation import Choice, Generation, TokenLogprob, Usage
from engy_mock.vocabulary.request import ProviderWish, RawPrompt, Sampling, Scoring, ThinkingWish
from tests.dialects.made import COMPLETION, body, completion, envelope, token
from tests.dialects.sdk import checked

GOLDEN = Path(__file__).parent / "golden"

PROMPT = (token("The", None, number=1), token(" sky", -2.0, (" sun", -0.5), number=2))
GENERATED = Choice(
    text=(" is", " blue"),
    logprobs=(
        (token(" is", -0.25, (" is", -0.25), (" was", -1.5), number=3),),
        (token(" blue", -3.0, number=4),),
    ),
)


def shown(request: Any, choice: Choice) -> dict[str, Any]:
    """The first choice of a whole answer; the client's own type takes all but the null of a first token."""
    document = json.loads(body(Completions(), request, choice))
    judged = json.loads(body(Completions(), request, choice))
    for name, value in (("token_logprobs", 0.0), ("top_logprobs", {})):
        column = (judged["choices"][0]["logprobs"] or {}).get(name)
        if column and column[0] is None:
            column[0] = value
    checked(json.dumps(judged), Completion)
    first = document["choices"][0]
    assert isinstance(first, dict)
    return first


PROMPTS = [
    ("string", "The sky", ("The sky",)),
    ("ids", [0, 5, 10**12], ((0, 5, 10**12),)),
    ("strings", ["a", "b"], ("a", "b")),
    ("arrays of ids", [[1, 2], [3]], ((1, 2), (3,))),
]


@pytest.mark.parametrize(("prompt", "prompts"), [row[1:] for row in PROMPTS], ids=[row[0] for row in PROMPTS])
def test_prompts(prompt: Any, prompts: tuple[Any, ...]):
    """E-149: the four forms of a prompt."""
    assert completion(prompt=prompt).prompt == RawPrompt(prompts=prompts)


WRONG_PROMPTS: list[tuple[str, Any, str]] = [
    ("null", None, "prompt must be a string or an array, got null"),
    ("number", 5, "prompt must be a string or an array, got 5"),
    ("boolean", True, "prompt must be a string or an array, got true"),
    ("object", {}, "prompt must be a string or an array, got {}"),
    ("empty string", "", 'prompt must not be empty, got ""'),
    ("empty array", [], "prompt must not be empty, got []"),
    ("empty string in a batch", ["a", ""], 'prompt[1] must not be empty, got ""'),
    ("empty ids", [[]], "prompt[0] must not be empty, got []"),
    ("empty ids in a batch", [[1], []], "prompt[1] must not be empty, got []"),
    ("negative id", [1, -1], "prompt[1] must be at least 0, got -1"),
    ("negative id in a batch", [[1], [2, -3]], "prompt[1][1] must be at least 0, got -3"),
    ("boolean id", [True], "prompt[0] must be an integer, got true"),
    ("boolean id in a batch", [[1, False]], "prompt[0][1] must be an integer, got false"),
    ("float id", [1.0], "prompt[0] must be an integer, got 1.0"),
    ("null id", [None], "prompt[0] must be an integer, got null"),
    ("id then string", [1, "a"], 'prompt[1] must be an integer, got "a"'),
    ("string then id", ["a", 1], "prompt[1] must be a string, got 1"),
    ("array then id", [[1], 2], "prompt[1] must be an array, got 2"),
    ("id then array", [1, [2]], "prompt[1] must be an integer, got [2]"),
    ("string in ids", [["a"]], 'prompt[0][0] must be an integer, got "a"'),
]


@pytest.mark.parametrize(
    ("prompt", "message"), [row[1:] for row in WRONG_PROMPTS], ids=[row[0] for row in WRONG_PROMPTS]
)
def test_wrong_prompts(prompt: Any, message: str):
    """E-149: empty and mixed prompts, and ids that cannot be, are refused at the first wrong item."""
    with pytest.raises(InvalidRequest) as caught:
        completion(prompt=prompt)
    assert caught.value.message == message
    assert caught.value.param == message.partition(" ")[0]


def test_only_the_first_wrong_id_is_named():
    """Arrays of ids can be long, so one finding has to do."""
    with pytest.raises(InvalidRequest) as caught:
        completion(prompt=["x", *[5] * 100_000])
    assert [violation.param for violation in caught.value.violations] == ["prompt[1]"]


def test_the_least_request():
    """Only model and prompt are required."""
    request = completion()
    assert (request.endpoint, request.surface, request.model) == ("completions", "v1", "glm-5.2")
    assert (request.max_tokens, request.sampling, request.scoring) == (None, Sampling(), Scoring())
    assert (request.messages, request.last_user_text) == ((), "Hi")
    assert request.body == COMPLETION


ACCEPTED = [
    ("E-151", {"stream": False}, "is_streamed", False),
    ("E-151 options", {"stream_options": 5}, "include_usage", False),
    ("E-152", {"max_tokens": 1}, "max_tokens", 1),
    ("E-153 logprobs", {"logprobs": 1}, "scoring", Scoring(logprobs=True, top=1)),
    ("E-153 most", {"logprobs": 30}, "scoring", Scoring(logprobs=True, top=30)),
    ("E-153 null", {"logprobs": None, "echo": None, "logprob_start_len": None}, "scoring", Scoring()),
    ("E-153 echo", {"echo": True}, "scoring", Scoring(echo=True)),
    ("E-153 start", {"logprob_start_len": 0}, "scoring", Scoring(start=0)),
    (
        "E-153 sampling",
        {"temperature": 0, "top_p": 0.5, "seed": 3},
        "sampling",
        Sampling(temperature=0.0, top_p=0.5, seed=3),
    ),
    ("E-153 stop", {"stop": ["a", ""]}, "stop", ("a",)),
    ("E-153 no effect", {"suffix": 5, "best_of": "x", "n": 3}, "copies", 1),
    ("E-66", {"provider": {"zdr": True}}, "provider", ProviderWish(zdr=True)),
    ("E-9 key", {"prompt_cache_key": "k"}, "cache_key", "k"),
    ("E-9 effort", {"reasoning_effort": "low"}, "thinking", ThinkingWish(effort="low")),
    ("E-7", {"max_completion_tokens": "x", "top_logprobs": "x", "tools": 5}, "tools", ()),
]


@pytest.mark.parametrize(
    ("fields", "attribute", "value"), [row[1:] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED]
)
def test_accepted(fields: dict[str, Any], attribute: str, value: object):
    """Each field has its meaning (E-151 to E-153)."""
    assert getattr(completion(**fields), attribute) == value


REFUSED = [
    ("E-151", {"stream": True}, "stream", "stream is not supported on /v1/completions"),
    ("E-151 type", {"stream": "no"}, "stream", 'stream must be a boolean, got "no"'),
    ("E-152", {"max_tokens": 0}, "max_tokens", "max_tokens must be at least 1, got 0"),
    ("E-153", {"logprobs": 0}, "logprobs", "logprobs must be at least 1, got 0"),
    ("E-153 most", {"logprobs": 31}, "logprobs", "logprobs must be at most 30, got 31"),
    ("E-153 true", {"logprobs": True}, "logprobs", "logprobs must be an integer, got true"),
    ("E-153 false", {"logprobs": False}, "logprobs", "logprobs must be an integer, got false"),
    ("E-153 echo", {"echo": 1}, "echo", "echo must be a boolean, got 1"),
    (
        "E-153 start",
        {"logprob_start_len": -1},
        "logprob_start_len",
        "logprob_start_len must be at least 0, got -1",
    ),
    (
        "E-153 float",
        {"logprob_start_len": 1.5},
        "logprob_start_len",
        "logprob_start_len must be an integer, got 1.5",
    ),
    ("E-49", {"temperature": 3}, "temperature", "temperature must be at most 2, got 3"),
    ("E-54", {"stop": [1]}, "stop[0]", "stop[0] must be a string, got 1"),
    (
        "E-66",
        {"provider": {"require_proof": 1}},
        "provider.require_proof",
        "provider.require_proof must be a boolean, got 1",
    ),
]


@pytest.mark.parametrize(
    ("fields", "param", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_refused(fields: dict[str, Any], param: str, message: str):
    """A violation is 400; it names the field and the value (E-151 to E-153)."""
    with pytest.raises(InvalidRequest) as caught:
        completion(**fields)
    assert (caught.value.status, caught.value.param, caught.value.message) == (400, param, message)


@pytest.mark.parametrize("field", ["model", "prompt"])
def test_required(field: str):
    """E-149: model and prompt must be there."""
    with pytest.raises(InvalidRequest, match=rf"^{field} is required$"):
        Completions().parse({name: value for name, value in COMPLETION.items() if name != field}, V1)


def test_any_number_is_taken_where_the_model_replaces_it():
    """E-89: the range waiver holds here too."""
    request = Completions().parse({**COMPLETION, "temperature": 5}, V1, any_number=frozenset({"temperature"}))
    assert request.sampling == Sampling(temperature=5.0)


def test_no_stream():
    """E-2: a stream cannot be asked for."""
    with pytest.raises(InvalidRequest, match=r"^stream is not supported on /v1/completions$"):
        Completions().parse({**COMPLETION, "stream": True}, V1)


def test_the_documented_answer():
    """E-154: the documentation's example, byte for byte."""
    golden = json.loads((GOLDEN / "completion.json").read_text("utf-8"))
    usage = Usage(prompt_tokens=5, completion_tokens=3)
    generation = Generation(choices=(Choice(text=(" Paris", ".")),), usage=usage)
    around = envelope(completion(), generation)
    receipt = Receipt(request_id="8b1d4e7f2a9c4c03b6e5f1a2d3c4b5a6", charged_micro=8)
    around = type(around)(request=around.request, surface=V1, receipt=receipt, created=around.created, usage=usage)
    data = Completions().body(generation, around)
    assert data.decode() == json.dumps(golden, separators=(",", ":"))
    assert checked(data, Completion) == golden


def test_a_batch():
    """E-150: one choice per prompt, in their order; a proof comes last."""
    choices = [Choice(index=index, text=(text,)) for index, text in enumerate("abc")]
    request = completion(prompt=["x", "y", "z"])
    document = checked(body(Completions(), request, *choices, proof={"scheme": "toploc"}), Completion)
    assert [choice["index"] for choice in document["choices"]] == [0, 1, 2]
    assert [choice["text"] for choice in document["choices"]] == ["a", "b", "c"]
    assert list(document) == ["id", "object", "created", "model", "choices", "usage", "x_engy", "proof"]


def test_reasoning_is_not_shown():
    """E-126: this endpoint has text and nothing beside it."""
    assert list(shown(completion(), Choice(text=("a",), reasoning=("r",)))) == [
        "index",
        "text",
        "finish_reason",
        "logprobs",
    ]


def test_log_probabilities():
    """E-155: four lists of equal length; the chosen token is among the alternatives with the same number."""
    choice = shown(completion(logprobs=2), GENERATED)
    assert choice["text"] == " is blue"
    assert choice["logprobs"] == {
        "tokens": [" is", " blue"],
        "token_logprobs": [-0.25, -3.0],
        "top_logprobs": [{" is": -0.25, " was": -1.5}, {" blue": -3.0}],
        "text_offset": [0, 3],
    }
    assert list(choice["logprobs"]) == ["tokens", "token_logprobs", "top_logprobs", "text_offset"]


def test_log_probabilities_not_asked_for():
    """E-154: null if not asked, even if the values are known."""
    assert shown(completion(), GENERATED)["logprobs"] is None


def test_offsets_count_characters():
    """E-155: offsets are characters of the text, also where several tokens share one character."""
    parts = [
        TokenLogprob(id=1, token="bytes:\\xf0\\x9f", raw=b"\xf0\x9f", logprob=-1.0),
        TokenLogprob(id=2, token="bytes:\\x98\\x80", raw=b"\x98\x80", logprob=-1.0),
        TokenLogprob(id=3, token="!", raw=b"!", logprob=-1.0),
    ]
    choice = Choice(text=("é", "\U0001f600!", "x"), logprobs=((token("é"),), tuple(parts), (token("x"),)))
    assert shown(completion(logprobs=1), choice)["logprobs"]["text_offset"] == [0, 1, 1, 2, 3]


def test_echo_with_log_probabilities():
    """E-156: prompt and answer in one; the first entries are null, every offset is -1."""
    choice = Choice(
        text=GENERATED.text, logprobs=GENERATED.logprobs, prompt_text="The sky", prompt_logprobs=PROMPT
    )
    answer = shown(completion(echo=True, logprobs=2), choice)
    assert answer["text"] == "The sky is blue"
    assert answer["logprobs"] == {
        "tokens": ["The", " sky", " is", " blue"],
        "token_logprobs": [None, -2.0, -0.25, -3.0],
        "top_logprobs": [
            None,
            {" sun": -0.5, " sky": -2.0},
            {" is": -0.25, " was": -1.5},
            {" blue": -3.0},
        ],
        "text_offset": [-1, -1, -1, -1],
    }


def test_echo_without_log_probabilities():
    """E-157: the text begins with the prompt, and that is all."""
    choice = Choice(text=(" is",), prompt_text="The sky", prompt_logprobs=PROMPT)
    answer = shown(completion(echo=True), choice)
    assert (answer["text"], answer["logprobs"]) == ("The sky is", None)


@pytest.mark.parametrize("more", [{}, {"logprobs": 2}, {"echo": True}, {"logprobs": 2, "echo": True}])
def test_a_scored_span(more: dict[str, Any]):
    """E-158, E-163: values and ids of the span alone, the first value null wherever the span begins."""
    span = (token(" Paris", -0.75, number=41), token(".", -0.125, number=42))
    choice = Choice(
        text=(" is",),
        logprobs=((token(" is"),),),
        prompt_logprobs=span,
        prompt_text="The" if more.get("echo") else None,
    )
    answer = shown(completion(logprob_start_len=5, **more), choice)
    assert answer["logprobs"] == {"token_logprobs": [None, -0.125], "token_ids": [41, 42]}
    assert list(answer["logprobs"]) == ["token_logprobs", "token_ids"]
    assert answer["text"] == ("The is" if more.get("echo") else " is")


@pytest.mark.parametrize("scored", [None, ()])
def test_a_start_past_the_end(scored: tuple[TokenLogprob, ...] | None):
    """E-159: empty lists."""
    answer = shown(completion(logprob_start_len=99), Choice(text=("a",), prompt_logprobs=scored))
    assert answer["logprobs"] == {"token_logprobs": [], "token_ids": []}
