"""The four routes of `/v1` and those of `/v5` that the model answers, with a body for each."""

from typing import Any

from tests.dialects.called import Answer

CHAT, COMPLETIONS, MESSAGES, RESPONSES = (
    f"/v1/{name}" for name in ("chat/completions", "completions", "messages", "responses")
)
V1 = (CHAT, COMPLETIONS, MESSAGES, RESPONSES)
V5 = ("/v5/chat/completions", "/v5/completions", "/v5/responses", "/v5/inference")
STREAMING = (CHAT, MESSAGES, RESPONSES)


def bearer(key: str = "sk-engy-anybody") -> dict[str, str]:
    """The header with a key that `/v1` takes, and the one that `/v5` takes."""
    return {"authorization": f"Bearer {key}", "x-api-key": key}


def body(path: str, text: Any = "Hello", *, max_tokens: int = 4, **fields: Any) -> dict[str, Any]:
    """A request of this route that says the text, or whatever else the route takes for one."""
    model = "openai/gpt-4o" if path.startswith("/v5") else "glm-5.2"
    turns = [{"role": "user", "content": text}]
    bodies: dict[str, dict[str, Any]] = {
        "chat/completions": {"messages": turns, "max_tokens": max_tokens},
        "completions": {"prompt": text, "max_tokens": max_tokens},
        "messages": {"messages": turns, "max_tokens": max_tokens},
        "responses": {"input": text, "max_output_tokens": max_tokens},
        "inference": {"args": {"prompt": text}},
    }
    return {"model": model, **bodies[path.split("/", 2)[2]], **fields}


def message(answer: Answer) -> str:
    """What a refusal says, in whatever envelope."""
    document = answer.json()
    said: str = document["detail"] if "detail" in document else document["error"]["message"]
    return said
