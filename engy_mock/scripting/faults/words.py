"""Faults of single words: very long, empty, blank, leaked, or of scripts that few tests speak ("Chat")."""

from dataclasses import replace

from engy_mock.scripting.chunks import ALL
from engy_mock.scripting.fault import Fault, fault
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.retelling import entry, followed, inserted, with_choices
from engy_mock.vocabulary.generation import Choice, Generation

LONG = "Taumatawhakatangihanga" * 3200
"""A word of more than 64 KiB, the longest line that some readers take."""

ODD = (
    " \u05e9\u05dc\u05d5\u05dd",
    " \u0645\u0631\u062d\u0628\u0627",
    " e",
    "\u0301",
    " \u0e19\u0e49\u0e33",
    " \U0001f469",
    "\u200d",
    "\U0001f469",
    "\u200d",
    "\U0001f467",
    " \U0001f44b",
    "\U0001f3fd",
    " \U0001f1ee",
    "\U0001f1f8",
)
"""Pieces from right to left, with marks that combine, with joined emoji and flags; cut inside what one sees."""

BLANK = ("\n", "\n", " ", "\t")


@fault("whitespace-only", endpoints=ALL)
class WhitespaceOnly(Fault):
    """Say nothing but blanks and line ends."""

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same with other words."""

        def changed(choice: Choice) -> Choice:
            scored = choice.logprobs
            if scored is not None:
                scored = tuple([(entry(choice, piece),) for piece in BLANK])
            return replace(choice, text=BLANK, logprobs=scored)

        return with_choices(generation, changed)


@fault("long-token", endpoints=ALL)
class LongToken(Fault):
    """End with one very long word."""

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same with one word more."""
        return with_choices(generation, lambda choice: followed(choice, LONG))


@fault("zero-width-token", endpoints=ALL)
class ZeroWidthToken(Fault):
    """Send an empty piece behind the first; a whole answer shows it among its log probabilities only."""

    def suits(self, occasion: Occasion) -> bool:
        """Where it can be seen."""
        request = occasion.asked.request
        return request is not None and (request.is_streamed or request.scoring.logprobs)

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same with one piece more."""
        return with_choices(generation, lambda choice: inserted(choice, 1, "") if choice.text else choice)


@fault("control-tokens-leaked", endpoints=ALL)
class ControlTokensLeaked(Fault):
    """End the text with the mark of the end of a turn."""

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same with one piece more."""
        return with_choices(generation, lambda choice: followed(choice, "<|im_end|>"))


@fault("odd-scripts", endpoints=ALL)
class OddScripts(Fault):
    """Go on from right to left, with marks that combine and with joined emoji, each cut over several pieces."""

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same with more words."""
        return with_choices(generation, lambda choice: followed(choice, *ODD))
