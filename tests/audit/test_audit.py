"""The audit sees what is too old, and does not take silence for an answer (Q-49)."""

import tomllib

from tests.audit.__main__ import TOP, below, floors, installed, judged, parsed


def test_floors_are_above_all_advisories():
    """Q-49, Q-12: no version that the project allows is known to be vulnerable in a way that matters here."""
    with (TOP / "pyproject.toml").open("rb") as file:
        found = list(floors(tomllib.load(file)["project"]))
    assert {"aiohttp", "pyyaml", "jinja2"} <= {package for package, _ in found}
    assert below(found) == []
    assert below(installed()) == []


def test_what_is_too_old_is_named():
    """With the advisory; numbers are compared as numbers."""
    assert below([("aiohttp", "3.9.5")])[0].startswith("aiohttp 3.9.5 is older than 3.13.3: CVE-2025-69223")
    assert len(below([("aiohttp", "3.14.0")])) == 1
    assert below([("aiohttp", "3.14.10"), ("other", "0.1")]) == []
    assert parsed("3.14.1") < parsed("3.14.10") < parsed("3.15")
    assert list(floors({"dependencies": ["a>=1.2", "b[x]>=3; python_version<'4'", "c"]})) == [
        ("a", "1.2"),
        ("b", "3"),
    ]


def test_silence_is_no_answer():
    """What pip-audit could not look up has not been looked up."""
    skipped = {"name": "a", "skip_reason": "not found"}
    sound = {"name": "b", "version": "1", "vulns": []}
    ill = {"name": "c", "version": "2", "vulns": [{"id": "X-1", "fix_versions": ["3"]}]}
    assert judged({"dependencies": [skipped]}) == (0, [])
    assert judged({"dependencies": [skipped, sound, ill]}) == (2, ["c 2: X-1, mended in 3"])


def test_it_is_a_stage():
    """Q-49: every change is audited, the newest versions and the lowest alike."""
    run = (TOP / ".ci" / "run").read_text(encoding="utf-8")
    assert 'stage "audit"' in run
    assert run.count("-m tests.audit") == 2
