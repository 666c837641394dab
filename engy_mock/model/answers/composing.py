"""How an answer worth rendering is put together: a few lines of Markdown for each form, from a topic."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from engy_mock.model.answers.lexicon import Shape
from engy_mock.model.answers.material import Snippet, Tongue, snippets, tongues
from engy_mock.model.answers.wishes import Wish
from engy_mock.model.corpus import Topic, bundled, segments
from engy_mock.vocabulary.seeds import Draws

TEMPLATES: tuple[tuple[Shape, ...], ...] = (
    ("prose", "list"),
    ("prose", "steps"),
    ("prose", "table"),
    ("headings", "list"),
    ("prose", "list", "quote"),
    ("prose", "links"),
    ("prose", "code"),
)
"""What answers look like that nobody has asked to look like anything."""

SECTIONS = 6
"""Sections of a long answer."""

MOST_WORDS = 5000
"""No answer is longer, however long it is asked to be."""

CHARACTERS_OF_A_WORD = 12
"""More than the words of most languages have: what is longer has no borders between them."""

EMOJI = ("\U0001f30a", "\u26f5", "\U0001f331", "\U0001f4a1", "\u2705", "\U0001f389", "\U0001f468\u200d\U0001f373")
FORMULAS = (
    "\\sum_{k=1}^{n} k = \\frac{n(n+1)}{2}",
    "\\int_0^1 x^2 \\, dx = \\frac{1}{3}",
    "e^{i\\pi} + 1 = 0",
    "\\bar{x} = \\frac{1}{n} \\sum_{i=1}^{n} x_i",
)


@dataclass(slots=True)
class Piece:
    """What the parts of one answer share: sentences that do not come twice, and draws."""

    wish: Wish
    topic: Topic
    draws: Draws
    tongue: Tongue | None
    _used: int = 0

    @staticmethod
    def read(sentence: str, draws: Draws) -> str:
        """A sentence with its choices made."""
        return "".join([part[0] if len(part) == 1 else draws.pick(part) for part in segments(sentence)])

    @staticmethod
    def quotation(text: str) -> str:
        """A text as a quotation."""
        return "\n".join([f"> {line}".rstrip() for line in text.splitlines()] or [">"])

    @property
    def noun(self) -> str:
        """A word for what the answer is about."""
        if self.topic is bundled().general or self.topic.is_closing:
            return "example"
        word = self.topic.name.split()[-1].lower()
        if word.endswith("ies"):
            return f"{word[:-3]}y"
        return word.removesuffix("s") if not word.endswith(("ss", "ics")) else word

    @property
    def title(self) -> str:
        """A heading for it."""
        if self.tongue is not None:
            return self.tongue.title
        is_plain = self.topic is bundled().general or self.topic.is_closing
        return "In short" if is_plain else self.topic.name.capitalize()

    def sentence(self) -> str:
        """The next sentence; they come again only when all have been said."""
        if self.tongue is not None:
            source: tuple[str, ...] = self.tongue.sentences
        elif self.topic.is_closing:
            source = (*self.topic.sentences, *bundled().general.sentences)
        else:
            source = (*_turned(self.topic.sentences, self.draws), *bundled().general.sentences)
        found = source[self._used % len(source)]
        self._used += 1
        return found if self.tongue is not None else self.read(found, self.draws)

    def fact(self) -> str:
        """What the corpus knows about the very question; it knows it in English alone."""
        return self.read(self.topic.sentences[0], self.draws)

    def paragraph(self, sentences: int) -> str:
        """So many sentences in a row."""
        joint = "" if self.tongue is not None and self.tongue.name in ("chinese", "japanese", "thai") else " "
        return joint.join([self.sentence() for _ in range(sentences)])


def composed(wish: Wish | None, topic: Topic, draws: Draws) -> str:
    """An answer that has what is wished for; without a wish one of the usual forms."""
    if wish is None or not wish.is_for_more:
        refused = () if wish is None else wish.without
        usual = [shapes for shapes in TEMPLATES if set(shapes).isdisjoint(refused)]
        wish = Wish(shapes=draws.pick(usual) if usual else ("prose",), without=refused)
    tongue = next((one for one in tongues() if one.name == wish.tongue), None)
    piece = Piece(wish, topic, draws, tongue)
    parts: list[str] = []
    if tongue is not None:
        parts.append(tongue.opening)
        if topic.is_closing:
            parts.append(piece.fact())
    shapes = wish.shapes or ("prose",)
    if "long" in shapes:
        rest = [shape for shape in shapes if shape != "long"]
        parts += _long(piece, rest)
    else:
        if tongue is None and shapes[0] not in ("prose", "headings"):
            parts.append(piece.sentence())
        parts += [_FORMS[shape](piece) for shape in shapes]
    return "\n\n".join(parts)


def _turned(sentences: tuple[str, ...], draws: Draws) -> tuple[str, ...]:
    """The same sentences from another one on; where is settled by the first draw."""
    start = int(draws.at(0) * len(sentences))
    return sentences[start:] + sentences[:start]


def _prose(piece: Piece) -> str:
    first, second = piece.paragraph(2), piece.paragraph(2)
    words = first.split(" ")
    if piece.tongue is None and len(words) > 3:
        words[1:3] = [f"**{' '.join(words[1:3])}**"]
        first = " ".join(words)
    return f"{first}\n\n{second}"


def _list(piece: Piece) -> str:
    lines = [f"- {piece.sentence()}" for _ in range(3 + piece.draws.below(3))]
    return "\n".join([*lines[:2], f"  - {piece.sentence()}", *lines[2:]])


def _steps(piece: Piece) -> str:
    return "\n".join([f"{number}. {piece.sentence()}" for number in range(1, 4 + piece.draws.below(3))])


def _tasks(piece: Piece) -> str:
    return "\n".join([f"- [{'x' if piece.draws.below(3) == 0 else ' '}] {piece.sentence()}" for _ in range(4)])


def _table(piece: Piece) -> str:
    words = [word for word, topic in bundled().by_word.items() if topic is piece.topic]
    # One of a word and its plural is enough.
    names = list({word[:4]: word for word in words}.values())
    if len(names) < 3 or piece.tongue is not None:
        names = ["A", "B", "C"]
    rows = [
        f"| {name.capitalize()} | {1 + piece.draws.below(10)} | {piece.draws.below(9000) / 100:,.2f} "
        f"| {piece.sentence()} |"
        for name in names[:5]
    ]
    return "\n".join([f"| {piece.title} | Rank | Cost | Remark |", "|:---|:---:|---:|:---|", *rows])


def _code(piece: Piece) -> str:
    """A program in each language; for those that there is none in, one in another, which says so."""
    known = {one.name: one for one in snippets()}
    usual = snippets()[0]
    programs = piece.wish.programs or (usual.name,)
    parts = [_program(piece, known[name]) for name in programs if name in known]
    strangers = " and no ".join([name for name in programs if name not in known])
    if strangers:
        parts += [f"I know no {strangers}, so this is {usual.name.capitalize()}:", _program(piece, usual)]
    return "\n\n".join(parts)


def _program(piece: Piece, snippet: Snippet) -> str:
    noun = piece.noun if piece.noun.isascii() and piece.noun.isidentifier() else "example"
    return f"```{snippet.name}\n{snippet.about(noun, 2 + piece.draws.below(90))}\n```"


def _links(piece: Piece) -> str:
    slug = piece.noun
    return "\n".join(
        [
            f"- [{piece.title}](https://example.com/{slug})",
            f'- [{piece.title} 2](https://example.com/{slug}/more?page=2#top "{piece.title}")',
            f"- <https://example.org/{slug}>",
        ]
    )


def _quote(piece: Piece) -> str:
    return f"> {piece.sentence()}\n>\n> {piece.sentence()}"


def _math(piece: Piece) -> str:
    formula, other = piece.draws.pick(FORMULAS), piece.draws.pick(FORMULAS)
    return f"{piece.sentence()} ${formula}$\n\n$$\n{other}\n$$"


def _emoji(piece: Piece) -> str:
    return "\n".join([f"{piece.draws.pick(EMOJI)} {piece.sentence()}" for _ in range(3)])


def _headings(piece: Piece) -> str:
    return f"## {piece.title}\n\n{piece.paragraph(2)}\n\n### {piece.title} (2)\n\n{piece.paragraph(2)}"


def _long(piece: Piece, rest: Sequence[Shape]) -> list[str]:
    """Sections of two paragraphs, what else was wished for among them; as many as make the words asked for."""
    parts = [f"# {piece.title}", piece.paragraph(3)]
    wanted = None if piece.wish.words is None else min(piece.wish.words, MOST_WORDS)
    number, words = 0, _counted(parts)
    while number < SECTIONS if wanted is None else words < wanted:
        section = [f"## {number + 1}. {piece.title}", piece.paragraph(4), piece.paragraph(3)]
        if rest:
            section.append(_FORMS[rest[number % len(rest)]](piece))
        elif number % 2 and "list" not in piece.wish.without:
            section.append(_list(piece))
        parts += section
        words += _counted(section)
        number += 1
    return parts


def _counted(parts: Sequence[str]) -> int:
    """The words of a text; a few characters are one where words have no borders."""
    return sum([max(len(part.split()), len(part) // CHARACTERS_OF_A_WORD) for part in parts])


_FORMS: Mapping[Shape, Callable[[Piece], str]] = {
    "prose": _prose,
    "list": _list,
    "steps": _steps,
    "tasks": _tasks,
    "table": _table,
    "code": _code,
    "links": _links,
    "quote": _quote,
    "math": _math,
    "emoji": _emoji,
    "headings": _headings,
    "long": _prose,
}
