"""Text becomes tokens and comes back as it was: the bundled vocabulary."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Library

from engy_mock.model.tokenizer import MARKS, WORDS, Tokenizer, tokenizer_file
from tests.model.made import BUNDLED, marked_texts, texts

LIBRARY = Library.from_file(str(tokenizer_file()))
LITERAL = Library.from_file(str(tokenizer_file()))
LITERAL.encode_special_tokens = True

TOKENS = st.integers(0, BUNDLED.size - 1)
BYTES = st.sampled_from([token for token, piece in enumerate(BUNDLED.pieces) if piece is None])

EXAMPLES = (
    "You are a concise assistant.",
    "What is the capital of France?",
    "The user asks for the capital of France.",
    "The capital of France is Paris.",
)
"""The texts of the documentation's first two examples (E-103, E-104)."""

WORDS_OF_EXAMPLES = sorted(
    {word for text in EXAMPLES for word in text.strip(".?").split()} - {"asks"} | {"Max", "High", "Low"}
)


@given(marked_texts)
@example("".join(map(chr, range(0x250))))
@example("\U0001f469\u200d\U0001f469\u200d\U0001f467 e\u0301 \u00e9 \ufeff\u2028\u00a0")
def test_lossless(text):
    """Every text comes back from its tokens, with marks recognised and without."""
    for marks in (False, True):
        assert BUNDLED.decode(BUNDLED.encode(text, marks=marks)) == text


@given(marked_texts)
@example("   \n  a   b  \t ")
@example("x" * 100 + " " * 50 + "Reasoning Effort:" * 3)
def test_remembered_words(text):
    """Words that are remembered have the tokens that the library gives the whole text (E-99)."""
    assert BUNDLED.encode(text) == LITERAL.encode(text, add_special_tokens=False).ids
    assert BUNDLED.encode(text, marks=True) == LIBRARY.encode(text, add_special_tokens=False).ids
    assert BUNDLED.encode(text) == BUNDLED.encode(text)


@given(texts)
def test_words(text):
    """Words and what is between them make up the text, and they are where the library splits it."""
    words = WORDS.findall(text)
    assert "".join(words) == text
    assert LITERAL.pre_tokenizer is not None
    split = LITERAL.pre_tokenizer.pre_tokenize_str(text)
    assert words == [text[begin:end] for _, (begin, end) in split]


def test_memory_is_bounded(monkeypatch):
    """Remembered words are forgotten when they become too many, long ones are never remembered."""
    monkeypatch.setattr("engy_mock.model.tokenizer._MAX_REMEMBERED", 5)
    tokenizer = Tokenizer(tokenizer_file().read_text(encoding="utf-8"), name="another", is_bundled=True)
    for number in range(20):
        text = f"word{chr(97 + number)} other{chr(97 + number)}"
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert len(tokenizer._words) <= 5
        assert len(tokenizer._spaced_words) <= 5
    tokenizer.encode("a" * 1000 + " " + "b" * 1000)
    assert max(map(len, (*tokenizer._words, *tokenizer._spaced_words))) < 999


@given(texts)
def test_words_stand_for_themselves(text):
    """The tokens of a text are those of its words, although what stands between spaces is looked up at once."""
    apart = [token for word in WORDS.findall(text) for token in BUNDLED.encode(word)]
    assert BUNDLED.encode(text) == apart


@pytest.mark.parametrize("mark", MARKS)
def test_marks(mark):
    """E-98, E-99: a mark is one token where marks are recognised, and ordinary text where they are not."""
    assert BUNDLED.encode(mark, marks=True) == [BUNDLED.marks[mark]]
    ordinary = BUNDLED.encode(mark)
    assert BUNDLED.marks[mark] not in ordinary
    assert BUNDLED.decode(ordinary) == mark


@pytest.mark.parametrize("word", WORDS_OF_EXAMPLES)
def test_words_of_the_examples(word):
    """E-98: the words of the documentation's examples are one token, with and without a space before them."""
    assert [len(BUNDLED.encode(text)) for text in (word, " " + word)] == [1, 1]


def test_asks():
    """E-98: ` asks` is two tokens."""
    assert len(BUNDLED.encode(" asks")) == 2


@pytest.mark.parametrize("char", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
def test_punctuation(char):
    """E-98: each punctuation mark is a token of its own, also beside words and among its like."""
    own = BUNDLED.encode(char)
    assert len(own) == 1
    assert BUNDLED.encode(f"word{char}word{char}{char}") == [
        *BUNDLED.encode("word"), *own, *BUNDLED.encode("word"), *own, *own
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("[gMASK]<sop><|system|>Reasoning Effort: Max", 5),
        ("<|system|>You are a concise assistant.", 7),
        ("<|user|>What is the capital of France?", 8),
        ("<|assistant|><think>", 2),
        ("The user asks for the capital of France.</think>", 11),
        ("The capital of France is Paris.<|endoftext|>", 8),
        ("The capital of France is", 5),
        (" Paris.<|endoftext|>", 3),
        ("The capital of France is Paris.", 7),
        ("", 0),
    ],
)
def test_counts(text, count):
    """E-103, E-104, E-163: the documented counts come out by counting."""
    assert len(BUNDLED.encode(text, marks=True)) == count


def test_single_bytes():
    """Each byte is a token, so that nothing is unknown."""
    assert {bytes([byte]) for byte in range(256)} <= set(BUNDLED.raw)


def test_labels():
    """E-162: no two tokens are called alike; what is no whole character is called by its bytes."""
    assert len(set(BUNDLED.labels)) == BUNDLED.size
    for label, piece, raw in zip(BUNDLED.labels, BUNDLED.pieces, BUNDLED.raw, strict=True):
        assert label == (piece if piece is not None else "bytes:" + "".join(f"\\x{byte:02x}" for byte in raw))


def _is_whole(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


@given(texts)
@example("\U0001f642\U0001f642 caf\u00e9")
def test_pieces_of_text(text):
    """E-121: pieces are whole characters of the fewest tokens, and together they are the text."""
    tokens = BUNDLED.encode(text)
    pieces, sizes = BUNDLED.split(tokens)
    assert "".join(pieces) == text
    assert sum(sizes) == len(tokens)
    begin = 0
    for piece, size in zip(pieces, sizes, strict=True):
        raw = [BUNDLED.raw[token] for token in tokens[begin : begin + size]]
        assert piece == b"".join(raw).decode()
        assert not any(_is_whole(b"".join(raw[:part])) for part in range(1, size))
        begin += size


@given(st.lists(TOKENS | BYTES, max_size=20))
@example([BUNDLED.raw.index(bytes([byte])) for byte in (0xFF, 0x41, 0x42, 0xE2, 0x82, 0xAC)])
@example([BUNDLED.raw.index(bytes([byte])) for byte in (0xF0, 0x9F)])
def test_pieces_of_any_tokens(tokens):
    """Pieces of tokens that are no text are what decoding gives, and no token is lost."""
    pieces, sizes = BUNDLED.split(tokens)
    assert "".join(pieces) == BUNDLED.decode(tokens)
    assert sum(sizes) == len(tokens)
    assert all(sizes)


@given(st.lists(TOKENS | BYTES, max_size=20))
def test_begun(tokens):
    """The text without a begun character is a beginning of whatever text goes on from there."""
    begun = BUNDLED.begun(tokens)
    for more in ([], BUNDLED.encode("a"), [BUNDLED.raw.index(b"\x82")], [BUNDLED.raw.index(b"\xf0")]):
        assert BUNDLED.decode([*tokens, *more]).startswith(begun)
