"""Answers whose form the request demands: a call of a certain tool, or a document for a schema (E-59, E-135)."""

from dataclasses import dataclass, replace
from typing import Any

from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import InvalidRequest, Violation, quoted
from engy_mock.vocabulary.request import Conversation, GenerationRequest

MAX_POINTER = 80
"""How much of the way to the blamed part of a schema is told, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What must be said: with a `tool` name a call of it, else a document.

    `place` is where the request has the schema.
    """

    schema: Any
    place: tuple[str | int, ...]
    tool: str | None = None

    def filled(self, seed: bytes) -> str:
        """JSON that fits; raises InvalidRequest if nothing can."""
        if self.tool is not None and not self.schema:
            return "{}"
        from engy_mock.model.structured import UnmetSchema, UnusableSchema, document

        try:
            return json.text(document(self.schema, seed=seed))
        except UnusableSchema as error:
            found = Violation(path=self.place, message="", kind="schema")
            # Both quote the schema, which can be long.
            pointer, reason = quoted(error.pointer, MAX_POINTER), quoted(error.reason)
            found = replace(found, message=f"{found.param}: {pointer}: {reason}")
            # A field is only wrong if what stands there is no schema.
            wrong = () if isinstance(error, UnmetSchema) else (found,)
            raise InvalidRequest(found.message, param=found.param, violations=wrong) from error


def demanded(request: GenerationRequest) -> Form | None:
    """The form that the answer must have, if it must have one."""
    choice = request.tool_choice
    if choice.mode in ("required", "named"):
        for number, tool in enumerate(request.tools):
            if choice.mode == "required" or tool.name == choice.name:
                return Form(
                    schema=tool.parameters, place=("tools", number, "function", "parameters"), tool=tool.name
                )
    if isinstance(request.prompt, Conversation):
        if request.response_format.type == "json_schema":
            place = ("response_format", "json_schema", "schema")
            return Form(schema=request.response_format.schema, place=place)
        if request.response_format.type == "json_object":
            return Form(schema=None, place=("response_format",))
    return None
