"""Faults of scored text: echoes and spans that are misaligned, incomplete or of another form ("Completions")."""

import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Annotated

from engy_mock.scripting.chunks import COMPLETIONS, regrouped, with_choices
from engy_mock.scripting.fault import Fault, fault
from engy_mock.scripting.faults.choices import reversed_choices
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.retelling import UNSCORED
from engy_mock.scripting.retelling import with_choices as retold_choices
from engy_mock.scripting.sse import Document
from engy_mock.vocabulary.events import Started
from engy_mock.vocabulary.generation import Choice, Generation, TokenLogprob
from engy_mock.vocabulary.limits import Limits
from engy_mock.vocabulary.request import Scoring
from engy_mock.vocabulary.wire import Frame, Step

_BYTES = re.compile(r"bytes:(?:\\x[0-9a-f]{2})+")
_decoder = getincrementaldecoder("utf-8")


def _scoring(occasion: Occasion) -> Scoring:
    """What is asked for."""
    request = occasion.asked.request
    return Scoring() if request is None else request.scoring


def _scores_prompt(occasion: Occasion) -> bool:
    """Whether the prompt is scored: by an echo, or as a span."""
    scoring = _scoring(occasion)
    return scoring.start is not None or (scoring.echo and scoring.logprobs)


@fault("logprob-first-not-null", endpoints=COMPLETIONS)
class LogprobFirstNotNull(Fault):
    """Give a number for the first token of the prompt, which nothing precedes."""

    def suits(self, occasion: Occasion) -> bool:
        """Where the prompt is scored."""
        return _scores_prompt(occasion)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with one value more."""

        def changed(logprobs: Document, _: Frame) -> None:
            values = logprobs.get("token_logprobs")
            if not values or values[0] is not None:
                return
            values[0] = UNSCORED
            if logprobs.get("top_logprobs"):
                logprobs["top_logprobs"][0] = {logprobs["tokens"][0]: UNSCORED}

        return _with_logprobs(steps, changed)


@fault("logprob-wrong-count", endpoints=COMPLETIONS)
class LogprobWrongCount(Fault):
    """Leave out the last entries of a span or an echo, or with `by` above 0 add so many."""

    by: Annotated[int, Limits(ge=-1000, le=1000)] = -1

    def suits(self, occasion: Occasion) -> bool:
        """Where the prompt is scored."""
        return _scores_prompt(occasion)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with more or fewer entries."""

        def changed(logprobs: Document, frame: Frame) -> None:
            if frame.is_whole or isinstance(frame.event, Started):
                for name, values in logprobs.items():
                    if isinstance(values, list):
                        logprobs[name] = values[: self.by] if self.by < 0 else values + values[-1:] * self.by

        return _with_logprobs(steps, changed)


@fault("text-offsets-real", endpoints=COMPLETIONS, surfaces=("v1",))
class TextOffsetsReal(Fault):
    """Give the real places of the tokens of an echo instead of -1."""

    def suits(self, occasion: Occasion) -> bool:
        """Where the prompt is echoed with its log probabilities."""
        scoring = _scoring(occasion)
        return scoring.start is None and _scores_prompt(occasion)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with other places."""

        def changed(logprobs: Document, _: Frame) -> None:
            if "text_offset" in logprobs and "tokens" in logprobs:
                logprobs["text_offset"] = _places(logprobs["tokens"])

        return _with_logprobs(steps, changed)


@fault("token-ids-only", endpoints=COMPLETIONS)
class TokenIdsOnly(Fault):
    """Reduce plain log probabilities to values and token ids, as a scored span has them."""

    def suits(self, occasion: Occasion) -> bool:
        """Where they are plain."""
        scoring = _scoring(occasion)
        return scoring.logprobs and scoring.start is None

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same with the ids in the place of the letters, for `wire` to take."""

        def named(told: Iterable[TokenLogprob]) -> tuple[TokenLogprob, ...]:
            return tuple([replace(one, token=str(one.id)) for one in told])

        def changed(choice: Choice) -> Choice:
            scored, prompt = choice.logprobs, choice.prompt_logprobs
            return replace(
                choice,
                logprobs=None if scored is None else tuple(map(named, scored)),
                prompt_logprobs=None if prompt is None else named(prompt),
            )

        return retold_choices(generation, changed)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same in another form."""

        def changed(logprobs: Document, _: Frame) -> None:
            values, ids = logprobs.get("token_logprobs"), logprobs.get("tokens", [])
            logprobs.clear()
            logprobs.update(token_logprobs=values, token_ids=[int(one) for one in ids])

        return _with_logprobs(steps, changed)


@fault("echo-missing", endpoints=COMPLETIONS)
class EchoMissing(Fault):
    """Leave the prompt out of an echo: only what was generated is told and scored."""

    def suits(self, occasion: Occasion) -> bool:
        """Where an echo is asked for."""
        return _scoring(occasion).echo

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same without the prompt."""

        def changed(choice: Choice) -> Choice:
            prompt = choice.prompt_logprobs
            return replace(choice, prompt_text=None, prompt_logprobs=None if prompt is None else ())

        return retold_choices(generation, changed)


@fault("batch-shuffled", endpoints=COMPLETIONS)
class BatchShuffled(Fault):
    """Tell the choices of a batch in another order than that of their indexes."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The last choice first."""

        def backwards(lanes: list[list[Step]]) -> Iterable[Step]:
            return [step for lane in reversed(lanes) for step in lane]

        return reversed_choices(regrouped(steps, backwards))


def _with_logprobs(steps: Iterator[Step], change: Callable[[Document, Frame], object]) -> Iterator[Step]:
    """The steps with the log probabilities of each choice changed in their place."""

    def changed(choice: Document, frame: Frame) -> None:
        told = choice.get("logprobs")
        if isinstance(told, dict):
            change(told, frame)

    return with_choices(steps, changed)


def _places(tokens: Iterable[str]) -> list[int]:
    """Where each token begins, in characters of the text."""
    decoder = _decoder("replace")
    places: list[int] = []
    begin = 0
    for token in tokens:
        places.append(begin)
        raw = token.encode()
        if _BYTES.fullmatch(token):
            raw = bytes.fromhex(token.removeprefix("bytes:").replace("\\x", ""))
        begin += len(decoder.decode(raw))
    return places
