"""What a rule may look at: the request as the model sees it, and who sent it how."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engy_mock.vocabulary.request import GenerationRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One admitted call with the key and the headers that it came with.

    `request` is None where the call asks for no answer of a model, as for the list of models; `body` is what
    was sent, as far as it is a JSON object. `refused` is the status with which the service itself has refused
    the call, whatever it asked for. `target` is the path with what stands behind it, as it was called.
    """

    endpoint: str
    surface: str
    request: GenerationRequest | None = None
    key: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    refused: int | None = None
    target: str = ""

    @property
    def is_page(self) -> bool:
        """Whether it is for a page, which no model answers, and has not been refused."""
        return self.request is None and self.refused is None

    @property
    def is_streamed(self) -> bool:
        """Whether a stream is asked for."""
        return self.body.get("stream") is True if self.request is None else self.request.is_streamed
