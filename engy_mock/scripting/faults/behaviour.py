"""Behaviours of a service that is not what it was: other answers, other models, stricter rules ("Behaviour")."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from engy_mock.scripting.fault import Count, Fault, fault
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.places import upto
from engy_mock.scripting.reach import PAGES
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.refusing import Refusing
from engy_mock.scripting.retelling import followed, with_choices
from engy_mock.scripting.sse import Document, rewritten
from engy_mock.vocabulary import json
from engy_mock.vocabulary.events import Cut, Event, Piece
from engy_mock.vocabulary.generation import Generation
from engy_mock.vocabulary.request import ToolCall
from engy_mock.vocabulary.seeds import digest
from engy_mock.vocabulary.wire import Step

MORE = (" Again", ".")
"""What is said more by an answer that cannot be another."""

TRIES = 8
"""How many other answers are looked at for one that differs: short ones may be equal by chance."""


@fault("fail-over", endpoints=("chat", "completions", "messages", "responses"))
class FailOver(Fault):
    """Say that another model has answered: `model`, or the name that was asked for with `-fallback` behind it."""

    model: str | None = None

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The other name wherever one stands."""
        return rewritten(steps, lambda document, _: self._renamed(document))

    def _renamed(self, document: Document) -> Document:
        changed = dict(document)
        if isinstance(changed.get("model"), str):
            changed["model"] = f"{changed['model']}-fallback" if self.model is None else self.model
        for name in ("message", "response"):
            if isinstance(changed.get(name), dict):
                changed[name] = self._renamed(changed[name])
        return changed


@fault("cache-cold")
class CacheCold(Fault):
    """Count no token of the prompt as cached, though it has been seen before."""

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same with another count."""
        return replace(generation, usage=replace(generation.usage, cached_tokens=0))


@fault("unstable-answer")
class UnstableAnswer(Fault):
    """Answer otherwise each time, whatever seed and temperature are asked for."""

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """Another answer; where nothing else can be said, the same with a word more."""
        if occasion.again is None:
            return generation
        for number in range(TRIES):
            other = occasion.again(f"{occasion.identity.hex()} {number}")
            if _said(other) != _said(generation):
                return other
        return with_choices(generation, lambda choice: followed(choice, *MORE))


def _said(generation: Generation) -> list[tuple[str, tuple[ToolCall, ...]]]:
    """What a client takes from an answer."""
    return [(choice.whole_text, choice.tool_calls) for choice in generation.choices]


def _times_before(own: Fault, occasion: Occasion) -> int:
    """How often the rule has met the same body before."""
    return occasion.memory.count(own.kind, digest(json.write(occasion.asked.body)))


@fault("retry-differs")
class RetryDiffers(Fault):
    """Break off in the middle, or after some pieces, when a body comes first; later answer it otherwise."""

    after: Count | None = None

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """What the first attempt gets, or a later one."""
        return (UnstableAnswer(),) if _times_before(self, occasion) else (HalfDelivered(self.after),)


@dataclass(frozen=True)
class HalfDelivered(Fault):
    """Close the connection after some pieces, or half of them."""

    kind: ClassVar[str] = "half-delivered"

    after: Count | None = None

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The first pieces, then the end."""
        told = list(events)
        half = sum([isinstance(event, Piece) for event in told]) // 2
        yield from upto(half if self.after is None else self.after, iter(told))
        yield Cut()


@fault("replay-differs", spares=True)
class ReplayDiffers(Fault):
    """Take a body that comes again for a new request: another text under another id, charged again."""

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """Nothing at first, then another answer."""
        return (UnstableAnswer(),) if _times_before(self, occasion) else ()


@fault("stream-refused", spares=True)
class StreamRefused(Fault):
    """Answer 400 when a stream is asked for; of this model, or of any."""

    model: str | None = None

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """Nothing, or the refusal."""
        request = occasion.asked.request
        assert request is not None, "it suits nothing else"
        if not request.is_streamed:
            return ()
        if self.model is not None and self.model not in (request.model, request.model.partition("/")[2]):
            return ()
        return (Refusing(Refusal(status=400, message="stream is not supported by this model", param="stream")),)

    def suits(self, occasion: Occasion) -> bool:
        """Where a model is asked."""
        return occasion.asked.request is not None

    def misfit(self, words: Mapping[str, Any]) -> str | None:
        """Whole answers are never refused."""
        if words.get("endpoint") in PAGES:
            return "no model is asked there"
        return "it is for streams only" if words.get("stream") is False else super().misfit(words)


@fault("history-strict", endpoints=("chat",), spares=True)
class HistoryStrict(Fault):
    """Answer 400 to a history in which the assistant calls tools without having reasoned."""

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """Nothing, or the refusal."""
        turns = occasion.asked.body.get("messages")
        for place, turn in enumerate(turns if isinstance(turns, list) else ()):
            if turn.get("role") == "assistant" and turn.get("tool_calls") and not turn.get("reasoning_content"):
                field = f"messages[{place}].reasoning_content"
                return (Refusing(Refusal(status=400, message=f"{field} is missing", param=field)),)
        return ()


@fault("worker-gone", surfaces=("v1",), spares=True)
class WorkerGone(Fault):
    """Answer 503 to a wish that no worker meets any more: one of these two, or any."""

    wish: Literal["zdr", "require_proof"] | None = None

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """Nothing, or the refusal."""
        request = occasion.asked.request
        wishes = ("zdr", "require_proof") if self.wish is None else (self.wish,)
        assert request is not None, "it suits nothing else"
        if not any(getattr(request.provider, wish) for wish in wishes):
            return ()
        return (Refusing(Refusal(status=503)),)

    def suits(self, occasion: Occasion) -> bool:
        """Where a model is asked."""
        return occasion.asked.request is not None

    def misfit(self, words: Mapping[str, Any]) -> str | None:
        """Pages need no worker."""
        return "no model is asked there" if words.get("endpoint") in PAGES else super().misfit(words)


@fault("cancel-unnoticed", runs_on=True)
class CancelUnnoticed(Fault):
    """Let an answer run on when its client has left, and charge all of it."""
