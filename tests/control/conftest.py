"""A mock that can be controlled over HTTP, and clients of its control API."""

import json
from typing import Any

import httpx2
import pytest

from engy_mock import EngyMock

CONTROL = {"X-Engy-Mock-Control": "1"}
PHASES = """\
description: Refuses first, then is well.
good_client: Tries again.
phases:
  - name: refusing
    rules: [{when: {endpoint: chat}, refuse: 429}]
  - name: well
"""


class Caller:
    """Asks the control API, and the service behind it."""

    def __init__(self, engy: EngyMock) -> None:
        self.engy = engy
        self._client = engy.http_client()

    def __call__(self, method: str, path: str, body: Any = None, *, status: int = 200, **headers: str) -> Any:
        """The JSON of an answer with this status."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        content = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        if method != "GET":
            named.setdefault("content-type", "application/json")
        answer = self._client.request(
            method, f"/_mock/{path}", content=content, headers={**CONTROL, "user-agent": "python", **named}
        )
        assert answer.status_code == status, answer.text
        assert not [name for name in answer.headers if name.startswith("access-control")], "Q-7"
        return answer.json()

    def chat(self, text: str = "Hello!", key: str | None = None, **fields: Any) -> httpx2.Response:
        body = {"model": "glm-5.2", "messages": [{"role": "user", "content": text}], "max_tokens": 8, **fields}
        headers = {"authorization": f"Bearer {key or self.engy.api_key}"}
        return self._client.post("/v1/chat/completions", json=body, headers=headers)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "phases.yaml").write_text(PHASES)
    (tmp_path / "broken.yaml").write_text("description: [\n")
    return tmp_path


@pytest.fixture
def engy(folder) -> EngyMock:
    return EngyMock(control=True, scenario_folders=[folder])


@pytest.fixture
def ask(engy) -> Caller:
    return Caller(engy)
