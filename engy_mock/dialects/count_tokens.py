"""The page that counts the tokens of a messages request: `POST /v1/messages/count_tokens` (E-177)."""

from collections.abc import Mapping
from typing import Any

from engy_mock.dialects.dialect import Desk
from engy_mock.vocabulary.wire import Call


class CountTokens:
    """Counts what the same request would have in `usage`."""

    def answer(self, call: Call, name: str, body: Mapping[str, Any], desk: Desk) -> dict[str, Any]:
        """The number of prompt tokens; raises ApiError for what the request itself would be refused for."""
        return {"input_tokens": desk.prompt_tokens(body)}
