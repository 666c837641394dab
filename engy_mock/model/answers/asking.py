"""What a sentence asks for and what it refuses: what it only mentions is neither."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engy_mock.model.answers import lexicon
from engy_mock.model.answers.naming import AMBIGUOUS, Named, hints, languages, named
from engy_mock.model.answers.verbs import Ask, asks, asks_for_steps

REACH = 6
"""So many words after its verb a form is still what is to be made."""

CARRIED = 4
"""So many words after `in` or `as`."""

BRIEF = 5
"""So many words before `in a table` can be all that is said of what is to be in it."""

FEWEST_WORDS = 200
"""An answer of so many words is a long one."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A thing that a sentence asks for, or refuses; by a verb that names it if `is_verb`: `list the ships`."""

    thing: Named
    is_refused: bool = False
    is_verb: bool = False


def heard(words: Sequence[str], originals: Sequence[str]) -> Iterator[Heard]:
    """What a sentence asks for and refuses, in its order; its words in small letters, and as they were written.

    Borders within it are commas among the words.
    """
    return _Listener(words, originals).heard()


@lru_cache(maxsize=1)
def _telling() -> frozenset[str]:
    """The words that matter; whatever else stands in a sentence only takes up room."""
    grammar = lexicon.JOINTS | lexicon.DENIALS | lexicon.CARRIERS | lexicon.BLOCKERS
    verbs = lexicon.MAKING | lexicon.TELLING | lexicon.WISHING
    return frozenset((*grammar, *verbs, *hints(), *lexicon.NUMBERS, "but", "instead", "rather", "leave"))


@dataclass(slots=True)
class _Listener:
    """Goes through one sentence, and knows at each word what governs it.

    A thing is asked for within `reach` of what governs it. `is_denied` is the verb, `is_refused` what is named
    next. `is_open` is a clause of which nothing has been said but articles and the like, `stranger` the place of
    the first word that is none. `last` says whether the last thing was refused, if there was one.
    """

    words: Sequence[str]
    originals: Sequence[str]
    reach: int = 0
    is_carried: bool = False
    is_request: bool = False
    is_denied: bool = False
    is_refused: bool = False
    is_lone: bool = False
    is_open: bool = True
    is_behind_a_blocker: bool = False
    is_turning: bool = False
    has_verb: bool = False
    is_polite: bool = False
    stranger: int = -2
    last: bool | None = None

    def heard(self) -> Iterator[Heard]:
        """Everything."""
        words, telling = self.words, _telling()
        self.is_polite = self.is_request = "please" in words or "bitte" in words
        place = 0
        while place < len(words):
            word = words[place]
            size = 1
            if word not in telling and not word[0].isdigit():
                self._pass(place)
            elif word in lexicon.JOINTS or word == "but":
                self._join(place)
            elif (denial := self._denial(place)) > 0:
                size = denial
            elif (ask := asks(words, place, is_request=self.is_request)) is not None:
                if (named_itself := self._verb(ask, place)) is not None:
                    yield named_itself
            elif self._is_for_steps(place):
                self.is_request, self.reach, self.is_open = True, 0, False
                yield Heard(Named("form", "steps"), self.is_denied)
            elif (thing := named(words, place)) is not None:
                size = thing.size
                if self._is_governed(thing, place):
                    self._take()
                    yield Heard(thing, self.is_refused)
                else:
                    self._pass(place)
            elif word in lexicon.CARRIERS:
                self._carry(place)
            elif word in lexicon.BLOCKERS:
                self._block(place)
            else:
                self._pass(place)
            place += size

    def _at(self, place: int) -> str:
        return self.words[place] if 0 <= place < len(self.words) else ""

    def _join(self, place: int) -> None:
        """A comma, or `and`: what was asked for before it goes on behind it."""
        word, following = self.words[place], self._at(place + 1)
        if word not in lexicon.CONJOINED:
            self.is_open = True
        if word == "but":
            self.is_denied = self.is_refused = False
        elif self.last is not None:
            self.is_refused = self.last
            if self.last and self.is_lone and word == "," and following in lexicon.ARTICLES:
                self.last, self.is_refused, self.reach = None, False, 0
        is_near = not self.is_behind_a_blocker or word not in (",", *lexicon.CONJOINED)
        if self.last is not None and (is_near or following in lexicon.ARTICLES or following in lexicon.JOINTS):
            self.reach, self.is_carried = REACH, self.is_carried and word in lexicon.CONJOINED

    def _denial(self, place: int) -> int:
        """How many words refuse here what is named next."""
        word, following = self.words[place], self._at(place + 1)
        if (word, following) in (("instead", "of"), ("rather", "than"), ("leave", "out")):
            self.reach, self.is_refused, self.is_lone = REACH, True, False
            return 2
        if word not in lexicon.DENIALS:
            return 0
        if word == "not" and (following in ("only", "just") or self._at(place - 1) == "why"):
            return 2 if following in ("only", "just") else 1
        if following not in ("you", ","):
            self.reach, self.is_refused, self.is_lone = REACH, True, word in lexicon.LONE_DENIALS
        return 1

    def _verb(self, ask: Ask, place: int) -> Heard | None:
        self.is_request, self.has_verb = True, True
        self.is_open, self.is_behind_a_blocker = False, False
        self.is_denied = self.is_refused = ask.is_denied
        self.is_lone = self.is_carried = False
        self.is_turning = self.words[place] in lexicon.TURNING
        self.reach = REACH if ask.is_making else 0
        if ask.form is None:
            return None
        self.last = self.is_refused
        return Heard(Named("form", ask.form), self.is_refused, is_verb=True)

    def _is_for_steps(self, place: int) -> bool:
        can_be = self.is_open or (self.is_request and not self.is_behind_a_blocker)
        return self.words[place] == "how" and asks_for_steps(self.words, place, can_be_told=can_be)

    def _carry(self, place: int) -> None:
        """`in`, `as`, `with`: the form that follows is that of the answer, if one is asked for."""
        before, following = self._at(place - 1), self._at(place + 1)
        if before not in lexicon.DENIALS and before not in ("of", "than"):
            self.is_refused = self.is_denied
        is_strict = before in lexicon.FINITE or following in ("the", "this", "that", "my", "your")
        can_carry = self.is_request or self.is_open or self.is_refused or self._is_brief(place)
        self.reach, self.is_carried = (CARRIED, True) if can_carry and not is_strict else (0, False)

    def _is_brief(self, place: int) -> bool:
        """`ships as a table`, `quicksort in Python`: nothing but what is to be told, and how."""
        is_about_facts = self.words[0] in lexicon.ASKING_FOR_FACTS or self.words[0] in lexicon.SUBJECTS
        if self.words[place] == "as" and not is_about_facts:
            return True
        thing = named(self.words, place + 1) if place + 1 < len(self.words) else None
        is_tongue = thing is not None and thing.kind == "tongue"
        can_be = self.words[place] in ("in", "using") and place <= BRIEF
        return can_be and not is_about_facts and not is_tongue and not self._tells(0)

    def _block(self, place: int) -> None:
        word = self.words[place]
        if word in ("of", "de") and self._at(place - 1) in lexicon.KINDS and self.is_request:
            self.reach = max(self.reach, CARRIED)
            return
        self.is_carried = word in ("to", "into") and self.is_turning
        self.reach = CARRIED if self.is_carried else 0
        self.is_refused, self.is_behind_a_blocker = self.is_denied, True
        self.is_open = self.is_open and word in lexicon.BEFORE_FORMS

    def _pass(self, place: int) -> None:
        word = self.words[place]
        self.reach = max(0, self.reach - 1)
        is_just_it = word == "the" and (self._at(place - 1) in ("just", "only") or self.is_polite)
        if self.is_open and not (is_just_it or word in lexicon.BEFORE_FORMS or word in lexicon.FILLERS):
            self.is_open, self.stranger = False, place

    def _take(self) -> None:
        self.last, self.is_request, self.is_behind_a_blocker = self.is_refused, True, False
        self.reach = max(0, self.reach - 1)

    def _is_governed(self, thing: Named, place: int) -> bool:
        """Whether what is named here is asked for, or refused."""
        before, behind = self._at(place - 1), self._at(place + thing.size)
        if thing.kind == "words":
            is_alone = self.is_open and not self._tells(place)
            return thing.count >= FEWEST_WORDS and (self.is_request or is_alone)
        is_last = behind == "" or behind in lexicon.AFTER_FORMS or behind in lexicon.JOINTS
        if thing.kind == "tongue":
            return self._is_tongue_governed(place, before, behind, is_last=is_last)
        if thing.kind == "code":
            return self._is_code_governed(place, before, behind, is_last=is_last)
        return self._is_form_governed(thing, place, before, behind, is_last=is_last)

    def _is_form_governed(self, thing: Named, place: int, before: str, behind: str, *, is_last: bool) -> bool:
        word = self._at(place + thing.size - 1)
        stem = word.removesuffix("s")
        if behind in lexicon.FINITE or (stem, behind) in lexicon.COMPOUNDS or (before, stem) in lexicon.COMPOUNDS:
            return False
        if (behind == "of" and word in lexicon.NOT_OF) or (behind.isdigit() and before not in lexicon.ARTICLES):
            return False
        is_of_a_form = behind in lexicon.TEXTS or behind in lexicon.PROGRAMS or self._is_form(place + thing.size)
        if word in lexicon.NEVER_ALONE and not (is_last or is_of_a_form or behind in ("form", "notation")):
            return False
        if self.reach > 0:
            return True
        if " ".join(self.words[place : place + thing.size]) in lexicon.MANNERS:
            return self.is_request or self.is_open
        if self.words[max(0, place - 3) : place] == ["what", "are", "the"]:
            return thing.name == "steps" and behind in ("to", "for")
        is_whole = is_last or is_of_a_form or (thing.name == "long" and word in lexicon.EXTENSIVE)
        # `a shopping list`: one word may say which.
        is_just_behind = self.stranger == place - 1 and (self.is_polite or self._at(place - 2) in lexicon.ARTICLES)
        is_alone = self.is_open or (is_just_behind and not self.has_verb)
        return is_alone and word not in lexicon.NEVER_ALONE and is_whole and not self._tells(place + thing.size)

    def _is_code_governed(self, place: int, before: str, behind: str, *, is_last: bool) -> bool:
        word = self.words[place]
        is_written_in_it = behind in lexicon.PROGRAMS
        if word in AMBIGUOUS and not is_written_in_it and not self._is_beside_programs(place):
            return False
        if is_written_in_it:
            return self.reach > 0 or (self.is_open and self._ends_with_programs(place + 1))
        if not is_last or before in ("a", "an", "the", "my", "this", "with"):
            return False
        is_alone = self.is_open and not self.has_verb and (self.is_request or before in ("some", "only", "just"))
        return self.reach > 0 or is_alone

    def _is_tongue_governed(self, place: int, before: str, behind: str, *, is_last: bool) -> bool:
        if before in lexicon.ABROAD:
            return True
        if behind in lexicon.TEXTS:
            return self.reach > 0 or (self.is_open and not self._tells(place + 1))
        if not is_last and behind != "language":
            return False
        is_carried = self.is_carried and self.reach > 0
        is_alone = self.is_open and self.is_polite
        return is_carried or is_alone or (self.has_verb and before in lexicon.SPEAKING)

    def _is_form(self, place: int) -> bool:
        thing = named(self.words, place) if place < len(self.words) else None
        return thing is not None and thing.kind in ("form", "code")

    def _ends_with_programs(self, place: int) -> bool:
        """`python code` and what can stand behind it; not `python code fails`."""
        while place < len(self.words) and self.words[place] in lexicon.PROGRAMS:
            place += 1
        behind = self._at(place)
        is_last = behind == "" or behind in lexicon.AFTER_FORMS or behind in lexicon.JOINTS
        return is_last and not self._tells(place)

    def _is_beside_programs(self, place: int) -> bool:
        """A capital letter within the sentence, or a word of programming in it, tells what `go` is."""
        if place > 0 and self.originals[place][:1].isupper():
            return True
        known = languages()
        return any(
            word in lexicon.NAMING or (word in known and word not in AMBIGUOUS)
            for word in (*self.words[:place], *self.words[place + 1 :])
        )

    def _tells(self, place: int) -> bool:
        """The clause goes on to say something of what it names: `a list of names is long`."""
        for word in self.words[place:]:
            if word in ("that", "which", "who", "where", ","):
                return False
            if word in lexicon.FINITE:
                return True
        return False
