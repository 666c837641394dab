"""What a body means: read once, however often it comes."""

from dataclasses import dataclass, field

from engy_mock.gateway.memory import Memory
from engy_mock.model.engine import Prepared
from engy_mock.vocabulary.generation import Generation


@dataclass(slots=True)
class Understood:
    """A body as the service understands it, and what the model says to it once it has been asked.

    `discounted` is such an answer, and the same with the tokens of its prompt that were cached last time.
    """

    prepared: Prepared
    generation: Generation | None = None
    discounted: tuple[Generation, Generation] | None = None
    memory: Memory = field(default_factory=Memory)
