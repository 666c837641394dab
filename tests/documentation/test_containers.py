"""The files for containers, checked as a linter would: no Docker engine is needed."""

import re
from pathlib import Path

import pytest
import yaml

from engy_mock.cli.options import OPTIONS, chosen
from engy_mock.serving.control.table import OPERATIONS

FOLDER = Path(__file__).parents[2] / "examples" / "docker"
INSTRUCTIONS = frozenset(
    {"FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD", "ARG", "LABEL"}
)
VARIABLES = frozenset(option.variable for option in OPTIONS)


def instructions(text: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile, each on one line."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()
    return [(line.partition(" ")[0], line.partition(" ")[2].strip()) for line in joined]


@pytest.fixture(scope="module")
def dockerfile():
    return instructions((FOLDER / "Dockerfile").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def service():
    [service] = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))["services"].values()
    return service


def of(dockerfile, word):
    return [rest for name, rest in dockerfile if name == word]


def test_only_known_instructions(dockerfile):
    assert {name for name, _ in dockerfile} <= INSTRUCTIONS


def test_the_base_is_pinned(dockerfile):
    """To a release, never `latest`, and the same for building and running."""
    bases = [rest.partition(" AS ")[0] for rest in of(dockerfile, "FROM")]
    assert len(set(bases)) == 1
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", bases[0])


def test_nobody_is_root(dockerfile):
    """The last user is a number, so that an orchestrator can see that it is not root."""
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", of(dockerfile, "USER")[-1])
    names = [name for name, _ in dockerfile]
    assert names.index("USER") < names.index("ENTRYPOINT")


def test_what_is_copied_is_there(dockerfile):
    top = FOLDER.parents[1]
    for rest in of(dockerfile, "COPY"):
        if not rest.startswith("--from"):
            assert all((top / name).exists() for name in rest.split()[:-1]), rest


def test_health_is_checked_at_a_route_that_there_is(dockerfile):
    [check] = of(dockerfile, "HEALTHCHECK")
    path = re.search(r"127\.0\.0\.1:8787(/[\w/]+)", check)
    assert path is not None
    assert path[1] in [row.full_path for row in OPERATIONS if row.is_open]


def test_signals_reach_the_server(dockerfile):
    """The entry point is a list: a shell in between would keep the signal to itself."""
    assert of(dockerfile, "ENTRYPOINT") == ['["/opt/engy-mock/bin/engy-mock", "serve"]']


def test_its_options_are_options(dockerfile, service):
    """And good ones: what the image and the service say is read without a mistake."""
    said = dict(re.findall(r"(ENGY_MOCK_\w+)=(\S+)", " ".join(of(dockerfile, "ENV"))))
    said |= service["environment"]
    assert said.keys() <= VARIABLES
    found = chosen({"config": None}, said)
    assert (found["host"], found["port"], found["log-format"]) == ("0.0.0.0", 8787, "json")


def test_no_token_is_shipped(dockerfile, service):
    """Q-9: it comes from whoever starts the container."""
    assert "TOKEN" not in " ".join(of(dockerfile, "ENV"))
    assert service["environment"]["ENGY_MOCK_CONTROL_TOKEN"].startswith("${ENGY_MOCK_CONTROL_TOKEN:?")


def test_the_service_is_for_this_machine(service):
    """Q-1: its port is published on loopback, and it may not do more than it has to."""
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert service["cap_drop"] == ["ALL"]
    assert service["read_only"] is True
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(volume.endswith(":ro") for volume in service["volumes"])
