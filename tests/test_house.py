"""The rules of the house, read from its sources: which way imports go, where chance and waiting may live.

Each check is a function from sources to findings, and is itself tested on small made-up sources.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
PACKAGE = TOP / "engy_mock"

LEVELS: tuple[frozenset[str], ...] = (
    frozenset({"vocabulary"}),
    frozenset({"model"}),
    frozenset({"scripting", "dialects", "books"}),
    frozenset({"gateway"}),
    frozenset({"serving", "recording", "verdict", "drift"}),
    frozenset({"faults", "mock"}),
    frozenset({"campaigns"}),
    frozenset({"cli", "pytest_plugin"}),
    frozenset({"__main__"}),
)
"""The rooms of the house from the ground up. A room sees those of lower levels, never its neighbours."""

LEVEL_OF = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}

MAY_BE_TAKEN_FROM_THE_TOP = frozenset({"__version__"})
"""What a module inside may import from `engy_mock` itself; every other public name has a room of its own."""

WAITING = frozenset({"aiohttp", "anyio", "asyncio", "trio", "uvloop"})
MAY_WAIT = frozenset({"serving", "mock", "pytest_plugin", "cli"})

CHANCE = frozenset({"random", "secrets", "time", "uuid"})
MAY_USE_CHANCE = frozenset({"engy_mock.vocabulary.seeds", "engy_mock.vocabulary.clock"})
TODAY = frozenset({("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today")})

UNSAFE_MODULES = frozenset({"cloudpickle", "dill", "joblib", "marshal", "pickle", "shelve"})
UNSAFE_CALLS = frozenset({"eval", "exec", "hash"})
UNSAFE_METHODS = frozenset({("os", "urandom"), ("yaml", "unsafe_load"), ("yaml", "full_load")})

DISTRIBUTION_OF = {
    "_pytest": "pytest",
    "multidict": "aiohttp",
    "prometheus_client": "prometheus-client",
    "pydantic_core": "pydantic",
    "typing_extensions": "typing-extensions",
    "yaml": "pyyaml",
    "yarl": "aiohttp",
}
"""Where a module comes with a distribution of another name."""

EXTRAS_FOR_USERS = ("httpx", "httpx2", "metrics", "pytest", "speed", "templates", "tls")

TAKES_THE_ORDER = frozenset({"enumerate", "iter", "list", "tuple", "zip"})


def module_name(path: Path) -> str:
    """The dotted name of a source file of the package."""
    parts = path.relative_to(TOP).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    """The room that a module belongs to; empty for the package's own `__init__`."""
    return module.split(".")[1] if "." in module else ""


def imports(tree: ast.AST, module: str, *, is_package: bool) -> Iterator[tuple[int, str, str | None]]:
    """Line, module and name of each import, wherever it stands: in functions and under TYPE_CHECKING too."""
    home = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, None
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(home[: len(home) + 1 - node.level]) if node.level else ""
            source = ".".join(part for part in (base, node.module) if part)
            for alias in node.names:
                yield node.lineno, source, alias.name
        elif isinstance(node, ast.Call) and _called(node)[1] in {"import_module", "__import__"}:
            target = node.args[0] if node.args else None
            known = isinstance(target, ast.Constant) and isinstance(target.value, str)
            yield node.lineno, str(target.value) if known and isinstance(target, ast.Constant) else "?", None


def _called(node: ast.Call) -> tuple[str, str]:
    """What a call names, as owner and name: `os.urandom()` is ("os", "urandom"), `hash()` is ("", "hash")."""
    function = node.func
    if isinstance(function, ast.Name):
        return "", function.id
    if isinstance(function, ast.Attribute):
        owner = function.value
        name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else "?"
        return name, function.attr
    return "?", "?"


def wrong_arrows(tree: ast.AST, module: str, *, is_package: bool = False) -> Iterator[str]:
    """Imports that do not go down. What is imported for typing alone is an arrow like any other."""
    room = room_of(module)
    if not room:
        return
    if room not in LEVEL_OF:
        yield f"{module}: the house has no room {room!r}"
        return
    for line, source, name in imports(tree, module, is_package=is_package):
        if source == "?":
            yield f"{module}:{line}: imports a module that only a run can tell"
        if source.split(".")[0] != "engy_mock":
            continue
        other = room_of(source)
        if not other and name in LEVEL_OF:
            other = str(name)
        if not other and name in MAY_BE_TAKEN_FROM_THE_TOP:
            continue
        if not other:
            yield f"{module}:{line}: takes {name or 'names'} from the top instead of from their room"
        elif other != room and LEVEL_OF.get(other, len(LEVELS)) >= LEVEL_OF[room]:
            yield f"{module}:{line}: {room} must not see {other}"


def waits(tree: ast.AST, module: str) -> Iterator[str]:
    """Asynchronous code outside the rooms that may wait."""
    if room_of(module) in MAY_WAIT:
        return
    for line, source, _ in imports(tree, module, is_package=False):
        if source.split(".")[0] in WAITING:
            yield f"{module}:{line}: imports {source}"
    for node in ast.walk(tree):
        if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith):
            yield f"{module}:{node.lineno}: waits"


def takes_chances(tree: ast.AST, module: str) -> Iterator[str]:
    """Chance, time, memory addresses or code from data where they must not be."""
    for line, source, _ in imports(tree, module, is_package=False):
        top = source.split(".")[0]
        if top in UNSAFE_MODULES or (top in CHANCE and module not in MAY_USE_CHANCE):
            yield f"{module}:{line}: imports {source}"
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        owner, name = _called(node)
        is_today = (owner, name) in TODAY and module not in MAY_USE_CHANCE
        is_unsafe = (owner, name) in UNSAFE_METHODS and module not in MAY_USE_CHANCE
        if is_today or is_unsafe or (owner == "" and name in UNSAFE_CALLS):
            yield f"{module}:{node.lineno}: calls {name}"


def order_from_sets(tree: ast.AST, module: str) -> Iterator[str]:
    """Places that take an order from a set that is written right there."""
    for node in ast.walk(tree):
        sources: list[ast.expr] = []
        if isinstance(node, ast.For | ast.AsyncFor):
            sources = [node.iter]
        elif isinstance(node, ast.ListComp | ast.GeneratorExp | ast.DictComp):
            sources = [generator.iter for generator in node.generators]
        elif isinstance(node, ast.Starred):
            sources = [node.value]
        elif isinstance(node, ast.Call):
            owner, name = _called(node)
            if (owner == "" and name in TAKES_THE_ORDER) or (owner != "" and name == "join"):
                sources = node.args
        for source in sources:
            if isinstance(source, ast.Set | ast.SetComp) or (
                isinstance(source, ast.Call) and _called(source) in {("", "set"), ("", "frozenset")}
            ):
                yield f"{module}:{source.lineno}: takes an order from a set"


def undeclared(tree: ast.AST, module: str, requirements: Iterable[str]) -> Iterator[str]:
    """Imports from distributions that `pyproject.toml` does not ask for, not even in an extra for users."""
    declared = {re.split(r"[^\w-]", requirement)[0] for requirement in requirements}
    for line, source, _ in imports(tree, module, is_package=False):
        top = source.split(".")[0]
        is_known = top in {"engy_mock", "?", ""} or top in sys.stdlib_module_names
        if not is_known and DISTRIBUTION_OF.get(top, top) not in declared:
            yield f"{module}:{line}: imports {source}, which is not declared"


def circles(arrows: dict[str, set[str]]) -> Iterator[str]:
    """Modules that import each other, in any number of steps, when they are loaded."""
    done: set[str] = set()

    def walk(module: str, path: tuple[str, ...]) -> Iterator[str]:
        if module in path:
            yield " > ".join((*path[path.index(module) :], module))
        elif module not in done:
            for other in sorted(arrows.get(module, ())):
                yield from walk(other, (*path, module))
            done.add(module)

    for module in sorted(arrows):
        yield from walk(module, ())


def arrows_at_load(sources: dict[str, ast.Module]) -> dict[str, set[str]]:
    """For each module those of the package that it imports at its top level."""
    arrows: dict[str, set[str]] = {}
    for module, tree in sources.items():
        statements: list[ast.stmt] = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        named = imports(ast.Module(statements, []), module, is_package=False)
        # What a package is asked for is a module of it, or else a name in its `__init__`.
        others = {f"{source}.{name}" if f"{source}.{name}" in sources else source for _, source, name in named}
        arrows[module] = {other for other in others if other in sources and other != module and room_of(other)}
    return arrows


def _sources() -> dict[str, ast.Module]:
    return {module_name(path): ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


SOURCES = _sources()
PACKAGES = {module_name(path) for path in PACKAGE.rglob("__init__.py")}


def test_arrows_go_down() -> None:
    """A room imports from lower rooms only."""
    findings = [
        finding
        for module, tree in SOURCES.items()
        for finding in wrong_arrows(tree, module, is_package=module in PACKAGES)
    ]
    assert not findings, "\n".join(findings)


def test_no_circles() -> None:
    """No module needs itself in order to be loaded."""
    findings = list(circles(arrows_at_load(SOURCES)))
    assert not findings, "\n".join(findings)


def test_only_the_shell_waits() -> None:
    """Everything below the shell is plain synchronous code."""
    findings = [finding for module, tree in SOURCES.items() for finding in waits(tree, module)]
    assert not findings, "\n".join(findings)


def test_nothing_by_chance() -> None:
    """Chance and time have one place each; nothing runs code from data; no order comes from a set (Q-25)."""
    findings = [
        finding
        for module, tree in SOURCES.items()
        for check in (takes_chances, order_from_sets)
        for finding in check(tree, module)
    ]
    assert not findings, "\n".join(findings)


def test_imports_are_declared() -> None:
    """What the package imports, installing the package brings, or one of its extras for users."""
    project = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"], *[line for name in EXTRAS_FOR_USERS for line in extras[name]]]
    findings = [finding for module, tree in SOURCES.items() for finding in undeclared(tree, module, requirements)]
    assert not findings, "\n".join(findings)


def test_undeclared() -> None:
    """The check of dependencies knows the standard library, and modules named otherwise than their source."""
    tree = ast.parse("import json, yaml\nfrom aiohttp import web\nimport requests.auth\nfrom . import x")
    found = list(undeclared(tree, "engy_mock.cli", ["aiohttp>=3.14.1", "pyyaml>=6; python_version > '3'"]))
    assert found == ["engy_mock.cli:3: imports requests.auth, which is not declared"]


@pytest.mark.parametrize(
    ("module", "source", "finding"),
    [
        ("engy_mock.model.engine", "from engy_mock.vocabulary import seeds", None),
        ("engy_mock.model.engine", "from engy_mock.model.cards import ModelCard", None),
        ("engy_mock.model.engine", "import engy_mock.gateway", "model must not see gateway"),
        ("engy_mock.model.engine", "from engy_mock import gateway", "model must not see gateway"),
        ("engy_mock.model.engine", "from engy_mock.mock import EngyMock", "model must not see mock"),
        (
            "engy_mock.model.engine",
            "def f():\n from engy_mock.books import journal",
            "model must not see books",
        ),
        ("engy_mock.model.engine", "from ..books import journal", "model must not see books"),
        ("engy_mock.model.engine", "from .. import books", "model must not see books"),
        ("engy_mock.model.engine", "if TYPE_CHECKING:\n import engy_mock.cli", "model must not see cli"),
        ("engy_mock.model.engine", "importlib.import_module('engy_mock.cli')", "model must not see cli"),
        ("engy_mock.model.engine", "import_module(name)", "only a run can tell"),
        (
            "engy_mock.scripting.rules",
            "from engy_mock.dialects import chat",
            "scripting must not see dialects",
        ),
        (
            "engy_mock.dialects.chat",
            "from engy_mock.scripting import rules",
            "dialects must not see scripting",
        ),
        ("engy_mock.dialects.chat", "from engy_mock.books import journal", "dialects must not see books"),
        ("engy_mock.books.journal", "import engy_mock.dialects", "books must not see dialects"),
        ("engy_mock.books.journal", "import engy_mock.scripting.rules", "books must not see scripting"),
        ("engy_mock.scripting.rules", "import engy_mock.books.journal", "scripting must not see books"),
        ("engy_mock.cli", "import engy_mock.pytest_plugin", "cli must not see pytest_plugin"),
        ("engy_mock.cli", "from engy_mock.mock import EngyMock", None),
        ("engy_mock.cli", "from engy_mock import __version__", None),
        ("engy_mock.cli", "from engy_mock import EngyMock", "takes EngyMock from the top"),
        ("engy_mock.attic", "", "no room 'attic'"),
        ("engy_mock", "from engy_mock.cli import main", None),
    ],
)
def test_wrong_arrows(module: str, source: str, finding: str | None) -> None:
    """The check of the arrows sees each way of importing."""
    found = list(wrong_arrows(ast.parse(source), module))
    assert (found == []) if finding is None else (len(found) == 1 and finding in found[0]), found


def test_wrong_arrows_of_a_package() -> None:
    """In an `__init__` one dot is the package itself, elsewhere the package around the module."""
    tree = ast.parse("from .books import journal")
    assert list(wrong_arrows(tree, "engy_mock.model", is_package=True)) == []
    assert list(wrong_arrows(tree, "engy_mock.gateway")) == []
    assert (
        len(list(wrong_arrows(ast.parse("from ..books import journal"), "engy_mock.model", is_package=True))) == 1
    )


@pytest.mark.parametrize(
    ("sources", "finding"),
    [
        ({"engy_mock.a.x": "import engy_mock.a.y", "engy_mock.a.y": ""}, []),
        (
            {"engy_mock.a.x": "import engy_mock.a.y", "engy_mock.a.y": "from engy_mock.a import x"},
            ["engy_mock.a.x > engy_mock.a.y > engy_mock.a.x"],
        ),
        ({"engy_mock.a.x": "import engy_mock.a.y", "engy_mock.a.y": "def f():\n import engy_mock.a.x"}, []),
        (
            {"engy_mock.a": "import engy_mock.a.x", "engy_mock.a.x": "from engy_mock.a import y"},
            ["engy_mock.a > engy_mock.a.x > engy_mock.a"],
        ),
        (
            {
                "engy_mock.a": "import engy_mock.a.x",
                "engy_mock.a.x": "from engy_mock.a import y",
                "engy_mock.a.y": "",
            },
            [],
        ),
    ],
)
def test_circles(sources: dict[str, str], finding: list[str]) -> None:
    """The check for circles looks at what is imported at load, not inside functions."""
    trees = {module: ast.parse(source) for module, source in sources.items()}
    assert list(circles(arrows_at_load(trees))) == finding


@pytest.mark.parametrize(
    ("check", "module", "source", "count"),
    [
        (waits, "engy_mock.gateway", "import asyncio", 1),
        (waits, "engy_mock.gateway", "from aiohttp import web", 1),
        (waits, "engy_mock.gateway", "if TYPE_CHECKING:\n import aiohttp.web", 1),
        (waits, "engy_mock.gateway", "async def f(): pass", 1),
        (waits, "engy_mock.gateway", "async def f():\n await g()", 2),
        (waits, "engy_mock.gateway", "def f(): yield", 0),
        (waits, "engy_mock.serving.shell", "import asyncio\nasync def f():\n await g()", 0),
        (takes_chances, "engy_mock.model.engine", "import random", 1),
        (takes_chances, "engy_mock.serving.shell", "from time import monotonic", 1),
        (takes_chances, "engy_mock.serving.shell", "loop.time()", 0),
        (takes_chances, "engy_mock.vocabulary.clock", "import time", 0),
        (takes_chances, "engy_mock.vocabulary.seeds", "import pickle", 1),
        (takes_chances, "engy_mock.model.engine", "hash('x')", 1),
        (takes_chances, "engy_mock.model.engine", "x.hash()", 0),
        (takes_chances, "engy_mock.model.engine", "eval('x')", 1),
        (takes_chances, "engy_mock.model.engine", "datetime.now()", 1),
        (takes_chances, "engy_mock.model.engine", "datetime.datetime.now()", 1),
        (takes_chances, "engy_mock.model.engine", "clock.now()", 0),
        (takes_chances, "engy_mock.model.engine", "os.urandom(8)", 1),
        (takes_chances, "engy_mock.scripting.files", "yaml.unsafe_load(text)", 1),
        (order_from_sets, "engy_mock.model.engine", "for x in {1, 2}: pass", 1),
        (order_from_sets, "engy_mock.model.engine", "[x for x in set(y)]", 1),
        (order_from_sets, "engy_mock.model.engine", "', '.join({x for x in y})", 1),
        (order_from_sets, "engy_mock.model.engine", "list(frozenset(y))", 1),
        (order_from_sets, "engy_mock.model.engine", "[*{1, 2}]", 1),
        (order_from_sets, "engy_mock.model.engine", "sorted({1, 2})", 0),
        (order_from_sets, "engy_mock.model.engine", "{x for x in {1, 2}}", 0),
    ],
)
def test_checks_of_code(
    check: Callable[[ast.AST, str], Iterator[str]], module: str, source: str, count: int
) -> None:
    """The checks of waiting, chance and order see what they are for, and nothing else."""
    assert len(list(check(ast.parse(source), module))) == count
