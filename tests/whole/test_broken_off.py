"""What a mock breaks off as it is stopped or reset is no fault of the client, and costs nothing (E-200)."""

import httpx2
import pytest

from engy_mock import EngyMock

BODY = {"model": "glm-5.2", "messages": [{"role": "user", "content": "Tell me about rivers."}], "stream": True}

WAYS = {"stop": lambda engy: engy.stop(), "reset": lambda engy: engy.reset()}


@pytest.mark.parametrize("has_socket", [True, False], ids=["socket", "inside"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("has_fault", [True, False], ids=["stalled", "healthy"])
def test_nobody_pays_for_what_the_mock_breaks_off(way, has_socket, has_fault):
    """Whether the answer has faults, and is planned, or none, and stands still as nobody reads it."""
    with EngyMock() as engy:
        if has_fault:
            engy.when().reply("one two three four", faults=[{"kind": "stall", "after": 2}])
        else:
            engy.when().reply("word " * 400_000)
        account = engy.account(balance_micro=10_000_000)
        inside = httpx2.Client(base_url=engy.origin) if has_socket else engy.http_client()
        headers = {"authorization": f"Bearer {account.key}"}
        with inside as client, client.stream("POST", "/v1/chat/completions", json=BODY, headers=headers) as answer:
            lines = answer.iter_lines()
            assert next(lines).startswith("data: ")
            entry = engy.journal.last
            assert entry.fate == "waiting"
            WAYS[way](engy)
            with pytest.raises(httpx2.TransportError):
                list(lines)
    assert (entry.fate, entry.client_left, entry.charged_micro) == ("cut off", False, 0)
    assert "the client left" not in str(entry)
    assert (account.balance_micro, account.held_micro) == (10_000_000, 0)


def test_who_left_before_has_left():
    with EngyMock() as engy:
        engy.when().reply("word " * 400_000)
        with engy.http_client() as client:
            headers = {"authorization": f"Bearer {engy.api_key}"}
            with client.stream("POST", "/v1/chat/completions", json=BODY, headers=headers) as answer:
                next(answer.iter_lines())
        entry = engy.journal.last
    assert (entry.fate, entry.client_left, entry.charged_micro > 0) == ("left", True, True)
