"""How a request becomes a `Generation`: windows, images, spans, batches, echo, and what content depends on."""

import json
from dataclasses import replace
from typing import Any

import pytest

from engy_mock.model import corpus as corpora
from engy_mock.model.cards import CARDS
from engy_mock.model.catalog import Catalog
from engy_mock.model.engine import MAX_IMAGE_BYTES, MAX_IMAGES, Engine
from engy_mock.model.templates import Rendered
from engy_mock.vocabulary.errors import ApiError, InvalidRequest, TooLarge
from engy_mock.vocabulary.generation import Reply, Usage
from engy_mock.vocabulary.request import (
    Image,
    Message,
    ProviderWish,
    ResponseFormat,
    Sampling,
    Scoring,
    ThinkingWish,
    Tool,
    ToolCall,
    ToolChoice,
)
from tests.model.made import (
    BUNDLED,
    ENGINE,
    MODELS,
    all_readings,
    answer,
    answers,
    chat,
    other,
    other_engine,
    raw,
    sentences,
    told,
)

PNG = Image(media_type="image/png", data=b"\x89PNG\r\n\x1a\n")
CARD = {card.id: card for card in CARDS}
GREEDY = Sampling(temperature=0)


def _shown(*images: Image) -> Message:
    return Message(role="user", text="Look", parts=("Look", *images))


def _prepared(request, *, engine=ENGINE, **limits):
    return engine.prepare(request, engine.catalog.find(request.model), **limits)


def _refused(request, *, engine=ENGINE, **limits) -> ApiError:
    with pytest.raises(ApiError) as caught:
        _prepared(request, engine=engine, **limits)
    return caught.value


@pytest.mark.parametrize("model", MODELS)
def test_image_models(model):
    """E-76, E-144: a model without eyes refuses an image, the others count it."""
    request = chat(_shown(PNG), model=model)
    if CARD[model].takes_images:
        assert _prepared(request).prompt_tokens > 256
    else:
        error = _refused(request)
        assert isinstance(error, InvalidRequest)
        assert error.message == f"{model} does not accept images"


@pytest.mark.parametrize(
    ("images", "message"),
    [
        ((PNG,) * 11, "11 images, at most 10 allowed"),
        ((PNG, replace(PNG, data=bytes(101))), "image 2 has 101 bytes, at most 100 allowed"),
        ((replace(PNG, data=bytes(101)),) * 11, "image 1 has 101 bytes, at most 100 allowed"),
    ],
    ids=["too many", "too large", "both"],
)
def test_too_many_images(images, message):
    """E-78, E-145: too many or too large images are refused with 413, and the first of them is named."""
    request = chat(_shown(*images[:1]), _shown(*images[1:]), model="kimi-k3")
    error = _refused(request, max_image_bytes=100)
    assert isinstance(error, TooLarge)
    assert error.message == message


def test_image_limits():
    """E-145: ten images of 20 MiB are not too much; both limits are settings."""
    assert (MAX_IMAGES, MAX_IMAGE_BYTES) == (10, 20 * 1024 * 1024)
    assert _prepared(chat(_shown(*[PNG] * 10), model="kimi-k3")).prompt_tokens > 2560
    assert _prepared(chat(_shown(*[PNG] * 12), model="kimi-k3"), max_images=12)


def _windowed(prompt_tokens: int, model: str = "deepseek-v4.1-flash") -> Engine:
    """An engine in which each conversation on this model has so many tokens."""
    catalog = Catalog()
    catalog.use(model, chat_template=lambda *_: Rendered([50] * prompt_tokens))
    return Engine(catalog)


LONG = "prompt has 263404 tokens; deepseek-v4.1-flash takes at most 262144 input tokens, window 327680"


@pytest.mark.parametrize(
    ("prompt", "max_tokens", "message"),
    [
        (262_144, None, None),
        (262_144, 65_536, None),
        (262_144, 10**9, None),
        (263_404, None, LONG),
        (263_404, 1, LONG),
        (262_145, 1, "prompt has 262145 tokens; "),
    ],
)
def test_largest_input(prompt, max_tokens, message):
    """E-79, E-86: a conversation may not be longer than the largest input, however little is asked for."""
    request = chat("Hi", model="deepseek-v4.1-flash", max_tokens=max_tokens)
    engine = _windowed(prompt)
    if message is None:
        assert _prepared(request, engine=engine).max_tokens == min(max_tokens or 65_536, 65_536)
    else:
        error = _refused(request, engine=engine)
        assert error.message.startswith(message)
        assert (error.code, error.status) == ("context_length_exceeded", 400)


SMALL = replace(CARDS[0], id="small", context=100, max_input=80, max_output=40)


@pytest.mark.parametrize(
    ("prompt", "max_tokens", "limit"),
    [
        pytest.param(60, 40, 40, id="E-80 fits exactly"),
        pytest.param(
            61, 40, "prompt 61 + max_tokens 40 = 101 tokens; the context window of small is 100", id="E-80"
        ),
        pytest.param(61, 1000, "prompt 61 + max_tokens 40 = 101 tokens", id="E-80 after lowering"),
        pytest.param(61, None, 39, id="E-87 shrinks"),
        pytest.param(99, None, 1, id="E-87 to the last token"),
        pytest.param(100, None, "prompt 100 + max_tokens 40 = 140 tokens", id="E-87 nothing is left"),
        pytest.param(100, 1, "prompt 100 + max_tokens 1 = 101 tokens", id="E-86 completions may fill the window"),
        pytest.param(99, 1, 1, id="E-86 to the last token"),
        pytest.param(5, None, 40, id="E-152 default"),
        pytest.param(5, 41, 40, id="E-152 lowered"),
        pytest.param(5, 7, 7, id="as asked"),
    ],
)
def test_window(prompt, max_tokens, limit):
    """E-80, E-86, E-87: a raw prompt and what is asked for fit the window, or what was not asked for shrinks."""
    catalog = Catalog(cards=(SMALL,))
    request = raw(tuple([50] * prompt), model="small", max_tokens=max_tokens)
    if isinstance(limit, int):
        prepared = _prepared(request, engine=Engine(catalog))
        assert (prepared.max_tokens, prepared.prompt_tokens) == (limit, prompt)
    else:
        error = _refused(request, engine=Engine(catalog))
        assert error.message.startswith(limit)
        assert error.code == "context_length_exceeded"


def test_window_of_a_conversation():
    """E-87: what was not asked for shrinks in a conversation too."""
    catalog = Catalog(cards=(replace(SMALL, max_input=100),))
    catalog.use("small", chat_template=lambda *_: Rendered([50] * 95))
    assert _prepared(chat("Hi", model="small"), engine=Engine(catalog)).max_tokens == 5


def test_window_of_a_batch():
    """The longest prompt of a batch counts."""
    error = _refused(
        raw((50,), tuple([50] * 99), model="small", max_tokens=2), engine=Engine(Catalog(cards=(SMALL,)))
    )
    assert error.message.startswith("prompt 99 + max_tokens 2 = 101 tokens")


@pytest.mark.parametrize(
    ("prompt", "scoring", "message"),
    [
        pytest.param(
            (50,) * 1300, {"echo": True}, "scored span has 1300 tokens, at most 1024 allowed", id="E-160 echo"
        ),
        pytest.param((50,) * 1024, {"echo": True}, None, id="E-160 echo fits"),
        pytest.param((50,) * 5000, {}, None, id="nothing scored"),
        pytest.param((50,) * 5000, {"logprobs": True, "top": 3}, None, id="only what is generated"),
        pytest.param((50,) * 5000, {"start": 4990}, None, id="E-160 a long prefix"),
        pytest.param((50,) * 5000, {"start": 4990, "echo": True}, None, id="E-160 a start holds with echo too"),
        pytest.param((50,) * 5000, {"start": 3975}, "scored span has 1025 tokens", id="E-160 span"),
        pytest.param((50,) * 5000, {"start": 3976}, None, id="E-160 span fits"),
        pytest.param((50,) * 5000, {"start": 9999}, None, id="E-159 past the end"),
        pytest.param("abcd" * 1024, {"start": 10**6}, None, id="E-161 estimate fits"),
        pytest.param("abcd" * 1024 + "e", {"start": 10**6}, "scored span has 1025 tokens", id="E-161 rounded up"),
        pytest.param("\u00e9" * 2049, {"echo": True}, "scored span has 1025 tokens", id="E-161 bytes"),
        pytest.param("abcd" * 2000, {}, None, id="E-161 nothing scored"),
    ],
)
def test_spans(prompt, scoring, message):
    """E-159 to E-161: at most 1,024 tokens are scored; text is estimated as a whole, token ids are counted."""
    request = raw(prompt, scoring=Scoring(**scoring), max_tokens=1)
    if message is None:
        assert _prepared(request, max_scored=1024)
    else:
        error = _refused(request, max_scored=1024)
        assert error.message.startswith(message)
        assert error.param == ("echo" if "start" not in scoring else "logprob_start_len")
    assert _prepared(request)


@pytest.mark.parametrize(
    ("prompts", "param"),
    [(((5, BUNDLED.size),), "prompt[1]"), (((5,), (6, 7, 10**9)), "prompt[1][2]"), ((tuple(range(4096)),), None)],
)
def test_ids_outside_the_vocabulary(prompts, param):
    """E-149: an id that no token has is refused, and named."""
    if param is None:
        assert _prepared(raw(*prompts)).prompt_tokens == 4096
    else:
        error = _refused(raw(*prompts))
        assert error.param == param
        assert error.message.startswith(param)
        assert error.message.endswith("the vocabulary has 4096 tokens")


def test_ids_of_marks_that_a_vocabulary_lacks():
    """E-149: the ids by which the model knows marks that a vocabulary lacks are outside of it."""
    size = other("byte level").text_size
    assert _refused(raw((size,)), engine=other_engine("byte level")).param == "prompt[0]"
    assert _prepared(raw((size - 1,)), engine=other_engine("byte level"))


FRANCE = "What is the capital of France?"
CONCISE = Message(role="system", text="You are a concise assistant.")
PARIS = "The capital of France is Paris."


def test_documented_chat():
    """E-103: the first example comes out by counting."""
    generation = answers(chat(CONCISE, FRANCE))
    choice = generation.choices[0]
    assert choice.whole_text == PARIS
    assert choice.whole_reasoning == "The user asks for the capital of France."
    assert generation.usage == Usage(prompt_tokens=22, completion_tokens=19, reasoning_tokens=11)


@pytest.mark.parametrize("temperature", [0, None])
def test_documented_completion(temperature):
    """E-104: so does the second."""
    generation = answers(raw("The capital of France is", sampling=Sampling(temperature=temperature)))
    assert generation.choices[0].whole_text == " Paris."
    assert generation.usage == Usage(prompt_tokens=5, completion_tokens=3)


def test_documented_scoring():
    """E-158, E-163: a scored span has one entry for each of its tokens, the first of them null, and their ids."""
    ids = tuple(BUNDLED.encode(PARIS))
    choice = answer(raw(ids, max_tokens=1, sampling=GREEDY, scoring=Scoring(start=5)))
    entries = choice.prompt_logprobs or ()
    assert [entry.id for entry in entries] == list(ids[-2:])
    assert entries[0].logprob is None
    assert isinstance(entries[1].logprob, float)
    assert -1 < entries[1].logprob < 0
    assert choice.logprobs is None


@pytest.mark.parametrize("start", [0, 1, 5, 6, 7, 8, 1000])
def test_starts(start):
    """E-158, E-159: a start at or past the end scores nothing; every other scores from there on."""
    ids = tuple(BUNDLED.encode(PARIS))
    choice = answer(raw(ids, max_tokens=1, scoring=Scoring(start=start)))
    assert [entry.id for entry in choice.prompt_logprobs or ()] == list(ids[start:])


def test_windows_agree():
    """Property 2: the values of a span are those of the whole prompt, but for the first, which is null."""
    ids = tuple(BUNDLED.encode("Green tea tastes best when the water has cooled. And then?"))
    whole = answer(raw(ids, max_tokens=1, scoring=Scoring(logprobs=True, top=3, echo=True))).prompt_logprobs or ()
    for start in range(1, len(ids)):
        span = answer(raw(ids, max_tokens=1, scoring=Scoring(start=start, top=3))).prompt_logprobs or ()
        assert told(span[1:]) == told(whole[start + 1 :])


@pytest.mark.parametrize(
    "prompt", ["Tea.", "caf\u00e9 \U0001f642", "<think>", "\u65e5\u672c\u8a9e", "x" * 300, "\n\n", "The", " "]
)
def test_echo(prompt):
    """E-156, R-46: echo with `max_tokens` 1 has entries for each prompt token and one more; the first is null."""
    for sent in (prompt, tuple(BUNDLED.encode(prompt, marks=True))):
        for temperature in (0, 1.0):
            wish = Scoring(logprobs=True, top=1, echo=True)
            request = raw(sent, max_tokens=1, scoring=wish, sampling=Sampling(temperature=temperature))
            choice = answer(request)
            scored = choice.prompt_logprobs or ()
            said = [entry for piece in choice.logprobs or () for entry in piece]
            assert len(scored) + len(said) == len(BUNDLED.encode(prompt, marks=True)) + 1
            assert [entry.logprob is None for entry in scored] == [True] + [False] * (len(scored) - 1)
            assert choice.prompt_text == prompt
            assert len(said) == 1


def test_echo_without_logprobs():
    """E-157: echo alone repeats the prompt and scores nothing."""
    choice = answer(raw("Tea.", max_tokens=1, scoring=Scoring(echo=True)))
    assert (choice.prompt_text, choice.prompt_logprobs, choice.logprobs) == ("Tea.", None, None)
    assert answer(raw("Tea.", max_tokens=1)).prompt_text is None


@pytest.mark.slow
def test_echo_in_a_vocabulary_that_puts_a_space_before():
    """The echoed prompt is what was sent, whatever a user's own vocabulary makes of it."""
    request = raw("Tea.", max_tokens=1, scoring=Scoring(logprobs=True, echo=True))
    assert answer(request, engine=other_engine("metaspace")).prompt_text == "Tea."


def test_batch():
    """E-150: a batch has one choice for each prompt, in order and as if alone; usage is the sum."""
    prompts = ("Tea is", "The capital of France is", tuple(BUNDLED.encode("Coffee is")), "Tea is")
    batch = answers(raw(*prompts, max_tokens=30))
    assert _prepared(raw(*prompts)).prompt_tokens == batch.usage.prompt_tokens
    alone = [answers(raw(prompt, max_tokens=30)) for prompt in prompts]
    assert [choice.index for choice in batch.choices] == [0, 1, 2, 3]
    assert [choice.text for choice in batch.choices] == [one.choices[0].text for one in alone]
    assert batch.usage == Usage(
        prompt_tokens=sum(one.usage.prompt_tokens for one in alone),
        completion_tokens=sum(one.usage.completion_tokens for one in alone),
    )


@pytest.mark.parametrize(
    "sampling", [Sampling(), Sampling(temperature=0), Sampling(seed=3)], ids=["drawn", "greedy", "seed"]
)
def test_copies(sampling):
    """S-44: several answers to one prompt begin each with another token; the first is what is given alone."""
    for make in (chat, raw):
        alone = answers(make("Tell me about tea", sampling=sampling))
        several = answers(make("Tell me about tea", sampling=sampling, copies=5))
        assert several.choices[0] == alone.choices[0]
        assert [choice.index for choice in several.choices] == [0, 1, 2, 3, 4]
        begins = {(choice.reasoning or choice.text)[0] for choice in several.choices}
        assert len(begins) == 5
        assert several.usage.prompt_tokens == alone.usage.prompt_tokens
        assert several.usage.completion_tokens > alone.usage.completion_tokens
        assert answers(make("Tell me about tea", sampling=sampling, copies=5)) == several


def test_copies_of_a_batch():
    """Choices are numbered over all prompts of a batch, each prompt is counted once."""
    batch = answers(raw("Tea is", "Coffee is", copies=2, max_tokens=9))
    assert [choice.index for choice in batch.choices] == [0, 1, 2, 3]
    assert batch.usage.prompt_tokens == answers(raw("Tea is", "Coffee is", max_tokens=9)).usage.prompt_tokens
    assert batch.choices[2].text == answer(raw("Coffee is", max_tokens=9)).text


def test_raw_prompts_keep_their_marks():
    """E-126, E-149: a raw prompt is not rendered, and nothing of its answer is split off as reasoning."""
    prompt = (
        "[gMASK]<sop><|system|>Reasoning Effort: Max<|user|>What is the capital of France?<|assistant|><think>"
    )
    generation = answers(raw(prompt, max_tokens=512, sampling=GREEDY))
    choice = generation.choices[0]
    assert generation.usage.prompt_tokens == len(BUNDLED.encode(prompt, marks=True))
    assert choice.reasoning is None
    assert choice.whole_text == f"The user asks for the capital of France.</think>{PARIS}"
    assert (generation.usage.completion_tokens, generation.usage.reasoning_tokens) == (19, 0)


@pytest.mark.parametrize("tools", [(), (Tool(name="f"),)], ids=["text", "tools"])
@pytest.mark.parametrize("make", [chat, raw])
def test_what_content_does_not_depend_on(make, tools):
    """E-13: streaming, usage, keys, wishes for workers, and log probabilities leave the content alone."""
    fields = {"tools": tools, "sampling": Sampling(seed=5)} if make is chat else {"sampling": Sampling(seed=5)}
    plain = answers(make("Tell me about tea", **fields))
    for change in (
        {"is_streamed": True, "include_usage": True},
        {"cache_key": "k", "body": {"user": "me"}},
        {"provider": ProviderWish(zdr=True)},
        {"scoring": Scoring(logprobs=True, top=5)},
        {"endpoint": "messages", "surface": "v5"},
    ):
        other_way = answers(make("Tell me about tea", **{**fields, **change}))
        assert other_way.usage == plain.usage
        assert other_way.choices[0].text == plain.choices[0].text
        assert other_way.choices[0].reasoning == plain.choices[0].reasoning
    vendor = answers(make("Tell me about tea", model="engy/glm-5.2", **fields))
    assert vendor == plain


@pytest.mark.parametrize(
    "change",
    [
        {"model": "glm-5.3"},
        {"thinking": ThinkingWish(effort="high")},
        {"tools": (Tool(name="f"),)},
        {"tools": (Tool(name="f"),), "tool_choice": ToolChoice(mode="none")},
        {"response_format": ResponseFormat(type="text", schema={"a": 1})},
        {"sampling": Sampling(temperature=0.99)},
        {"sampling": Sampling(top_p=0.96)},
        {"sampling": Sampling(top_k=400)},
        {"sampling": Sampling(min_p=1e-6)},
        {"sampling": Sampling(presence_penalty=0.001)},
        {"sampling": Sampling(frequency_penalty=0.001)},
        {"sampling": Sampling(seed=1)},
        {"sampling": Sampling(logit_bias={50: 0.001})},
    ],
    ids=str,
)
def test_what_content_depends_on(change):
    """E-13: what shapes an answer shapes the draws, so that some of several answers differ."""
    questions = [f"Tell me about tea {number}" for number in range(4)]
    plain = [answer(chat(question)).text for question in questions]
    changed = [answer(chat(question, **change)).text for question in questions]
    assert plain != changed
    assert changed == [answer(chat(question, **change)).text for question in questions]


A_TOOL = Tool(name="f", parameters={"type": "object", "properties": {"a": {"type": "string"}}})


def test_documents_of_many_copies_come_again():
    """S-52: a schema is hard work, and not done more often than sixteen times for one request."""
    form = ResponseFormat(type="json_schema", schema={"type": "integer"})
    made = [choice.text for choice in answers(chat("How many?", response_format=form, copies=40)).choices]
    assert made[:16] == made[16:32]
    assert made[:8] == made[32:]
    assert len(set(made[:16])) > 8
    assert made[:16] == [c.text for c in answers(chat("How many?", response_format=form, copies=16)).choices]


@pytest.mark.parametrize("mode", ["auto", "none"])
def test_parallel_calls_shape_no_text(mode):
    """E-13, E-58: whether calls may be parallel leaves an answer alone that makes none."""
    fields: dict[str, Any] = {"tools": (A_TOOL,), "tool_choice": ToolChoice(mode=mode)}
    alone = answer(chat("Tell me about tea", parallel_tool_calls=False, **fields))
    assert alone == answer(chat("Tell me about tea", **fields))


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"tools": (A_TOOL,), "tool_choice": ToolChoice(mode="required")},
        {"response_format": ResponseFormat(type="json_object")},
    ],
    ids=["text", "tool", "document"],
)
@pytest.mark.parametrize("model", ["glm-5.2", "deepseek-v4.1-flash"])
def test_limits_cut_content(fields, model):
    """E-13, E-102: under every `max_tokens` so many tokens of the same content are said."""
    whole = answers(chat("Tell me about tea", model=model, **fields))
    full = whole.choices[0]
    for limit in range(1, whole.usage.completion_tokens + 2):
        cut = answers(chat("Tell me about tea", model=model, max_tokens=limit, **fields))
        choice = cut.choices[0]
        assert full.whole_reasoning.startswith(choice.whole_reasoning)
        assert full.whole_text.startswith(choice.whole_text)
        assert cut.usage.completion_tokens == min(limit, whole.usage.completion_tokens)
        assert (choice.finish_reason == "length") is (limit < whole.usage.completion_tokens)


@pytest.mark.parametrize("model", MODELS)
def test_stops_cut_content(model):
    """E-13, E-54: a stop cuts the same content before its first match."""
    whole = answer(chat("Tell me about tea", model=model)).whole_text
    for stop in (whole[:1], whole[-1], whole[5:9], whole[20:31], whole[-3:]):
        cut = answer(chat("Tell me about tea", model=model, stop=(stop, "\x00")))
        assert cut.whole_text == whole[: whole.index(stop)]
        assert (cut.finish_reason, cut.stop_sequence) == ("stop", stop)


@pytest.mark.parametrize(("effort", "count"), [("low", 1), ("high", 2), ("max", 3)])
def test_thinking(effort, count):
    """E-132, E-133: the wish settles how much is thought, and whether."""
    thought = answer(chat("Tell me about tea", model="glm-5.3", thinking=ThinkingWish(effort=effort)))
    assert thought.whole_reasoning.count(".") + thought.whole_reasoning.count("?") == count
    silent = answers(chat("Tell me about tea", thinking=ThinkingWish(enabled=False)))
    assert (silent.choices[0].reasoning, silent.usage.reasoning_tokens) == (None, 0)


def test_question():
    """What is asked is in the last turn of the user, however much a tool has said since."""
    said = Message(role="tool", text="Dogs and cats. " * 100, tool_call_id="call_1")
    called = Message(role="assistant", tool_calls=(ToolCall("pets"),))
    coffee = next(topic for topic in corpora.bundled().topics if topic.name == "coffee")
    known = {reading for sentence in coffee.sentences for reading in all_readings(sentence)}
    for messages in (("Why coffee?",), ("Why coffee?", called, said), ("Dogs?", called, said, "Why coffee?")):
        assert set(sentences(answer(chat(*messages)).whole_text) or ["?"]) <= known


def _own_template() -> Engine:
    catalog = Catalog()
    catalog.use("glm-5.2", chat_template="{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}")
    return Engine(catalog)


@pytest.mark.parametrize(
    "engine",
    [lambda: ENGINE, lambda: other_engine("byte level"), lambda: other_engine("metaspace"), _own_template],
    ids=["bundled", "byte level", "metaspace", "template"],
)
def test_prefilled(engine):
    """E-96, E-131: the model goes on with the last message of the assistant, and does not think."""
    begun = Message(role="assistant", text="The capital of France")
    said = answer(chat("What is the capital of France?", begun, sampling=GREEDY), engine=engine())
    assert said.reasoning is None
    assert said.whole_text.startswith(" is Paris.")


@pytest.mark.parametrize("top", [1, 2, 5, 30])
def test_top(top):
    """E-111, E-162: as many alternatives as were asked for, distinct, falling, the token itself among them."""
    for seed in range(4):
        choice = answer(
            chat("Tell me about tea", scoring=Scoring(logprobs=True, top=top), sampling=Sampling(seed=seed))
        )
        for entry in [entry for piece in choice.logprobs or () for entry in piece]:
            texts = [text for text, _, _ in entry.top]
            values = [value for _, _, value in entry.top]
            assert len(set(texts)) == len(texts) == top
            assert values == sorted(values, reverse=True)
            assert (entry.token, entry.raw, entry.logprob) in entry.top
            assert "<|endoftext|>" not in texts


def test_top_where_the_end_is_expected():
    """E-111: the end of a text is not among the alternatives, and there are as many as elsewhere."""
    request = raw(PARIS + " And so on.", max_tokens=1, scoring=Scoring(logprobs=True, top=5, echo=True))
    entries = (answer(request).prompt_logprobs or ())[1:]
    assert [len(entry.top) for entry in entries] == [5] * len(entries)
    assert "<|endoftext|>" not in [text for entry in entries for text, _, _ in entry.top]
    values = [entry.logprob for entry in entries]
    assert values[7 - 1] == min(value for value in values if value is not None)


def test_no_alternatives():
    """E-111: without a number there are none."""
    choice = answer(chat("Tell me about tea", scoring=Scoring(logprobs=True)))
    assert not any(entry.top for piece in choice.logprobs or () for entry in piece)


def test_bounds_of_logprobs():
    """E-112, R-45: every value is finite, at most 0 and at least -100."""
    noise = tuple((7 * place * place + 13) % BUNDLED.size for place in range(300))
    for model in MODELS:
        choice = answer(raw(noise, model=model, max_tokens=1, scoring=Scoring(logprobs=True, top=30, echo=True)))
        for entry in (choice.prompt_logprobs or ())[1:]:
            assert entry.logprob is not None
            assert -100 <= entry.logprob <= 0
            assert all(-100 <= value <= 0 for _, _, value in entry.top)


WEATHER = Tool(
    name="get_weather",
    parameters={"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]},
)
PLAIN = Tool(name="now")


@pytest.mark.parametrize(
    ("choice", "name"),
    [
        (ToolChoice(mode="auto"), None),
        (ToolChoice(mode="none"), None),
        (ToolChoice(mode="required"), "get_weather"),
        (ToolChoice(mode="named", name="get_weather"), "get_weather"),
        (ToolChoice(mode="named", name="now"), "now"),
    ],
)
def test_tools(choice, name):
    """E-135, E-136: a tool that must be called is, once, with arguments of its schema; else there is text."""
    said = answer(chat("What is up?", tools=(WEATHER, PLAIN), tool_choice=choice))
    if name is None:
        assert (said.tool_calls, said.finish_reason) == ((), "stop")
        assert said.text
    else:
        assert [call.name for call in said.tool_calls] == [name]
        assert (said.finish_reason, said.text) == ("tool_calls", ())
        arguments = json.loads(said.tool_calls[0].arguments)
        assert isinstance(arguments["days"], int) if name == "get_weather" else arguments == {}
    assert said.reasoning is not None


def test_documents():
    """E-59: with a schema the text is a document that fits it, after the reasoning."""
    schema = {
        "type": "object",
        "properties": {"n": {"enum": [7]}},
        "required": ["n"],
        "additionalProperties": False,
    }
    said = answer(chat("Give me a number", response_format=ResponseFormat(type="json_schema", schema=schema)))
    assert json.loads(said.whole_text) == {"n": 7}
    assert said.reasoning
    assert isinstance(
        json.loads(answer(chat("x", response_format=ResponseFormat(type="json_object"))).whole_text), dict
    )


CALL = ToolCall("now")


@pytest.mark.parametrize(
    ("reply", "thinks", "reasoning", "text", "finish"),
    [
        (Reply(text="Hello"), True, None, "Hello", "stop"),
        (Reply(text="Hello", reasoning="Hm"), True, "Hm", "Hello", "stop"),
        (Reply(text="Hello", reasoning="Hm"), False, None, "Hello", "stop"),
        (Reply(text=""), True, None, "", "stop"),
        (Reply(tool_calls=(CALL,)), True, None, "", "tool_calls"),
        (Reply(text="So", tool_calls=(CALL,)), True, None, "So", "tool_calls"),
        (Reply(text="caf\u00e9 \U0001f642 <think>"), True, None, "caf\u00e9 \U0001f642 <think>", "stop"),
        (Reply(text="Hello", finish_reason="content_filter"), True, None, "Hello", "content_filter"),
    ],
)
def test_reply(reply, thinks, reasoning, text, finish):
    """E-133: a reply is said word for word; it reasons only if it says so and thinking is on."""
    request = chat("Hi", thinking=ThinkingWish(enabled=thinks))
    said = answer(request, reply)
    assert (said.whole_reasoning if said.reasoning is not None else None) == reasoning
    assert (said.whole_text, said.finish_reason) == (text, finish)
    for kind in ("byte level", "metaspace"):
        assert answer(request, reply, engine=other_engine(kind)).whole_text == text


def test_reply_counts():
    """E-100: a reply is counted like any answer, unless it brings its own usage."""
    counted = answers(chat("Hi"), Reply(text=PARIS, reasoning="The user asks for the capital of France.")).usage
    assert (counted.completion_tokens, counted.reasoning_tokens) == (19, 11)
    own = Usage(prompt_tokens=1, completion_tokens=2, cached_tokens=3, reasoning_tokens=4)
    assert answers(chat("Hi"), Reply(text=PARIS, usage=own)).usage == own


def test_reply_is_scored():
    """E-112: the words of a reply have the values that the model gives them, unless the reply dictates some."""
    wish = Scoring(logprobs=True, top=2)
    request = chat("What is the capital of France?", scoring=wish, thinking=ThinkingWish(enabled=False))
    said = [entry for piece in answer(request).logprobs or () for entry in piece]
    forced = [entry for piece in answer(request, Reply(text=PARIS)).logprobs or () for entry in piece]
    assert told(forced) == told(said)
    other_words = answer(request, Reply(text="Rome it is.")).logprobs or ()
    assert other_words[0][0].logprob is not None
    assert other_words[0][0].logprob < -5
    dictated = answer(request, Reply(text=PARIS, logprobs={" Paris": -3.5})).logprobs or ()
    assert [piece[0].logprob for piece in dictated if piece[0].token == " Paris"] == [-3.5]


@pytest.mark.parametrize("limit", range(1, 8))
def test_reply_is_cut(limit):
    """E-102: a reply is cut at the limit like any answer."""
    generation = answers(chat("Hi", max_tokens=limit), Reply(text="one two three", reasoning="four five"))
    assert generation.usage.completion_tokens == min(limit, 8)
    assert generation.choices[0].finish_reason == "length"


def test_token_ids():
    """The ids of a choice are those of its text, so that it can be scored again."""
    choice = answer(chat("Tell me about tea"))
    assert BUNDLED.decode(choice.token_ids) == choice.whole_text
