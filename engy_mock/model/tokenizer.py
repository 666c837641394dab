"""Text to tokens and back, without loss.

The bundled tokenizer is a small byte-level BPE; a user's own `tokenizer.json` can take its place. Beside what
the library does, a bundled word is looked up once and then remembered, since prompts repeat their words.
"""

import re
from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as Library

from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.files import MIB, read_text

MARKS = (
    "[gMASK]",
    "<sop>",
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
    "<|observation|>",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<|endoftext|>",
    "Reasoning Effort:",
)
"""The added tokens of the bundled vocabulary, by rising id from 0 (E-98)."""

WORD = (
    r" ?[A-Za-z]+| ?[0-9]{1,3}| ?[^\x00-\x7F]+| ?[!-/:-@\[-`{-~]"
    r"| +(?= [^ \x00-\x1F\x7F])| +|[\x00-\x1F\x7F]+"
)
"""Where the bundled tokenizer may not join: words, runs of digits, single punctuation marks, white space.

Written in ASCII classes only, so that every regular expression engine reads it alike.
"""

WORDS = re.compile(WORD)
_MARK = re.compile("|".join(map(re.escape, MARKS)))
MAX_BYTES = 256 * MIB
_MAX_REMEMBERED = 25_000
_MAX_REMEMBERED_LENGTH = 40
_COUNTED_AT_ONCE = 256 * 1024
_MAX_COUNTED = 200_000
_CUT = re.compile("[^ ] [^ ]")
"""Where a text may be cut, in front of the space: whatever follows a single space begins with it or behind it."""

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_NORMALIZERS = frozenset({"NFC", "NFD", "NFKC", "NFKD", "Prepend"})

_EACH_BYTE = "".join(map(chr, (*range(0x800), *range(0x800, 0xD800, 0x1000), *range(0x10000, 0x110000, 0x40000))))
"""A text that has every byte which can occur in UTF-8."""

_decoder = getincrementaldecoder("utf-8")


class Tokenizer:
    """One vocabulary: `size` tokens, the bytes of each, and the ids of the marks.

    Marks that the vocabulary lacks get ids of their own behind its end; they can be part of a context, but
    never of a text.
    """

    def __init__(self, source: str, *, name: str, is_bundled: bool = False) -> None:
        try:
            description = json.read(source)
            self._literal = Library.from_str(source if is_bundled else _literal(description))
            # The marks of the bundled vocabulary are found here, those of any other by the library.
            self._library = self._literal if is_bundled else Library.from_str(source)
        except Exception as error:
            raise MockError(f"{name} is not a tokenizer that can be read: {error}") from error
        self._literal.encode_special_tokens = True
        for library in (self._library, self._literal):
            library.no_truncation()
            library.no_padding()
        self.name = name
        self._is_bundled = is_bundled
        vocabulary = self._library.get_vocab(with_added_tokens=True)
        self.text_size = max(vocabulary.values(), default=-1) + 1
        self.raw = _token_bytes(description, vocabulary, self.text_size, name)
        self.marks: dict[str, int] = {}
        for mark in MARKS:
            own = vocabulary.get(mark)
            if own is None:
                self.marks[mark] = len(self.raw)
                self.raw.append(mark.encode())
            else:
                self.marks[mark] = own
        self.size = len(self.raw)
        self.end = self.marks["<|endoftext|>"]
        self._words = _Words(self._encode_anew)
        self._spaced_words = _Words(lambda word: self._encode_anew(" " + word))
        if not is_bundled:
            self._check()

    @cached_property
    def pieces(self) -> list[str | None]:
        """The text of each token by id, or None where its bytes are not whole characters."""
        return [_whole_text(raw) for raw in self.raw]

    @cached_property
    def labels(self) -> list[str]:
        r"""The text of each token by id, or `bytes:\xNN...` where its bytes are not whole characters.

        No two tokens have the same label: of several with the same text the last has it, and the single bytes
        stand in front (E-162).
        """
        last = {piece: token for token, piece in enumerate(self.pieces)}
        labels: dict[str, int] = {}
        for token, (piece, raw) in enumerate(zip(self.pieces, self.raw, strict=True)):
            by_bytes = "bytes:" + "".join(f"\\x{byte:02x}" for byte in raw)
            label = piece if piece is not None and last[piece] == token else by_bytes
            labels[f"token:{token}" if label in labels else label] = token
        return list(labels)

    def encode(self, text: str, *, marks: bool = False) -> list[int]:
        """The tokens of a text; the marks in it are recognised only if `marks` is true (E-99).

        With marks a user's own vocabulary counts as it would anywhere else, even if it puts a space before the
        text; without them nothing is lost or added.
        """
        if not self._is_bundled:
            return list((self._library if marks else self._literal).encode(text, add_special_tokens=False).ids)
        if not marks:
            return self._encode_words(text)
        tokens: list[int] = []
        start = 0
        for match in _MARK.finditer(text):
            tokens += self._encode_words(text[start : match.start()])
            tokens.append(self.marks[match.group()])
            start = match.end()
        return tokens + self._encode_words(text[start:])

    def count(self, text: str, *, marks: bool = False) -> int:
        """How many tokens `encode` makes of a text; of a large one without holding them."""
        if not self._is_bundled:
            return len(self.encode(text, marks=marks))
        if not marks:
            return self._count_words(text)
        found = [match.span() for match in _MARK.finditer(text)]
        starts = [0, *[end for _, end in found]]
        ends = [*[start for start, _ in found], len(text)]
        between = [self._count_words(text[start:end]) for start, end in zip(starts, ends, strict=True)]
        return len(found) + sum(between)

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of these tokens; bytes that are not whole characters show as U+FFFD."""
        raw = self.raw
        return b"".join([raw[token] for token in tokens]).decode("utf-8", "replace")

    def begun(self, tokens: Iterable[int]) -> str:
        """The same without a character of which only the first bytes are there."""
        raw = self.raw
        return _decoder("replace").decode(b"".join([raw[token] for token in tokens]))

    def split(self, tokens: Sequence[int]) -> tuple[list[str], list[int]]:
        """The pieces of a text, each of the fewest tokens that make whole characters, and their sizes in tokens.

        Together they are the text that `decode` gives. Bytes at the end that make no whole character become
        one last piece of U+FFFD.
        """
        table = self.pieces
        pieces = [table[token] for token in tokens]
        if None not in pieces:
            return pieces, [1] * len(pieces)  # type: ignore[return-value]  # no None is left in it
        texts: list[str] = []
        sizes: list[int] = []
        decoder = _decoder("replace")
        text = ""
        count = 0
        for place, token in enumerate(tokens, 1):
            text += decoder.decode(self.raw[token], final=place == len(tokens))
            count += 1
            if not decoder.getstate()[0]:
                texts.append(text)
                sizes.append(count)
                text, count = "", 0
        return texts, sizes

    def _check(self) -> None:
        """Raise MockError if a text does not come back as it was."""
        for text in ("a  text of\n\n   Words ", _EACH_BYTE):
            if self.decode(self.encode(text)) == text:
                continue
            lost = next((char for char in text if self.decode(self.encode(char)) != char), "white space")
            raise MockError(
                f"{self.name} loses text: {lost!a} does not come back; "
                "a byte-level vocabulary is needed, or a metaspace vocabulary with byte fallback"
            )

    def _encode_words(self, text: str) -> list[int]:
        words = text.split(" ")
        if "" in words:
            return list(chain.from_iterable(map(self._words.__getitem__, WORDS.findall(text))))
        # No word reaches over a single space: it begins there.
        tokens = list(self._words[words[0]])
        tokens += chain.from_iterable(map(self._spaced_words.__getitem__, words[1:]))
        return tokens

    def _count_words(self, text: str) -> int:
        """Each word is looked up once for all its places in the text."""
        total = start = 0
        spaced: Counter[str] = Counter()
        others: Counter[str] = Counter()
        while start < len(text):
            cut = _CUT.search(text, start + _COUNTED_AT_ONCE)
            end = len(text) if cut is None else cut.start() + 1
            part = text[start:end]
            words = part[1:].split(" ") if start else part.split(" ")
            if "" in words:
                others.update(WORDS.findall(part))
            else:
                if not start:
                    others[words.pop(0)] += 1
                spaced.update(words)
            start = end
            if start == len(text) or len(spaced) + len(others) > _MAX_COUNTED:
                total += sum([len(self._words[word]) * times for word, times in others.items()])
                total += sum([len(self._spaced_words[word]) * times for word, times in spaced.items()])
                spaced.clear()
                others.clear()
        return total

    def _encode_anew(self, text: str) -> tuple[int, ...]:
        return tuple(self._literal.encode(text, add_special_tokens=False).ids)


class _Words(dict[str, tuple[int, ...]]):
    """The tokens of words that came before, bounded; those of any other are found when they are asked for."""

    def __init__(self, encode: Callable[[str], tuple[int, ...]]) -> None:
        self._encode = encode

    def __missing__(self, word: str) -> tuple[int, ...]:
        tokens = self._encode(word)
        if len(word) <= _MAX_REMEMBERED_LENGTH:
            if len(self) >= _MAX_REMEMBERED:
                self.clear()
            self[word] = tokens
        return tokens


def from_file(path: Path) -> Tokenizer:
    """A user's own `tokenizer.json`; raises MockError if it cannot be read or loses text."""
    try:
        source = read_text(path, MAX_BYTES)
    except MockError as error:
        raise MockError(f"tokenizer {error}") from None
    return Tokenizer(source, name=str(path))


def tokenizer_file() -> Path:
    """Where the bundled `tokenizer.json` lies, for clients that count tokens themselves."""
    return Path(__file__).parent / "data" / "tokenizer.json"


@lru_cache(maxsize=1)
def bundled() -> Tokenizer:
    """The tokenizer that comes with the package."""
    return Tokenizer(tokenizer_file().read_text(encoding="utf-8"), name="the bundled tokenizer", is_bundled=True)


def _whole_text(raw: bytes) -> str | None:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _literal(description: Mapping[str, Any]) -> str:
    """The same vocabulary without what would change a text before it is split; no token in it is a mark."""
    return json.text(
        {
            **description,
            "normalizer": _unchanging(description.get("normalizer")),
            "pre_tokenizer": _unchanging(description.get("pre_tokenizer")),
            "added_tokens": [{**token, "special": True} for token in description.get("added_tokens") or ()],
        }
    )


def _unchanging(step: dict[str, Any] | None) -> dict[str, Any] | None:
    """A step before the splitting without normal forms and without a space put before the text."""
    if step is None or step["type"] in _NORMALIZERS:
        return None
    changed = dict(step)
    for steps in ("normalizers", "pretokenizers"):
        if steps in step:
            changed[steps] = [kept for kept in map(_unchanging, step[steps]) if kept is not None]
    if "add_prefix_space" in step:
        changed["add_prefix_space"] = False
    if "prepend_scheme" in step:
        changed["prepend_scheme"] = "never"
    return changed


def _token_bytes(description: Mapping[str, Any], vocabulary: dict[str, int], size: int, name: str) -> list[bytes]:
    """The bytes of each token by id, read as the vocabulary's decoder would."""
    added = {token["content"] for token in description.get("added_tokens") or ()}
    decoder = repr(description.get("decoder"))
    raw = [b""] * size
    if "ByteLevel" in decoder:
        table = _byte_alphabet()
        alphabet = frozenset(table)
        as_latin = str.maketrans({char: chr(byte) for char, byte in table.items()})
        for token, place in vocabulary.items():
            is_plain = token not in added and alphabet.issuperset(token)
            raw[place] = token.translate(as_latin).encode("latin-1") if is_plain else token.encode()
    elif "Metaspace" in decoder or "ByteFallback" in decoder or "\u2581" in decoder:
        for token, place in vocabulary.items():
            byte = _BYTE_TOKEN.fullmatch(token)
            if byte is not None and token not in added:
                raw[place] = bytes([int(byte.group(1), 16)])
            else:
                raw[place] = token.replace("\u2581", " ").encode()
    else:
        raise MockError(
            f"{name} has a decoder that loses text ({description.get('decoder')!r:.80}); "
            "a byte-level or a metaspace vocabulary is needed"
        )
    return raw


def _byte_alphabet() -> dict[str, int]:
    """The printable stand-ins that byte-level vocabularies write for the 256 bytes."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in printable}
    others = [byte for byte in range(256) if byte not in set(printable)]
    table.update({chr(0x100 + place): byte for place, byte in enumerate(others)})
    return table
