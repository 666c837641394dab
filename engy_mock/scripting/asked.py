"""What a rule may look at: the request as the model sees it, and who sent it how."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from engy_mock.vocabulary.request import GenerationRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One admitted request with the key and the headers that it came with."""

    request: GenerationRequest
    key: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
