"""A user's own `tokenizer.json` in the place of the bundled one."""

import json

import pytest
from hypothesis import example, given, settings
from tokenizers import Tokenizer as Library
from tokenizers import decoders, models, normalizers, pre_tokenizers

from engy_mock.model.tokenizer import MARKS, Tokenizer, from_file, tokenizer_file
from engy_mock.vocabulary.errors import MockError
from tests.model.made import BUNDLED, byte_level, marked_texts, metaspace, other

KINDS = {
    "byte level": byte_level(),
    "byte level that normalises": byte_level(normalizer=normalizers.NFC()),
    "byte level in a sequence": byte_level(normalizer=normalizers.Sequence([normalizers.NFKC()])),
    "byte level with a space before": byte_level(prefix=True),
    "metaspace": metaspace(),
    "metaspace by normalising": metaspace(is_old=True),
}
TOKENIZERS = {kind: Tokenizer(source, name=kind) for kind, source in KINDS.items()}
EACH = pytest.mark.parametrize("tokenizer", TOKENIZERS.values(), ids=TOKENIZERS)


@EACH
@settings(max_examples=30)
@given(marked_texts)
@example(" two  spaces   and\n\na line, e\u0301 \u00e9 \U0001f642 <0x41> <unk>")
def test_lossless(tokenizer, text):
    """Every text comes back from its tokens, but for the one that stands for a space in some vocabularies."""
    text = text.replace("\u2581", "")
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert "".join(tokenizer.split(tokenizer.encode(text))[0]) == text


@settings(max_examples=30)
@given(marked_texts)
def test_lossless_with_marks(text):
    """A byte-level vocabulary loses nothing where marks are recognised either."""
    tokenizer = other("byte level")
    assert tokenizer.decode(tokenizer.encode(text, marks=True)) == text


@EACH
def test_counts_as_anywhere_else(tokenizer):
    """With marks a vocabulary counts as it does in production, the space that it puts before a text included."""
    library = Library.from_str(KINDS[tokenizer.name])
    for text in ("Hello there, cafe\u0301!", " Hello", "<|endoftext|>"):
        assert tokenizer.encode(text, marks=True) == library.encode(text, add_special_tokens=False).ids


@EACH
def test_marks_it_lacks(tokenizer):
    """Marks that a vocabulary lacks have ids behind its end, each its own, and no text has them."""
    assert sorted(tokenizer.marks.values()) == list(range(tokenizer.text_size, tokenizer.size))
    assert list(tokenizer.marks) == list(MARKS)
    for mark in MARKS:
        assert max(tokenizer.encode(mark, marks=True)) < tokenizer.text_size
        assert tokenizer.raw[tokenizer.marks[mark]] == mark.encode()


def test_marks_it_has():
    """Marks of the vocabulary keep their ids; whatever kind of added token they are, chat text has none (E-99)."""
    tokenizer = Tokenizer(byte_level(marks=["<think>", "</think>"]), name="own")
    assert tokenizer.encode("<think>x", marks=True)[0] == tokenizer.marks["<think>"] < tokenizer.text_size
    assert tokenizer.marks["<|user|>"] >= tokenizer.text_size
    ordinary = tokenizer.encode("<think>x")
    assert tokenizer.marks["<think>"] not in ordinary
    assert tokenizer.decode(ordinary) == "<think>x"


@EACH
def test_labels(tokenizer):
    """E-162: no two tokens are called alike, even if they are the same text, as `A` and its byte are."""
    assert len(set(tokenizer.labels)) == tokenizer.size
    assert tokenizer.labels[tokenizer.encode("A")[0]] == "A"
    single = [label for label, raw in zip(tokenizer.labels, tokenizer.raw, strict=True) if raw == b"A"]
    assert single == (["A"] if tokenizer.name.startswith("byte level") else [r"bytes:\x41", "A"])


def test_no_truncation():
    """What a `tokenizer.json` says of truncation and padding does not matter."""
    library = Library.from_str(byte_level())
    library.enable_truncation(3)
    library.enable_padding(length=50)
    tokenizer = Tokenizer(library.to_str(), name="short")
    for marks in (False, True):
        tokens = tokenizer.encode("one two three four five six", marks=marks)
        assert tokenizer.decode(tokens) == "one two three four five six"


def test_holes():
    """Ids that no token has are allowed."""
    description = json.loads(byte_level())
    description["model"]["vocab"]["zzzzz"] = 2000
    tokenizer = Tokenizer(json.dumps(description), name="holes")
    assert (tokenizer.text_size, tokenizer.raw[1999], tokenizer.raw[2000]) == (2001, b"", b"zzzzz")
    assert len(set(tokenizer.labels)) == tokenizer.size


def _word_pieces() -> str:
    library = Library(models.WordPiece({"[UNK]": 0, "a": 1, "##b": 2}, unk_token="[UNK]"))
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library.decoder = decoders.WordPiece()
    return library.to_str()


def _without_bytes() -> str:
    description = json.loads(byte_level())
    del description["model"]["vocab"]["\u00e9"]
    description["model"]["merges"] = []
    return json.dumps(description)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "is not a tokenizer that can be read"),
        ("{", "is not a tokenizer that can be read"),
        ("[1]", "is not a tokenizer that can be read"),
        ('{"model": {}}', "is not a tokenizer that can be read"),
        (_word_pieces(), "has a decoder that loses text"),
        (Library(models.BPE()).to_str(), "has a decoder that loses text"),
        (byte_level(normalizer=normalizers.Lowercase()), "loses text: 'W' does not come back"),
        (_without_bytes(), "does not come back"),
        (metaspace(has_bytes=False), r"loses text: '\\n' does not come back"),
    ],
    ids=["empty", "broken", "list", "alien", "word pieces", "no decoder", "lower case", "lacks a byte", "unknown"],
)
def test_unusable(source, message, tmp_path):
    """A file that cannot be read, or that loses text, is refused with its name and what it loses."""
    path = tmp_path / "tokenizer.json"
    path.write_text(source, encoding="utf-8")
    with pytest.raises(MockError, match=message) as caught:
        from_file(path)
    assert str(path) in str(caught.value)


def test_missing(tmp_path):
    """A file that is not there is named."""
    with pytest.raises(MockError, match=r"nothing\.json: cannot be read"):
        from_file(tmp_path / "nothing.json")


OWN = from_file(tokenizer_file())


@given(marked_texts)
def test_from_file(text):
    """The bundled vocabulary, given as if it were a user's own, counts the same."""
    assert OWN.encode(text, marks=True) == BUNDLED.encode(text, marks=True)
    assert OWN.encode(text) == BUNDLED.encode(text)
    assert (OWN.size, OWN.marks, OWN.end) == (BUNDLED.size, BUNDLED.marks, BUNDLED.end)
