"""How an answer is made: a request becomes a prompt, the prompt a `Generation`.

Nothing here has state or looks at the time: the same request gives the same answer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from engy_mock.model.cards import Level, ModelCard
from engy_mock.model.catalog import Catalog
from engy_mock.model.composing import Parts, compose, spoken
from engy_mock.model.content_key import content_key
from engy_mock.model.copies import beginnings
from engy_mock.model.forms import Form, demanded
from engy_mock.model.measuring import length, raw_length
from engy_mock.model.opening import Opening
from engy_mock.model.overflow import Wording, overflow
from engy_mock.model.prepared import Prepared
from engy_mock.model.sampling import Knobs, knobs_without_bias
from engy_mock.model.scoring import score
from engy_mock.model.templates import Rendered
from engy_mock.model.tokenizer import Tokenizer
from engy_mock.model.writing import write
from engy_mock.vocabulary.errors import InvalidRequest, TooLarge
from engy_mock.vocabulary.generation import UNSAID, Choice, Generation, Reply, TokenLogprob, Usage
from engy_mock.vocabulary.request import Conversation, GenerationRequest, Sampling, ToolCall
from engy_mock.vocabulary.seeds import Draws, digest

MAX_DOCUMENTS = 16
"""So many different ones are made for a schema; further copies of an answer say the same again."""

MAX_IMAGES = 10
MAX_IMAGE_BYTES = 20 * 1024 * 1024


@dataclass(slots=True)
class Engine:
    """The pretend model server: every model of the catalogue, under one seed."""

    catalog: Catalog
    seed: int = 0

    def prepare(
        self,
        request: GenerationRequest,
        card: ModelCard,
        *,
        max_scored: int | None = None,
        max_images: int = MAX_IMAGES,
        max_image_bytes: int = MAX_IMAGE_BYTES,
        wording: Wording = "engy",
    ) -> Prepared:
        """Render and measure; raises ApiError in the order of E-76 to E-81."""
        tokenizer = self.catalog.tokenizer(card)
        prompt = request.prompt
        level: Level = "off"
        rendered: tuple[Rendered, ...]
        if isinstance(prompt, Conversation):
            _check_images(prompt, card, max_images, max_image_bytes)
            level = "off" if prompt.is_prefilled else card.level(request.thinking)
            template = self.catalog.template(card)
            longest = length(prompt, request.tools, level, tokenizer, template) or 0
            if longest <= card.max_input:
                rendered = (template(prompt, request.tools, level, tokenizer),)
                longest = len(rendered[0].tokens)
            if longest > card.max_input:
                raise overflow(
                    f"prompt has {longest} tokens; {card.id} takes at most {card.max_input} input tokens, "
                    f"window {card.context}",
                    wording,
                    prompt=longest,
                    limit=0,
                    window=card.max_input,
                    param="messages",
                )
        elif (longest := raw_length(prompt, tokenizer) or 0) < card.context:
            rendered = tuple(
                Rendered(
                    _raw_tokens(text, tokenizer, place if len(prompt.prompts) > 1 else None),
                    text=text if isinstance(text, str) else None,
                )
                for place, text in enumerate(prompt.prompts)
            )
            longest = max(len(one.tokens) for one in rendered)
        limit = card.max_output if request.max_tokens is None else min(request.max_tokens, card.max_output)
        if longest + limit > card.context:
            if request.max_tokens is not None or longest >= card.context:
                raise overflow(
                    f"prompt {longest} + max_tokens {limit} = {longest + limit} tokens; "
                    f"the context window of {card.id} is {card.context}",
                    wording,
                    prompt=longest,
                    limit=limit,
                    window=card.context,
                    param="max_tokens" if request.max_tokens is not None else None,
                )
            limit = card.context - longest
        if max_scored is not None and not isinstance(prompt, Conversation):
            for text, one in zip(prompt.prompts, rendered, strict=True):
                _check_span(request, text, len(one.tokens), max_scored)
        return Prepared(request=request, card=card, level=level, prompts=rendered, max_tokens=limit)

    def generate(self, prepared: Prepared, reply: Reply | None = None) -> Generation:
        """Everything that will be said; with a reply its words, else the model's own."""
        request = prepared.request
        choices: list[Choice] = []
        prompt_tokens = completion_tokens = reasoning_tokens = 0
        for prompt in prepared.prompts:
            prompt_tokens += len(prompt.tokens)
            opening = Opening(self.catalog, prepared.card, prompt.context, request)
            firsts: Iterator[int] = iter(())
            for copy in range(request.copies):
                parts = self._parts(prepared, opening, copy, next(firsts, None), reply)
                if copy == 0 and request.copies > 1:
                    firsts = beginnings(opening.reader(), but=parts.first)
                choice, completion, reasoning = self._answer(prepared, prompt, opening, parts, len(choices), reply)
                choices.append(choice)
                completion_tokens += completion
                reasoning_tokens += reasoning
        usage = Usage(
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            reasoning_tokens=reasoning_tokens,
        )
        if reply is not None and reply.usage is not None:
            return Generation(choices=tuple(choices), usage=reply.usage, is_usage_dictated=True)
        return Generation(choices=tuple(choices), usage=usage)

    def check(self, prepared: Prepared) -> None:
        """Raise InvalidRequest if the model could not answer in the form that is demanded (E-59, E-135)."""
        form = self._form(prepared)
        if form is not None:
            (prompt, *_), request, card = prepared.prompts, prepared.request, prepared.card
            knobs = self.knobs(request.sampling, card)
            key = content_key(self.seed, request, card, prompt.context, knobs)
            form.filled(digest("document", key + b"0"))

    def knobs(self, sampling: Sampling, card: ModelCard) -> Knobs:
        """The numbers in force for one answer of this model."""
        knobs = knobs_without_bias(
            card.temperature if sampling.temperature is None else sampling.temperature,
            card.top_p if sampling.top_p is None else sampling.top_p,
            sampling.top_k if sampling.top_k is not None and sampling.top_k > 0 else None,
            sampling.min_p or 0.0,
            sampling.presence_penalty or 0.0,
            sampling.frequency_penalty or 0.0,
        )
        if not sampling.logit_bias:
            return knobs
        size = self.catalog.tokenizer(card).text_size
        bias = {token: shift for token, shift in sampling.logit_bias.items() if token < size}
        return replace(knobs, logit_bias=bias)

    def _parts(
        self, prepared: Prepared, opening: Opening, copy: int, first: int | None, reply: Reply | None
    ) -> Parts:
        """What one choice says: the words of the reply, else the model's own, with the token `first` at first."""
        if reply is not None:
            tokenizer = self.catalog.tokenizer(prepared.card)
            return _dictated(reply, tokenizer, prepared)
        request, card = prepared.request, prepared.card
        knobs = self.knobs(request.sampling, card)
        key = content_key(self.seed, request, card, opening.tokens, knobs)
        shares = digest("draws", key, copy)
        if request.sampling.seed is not None:
            shares = digest("draws", self.seed, card.speaker, copy, request.sampling.seed)
        document_key = key + b"%d" % (copy % MAX_DOCUMENTS)
        return self._made_up(prepared, opening, knobs, Draws(shares), document_key, first)

    def _answer(
        self,
        prepared: Prepared,
        prompt: Rendered,
        opening: Opening,
        parts: Parts,
        index: int,
        reply: Reply | None,
    ) -> tuple[Choice, int, int]:
        """One choice with its completion and reasoning tokens."""
        request = prepared.request
        tokenizer = self.catalog.tokenizer(prepared.card)
        is_raw = not isinstance(request.prompt, Conversation)
        composed = compose(parts, tokenizer, limit=prepared.max_tokens, stop=request.stop)
        scoring = request.scoring
        logprobs: tuple[tuple[TokenLogprob, ...], ...] | None = None
        if scoring.logprobs:
            reader = opening.reader()
            for token in composed.before_text:
                reader.advance(token)
            entries = score(reader, composed.text_tokens, top=scoring.top, first_is_known=True)
            entries = _with_dictated(entries, reply)
            logprobs = _grouped(entries if is_raw else [_with_chosen(one) for one in entries], composed.sizes)
        output_ids: tuple[int, ...] = ()
        if request.provider.require_proof:
            output_ids = tuple(spoken(parts, tokenizer, opening.language.end)[: composed.completion_tokens])
        calls, finish = composed.tool_calls, composed.finish_reason
        if request.tool_choice.mode == "none" and calls:
            # "API overview": calls are removed from the answer; they have been made and are paid for (E-137).
            calls, finish = (), "stop" if finish == "tool_calls" else finish
        choice = Choice(
            index=index,
            reasoning=composed.reasoning,
            text=composed.text,
            tool_calls=calls,
            finish_reason=finish if reply is None or reply.finish_reason is None else reply.finish_reason,
            stop_sequence=composed.stop_sequence,
            logprobs=logprobs,
            prompt_logprobs=opening.logprobs,
            prompt_text=_echoed(prompt, tokenizer) if is_raw and scoring.echo else None,
            token_ids=tuple(composed.text_tokens),
            output_ids=output_ids,
            response=UNSAID if reply is None else reply.response,
        )
        return choice, composed.completion_tokens, composed.reasoning_tokens

    def _made_up(
        self,
        prepared: Prepared,
        opening: Opening,
        knobs: Knobs,
        draws: Draws,
        key: bytes,
        first: int | None,
    ) -> Parts:
        """The model's own words: reasoning, then text, a document, or the tool call that was demanded."""
        request, language = prepared.request, opening.language
        tokenizer = language.tokenizer
        form = self._form(prepared)
        thinks, most = prepared.level != "off", prepared.most_made_up
        written: list[int] = []
        if thinks or form is None:
            until = language.ends if form is None else language.ends_of_thought
            # Marks are no text (E-121), but those of the vocabulary may stand in a raw one (E-126).
            never = language.silent_marks if thinks else language.marks - until
            if not isinstance(request.prompt, Conversation):
                never = frozenset(mark for mark in never if mark >= tokenizer.text_size)
            written = write(
                opening.reader(),
                knobs,
                draws,
                limit=min(prepared.max_tokens, most),
                until=until,
                never_first=language.end,
                never=never,
                first=first,
            )
        if most <= len(written) < prepared.max_tokens and written[-1] not in until:
            written.append(language.end)
        parts = Parts.split(written, language, thinks=thinks)
        if form is None:
            return parts
        filled = opening.documents.get(key)
        if filled is None:
            filled = opening.documents[key] = form.filled(digest("document", key))
        if form.tool is not None:
            return parts.followed_by(calls=(ToolCall(form.tool, filled),))
        return parts.followed_by(text=tokenizer.encode(filled))

    def _form(self, prepared: Prepared) -> Form | None:
        """The form that the answer must have, if it must have one and the model cares."""
        return None if prepared.card.ignores_schema else demanded(prepared.request)


def takes_no_images(card: ModelCard) -> InvalidRequest:
    """What a model for text alone says to a picture (E-76)."""
    return InvalidRequest(f"{card.id} does not accept images", param="messages")


def _check_images(conversation: Conversation, card: ModelCard, most: int, most_bytes: int) -> None:
    """The limits on pictures (E-76, E-78)."""
    images = [image for message in conversation.messages if message.parts for image in message.images]
    if not images:
        return
    if not card.takes_images:
        raise takes_no_images(card)
    for number, image in enumerate(images, 1):
        if len(image.data) > most_bytes:
            raise TooLarge(
                f"image {number} has {len(image.data)} bytes, at most {most_bytes} allowed", param="messages"
            )
    if len(images) > most:
        raise TooLarge(f"{len(images)} images, at most {most} allowed", param="messages")


def _raw_tokens(prompt: str | tuple[int, ...], tokenizer: Tokenizer, place: int | None) -> list[int]:
    """The tokens of a raw prompt; raises InvalidRequest for an id outside the vocabulary (E-149)."""
    if isinstance(prompt, str):
        return tokenizer.encode(prompt, marks=True)
    tokens = list(prompt)
    if max(tokens) >= tokenizer.text_size:
        wrong = next(i for i, token in enumerate(tokens) if token >= tokenizer.text_size)
        param = f"prompt[{wrong}]" if place is None else f"prompt[{place}][{wrong}]"
        raise InvalidRequest(
            f"{param} is token {tokens[wrong]}, the vocabulary has {tokenizer.text_size} tokens", param=param
        )
    return tokens


def _check_span(request: GenerationRequest, prompt: str | tuple[int, ...], length: int, most: int) -> None:
    """The limit on scored tokens (E-160, E-161)."""
    scoring = request.scoring
    if scoring.start is None and not scoring.echo:
        return
    if isinstance(prompt, str):
        # "Raw prompts", Score a span: text is not counted but estimated, and as a whole.
        span = (len(prompt.encode()) + 3) // 4
    else:
        span = length if scoring.start is None else max(0, length - scoring.start)
    if span > most:
        field = "echo" if scoring.start is None else "logprob_start_len"
        raise InvalidRequest(f"scored span has {span} tokens, at most {most} allowed", param=field)


def _dictated(reply: Reply, tokenizer: Tokenizer, prepared: Prepared) -> Parts:
    """The parts of a scripted reply, as far as the request lets the model say them (E-58, E-133)."""
    reasoning = None
    if reply.reasoning is not None and prepared.level != "off":
        reasoning = tokenizer.encode(reply.reasoning)
    calls = reply.tool_calls if prepared.request.parallel_tool_calls else reply.tool_calls[:1]
    return Parts(
        reasoning=reasoning,
        is_reasoning_closed=True,
        text=tokenizer.encode(reply.text or ""),
        calls=calls,
        has_text=reply.text is not None,
        is_ended=True,
    )


def _with_dictated(entries: list[TokenLogprob], reply: Reply | None) -> list[TokenLogprob]:
    if reply is None or not reply.logprobs:
        return entries
    return [
        replace(entry, logprob=reply.logprobs[entry.token]) if entry.token in reply.logprobs else entry
        for entry in entries
    ]


def _with_chosen(entry: TokenLogprob) -> TokenLogprob:
    """The same with the token itself as the last alternative, if it is not among the likeliest (E-111)."""
    if not entry.top or entry.logprob is None or any(text == entry.token for text, _, _ in entry.top):
        return entry
    return replace(entry, top=(*entry.top[:-1], (entry.token, entry.raw, entry.logprob)))


def _echoed(prompt: Rendered, tokenizer: Tokenizer) -> str:
    return tokenizer.decode(prompt.tokens) if prompt.text is None else prompt.text


def _grouped(entries: list[TokenLogprob], sizes: Sequence[int]) -> tuple[tuple[TokenLogprob, ...], ...]:
    """Entries by the pieces that their tokens make."""
    groups = []
    place = 0
    for size in sizes:
        groups.append(tuple(entries[place : place + size]))
        place += size
    return tuple(groups)
