"""Every file in `examples/` runs: scripts to their end, tests to their passing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(path for path in EXAMPLES.glob("*.py") if not path.name.startswith("test_"))
TESTS = sorted(EXAMPLES.glob("test_*.py"))


def run(*command: str) -> str:
    """What a command prints; it must succeed and complain of nothing."""
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={name: value for name, value in os.environ.items() if not name.endswith(("_BASE_URL", "_API_KEY"))},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_run_to_their_end(path):
    """Each prints what it promises."""
    expected = {
        "stream_to_terminal.py": ("[The user asks about bridges.", "micro-USD)"),
        "score_texts.py": ("The capital of France is Paris.", "Xq zv! kkr pwt?"),
        "naive_client.py": ("Rivers", "1 silently-wrong", "retry-after-ignored", "truncated-accepted"),
        "careful_client.py": ("No answer: the answer has no end", "1 recovered, 1 reported", "nothing is wrong"),
    }
    printed = run("-W", "error", str(path))
    places = [printed.index(words) for words in expected[path.name]]
    assert places == sorted(places)


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_tests_pass(path, tmp_path):
    """Each is a test file that a user could have written."""
    printed = run("-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", str(path))
    assert " passed" in printed
    assert "failed" not in printed
