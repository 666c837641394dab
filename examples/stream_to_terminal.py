"""Print an answer piece by piece as it arrives: thoughts in brackets, then the text, then what it cost.

Run it as it is: it brings a mock along. With OPENAI_BASE_URL and OPENAI_API_KEY set it asks that service.
"""

import os
import sys
from contextlib import ExitStack

from openai import OpenAI

from engy_mock import EngyMock


def main(question: str) -> None:
    """Ask one question."""
    with ExitStack() as stack:
        if "OPENAI_BASE_URL" not in os.environ:
            engy = stack.enter_context(EngyMock())
            os.environ |= {"OPENAI_BASE_URL": engy.base_url, "OPENAI_API_KEY": engy.api_key}
        client = stack.enter_context(OpenAI())
        stream = client.chat.completions.create(
            model="glm-5.2", messages=[{"role": "user", "content": question}], stream=True
        )
        is_thinking = False
        for chunk in stream:
            for choice in chunk.choices:
                thought = (choice.delta.model_extra or {}).get("reasoning_content")
                if bool(thought) != is_thinking and (thought or choice.delta.content):
                    print("[" if thought else "]", end="\n" if not thought else "")
                    is_thinking = bool(thought)
                print(thought or choice.delta.content or "", end="", flush=True)
            receipt = (chunk.model_extra or {}).get("x_engy")
            if receipt:
                print(f"\n({receipt['charged_micro']} micro-USD)")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "Why do bridges sway in the wind?")
