"""What the first answer of a mock does without is not loaded before it is needed."""

import subprocess
import sys

import pytest

ASKS = """
import http.client, json, sys
from engy_mock import EngyMock

def ask(method, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", engy.port)
    connection.request(method, path, body and json.dumps(body), headers)
    return connection.getresponse().status

LATE = ("aiohttp", "pydantic", "prometheus_client", "jinja2", "faker", "httpx2", "yaml")
with EngyMock(control=True) as engy:
    body = {"model": "glm-5.2", "max_tokens": 4, "messages": [{"role": "user", "content": "Hello"}]}
    key = {"Authorization": f"Bearer {engy.api_key}", "Content-Type": "application/json"}
    print(ask("POST", "/v1/chat/completions", body, **key), [name for name in LATE if name in sys.modules])
    control = {"X-Engy-Mock-Control": "1"}
    print(ask("GET", "/_mock/state", **control), [name for name in LATE[:2] if name in sys.modules])
    print(ask("OPTIONS", "/v1/models", Origin="http://localhost"), "aiohttp" in sys.modules)
"""


@pytest.mark.slow
def test_only_what_is_asked_for_is_loaded():
    """Neither aiohttp nor pydantic stands between a start and its first answer."""
    done = subprocess.run([sys.executable, "-c", ASKS], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines() == ["200 []", "200 ['pydantic']", "204 True"], done.stderr
