"""Faults of the arguments of tool calls: in form, in content, and where a stream cuts them ("Chat")."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

from engy_mock.scripting.chunks import CALLING, TALKING, calls, fragmented, function, part_of
from engy_mock.scripting.fault import Fault, fault
from engy_mock.scripting.items import DELTA, whole_arguments
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.retelling import with_choices
from engy_mock.scripting.sse import Document, documents, loose, rewritten, with_document
from engy_mock.vocabulary import json
from engy_mock.vocabulary.generation import Choice, Generation
from engy_mock.vocabulary.request import ToolCall
from engy_mock.vocabulary.wire import Frame, Step

Cut = Literal["byte", "escape", "surrogate"]

_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{4}|\\.")
_IN_STRING = re.compile(r'"([^"\\])')
_PAIR = re.compile("[\U00010000-\U0010ffff]")


def _with_form(
    steps: Iterator[Step], change: Callable[[Any], Any], *, in_parts: Callable[[Any], Any] | None = None
) -> Iterator[Step]:
    """The steps with something else in place of the arguments, and of the parts in which responses tell them."""

    def changed(found: Document, _: Frame) -> Document:
        for call in map(function, calls(found)):
            if "arguments" in call:
                call["arguments"] = change(call["arguments"])
        for item in whole_arguments(found):
            item["arguments"] = change(item.get("arguments"))
        if found.get("type") == DELTA and in_parts is not None:
            found["delta"] = in_parts(found["delta"])
        return found

    return rewritten(steps, changed)


def _with_text(generation: Generation, change: Callable[[str], str]) -> Generation:
    """The answer with other arguments in all its tool calls."""

    def changed(choice: Choice) -> Choice:
        told = [call.changed(arguments=change(call.arguments)) for call in choice.tool_calls]
        return replace(choice, tool_calls=tuple(told))

    return with_choices(generation, changed)


@fault("tool-args-empty", endpoints=CALLING)
class ToolArgsEmpty(Fault):
    """Give an empty text as the arguments."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with other arguments."""
        return _with_form(steps, lambda _: "", in_parts=lambda _: "")


@fault("tool-args-null", endpoints=CALLING)
class ToolArgsNull(Fault):
    """Give null as the arguments."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with other arguments."""
        return _with_form(steps, lambda _: None, in_parts=lambda _: None)


@fault("tool-args-object", endpoints=CALLING)
class ToolArgsObject(Fault):
    """Give the arguments as an object instead of a text."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with other arguments."""
        return _with_form(steps, _value)


@fault("tool-args-split", endpoints=TALKING, streams=True)
class ToolArgsSplit(Fault):
    """Cut the arguments at every byte, inside an escape, or inside a surrogate pair.

    Letters that are no bytes of their own become escapes, and so does one letter if an escape is wanted and there
    is none. Arguments without a character beyond the first plane have no pair to cut.
    """

    at: Cut = "byte"

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The arguments in parts."""
        more = 0
        for step, found in documents(steps):
            if not isinstance(step, Frame):
                yield step
                continue
            if isinstance(found.get("sequence_number"), int) and more:
                found["sequence_number"] += more
                step = with_document(step, found)
            parts = list(self._parts(step, found))
            more += len(parts) - 1
            yield from parts

    def _parts(self, frame: Frame, found: Document) -> Iterator[Frame]:
        holder, key = _arguments(found)
        pieces = _pieces(str(holder[key]), self.at) if key in holder else ()
        if len(pieces) < 2:
            yield frame
        elif calls(found):
            yield from fragmented(frame, found, lambda _: pieces, write=loose)
        else:
            number = found.get("sequence_number")
            for place, piece in enumerate(pieces):
                holder[key] = piece
                if number is not None:
                    found["sequence_number"] = number + place
                yield part_of(frame, loose(found), is_last=place == len(pieces) - 1)


@fault("tool-args-invalid", endpoints=TALKING)
class ToolArgsInvalid(Fault):
    """Give arguments that are not JSON: there is a comma behind the last of them."""

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same with other arguments."""
        return _with_text(generation, lambda arguments: arguments[:-1] + "," + arguments[-1:])


@fault("tool-args-trailing", endpoints=TALKING)
class ToolArgsTrailing(Fault):
    """Go on with a text behind the arguments."""

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same with other arguments."""
        return _with_text(generation, lambda arguments: arguments + "\n\nThis should do.")


@fault("tool-args-doubled", endpoints=TALKING)
class ToolArgsDoubled(Fault):
    """Give the arguments twice, one object behind the other."""

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same with other arguments."""
        return _with_text(generation, lambda arguments: arguments * 2)


@fault("tool-args-truncated", endpoints=TALKING)
class ToolArgsTruncated(Fault):
    """Cut the arguments of the last tool call in the middle, and end as if they were complete.

    `finish` is the reason that is given.
    """

    finish: Literal["tool_calls", "stop", "length"] = "tool_calls"

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The beginning of the arguments."""

        def changed(choice: Choice) -> Choice:
            if not choice.tool_calls:
                return choice
            *before, last = choice.tool_calls
            begun = last.changed(arguments=last.arguments[: (len(last.arguments) + 1) // 2])
            return replace(choice, tool_calls=(*before, begun), finish_reason=self.finish)

        return with_choices(generation, changed)


@fault("tool-unknown", endpoints=TALKING)
class ToolUnknown(Fault):
    """Call a tool that is not offered: in place of the first call, or else behind the text."""

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same with such a call."""
        request = occasion.asked.request
        offered = [tool.name for tool in request.tools] if request is not None else []
        name = "unknown_tool"
        while name in offered:
            name += "_"

        def changed(choice: Choice) -> Choice:
            if not choice.tool_calls:
                return _calling(choice, ToolCall(name))
            first, *others = choice.tool_calls
            return replace(choice, tool_calls=(first.changed(name=name), *others))

        return with_choices(generation, changed)


@fault("tool-despite-none", endpoints=TALKING)
class ToolDespiteNone(Fault):
    """Call a tool although the request says that none may be called."""

    def suits(self, occasion: Occasion) -> bool:
        """Where it says so."""
        request = occasion.asked.request
        return request is not None and request.tool_choice.mode == "none"

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same with a call of the first tool."""
        request = occasion.asked.request
        name = request.tools[0].name if request is not None and request.tools else "unknown_tool"
        return with_choices(generation, lambda choice: _calling(choice, ToolCall(name)))


def _calling(choice: Choice, call: ToolCall) -> Choice:
    return replace(choice, tool_calls=(*choice.tool_calls, call), finish_reason="tool_calls")


def _value(arguments: object) -> object:
    try:
        return json.read(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return {}


def _arguments(found: Document) -> tuple[Document, str]:
    """Where a chunk or event of any dialect holds a piece of arguments; the key is missing if it holds none."""
    told = calls(found)
    if len(told) == 1:
        return function(told[0]), "arguments"
    if found.get("type") == "response.function_call_arguments.delta":
        return found, "delta"
    delta = found.get("delta")
    return (delta, "partial_json") if isinstance(delta, dict) else ({}, "")


def _pieces(arguments: str, at: Cut) -> Sequence[str]:
    """The parts of a text that is cut there."""
    if at == "byte":
        return _ascii(arguments)
    if at == "escape":
        text = arguments if _ESCAPE.search(arguments) else _ascii(arguments)
        if not _ESCAPE.search(text):
            text = _IN_STRING.sub(lambda found: f'"\\u{ord(found[1]):04x}', text, count=1)
        found = _ESCAPE.search(text)
        if found is None:
            return (text,)
        place = (found.start() + found.end()) // 2
        return text[:place], text[place:]
    pair = _PAIR.search(arguments)
    if pair is None:
        return (arguments,)
    first, second = _halves_of(pair[0])
    return arguments[: pair.start()] + first, second + arguments[pair.end() :]


def _ascii(text: str) -> str:
    """The same JSON text with escapes for all that is not ASCII."""
    return "".join(letter if letter.isascii() else _escaped(letter) for letter in text)


def _escaped(letter: str) -> str:
    units = _halves_of(letter) if ord(letter) > 0xFFFF else (letter,)
    return "".join(f"\\u{ord(unit):04x}" for unit in units)


def _halves_of(letter: str) -> tuple[str, str]:
    """The surrogate pair of a character beyond the first plane."""
    high, low = divmod(ord(letter) - 0x10000, 0x400)
    return chr(0xD800 + high), chr(0xDC00 + low)
