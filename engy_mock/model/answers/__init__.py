"""Answers worth rendering: paragraphs, lists, tables, code and other scripts, where a question asks for them.

They are dictated to the model, so that their tokens, counts and log probabilities are as real as those of a reply.
"""

from array import array
from dataclasses import replace

from engy_mock.model.agenda import THINKING_SENTENCES, THINKING_SENTENCES_WITHOUT_LEVEL
from engy_mock.model.answers.composing import Piece, composed
from engy_mock.model.answers.offers import tool_meant, with_place
from engy_mock.model.answers.wishes import Wish, standing_wish_of, subject_of, wish_of
from engy_mock.model.corpus import Topic, bundled
from engy_mock.model.engine import Engine
from engy_mock.model.forms import demanded
from engy_mock.model.prepared import Prepared
from engy_mock.vocabulary.generation import Choice, Generation, Reply
from engy_mock.vocabulary.request import Conversation, GenerationRequest, ToolChoice
from engy_mock.vocabulary.seeds import Draws, digest

MAX_QUOTED = 400
"""So much of a tool's result is repeated."""


def answer(engine: Engine, prepared: Prepared, *, is_always: bool) -> Generation | None:
    """What is said to a question that asks for more than sentences; None if the model may say what it likes.

    If `is_always`, to any other question as well.
    """
    request = prepared.request
    if not isinstance(request.prompt, Conversation) or demanded(request) is not None:
        return None
    if request.prompt.is_prefilled:
        return None  # what has been begun is gone on with
    last = request.messages[-1]
    question = request.last_user_text
    if last.role == "user" and request.tool_choice.mode == "auto":
        name = tool_meant(question, request.tools)
        if name is not None:
            tools = tuple([with_place(one, question) if one.name == name else one for one in request.tools])
            named = replace(request, tools=tools, tool_choice=ToolChoice(mode="named", name=name))
            return engine.generate(replace(prepared, request=named))
    wish = _wish(request, question)
    is_for_more = wish is not None and wish.is_for_more
    if not is_for_more and last.role != "tool" and not is_always:
        return None
    topic = _topic(question)
    if not is_for_more and last.role != "tool" and topic.is_closing:
        return None
    result = last.text[:MAX_QUOTED] if last.role == "tool" else None
    copies = [
        engine.generate(_once(prepared), _reply(engine, prepared, wish, topic, result, copy))
        for copy in range(request.copies)
    ]
    return _together(copies) if len(copies) > 1 else copies[0]


def _wish(request: GenerationRequest, question: str) -> Wish | None:
    """What the question asks for, else what the system message asks of every answer."""
    wish = wish_of(question)
    first = request.messages[0]
    standing = standing_wish_of(first.text) if first.role == "system" and first.text else None
    return standing if wish is None else wish.beside(standing)


def _topic(question: str) -> Topic:
    """What it is about: a fact, else what is left without the words that only say how it is to be told."""
    corpus = bundled()
    whole = corpus.topic(question)
    if whole is not None and whole.is_closing:
        return whole
    return corpus.topic(subject_of(question)) or whole or corpus.general


def _reply(
    engine: Engine, prepared: Prepared, wish: Wish | None, topic: Topic, result: str | None, copy: int
) -> Reply:
    sampling = prepared.request.sampling
    tokens = array("I", prepared.prompts[0].tokens).tobytes()
    knobs = repr((sampling.seed, sampling.temperature))
    draws = Draws(digest("answer", engine.seed, prepared.card.speaker, tokens, knobs, copy))
    text = composed(wish, topic, draws)
    if result is not None:
        text = f"{Piece.quotation(result)}\n\n{text}"
    return Reply(text=text, reasoning=_reasoning(prepared, topic, draws))


def _reasoning(prepared: Prepared, topic: Topic, draws: Draws) -> str:
    """What the model thinks first, as long as its level has it; where it does not think, nobody hears of it."""
    general = bundled().general.reasoning
    count = THINKING_SENTENCES.get(prepared.level, THINKING_SENTENCES_WITHOUT_LEVEL)
    start = draws.below(len(general))
    own = () if topic is bundled().general else topic.reasoning[:1]
    sentences = [*own, *(general[(start + place) % len(general)] for place in range(count))]
    return " ".join([Piece.read(sentence, draws) for sentence in sentences[:count]])


def _once(prepared: Prepared) -> Prepared:
    return replace(prepared, request=replace(prepared.request, copies=1))


def _together(copies: list[Generation]) -> Generation:
    """Several answers to one prompt, which is paid for once."""
    choices: list[Choice] = [
        replace(choice, index=place) for place, one in enumerate(copies) for choice in one.choices
    ]
    usage = replace(
        copies[0].usage,
        completion_tokens=sum([one.usage.completion_tokens for one in copies]),
        reasoning_tokens=sum([one.usage.reasoning_tokens for one in copies]),
    )
    return Generation(choices=tuple(choices), usage=usage)
