"""What a test tells its mock to say, and which scenarios take part."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Unpack

    from engy_mock.gateway import Gateway
    from engy_mock.scripting.matchers import Words
    from engy_mock.scripting.scenario import Scenario
    from engy_mock.scripting.stage import Scene
    from engy_mock.scripting.when import When
    from engy_mock.vocabulary.request import GenerationRequest


class Scripting:
    """Writes rules and begins scenarios for a test."""

    gateway: Gateway

    def when(
        self,
        *functions: Callable[[GenerationRequest], object],
        at: Sequence[int] | None = None,
        **words: Unpack[Words],
    ) -> When:
        """For requests that fit all of this: `engy.when(model="glm-5.2", says="France").reply("Paris.")`.

        A function takes the request and says whether it fits: true or None if so, or a text, which is the reason
        why not. The words:

        - `endpoint`: chat, completions, messages, responses or inference, which ask a model for an answer;
          models, count_tokens and records are met by rules alone that name them. `surface`: v1 or v5.
        - `model`: the model, with or without the vendor in front. `stream`: whether a stream is asked for.
        - `says`: a text in the last user turn, or in a raw prompt. `system`: a text in a system turn.
        - `offers`: the name of a tool that is offered. `tool_result`: whether the last turn is the result of a
          tool, or a text in such a result.
        - `key`: the API key. `header`: headers by name. `field`: fields of the body by path, like
          `{"metadata.user": "x"}`.
        - `refused`: the status with which the service itself has refused; such rules take faults only.
        - `at`: these of the fitting requests alone, counted from 1 whether or not another rule takes them:
          `engy.when(stream=True, at=[2, 5]).refuse(503)` is for the second and the fifth stream.

        What comes behind it is `reply`, `refuse`, `let_through` or `faults`. Raises MockError for an unknown word,
        and with `at` for what is no list of numbers, or a fault that acts before a request is read.
        """
        from engy_mock.scripting.matchers import conditions
        from engy_mock.scripting.when import When, numbers

        named = [f"{word}={value!r}" for word, value in words.items()]
        named = [getattr(function, "__name__", repr(function)) for function in functions] + named
        named += [f"at={list(places)!r}"] if (places := numbers(at)) else []
        description = f"when({', '.join(named)})"
        return When(self.gateway.script, conditions(functions, words), description, dict(words), at=places)

    def scenario(self, wanted: str | Path | Scenario) -> Scene:
        """Let a scenario take part, by its name or the path of its file; its rules stand behind the test's own.

        What it gives back tells the phase and can `go` to another one, or `end` it. Raises MockError with the line
        of what is wrong.
        """
        return self.gateway.scenes.begin(wanted)
