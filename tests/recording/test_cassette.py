"""The file: readable, complete to the last exchange that was finished, and strict about the rest."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from engy_mock.cli import main
from engy_mock.recording import layout
from engy_mock.recording.cassette import BOUNDS, body_of, is_plain, read
from engy_mock.recording.stream import moments
from engy_mock.recording.tape import Tape
from engy_mock.scripting import notation
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.wire import Call

LETTERS = some.one_of(
    some.sampled_from("ab:\n -#'\"|>{}[]&*!%@`,?\t\\\r\x85\u2028é😀\x7f"),
    some.characters(exclude_categories=["Cs"]),
)
TEXTS = some.text(alphabet=LETTERS)
LEAVES = some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False)
VALUES = some.recursive(
    LEAVES | TEXTS,
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@given(some.dictionaries(TEXTS, VALUES, min_size=1, max_size=3))
def test_what_is_written_is_read_again(value):
    """Any JSON value comes back from the file as it went in, by either reader, and never looks like a border."""
    text = layout.written(value)
    assert notation.read(text.encode(), "x").value == value
    assert notation.read(text.encode(), "x", bounds=BOUNDS).value == value
    assert not {"---", "..."} & set(text.split("\n"))


@given(
    some.lists(some.tuples(some.integers(0, 9), some.sampled_from([b"a", b"\n", b"\r\n", b"\r", b"data: x\n\n"])))
)
def test_events_are_the_same_bytes(chunks):
    """However a stream is cut by the network, its events together are what came."""
    assert b"".join([moment.data for moment in moments(chunks)]) == b"".join([data for _, data in chunks])


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b'{"a":1,"b":[1.5,"x"]}', ["json"]),
        (b'{"a": 1, "b": [1.5, "x"]}', ["json", "written"]),
        (b'{\n  "a": 1\n}', ["json", "written"]),
        (b'{"a":"\\u00e9"}', ["json", "written"]),
        (b'{"a":1,"a":2}', ["text"]),
        (b'{ "a":1}', ["text"]),
        (b"[" * 30 + b"]" * 30, ["text"]),
        (b'{"a":' + b"9" * 350 + b"}", ["text"]),
        (b"<html>", ["text"]),
        (b"\xff\x00", ["base64"]),
    ],
)
def test_bodies_keep_their_bytes(data, keys):
    """A body stands as JSON where the same bytes come out of it, else as text, else as base64."""
    from engy_mock.recording.cassette import BodyForm

    kept = body_of(data)
    assert list(kept) == keys
    assert BodyForm.model_validate(notation.read(layout.written(kept).encode(), "x").value).data == data


def test_what_is_too_deep_is_no_plain_value():
    """The reader would refuse it."""
    deep: object = 1
    for _ in range(30):
        deep = [deep]
    assert not is_plain(deep)


def exchange(tape, text="Hello"):
    """Record one."""
    call = Call(method="POST", path="/v1/chat/completions", headers={}, body=b'{"model":"glm-5.2"}')
    take = tape.begin(call, [])
    take.head(3, 200, [("Content-Type", "application/json")], is_stream=False)
    take.heard(4, b'{"text":"%b"}' % text.encode())
    take.end("end")


def test_a_torn_end_is_left_out_and_told(tmp_path):
    """Cut anywhere, a cassette has all exchanges that were complete (and says so of the other)."""
    path = tmp_path / "x.yaml"
    tape = Tape(path, "http://127.0.0.1/v1")
    exchange(tape)
    whole = path.read_bytes()
    exchange(tape, "second\\nline")
    tape.close()
    text = path.read_bytes()
    for end in range(len(whole), len(text)):
        path.write_bytes(text[:end])
        found = read(path)
        assert len(found.exchanges) == 1 + (end >= len(text) - 1), end
        begun = end >= len(whole) + 3
        assert len(found.notes) == (begun and end < len(text) - 1), end
    path.write_bytes(text[: len(text) - 10])
    again = Tape(path, "http://127.0.0.1/v1")
    exchange(again, "third")
    again.close()
    found = read(path)
    assert [one.answer.body.json_["text"] for one in found.exchanges if one.answer.body] == ["Hello", "third"]
    assert "never finished" in found.notes[0]


KILLED = """
import os, sys
from pathlib import Path
from engy_mock.recording import tape as tapes
from tests.recording.test_cassette import exchange

write, count = os.write, 0

def torn(file, data):
    global count
    count += 1
    if count == 4:
        write(file, bytes(data[: len(data) // 2]))
        os.kill(os.getpid(), 9)
    return write(file, data)

tape = tapes.Tape(Path(sys.argv[1]), "http://127.0.0.1/v1")
os.write = torn
count = 1
while True:
    exchange(tape, f"answer {count}")
"""


@pytest.mark.slow
def test_killed_in_mid_write(tmp_path):
    """A recorder that is killed while it writes leaves every exchange that it had finished."""
    path = tmp_path / "x.yaml"
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(path)],
        cwd=Path(__file__).parents[2],
        check=False,
        env={**os.environ, "PYTHONPATH": "."},
    )
    assert done.returncode == -signal.SIGKILL
    found = read(path)
    assert [one.answer.body.json_["text"] for one in found.exchanges if one.answer.body] == [
        "answer 1",
        "answer 2",
    ]
    assert len(found.notes) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no cassette"),
        ("rules: []\n", "no cassette"),
        ("---\nexchange: 1\n...\n", "line 1: no cassette"),
        ("---\nengy_mock_cassette: 2\n...\n", "line 2, engy_mock_cassette: input should be 1"),
        ("---\nengy_mock_cassette: 1\n...\n---\nexchange: 1\nrequest: {}\n...\n", "line 6, request.method"),
        ("---\nengy_mock_cassette: 1\n...\n---\nexchange: !!python/object:os.x 1\n...\n", "tag"),
        ("---\nengy_mock_cassette: &x 1\nupstream: *x\n...\n", "anchors and aliases are refused"),
        ("---\nengy_mock_cassette: " + "[" * 50 + "]" * 50 + "\n...\n", "nested deeper than 40"),
        ("---\nengy_mock_cassette: 1\nmore: 1\n...\n", "line 3, more"),
    ],
)
def test_what_is_no_cassette(tmp_path, text, message):
    """Mistakes have file, line and key; nothing in a file is run (Q-24)."""
    path = tmp_path / "x.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MockError, match=message):
        read(path)


def test_check_knows_cassettes(tmp_path, capsys):
    """`engy-mock check` reads a cassette and looks for leaks; it names line and kind, never the value (Q-33)."""
    path = tmp_path / "x.yaml"
    tape = Tape(path, "http://127.0.0.1/v1")
    exchange(tape)
    tape.close()
    assert main(["check", str(path)]) == 0
    assert "a cassette of 1 exchanges" in capsys.readouterr().out
    secret = "AKIA" + "QWERTZ1234567890"
    path.write_text(path.read_text(encoding="utf-8").replace("Hello", secret), encoding="utf-8")
    assert main(["check", str(path)]) == 1
    said = capsys.readouterr().err
    assert "AWS key" in said
    assert "line " in said
    assert secret not in said
