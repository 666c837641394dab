"""The page that counts the tokens of a messages request: `POST /v1/messages/count_tokens` (E-177)."""

from collections.abc import Mapping
from typing import Any

from engy_mock.dialects import messages
from engy_mock.dialects.dialect import Desk
from engy_mock.dialects.surfaces import V1
from engy_mock.model.contracts import FIXED_FIELDS
from engy_mock.vocabulary.errors import ModelNotFound
from engy_mock.vocabulary.wire import Call


class CountTokens:
    """Counts what the same request would have in `usage`."""

    def answer(self, call: Call, name: str, body: Mapping[str, Any], desk: Desk) -> dict[str, Any]:
        """The number of prompt tokens; raises ApiError for what the request itself would be refused for."""
        waived = FIXED_FIELDS if _fixes_sampling(body.get("model"), desk) else frozenset()
        request = messages.to_count(body, V1, any_number=waived)
        return {"input_tokens": desk.prompt_tokens(request)}


def _fixes_sampling(model: object, desk: Desk) -> bool:
    """Whether the model replaces sampling numbers, so that any are taken (E-89)."""
    try:
        return isinstance(model, str) and desk.catalog.find(model).fixes_sampling
    except ModelNotFound:
        return False
