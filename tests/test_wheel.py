"""The wheel as a stranger gets it: built, installed into an environment of its own, used from elsewhere."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
NOT_SHIPPED = {"__pycache__"}

pytestmark = pytest.mark.slow

SERVE_AND_ASK = """
import json, re, signal, subprocess, sys, urllib.request

command = [sys.argv[1], "serve", "--port", "0"]
server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
try:
    for line in server.stdout:
        found = re.search(r"http://127\\.0\\.0\\.1:[0-9]+", line)
        if found:
            break
    else:
        sys.exit("the server never told its address")
    request = urllib.request.Request(
        found[0] + "/v1/chat/completions",
        json.dumps({"model": "glm-5.2", "messages": [{"role": "user", "content": "Hello."}]}).encode(),
        {"Authorization": "Bearer sk-engy-test", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        print(json.load(answer)["object"])
finally:
    server.send_signal(signal.SIGTERM)
    server.wait(timeout=10)
"""


def run(*command: str | Path, folder: Path) -> str:
    """What a command prints when it sees nothing of the checkout; fails the test if it does not succeed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def sources(folder: Path) -> set[str]:
    """The files of a folder of the checkout that belong into the wheel, relative to the folder."""
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and not NOT_SHIPPED & set(path.parts) and not path.name.startswith(".")
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by way of the source distribution as a release would be."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, TOP, folder=folder)
    [file] = folder.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter whose environment holds the wheel, and sees what this one has besides.

    Dependencies come from this environment's folders, which stand behind the new one's. They are appended
    without their own .pth files, so an editable checkout does not come along.
    """
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    paths = sysconfig.get_paths("venv", {"base": str(folder), "platbase": str(folder)})
    interpreter = Path(paths["scripts"]) / Path(sys.executable).name
    run(
        *(
            sys.executable,
            "-m",
            "pip",
            "--python",
            interpreter,
            "install",
            "--quiet",
            "--no-deps",
            "--no-index",
        ),
        wheel,
        folder=folder,
    )
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (Path(paths["purelib"]) / "borrowed.pth").write_text("\n".join(sorted(borrowed)), "utf-8")
    return interpreter


def test_wheel_is_complete(wheel: Path) -> None:
    """Each file of the package is in the wheel, and the scenarios are, inside the package."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    expected = {f"engy_mock/{name}" for name in sources(TOP / "engy_mock")}
    expected |= {f"engy_mock/scenarios/{name}" for name in sources(TOP / "scenarios")}
    assert "engy_mock/py.typed" in expected
    assert any(name.startswith("engy_mock/model/data/") for name in expected)
    shipped = {name for name in names if ".dist-info/" not in name}
    assert shipped == expected


def test_wheel_is_what_runs(python: Path, tmp_path: Path) -> None:
    """The package that the new environment imports is its own, not the checkout."""
    script = "import engy_mock, sys; print(engy_mock.__file__); print(engy_mock.__version__)"
    file, version = run(python, "-c", script, folder=tmp_path).split("\n")[:2]
    assert Path(file).is_relative_to(python.parents[1])
    script = "from importlib.metadata import version; print(version('engy-mock'))"
    assert run(python, "-c", script, folder=tmp_path).strip() == version


def test_command_tells_its_version(python: Path, tmp_path: Path) -> None:
    """`engy-mock --version` works from any folder."""
    version = run(python, "-c", "import engy_mock; print(engy_mock.__version__)", folder=tmp_path).strip()
    assert version in run(python.with_name("engy-mock"), "--version", folder=tmp_path)


def test_server_answers(python: Path, tmp_path: Path) -> None:
    """`engy-mock serve` from the wheel answers a chat request."""
    printed = run(python, "-c", SERVE_AND_ASK, python.with_name("engy-mock"), folder=tmp_path)
    assert printed.strip() == "chat.completion"


def test_plugin_is_found(python: Path, tmp_path: Path) -> None:
    """pytest finds the plugin by its entry point; a test needs nothing but the fixture's name."""
    (tmp_path / "test_it.py").write_text("def test_it(engy):\n    assert engy.base_url\n", "utf-8")
    assert "1 passed" in run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder=tmp_path)
