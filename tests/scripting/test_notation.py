"""Scenario files as plain values: every mistake has a line, nothing runs, nothing explodes."""

import pytest

from engy_mock import MockError
from engy_mock.scripting import notation, quick
from engy_mock.scripting.library import shipped
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
        ("\ufefftext: |\n  two\n  lines\n", {"text": "two\nlines\n"}),
        ("a: " + "[" * 15 + "1" + "]" * 15, {"a": [[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]}),
        ("", None),
    ],
)
def test_what_can_be_written(text, value):
    """YAML and JSON; dates stay text."""
    assert read(text.encode(), "f").value == value


MISTAKES = [
    (b"a: 1\nb: 2\na: 3", "f, line 3: 'a' stands in line 1 already"),
    (b"a:\n  - b: 1\n    b: 2", "f, line 3: 'b' stands in line 2 already"),
    (b"ok: 1\nbad: \xff", "f, line 2: byte 0xff is not UTF-8"),
    (b"a: 1\nb: \x00", r"f, line 2: the character \x00 is not allowed in YAML"),
    (b"a: 1\n---\nb: 2", "f, line 2: a second document begins here: a file has one"),
    (b"a: [1", "f, line 1"),
    (b"a: b: c", "f, line 1"),
    (b"a: !!python/object/apply:os.system ['true']", "is not allowed"),
    (b"a: !own 1", "tag !own is not allowed"),
    (b"a: &a [*a]", "f, line 1: anchors and aliases are refused"),
    (b"a: 1\nb: *nowhere", "f, line 2: anchors and aliases are refused"),
    (b"a: &x 1", "f, line 1: anchors and aliases are refused"),
    (BOMB.encode(), "f, line 1: anchors and aliases are refused"),
    (b"a:\n" + b"- x\n" * 50_000, "f, line 50000: more than 50000 values"),
    (b"[" + b"[]," * 300_000 + b"]", "more than 50000 values"),
    (b"[" * 3000, "f"),
    (b"a: " + b"[" * 16 + b"1" + b"]" * 16, "f, line 1: nested deeper than 16 levels"),
    (b"a: 1\nb: " + b"[" * 60 + b"]" * 60, "f, line 2: nested deeper than 16 levels"),
    (b"? [1, 2]\n: 3", "a key must be a word"),
    (b"x" * (MAX_BYTES + 1), f"at most {MAX_BYTES} allowed"),
    (b"a: 1\n---\nb: 2", "f, line 2"),
    (b"a: \x01", "f"),
    (b"a: 1\nb: [2, " + b"9" * 5000 + b"]", "f, line 2, b[1]: a number of more than 400 characters"),
    (b"a: 1\nb: !!int x", "f, line 2, b: x is no int"),
    (b"a: 1\nb: !!float x", "f, line 2, b: x is no float"),
    (b"a: !!bool x", "f, line 1, a: x is no bool"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "said"), MISTAKES)
def test_what_cannot_be_read(text, said):
    """Q-24: each mistake has its place, and none is found only after a long text has been read to its end."""
    with pytest.raises(MockError) as caught:
        read(text, "f")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            '{"a": 1e3,\n\t"b": [true, null, "x\\/\\ud83c\\udf0a"]}',
            {"a": 1000.0, "b": [True, None, "x/\U0001f30a"]},
        ),
        ('\ufeff[1.5, "yes", "2026-01-01"]', [1.5, "yes", "2026-01-01"]),
    ],
)
def test_json_is_read_as_json(text, value):
    """Numbers and characters mean what they mean there."""
    assert read(text.encode(), "f.json", is_json=True).value == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1", "f.json, line 1: not valid JSON"),
        ('{"a": 1}\n# no comment', "f.json, line 2: not valid JSON"),
        ('{"a": 1,}', "f.json, line 1: not valid JSON"),
        ("{'a': 1}", "f.json, line 1: not valid JSON"),
        ('{"a": yes}', "f.json, line 1: not valid JSON"),
        ("", "f.json, line 1: not valid JSON"),
        ('{"a": NaN}', "f.json: not valid JSON: there is no number NaN"),
        ('{"a": 1,\n"b": 2,\n"a": 3}', "f.json, line 3: 'a' stands in line 1 already"),
        ('{"a": ' + "[" * 16 + "1" + "]" * 16 + "}", "nested deeper than 16 levels"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested deeper than 16 levels"),
        ('{"a":\n' + "9" * 5000 + "}", "f.json, line 1, a: a number of more than 400 characters"),
    ],
)
def test_a_json_file_is_nothing_else(text, said):
    """Q-24: what YAML alone would understand is refused, with the line."""
    with pytest.raises(MockError) as caught:
        read(text.encode(), "f.json", is_json=True)
    assert said in str(caught.value)


HALVES = [
    (b'{"a": ["x", "\\ud800"]}', "f, line 1, a[1]: half a surrogate pair, which is no character"),
    (b'{"a": 1,\n "\\udfff": 2}', "f, line 2: half a surrogate pair"),
    (b'{"a": "\\udf89\\ud83c"}', "f, line 1, a: half a surrogate pair"),
    (b'{"rules": [{"reply": {"text": "\\ud800"}}]}', "f, line 1, rules[0].reply.text: half a surrogate pair"),
]


@pytest.mark.parametrize(("text", "said"), HALVES)
def test_halves_of_pairs(text, said):
    """Half a surrogate pair is refused with its place, a whole one in two escapes is a character."""
    for is_json in (True, False):
        with pytest.raises(MockError) as caught:
            read(text, "f", is_json=is_json)
        assert said in str(caught.value)
    assert read(b'{"a": "\\ud83c\\udf89"}', "f", is_json=True).value == {"a": "\U0001f389"}


def test_places():
    """A place names the nearest line that there is."""
    sheet = read(b"rules:\n  - when:\n      stream: yes\n  - reply: x\n", "f.yaml")
    assert sheet.at(("rules", 1, "reply")) == "f.yaml, line 4, rules[1].reply"
    assert sheet.at(("rules", 0, "when", "stream")) == "f.yaml, line 3, rules[0].when.stream"
    assert sheet.at(("rules", 0, "faults", 3)) == "f.yaml, line 2, rules[0].faults[3]"
    assert sheet.at(()) == "f.yaml, line 1"


def outcome(text, *, is_json=False):
    """What is read, with the places of everything, or what is said of it."""
    try:
        sheet = read(text, "f", is_json=is_json)
    except MockError as error:
        return str(error)
    return sheet.value, sheet.lines


ODD = [
    b"a: [1, {b: c, ? d : e}, 'f\n  g', \"h\\u00e9\"]\nk: |\n  x\n\n  y\nm: >-\n  z\n# end\n",
    b"- - 1\n  - {}\n- []\n-\n- ~\n- ''\n- ? x\n  : y\n- a:\n  - b\n  - c\n",
    b"a:\tb\n",
    b"a:\n\t- b\n",
    b'{"a":1,"b":["\\ud83c\\udf0a", "\\ud83c"]}',
    b"%YAML 1.1\n---\na: 1\n...\n",
    b"a: b\n  c: d\n",
    b"a: 'b\n",
    b"a: @b\n",
    b"a: {b: c\nd: e\n",
    b"a: !!set {b}\n",
    b"[a, b]: c\n",
    b"a: \xc2\x85b\xe2\x80\xa8c\n",
    b"".join(b"k%d: 1\n" % number for number in range(100)) + b"k7: 2\n",
]


@pytest.mark.slow
@pytest.mark.skipif(not quick.IS_THERE, reason="libyaml is wanted")
def test_what_is_said_does_not_depend_on_libyaml(monkeypatch):
    """It only reads faster: values, lines and messages are the same without it."""
    texts = [*ODD, *[text for text, _ in MISTAKES if len(text) < 10_000]]
    texts += [path.read_bytes() for path in sorted(shipped().glob("*.yaml"))]
    texts += [text[: len(text) // 2] for text in texts]
    monkeypatch.setattr(notation, "QUICK_FROM", 0)
    for is_json in (False, True):
        found = [outcome(text, is_json=is_json) for text in texts]
        with monkeypatch.context() as without:
            without.setattr(quick, "IS_THERE", False)
            assert found == [outcome(text, is_json=is_json) for text in texts]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"a: &a [*a]\n", "f, line 1: anchors and aliases are refused. A reply can be named"),
        (b"a: " + b"[" * 16 + b"1" + b"]" * 16, "f, line 1: nested deeper than 16 levels"),
        (b"a: " + b"[" * 17 + b"]" * 17, "f, line 1: nested deeper than 16 levels"),
        (b"- {a: b, c: [d]}\n" * 12_500 + b"- x\n", "f, line 12500: more than 50000 values"),
    ],
)
@pytest.mark.skipif(not quick.IS_THERE, reason="libyaml is wanted")
def test_what_is_too_much_is_told_before_anything_is_built(monkeypatch, text, said):
    """Q-24: a file far over the bounds costs no more than a look at its words."""
    monkeypatch.setattr(notation, "QUICK_FROM", 0)
    monkeypatch.setattr(notation, "_read", None)
    with pytest.raises(MockError) as caught:
        read(text, "f")
    assert str(caught.value).startswith(said)
