"""Quirks of single servers: small things that some of them do otherwise than documented ("Quirks")."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from engy_mock.scripting.chunks import CHUNKED, with_tops
from engy_mock.scripting.fault import MOST, Fault, Status, fault
from engy_mock.scripting.faults.logprobs import SCORED, is_scored
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.refusing import refused, reworded
from engy_mock.scripting.retelling import with_choices
from engy_mock.scripting.sse import Document, rewritten
from engy_mock.vocabulary.events import Event, Refused
from engy_mock.vocabulary.generation import Choice, Generation, TokenLogprob
from engy_mock.vocabulary.limits import Limits
from engy_mock.vocabulary.seeds import Draws, digest, hex_id
from engy_mock.vocabulary.wire import Step


@fault("worker-fields", endpoints=(*CHUNKED, "responses"), surfaces=("v1",))
class WorkerFields(Fault):
    """Tell in `x_engy` who has made the answer: `miner` and `worker`."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with two fields more."""

        def changed(top: Document) -> None:
            receipt = top.get("x_engy")
            if isinstance(receipt, dict):
                made_for = str(receipt.get("request_id"))
                receipt["miner"] = f"miner-{hex_id(6, 'miner', made_for)}"
                receipt["worker"] = f"worker-{hex_id(6, 'worker', made_for)}"

        return with_tops(steps, changed)


@fault("thin-usage", endpoints=CHUNKED)
class ThinUsage(Fault):
    """Leave `completion_tokens_details` out of the token counts."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with fewer counts."""

        def changed(top: Document) -> None:
            counts = top.get("usage")
            if isinstance(counts, dict):
                counts.pop("completion_tokens_details", None)

        return with_tops(steps, changed)


@fault("nameless-model", endpoints=("models",))
class NamelessModel(Fault):
    """End the list of models with a row that has an empty id and no price."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The longer list."""

        def changed(document: Document) -> Document:
            rows: Any = document.get("data")
            if not isinstance(rows, list) or not rows or not isinstance(rows[-1], dict):
                return document
            nameless = {name: value for name, value in rows[-1].items() if name != "pricing"}
            return {**document, "data": [*rows, {**nameless, "id": ""}]}

        return rewritten(steps, lambda document, _: changed(document))


@fault("drifting-logprobs", endpoints=SCORED)
class DriftingLogprobs(Fault):
    """Let each request meet one of several servers, whose log probabilities differ by up to so much."""

    by: Annotated[float, Limits(gt=0, le=1)] = 0.02
    servers: Annotated[int, Limits(ge=2, le=MOST)] = 4

    def suits(self, occasion: Occasion) -> bool:
        """Where something is scored."""
        return is_scored(occasion)

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """The server of this request."""
        return (Drifted(self.by, occasion.draws(self.kind).below(self.servers)),)


@dataclass(frozen=True)
class Drifted(Fault):
    """Give the log probabilities of one server: at each place all of them are shifted alike."""

    kind: ClassVar[str] = "drifted"

    by: float
    server: int

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same with other values."""
        return with_choices(generation, self._changed)

    def _changed(self, choice: Choice) -> Choice:
        said, prompt = choice.logprobs, choice.prompt_logprobs
        if said is not None:
            draws = Draws(digest("drift", self.server, "answer"))
            said = tuple([tuple([self._shifted(one, draws) for one in piece]) for piece in said])
        if prompt is not None:
            draws = Draws(digest("drift", self.server, "prompt"))
            prompt = tuple([self._shifted(one, draws) for one in prompt])
        return replace(choice, logprobs=said, prompt_logprobs=prompt)

    def _shifted(self, one: TokenLogprob, draws: Draws) -> TokenLogprob:
        # Half of it to either side, so that no two servers are further apart than all of it.
        shift = (draws.unit() - 0.5) * self.by

        def moved(value: float) -> float:
            return min(0.0, max(-100.0, value + shift))

        top = tuple([(token, raw, moved(value)) for token, raw, value in one.top])
        return replace(one, logprob=None if one.logprob is None else moved(one.logprob), top=top)


MOST_RELAYED = 500
"""So much of a worker's body is passed on, in characters."""

WORKER_BODY = (
    '{"object":"error","type":"BadRequestError","code":400,"message":"1 validation error: '
    + "; ".join(f"messages.{place}.content: input is not of a kind that this worker takes" for place in range(8))
    + '"}'
)
"""What a worker says, with more details than are passed on."""


@fault("relayed-worker-error", refusals=True, surfaces=("v1",))
class RelayedWorkerError(Fault):
    """Refuse with what a worker said, passed on as it is up to 500 characters: `serve 400: ...`."""

    status: Status | None = None
    body: str = WORKER_BODY

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal in the words of the worker."""
        for event in refused(events, self.status, usual=400):
            words = f"serve {event.error.status}: {self.body[:MOST_RELAYED]}"
            yield Refused(reworded(event.error, message=words, type="ServeError"), event.is_exact)
