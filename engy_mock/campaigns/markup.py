"""HTML and SVG as values: text can only become text, so that nothing has to be escaped by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

VOID = frozenset({"meta", "br", "hr", "img", "input", "link"})


@dataclass(frozen=True, slots=True)
class Element:
    """One element with its attributes and what is in it; what is not an element is text."""

    name: str
    attributes: tuple[tuple[str, str], ...]
    children: tuple[Element | str, ...]

    def pieces(self) -> Iterator[str]:
        """The same as text, in pieces."""
        said = "".join([f' {name}="{_printable(value, is_quoted=True)}"' for name, value in self.attributes])
        yield f"<{self.name}{said}>"
        if self.name in VOID:
            return
        for child in self.children:
            if isinstance(child, str):
                # What stands in a style sheet is not read as text, and is never made of what others say.
                yield child if self.name == "style" else _printable(child)
            else:
                yield from child.pieces()
        yield f"</{self.name}>"

    def __str__(self) -> str:
        return "".join(self.pieces())


def element(name: str, /, *children: Element | str | None, **attributes: str | float | None) -> Element:
    """An element; attributes have hyphens for underscores (`class_` is `class`), and None leaves one out."""
    said = [
        (word.removesuffix("_").replace("_", "-"), f"{value:g}" if isinstance(value, float) else str(value))
        for word, value in attributes.items()
        if value is not None
    ]
    return Element(name, tuple(said), tuple([child for child in children if child is not None]))


def _printable(text: str, *, is_quoted: bool = False) -> str:
    """Text without the characters that no document may have."""
    kept = "".join([one if one in "\n\t" or is_legal(one) else "\ufffd" for one in text])
    return escape(kept, quote=is_quoted)


def is_legal(letter: str) -> bool:
    """Whether XML, and so HTML, may have this character."""
    code = ord(letter)
    return code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
