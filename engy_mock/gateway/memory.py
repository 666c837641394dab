"""A whole answer as it was told last; it is told again with another request id in the place of its own."""

from dataclasses import dataclass

from engy_mock.vocabulary.generation import Generation

MAX_BODY = 32 * 1024
"""Longer answers are not remembered."""

_ID_DIGITS = 24
"""So many digits of a request id stand for it in the id of an answer (E-114)."""


@dataclass(slots=True)
class Memory:
    """What was said last to one request, at which time and for how much.

    A request id is a digest of the request, so that it occurs in an answer where it was put and nowhere else.
    """

    generation: Generation | None = None
    created: int = 0
    charged_micro: int = 0
    request_id: str = ""
    body: bytes = b""

    def keep(self, generation: Generation, created: int, charged_micro: int, request_id: str, body: bytes) -> None:
        """Remember an answer."""
        if len(body) <= MAX_BODY:
            self.generation, self.created, self.charged_micro = generation, created, charged_micro
            self.request_id, self.body = request_id, body

    def again(self, generation: Generation, created: int, charged_micro: int, request_id: str) -> bytes | None:
        """The same answer for another request, or None if anything but the id has changed."""
        if generation is not self.generation or (created, charged_micro) != (self.created, self.charged_micro):
            return None
        old, new = self.request_id.encode(), request_id.encode()
        return self.body.replace(old, new).replace(old[:_ID_DIGITS], new[:_ID_DIGITS])
