"""Scenario files as plain values: every mistake has a line, nothing runs, nothing explodes."""

import pytest

from engy_mock import MockError
from engy_mock.scripting.notation import MAX_BYTES, read

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{this}: &{this} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, this in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1\nb: [2, 3.5, true, null]", {"a": 1, "b": [2, 3.5, True, None]}),
        ('{\t"a": 1,\n\t"b": ["x\\ty"]}', {"a": 1, "b": ["x\ty"]}),
        ("day: 2026-01-01", {"day": "2026-01-01"}),
        ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
        ("\ufefftext: |\n  two\n  lines\n", {"text": "two\nlines\n"}),
        ("a: &x {b: 1}\nc: {<<: *x}", {"a": {"b": 1}, "c": {"b": 1}}),
        ("", None),
    ],
)
def test_what_can_be_written(text, value):
    """YAML and JSON; dates stay text."""
    assert read(text.encode(), "f").value == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"a: 1\nb: 2\na: 3", "f, line 3: 'a' stands in line 1 already"),
        (b"a:\n  - b: 1\n    b: 2", "f, line 3: 'b' stands in line 2 already"),
        (b"ok: 1\nbad: \xff", "f, line 2: byte 0xff is not UTF-8"),
        (b"a: [1", "f, line 1"),
        (b"a: b: c", "f, line 1"),
        (b"a: !!python/object/apply:os.system ['true']", "is not allowed"),
        (b"a: !own 1", "tag !own is not allowed"),
        (b"a: &a [*a]", "an alias inside what it stands for"),
        (b"a: *nowhere", "undefined alias"),
        (BOMB.encode(), "values, aliases counted"),
        (b"[" * 3000, "f"),
        (b"a: " + b"[" * 60 + b"]" * 60, "nested deeper than 40 levels"),
        (b"? [1, 2]\n: 3", "a key must be a word"),
        (b"x" * (MAX_BYTES + 1), f"at most {MAX_BYTES} allowed"),
        (b"a: 1\n---\nb: 2", "f, line 2"),
        (b"a: \x01", "f"),
        (b"a: 1\nb: [2, " + b"9" * 5000 + b"]", "f, line 2, b[1]: a number of more than 400 characters"),
        (b"a: 1\nb: !!int x", "f, line 2, b: x is no int"),
        (b"a: 1\nb: !!float x", "f, line 2, b: x is no float"),
        (b"a: !!bool x", "f, line 1, a: x is no bool"),
    ],
)
def test_what_cannot_be_read(text, said):
    """Each mistake has its place; aliases are not refused, but counted (Q-24)."""
    with pytest.raises(MockError) as caught:
        read(text, "f")
    assert said in str(caught.value)


def test_places():
    """A place names the nearest line that there is."""
    sheet = read(b"rules:\n  - when:\n      stream: yes\n  - reply: x\n", "f.yaml")
    assert sheet.at(("rules", 1, "reply")) == "f.yaml, line 4, rules[1].reply"
    assert sheet.at(("rules", 0, "when", "stream")) == "f.yaml, line 3, rules[0].when.stream"
    assert sheet.at(("rules", 0, "faults", 3)) == "f.yaml, line 2, rules[0].faults[3]"
    assert sheet.at(()) == "f.yaml, line 1"
