"""What `engy_mock` shows, and what it costs to look at it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import engy_mock

HEAVY = ("aiohttp", "asyncio", "pydantic", "pydantic_core", "tokenizers", "ssl", "email", "argparse")


def imported_by(statement):
    """The modules that a new process has imported after this statement."""
    script = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_every_public_name_is_there():
    for name in engy_mock._HOMES:
        assert getattr(engy_mock, name).__name__ == name
        assert name in dir(engy_mock)


def test_the_list_of_public_names_is_all_of_them():
    assert sorted(engy_mock.__all__) == sorted([*engy_mock._HOMES, "__version__"])
    everything: dict[str, object] = {}
    exec("from engy_mock import *", everything)
    assert set(engy_mock.__all__) <= everything.keys()


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="module 'engy_mock' has no attribute 'Nope'"):
        _ = engy_mock.Nope


def test_the_version_is_that_of_the_project():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project.get("version", engy_mock.__version__) == engy_mock.__version__


@pytest.mark.parametrize("statement", ["import engy_mock", "import engy_mock; engy_mock.__version__"])
def test_the_package_imports_nothing_but_itself(statement):
    news = imported_by(statement) - imported_by("pass")
    assert {name.partition(".")[0] for name in news} <= {
        "engy_mock",
        "typing",
        "importlib",
    } | sys.stdlib_module_names
    assert not news & set(HEAVY)


def test_the_plugin_imports_nothing_heavy():
    news = imported_by("import engy_mock.pytest_plugin") - imported_by("import pytest")
    assert news == {"engy_mock", "engy_mock.pytest_plugin"}


def test_a_test_module_may_name_engymock_at_little_cost():
    """Neither the model nor the server is loaded before a mock is made."""
    news = imported_by("from engy_mock import EngyMock, MockError, StandingClock")
    assert not news & {"aiohttp", "asyncio", "pydantic", "pydantic_core", "tokenizers", "engy_mock.gateway"}
