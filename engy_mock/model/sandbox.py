"""Where the chat templates of users run: they reach nothing but their messages, and each comes to an end."""

from collections.abc import Mapping, Sized
from json import dumps
from typing import Any

from jinja2 import Template, TemplateError, nodes, pass_context
from jinja2.runtime import Context
from jinja2.sandbox import MAX_RANGE, ImmutableSandboxedEnvironment, safe_range

STEPS, STEPS_FOR_A_MESSAGE = 1_000_000, 200
"""The most that one rendering does: turns of loops, calls, filters, numbers of a range.

The most thorough of the published templates take some hundred for a message, and some thousand for tools.
"""

STEPS_OF_A_CALL = 3
"""A call takes as long as so many turns of a loop."""

MAX_CHARACTERS = 64 * 1024 * 1024
"""The most that one rendering says: twice the largest body of a request."""

CHARACTERS_IN_A_STEP, ITEMS_IN_A_STEP = 1000, 10
"""How much a filter goes through in one step."""

AT_ONCE = frozenset({"count", "d", "default", "first", "last", "length"})
"""The filters that go through nothing."""

_STEPS = "the steps that are left"
_TURN, _THROUGH = "a turn of a loop", "what a filter goes through"
"""Names that no template can write, so that none means something else by them."""


class Endless(TemplateError):
    """A template does not seem to come to an end."""


class Steps:
    """How many steps one rendering has left."""

    def __init__(self, messages: int) -> None:
        self._left = self._all = STEPS + messages * STEPS_FOR_A_MESSAGE

    def take(self, count: int = 1) -> None:
        """Take so many; raises Endless where there are not."""
        self._left -= count
        if self._left < 0:
            raise Endless(f"it goes on beyond {self._all} steps, as if without an end")


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja as chat templates are used to it, with each step counted, and without what is left to chance."""

    intercepted_binops = frozenset({"*", "**"})

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
        del self.globals["lipsum"], self.filters["random"]
        self.globals |= {"range": _range, "raise_exception": _raise_exception}
        self.filters |= {"tojson": _as_json, _TURN: _turn, _THROUGH: _through}

    def template(self, source: str) -> Template:
        """The template of this text; raises TemplateError."""
        tree = self.parse(source)
        filters, loops = list(tree.find_all(nodes.Filter)), list(tree.find_all(nodes.For))
        for one in filters:
            if one.node is not None and one.name not in AT_ONCE:
                one.node = _filtered(one.node, _THROUGH)
        for loop in loops:
            turn = _filtered(nodes.Const(True), _TURN)
            if loop.test is None:
                loop.body.insert(0, nodes.ExprStmt(turn, lineno=loop.lineno))
            else:
                loop.test = nodes.And(turn, loop.test)
        tree.set_environment(self)
        return self.from_string(tree)

    def call(__self, __context: Context, __obj: Any, *args: Any, **named: Any) -> Any:
        """Call what a template calls, its own macros included."""
        __context[_STEPS].take(STEPS_OF_A_CALL)
        return super().call(__context, __obj, *args, **named)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Multiply, unless more comes of it than the longest range has; raises OverflowError."""
        if _size(operator, left, right) > MAX_RANGE:
            raise OverflowError(f"a product is too long: more than {MAX_RANGE}")
        return super().call_binop(context, operator, left, right)


def rendered(template: Template, context: Mapping[str, Any]) -> str:
    """What a template of the sandbox makes of this; raises Endless, and whatever goes wrong in a template."""
    pieces, size = [], 0
    steps = Steps(len(context["messages"]))
    for piece in template.generate({**context, _STEPS: steps}):
        pieces.append(piece)
        size += len(piece)
        if size > MAX_CHARACTERS:
            raise Endless(f"it says more than {MAX_CHARACTERS} characters, as if without an end")
    return "".join(pieces)


def _filtered(node: nodes.Expr, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None)


def _size(operator: str, left: Any, right: Any) -> float:
    """How many items, or bits, a product has."""
    if isinstance(left, Sized) or isinstance(right, Sized):
        size: float = (len(left) if isinstance(left, Sized) else left) * (
            len(right) if isinstance(right, Sized) else right
        )
        return size
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length()
        return bits * right if operator == "**" else bits + right.bit_length()
    return 0


@pass_context
def _turn(context: Context, value: bool) -> bool:
    context[_STEPS].take()
    return value


@pass_context
def _through(context: Context, value: Any) -> Any:
    """What is given to a filter, which may go through all of it."""
    size = len(value) if isinstance(value, Sized) else 0
    context[_STEPS].take(1 + size // (CHARACTERS_IN_A_STEP if isinstance(value, str) else ITEMS_IN_A_STEP))
    return value


@pass_context
def _range(context: Context, *bounds: int) -> range:
    numbers = safe_range(*bounds)
    context[_STEPS].take(len(numbers))
    return numbers


def _raise_exception(message: str) -> None:
    """What chat templates call for messages that they do not take."""
    raise TemplateError(message)


def _as_json(
    value: object,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON as chat templates are used to it: with a space after `,` and `:` unless they say otherwise."""
    return dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
