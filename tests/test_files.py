"""Files that people name: read to their bound and no further, and never waited for (Q-24)."""

import os
import socket
from pathlib import Path

import pytest

from engy_mock import EngyMock, MockError
from engy_mock.cli import main
from engy_mock.cli.config import from_file
from engy_mock.cli.rows import add_models, read_accounts
from engy_mock.model.templates import from_file as template_from
from engy_mock.model.tokenizer import from_file as tokenizer_from
from engy_mock.recording import cassette
from engy_mock.recording.tape import Tape
from engy_mock.scripting.library import Library
from engy_mock.vocabulary import files

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are wanted")

READERS = {
    "scenario": lambda path: Library().named(path),
    "options": from_file,
    "accounts": read_accounts,
    "models": lambda path: add_models(path, EngyMock().gateway.catalog),
    "cassette": cassette.read,
    "tokenizer": tokenizer_from,
    "template": template_from,
    "recording": lambda path: Tape(path, "http://127.0.0.1"),
}


@pytest.fixture
def odd(tmp_path):
    """Makes what is no file, under a name that ends as wanted."""
    sockets = []

    def make(kind, ending=".yaml"):
        path = tmp_path / f"odd{ending}"
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        elif kind == "device":
            path.symlink_to("/dev/zero")
        else:
            sockets.append(socket.socket(socket.AF_UNIX))
            sockets[-1].bind(str(path))
        return path

    yield make
    for one in sockets:
        one.close()


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "socket"])
@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_file_is_refused_at_once(odd, reader, kind):
    """Neither a pipe into which nobody writes nor a device without end is read."""
    with pytest.raises(MockError, match=r"cannot be (read|written): "):
        READERS[reader](odd(kind))


@pytest.mark.parametrize("ending", [".toml", ".json"])
def test_options_in_other_languages(odd, ending):
    """The same for each of them."""
    with pytest.raises(MockError, match="it is no regular file"):
        from_file(odd("pipe", ending))


def test_an_included_scenario_that_is_none(odd, tmp_path):
    """What a scenario includes is looked at in the same way: a pipe is not there."""
    odd("pipe")
    outer = tmp_path / "outer.yaml"
    outer.write_text("description: x\ninclude: [odd]\nrules: [{reply: x}]\n", encoding="utf-8")
    library = Library()
    with pytest.raises(MockError, match="the scenario 'odd' is no file that can be read"):
        list(library.with_included(library.named(outer)))


def test_check_says_so(odd, capsys):
    """The command ends with a line for it, and does not hang."""
    path = odd("pipe")
    assert main(["check", str(path), "/dev/zero"]) == 1
    assert "it is no regular file" in capsys.readouterr().err


def test_no_more_is_read_than_may_be_there(tmp_path, monkeypatch):
    """One byte behind the bound is enough to know."""
    path = tmp_path / "large.yaml"
    path.write_bytes(b"x" * 5000)
    sizes = []
    plain = os.read

    def counted(file, size):
        sizes.append(size)
        return plain(file, size)

    monkeypatch.setattr(os, "read", counted)
    with pytest.raises(MockError, match="has 5000 bytes, at most 100 allowed"):
        files.read(path, 100)
    assert sizes == [101]
    assert files.read(path, 5000) == b"x" * 5000
    assert files.begins(path, 3) == b"xxx"
    assert files.begins(Path("no", "such"), 3) == b""
