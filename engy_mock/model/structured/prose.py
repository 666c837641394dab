"""Plain English words and sentences of a wanted length, for texts that may say anything."""

from __future__ import annotations

from engy_mock.vocabulary.seeds import Draws

ADJECTIVES = (
    "amber", "brief", "bright", "calm", "central", "clear", "early", "fresh", "gentle", "green",
    "hidden", "large", "light", "local", "modern", "narrow", "northern", "open", "quiet", "rapid",
    "round", "silver", "simple", "small", "steady", "sunny", "upper", "warm", "western", "wide",
)  # fmt: skip
NOUNS = (
    "anchor", "bridge", "canvas", "circle", "corner", "engine", "field", "forest", "garden", "harbor",
    "island", "journey", "ladder", "lantern", "market", "meadow", "mirror", "orchard", "paper",
    "pattern", "record", "report", "river", "signal", "station", "summit", "table", "valley", "window",
    "workshop",
)  # fmt: skip
SENTENCES = (
    "The order left the warehouse this morning.",
    "Everything was checked twice before delivery.",
    "The team meets every Tuesday at noon.",
    "A short walk leads from the station to the river.",
    "The new version is faster and easier to read.",
    "Customers praised the friendly service.",
    "Rain is expected in the afternoon.",
    "The report covers the last three months.",
    "Most of the work is already done.",
    "Please keep the package in a dry place.",
    "The museum opens its doors at ten.",
    "Two small changes made a large difference.",
    "The garden is quiet in the early hours.",
    "All parts can be replaced without tools.",
    "The meeting ended with a clear decision.",
    "Prices include taxes and shipping.",
)  # fmt: skip


def words(draws: Draws) -> str:
    """Two words, such as `quiet harbor`."""
    return f"{draws.pick(ADJECTIVES)} {draws.pick(NOUNS)}"


def word(draws: Draws) -> str:
    """One noun."""
    return draws.pick(NOUNS)


def title(draws: Draws) -> str:
    """A short heading."""
    return words(draws).title()


def sentence(draws: Draws) -> str:
    """One plain sentence."""
    return draws.pick(SENTENCES)


def paragraph(draws: Draws) -> str:
    """Three plain sentences."""
    return " ".join(sentence(draws) for _ in range(3))


def slug(draws: Draws) -> str:
    """Two words joined as in an address."""
    return words(draws).replace(" ", "-")


def phrase(draws: Draws, *, least: int, most: int) -> str:
    """Plain words of that many characters."""
    text = words(draws)
    while len(text) < least:
        text += " " + words(draws)
    return fitted(text, draws, least=least, most=most)


def fitted(text: str, draws: Draws, *, least: int, most: int) -> str:
    """The text cut or continued to that many characters, between words where it can be."""
    if len(text) > most:
        cut = text[:most]
        if " " in cut and not text[most].isspace():
            cut = cut[: cut.rindex(" ")]
        cut = cut.rstrip(" ,")
        text = cut if len(cut) >= least else text[:most]
    while len(text) < least:
        text += " " + (sentence(draws) if least - len(text) > 40 else word(draws))
        if len(text) > most:
            text = text[:most]
    return f"{text[:-1]}s" if text.endswith(" ") else text
