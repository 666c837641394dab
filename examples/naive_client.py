"""A client as one writes it on the first day: it works until the service has a bad one.

Each of its faults is a real one, and none shows while all goes well. `careful_client.py` is its mended twin.
"""

import json
import os
import time
from collections.abc import Callable
from typing import Any
from urllib.request import Request, urlopen

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


def get_weather(city: str = "your city") -> str:
    """What the tool would find out."""
    return f"It is sunny in {city}."


class Assistant:
    """Answers questions, with a tool for the weather."""

    def __init__(self, base_url: str, api_key: str, sleep: Callable[[float], object] = time.sleep) -> None:
        self.base_url = base_url
        self.api_key = api_key
        self.sleep = sleep

    def ask(self, question: str) -> str:
        """The answer to a question."""
        messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
        while True:
            text, calls = self._answer(messages)
            if not calls:
                return text
            messages.append({"role": "assistant", "content": text, "tool_calls": calls})
            for call in calls:
                try:
                    arguments = json.loads(call["function"]["arguments"])
                except ValueError:
                    arguments = {}  # it will do without
                result = get_weather(**arguments)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})

    def _answer(self, messages: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
        for _ in range(15):
            try:
                return self._streamed(messages)
            except Exception:
                self.sleep(0.01)
        return "", []

    def _streamed(self, messages: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
        body = {"model": "glm-5.2", "messages": messages, "tools": [WEATHER], "stream": True}
        headers = {"Authorization": f"Bearer {self.api_key}", "Content-Type": "application/json"}
        request = Request(f"{self.base_url}/chat/completions", json.dumps(body).encode(), headers)
        text = ""
        calls: dict[int, dict[str, Any]] = {}
        with urlopen(request) as answer:
            for line in answer:
                if not line.startswith(b"data: "):
                    continue
                try:
                    chunk = json.loads(line[6:])
                except ValueError:
                    continue  # [DONE], or something odd
                for choice in chunk.get("choices") or []:
                    text += choice["delta"].get("content") or ""
                    for part in choice["delta"].get("tool_calls") or []:
                        if part["index"] not in calls:
                            calls[part["index"]] = part
                        else:
                            calls[part["index"]]["function"]["arguments"] += part["function"]["arguments"]
        return text, list(calls.values())


def demonstrate() -> None:
    """Ask on a bad day of a mock of one's own, and print the verdict."""
    from engy_mock import EngyMock
    from engy_mock.faults import Truncate

    with EngyMock() as engy:
        engy.when(says="France").refuse(429, retry_after=2, times=1)
        engy.when(says="rivers").reply("Rivers carry water to the sea.", faults=[Truncate(after=3)], times=1)
        assistant = Assistant(engy.base_url, engy.api_key)
        for question in ("What is the capital of France?", "What do rivers do?"):
            print(engy.heard(assistant.ask(question)))
        print(engy.verdict(fail_level="warning"))


if __name__ == "__main__":
    # `engy-mock campaign -- python examples/naive_client.py` says where the service is; else there is a mock.
    if "OPENAI_BASE_URL" in os.environ:
        assistant = Assistant(os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"])
        print(assistant.ask("What is the capital of France?"))
    else:
        demonstrate()
