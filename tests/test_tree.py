"""The rules of the tree: how long a module may be, what stands at the top, what no file may tell.

Each check is a function from sources to findings, and is itself tested on small made-up ones.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
PACKAGE = TOP / "engy_mock"

MOST_LINES = 400

AT_THE_TOP = frozenset(
    {
        ".ci",
        ".gitignore",
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "docs",
        "engy_mock",
        "examples",
        "pyproject.toml",
        "scenarios",
        "tests",
    }
)

TEXTS = frozenset(
    {"", ".cfg", ".css", ".html", ".ini", ".js", ".json", ".jsonl", ".md", ".mjs", ".py"}
) | frozenset({".sh", ".sse", ".svg", ".toml", ".ts", ".txt", ".yaml", ".yml"})

TELLTALES = {
    "a path of one machine": re.compile(r"(?<![\w.])/(home|root|Users|work|workspace|tmp)/\w|\b[A-Z]:\\Users\\"),
    "a registry's host": re.compile(
        r"\bpypi\.org|pythonhosted\.org|registry\.npmjs|registry\.yarnpkg|\bdeb\.debian\.org|\bcrates\.io"
    ),
    "a secret": re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{35}|\bgh[opsu]_\w{36}"
        r"|\bxox[abp]-\w{10}|\bnpm_\w{36}|\bhf_[A-Za-z]{30}|\bsk-(ant|proj|svcacct)-[\w-]{24}|\bsk-[A-Za-z0-9]{32}"
    ),
}
"""What no file of the tree may hold. Keys that begin with `sk-engy-` are made up by the mock itself."""


def ill_formed(source: str) -> Iterator[str]:
    """What is wrong with a module as a file."""
    lines = source.count("\n")
    if lines > MOST_LINES:
        yield f"has {lines} lines, at most {MOST_LINES}: look for the second noun"
    if not ast.get_docstring(ast.parse(source)):
        yield "does not say what it is for"


def strangers(names: Iterable[str], ignored: Iterable[str]) -> list[str]:
    """Entries at the top that are neither of the house nor ignored by git."""
    patterns = [pattern.strip("/") for pattern in ignored if pattern and not pattern.startswith("#")]
    return [
        name
        for name in sorted(names)
        if name not in AT_THE_TOP and name != ".git" and not any(fnmatch(name, pattern) for pattern in patterns)
    ]


def telltales(text: str) -> list[str]:
    """What a text tells that it must not."""
    return [kind for kind, pattern in TELLTALES.items() if pattern.search(text)]


def _tree(ignored: list[str]) -> Iterator[Path]:
    """The text files of the tree that git does not ignore."""
    names = [pattern.strip("/") for pattern in ignored if pattern and not pattern.startswith("#")]

    def walk(folder: Path) -> Iterator[Path]:
        for path in sorted(folder.iterdir()):
            if path.name == ".git" or any(fnmatch(path.name, name) for name in names):
                continue
            if path.is_dir():
                yield from walk(path)
            elif path.suffix in TEXTS:
                yield path

    yield from walk(TOP)


IGNORED = (TOP / ".gitignore").read_text("utf-8").splitlines()
MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(TOP).as_posix())
def test_modules_are_well_formed(path: Path) -> None:
    """A module says in a docstring what it is for, and is short enough to be about one thing."""
    assert list(ill_formed(path.read_text("utf-8"))) == []


def test_ill_formed() -> None:
    """The check of modules sees length and silence."""
    assert list(ill_formed('"""What it is."""\n' + "x = 1\n" * (MOST_LINES - 1))) == []
    assert len(list(ill_formed('"""What it is."""\n' + "x = 1\n" * MOST_LINES))) == 1
    assert len(list(ill_formed("x = 1\n"))) == 1


def test_top_is_tidy() -> None:
    """The top level shows what it is meant to show."""
    assert strangers([path.name for path in TOP.iterdir()], IGNORED) == []


def test_strangers() -> None:
    """The check of the top level sees what does not belong there and overlooks what git ignores."""
    assert strangers(["engy_mock", ".git", "dist", "x.egg-info"], ["# made", "", "/dist/", "*.egg-info/"]) == []
    assert strangers(["notes.txt", "tests", "build"], ["/dist/"]) == ["build", "notes.txt"]


def test_tree_tells_nothing() -> None:
    """No file names a path of one machine or a registry's host, or looks as if it held a secret (Q-28)."""
    findings = [
        f"{path.relative_to(TOP)}: {kind}"
        for path in _tree(IGNORED)
        for kind in telltales(path.read_text("utf-8", "replace"))
    ]
    assert not findings, "\n".join(findings)


@pytest.mark.parametrize(
    ("parts", "kinds"),
    [
        (("see ", "/ho", "me/me/x"), ["a path of one machine"]),
        (("'C:", "\\Users\\me'"), ["a path of one machine"]),
        (("example.com/home/x and ./tmp/x and /v1/models",), []),
        (("https://registry", ".npmjs", ".org/x"), ["a registry's host"]),
        (("-----BEGIN RSA ", "PRIVATE KEY-----"), ["a secret"]),
        (("sk-", "a1" * 20), ["a secret"]),
        (("sk-ant", "-api03-", "a1" * 20), ["a secret"]),
        (("sk-engy-", "a1" * 21, "a"), []),
    ],
)
def test_telltales(parts: tuple[str, ...], kinds: list[str]) -> None:
    """The check of the tree sees each kind; the samples are put together here so that it overlooks them."""
    assert telltales("".join(parts)) == kinds


README_COMMAND = re.compile(r"^<!-- test command -->\n```\w*\n(.+)\n```$", re.MULTILINE)
"""How the README marks its test command; `.ci/run` reads it by the same marks."""


def test_readme_names_the_test_command() -> None:
    """The README names one command that runs the tests."""
    commands = README_COMMAND.findall((TOP / "README.md").read_text("utf-8"))
    assert len(commands) == 1
    assert ".venv/bin/pytest" in commands[0]


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("x\n<!-- test command -->\n```sh\npytest\n```\n", ["pytest"]),
        ("x\n```sh\npytest\n```\n", []),
        ("<!-- test command -->\n\npytest\n", []),
    ],
)
def test_readme_command(text: str, commands: list[str]) -> None:
    """Only a marked block counts."""
    assert README_COMMAND.findall(text) == commands
