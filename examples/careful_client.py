"""The mended twin of `naive_client.py`: the same client, as it is after the service had a few bad days.

It waits as long as it is asked to, tries again only what may pass, takes nothing for an answer that has no end,
runs no tool from broken arguments, and reports what it could not get.
"""

import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPMessage
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}

MAX_ATTEMPTS = 4
MAX_TURNS = 8
MAX_WAIT = 60.0
RETRYABLE = {408, 409, 429, 500, 502, 503, 504, 529}
NEVER = {"insufficient_quota", "invalid_request_error"}


def get_weather(city: str = "your city") -> str:
    """What the tool would find out."""
    return f"It is sunny in {city}."


class NoAnswer(Exception):
    """There is no answer; `may_pass` if another attempt could bring one, after `wait` seconds if that is said."""

    def __init__(self, message: str, *, may_pass: bool, wait: float | None = None) -> None:
        super().__init__(message)
        self.may_pass = may_pass
        self.wait = wait


class Assistant:
    """Answers questions, with a tool for the weather."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        sleep: Callable[[float], object] = time.sleep,
        timeout: float = 30.0,
    ) -> None:
        self.base_url = base_url
        self.api_key = api_key
        self.sleep = sleep
        self.timeout = timeout

    def ask(self, question: str) -> str:
        """The answer to a question; raises NoAnswer."""
        messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
        for _ in range(MAX_TURNS):
            text, calls = self._answer(messages)
            if not calls:
                return text
            results = [self._result(call) for call in calls]  # mends the arguments before they are sent back
            messages += [{"role": "assistant", "content": text, "tool_calls": calls}, *results]
        raise NoAnswer(f"no end after {MAX_TURNS} turns", may_pass=False)

    def _result(self, call: dict[str, Any]) -> dict[str, Any]:
        """What the tool says to a call, or what is wrong with it."""
        try:
            result = get_weather(**json.loads(call["function"]["arguments"] or "{}"))
        except (ValueError, TypeError) as error:
            call["function"]["arguments"] = "{}"
            result = f"Error: the call could not be run: {error}"
        return {"role": "tool", "tool_call_id": call["id"], "content": result}

    def _answer(self, messages: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
        for attempt in range(MAX_ATTEMPTS):
            try:
                return self._streamed(messages)
            except NoAnswer as failure:
                wait = failure.wait
                if wait is None:
                    wait = min(8.0, 0.5 * 2**attempt) * random.uniform(0.5, 1.0)
                if not failure.may_pass or wait > MAX_WAIT or attempt == MAX_ATTEMPTS - 1:
                    raise
                self.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _streamed(self, messages: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
        body = {"model": "glm-5.2", "messages": messages, "tools": [WEATHER], "stream": True}
        headers = {"Authorization": f"Bearer {self.api_key}", "Content-Type": "application/json"}
        request = Request(f"{self.base_url}/chat/completions", json.dumps(body).encode(), headers)
        text, finish = "", None
        calls: dict[int, dict[str, Any]] = {}
        try:
            with urlopen(request, timeout=self.timeout) as answer:
                if answer.headers.get_content_type() != "text/event-stream":
                    raise NoAnswer(f"no stream: {answer.headers.get_content_type()}", may_pass=False)
                for chunk in _chunks(answer):
                    for choice in chunk.get("choices") or []:
                        text += choice["delta"].get("content") or ""
                        finish = choice.get("finish_reason") or finish
                        for part in choice["delta"].get("tool_calls") or []:
                            call = calls.setdefault(part["index"], part)
                            if call is not part:
                                call["function"]["arguments"] += part["function"]["arguments"]
        except HTTPError as refusal:
            raise _refused(refusal) from refusal
        except (OSError, HTTPException) as error:
            # What was begun is paid for: only an answer that has not begun is asked for again.
            raise NoAnswer(f"the connection broke: {error!r}", may_pass=not text and not calls) from error
        if finish is None:
            raise NoAnswer("the answer has no end", may_pass=not text and not calls)
        if not text and not calls:
            raise NoAnswer(f"the answer is empty: {finish}", may_pass=False)
        return text, list(calls.values())


def _chunks(lines: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    """The events of a stream; raises NoAnswer for an error among them, and for one that cannot be read."""
    for line in lines:
        if not line.startswith(b"data:") or line[5:].strip().startswith(b"[DONE]"):
            continue
        try:
            chunk = json.loads(line[5:])
        except ValueError as error:
            raise NoAnswer("an event cannot be read", may_pass=False) from error
        if "error" in chunk:
            raise NoAnswer(f"an error in the answer: {chunk['error']}", may_pass=False)
        yield chunk


def _refused(refusal: HTTPError) -> NoAnswer:
    """A refusal with what it says of another attempt."""
    try:
        said = json.loads(refusal.read())["error"]
        message, words = str(said.get("message")), {said.get("code"), said.get("type")}
    except (ValueError, TypeError, KeyError, AttributeError, OSError, HTTPException):
        message, words = "no message", set()
    may_pass = refusal.code in RETRYABLE and not words & NEVER
    may_pass = {"true": True, "false": False}.get(refusal.headers.get("x-should-retry", ""), may_pass)
    return NoAnswer(f"{refusal.code}: {message}", may_pass=may_pass, wait=_wait(refusal.headers))


def _wait(headers: HTTPMessage) -> float | None:
    """How many seconds to wait, by milliseconds, seconds or date; None where nothing is asked for."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        said = headers.get("Retry-After", "")
        if "," in said:
            moments = [parsedate_to_datetime(text) for text in (said, headers["Date"])]
            return max(0.0, (moments[0] - moments[1]).total_seconds())
        return float(said) if said and float(said) > 0 else None
    except (ValueError, TypeError):
        return None


def demonstrate() -> None:
    """Ask on a bad day of a mock of one's own, and print the verdict."""
    from engy_mock import EngyMock
    from engy_mock.faults import Truncate

    with EngyMock() as engy:
        engy.when(says="France").refuse(429, retry_after=0.2, times=1)
        engy.when(says="rivers").reply("Rivers carry water to the sea.", faults=[Truncate(after=3)], times=1)
        assistant = Assistant(engy.base_url, engy.api_key)
        for question in ("What is the capital of France?", "What do rivers do?"):
            try:
                print(engy.heard(assistant.ask(question)))
            except NoAnswer as error:
                engy.heard(error=error)
                print(f"No answer: {error}")
        print(engy.verdict(fail_level="warning").check())


if __name__ == "__main__":
    # `engy-mock campaign -- python examples/careful_client.py` says where the service is; else there is a mock.
    if "OPENAI_BASE_URL" in os.environ:
        assistant = Assistant(os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"], timeout=5.0)
        try:
            print(assistant.ask("What is the capital of France?"))
        except NoAnswer as error:
            sys.exit(f"No answer: {error}")
    else:
        demonstrate()
