"""When and where a fault is about to happen: all that its choice may depend on."""

from collections.abc import Callable
from dataclasses import dataclass, field

from engy_mock.scripting.asked import Asked
from engy_mock.scripting.memory import Memory
from engy_mock.vocabulary.generation import Generation
from engy_mock.vocabulary.seeds import Draws, Part, digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """One use of a rule, for one request.

    `identity` stands for the request and how often it was seen before; whatever is drawn comes from it, never
    from a shared stream. `use` counts the uses of the rule from 0, `tokens` what the answers before have come to,
    `since` is the mock time since the rule came into force, `now` the mock time in Unix seconds, `open_requests`
    how many calls are being answered, this one among them (`open_of_key`: those of the same key), `memory` what
    the rule remembers of its uses. `annex` gives the address of a second door to the mock, None where there is
    none. `again` makes the answer that another seed would have made; None where nothing was asked of the model.
    """

    asked: Asked
    identity: bytes = b""
    rule: str = ""
    use: int = 0
    tokens: int = 0
    now: float = 0.0
    since: float = 0.0
    open_requests: int = 1
    open_of_key: int = 1
    prompt_tokens: int = 0
    memory: Memory = field(default_factory=Memory, compare=False)
    annex: Callable[[], str] | None = field(default=None, compare=False)
    again: Callable[[str], Generation] | None = field(default=None, compare=False)

    def draws(self, *what: Part) -> Draws:
        """Numbers that belong to this use of the rule and to what they are for."""
        return Draws(digest("fault", self.identity, self.rule, *what))
