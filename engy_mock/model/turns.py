"""What the marks in a text say: where its last question stands, and which effort it names."""

from collections.abc import Callable, Collection, Sequence

from engy_mock.model.tokenizer import Tokenizer

_LONG = 96
"""So many tokens of a question are looked at from either of its ends."""


class Turns:
    """The last question of a text, and the last effort, as far as it has been read."""

    __slots__ = ("_effort", "_is_asking", "_user", "effort_at", "question")

    def __init__(self, user: int, effort: int) -> None:
        self._user = user
        self._effort = effort
        self._is_asking = False
        self.effort_at = -1
        self.question = (0, 0)

    def note(self, place: int, mark: int) -> None:
        """A mark: a question ends at the next one, whichever it is."""
        if self._is_asking:
            self.question = (self.question[0], place)
        self._is_asking = mark == self._user
        if self._is_asking:
            self.question = (place + 1, place + 1)

    def note_all(self, tokens: Sequence[int], marks: Collection[int], restart: int) -> int:
        """Every mark of a text up to the last place from which it can be read afresh; returns that, or -1."""
        is_mark: Callable[[object], bool] = marks.__contains__
        flags = bytes(map(is_mark, tokens))
        user, effort = self._user, self._effort
        last = flags.rfind(1)
        while last >= 0 and tokens[last] == effort:
            last = flags.rfind(1, 0, last)
        anchor = last + (len(tokens) - 1 - last) // restart * restart
        self._is_asking = last >= 0 and tokens[last] == user
        # Backwards, since what came last counts.
        is_found = False
        end = place = last
        while place >= 0 and not is_found:
            if tokens[place] == user:
                self.question = (place + 1, end if end > place else place + 1)
                is_found = True
            elif tokens[place] != effort:
                end = place
            place = flags.rfind(1, 0, place)
        place = flags.rfind(1, 0, anchor + 1)
        while place >= 0 and tokens[place] != effort:
            place = flags.rfind(1, 0, place)
        self.effort_at = place
        return anchor

    def asked(self, tokens: Sequence[int], place: int, tokenizer: Tokenizer) -> str:
        """The question that the answer at this place belongs to."""
        start, stop = self.question
        if stop <= start:
            start, stop = max(0, place - _LONG), place
        if stop - start > 2 * _LONG:
            return tokenizer.decode([*tokens[start : start + _LONG], *tokens[stop - _LONG : stop]])
        return tokenizer.decode(tokens[start:stop])

    def level(self, tokens: Sequence[int], tokenizer: Tokenizer) -> str:
        """The effort that the text names, in lower case, or nothing."""
        if not 0 <= self.effort_at < len(tokens) - 1:
            return ""
        return (tokenizer.pieces[tokens[self.effort_at + 1]] or "").strip().lower()
