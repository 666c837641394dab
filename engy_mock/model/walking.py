"""A reader that writes as well: it walks along the sentences that it expects, and halts where it may leave one."""

from bisect import bisect_right
from operator import attrgetter
from zlib import crc32

from engy_mock.model.agenda import SHARES
from engy_mock.model.choosing import Chooser
from engy_mock.model.reader import PATIENCE, RESTART, Reader, fresh
from engy_mock.vocabulary.seeds import UnitSource

_first = attrgetter("first")


class Walker(Reader):
    """A reader that draws what it reads next, as far as only expected tokens are in question."""

    __slots__ = ()

    @property
    def certainty(self) -> float:
        """The chance that the expected tokens have together."""
        return self.language.voice.certainty

    @property
    def closer(self) -> int:
        """The token that ends a text of which everything has been said; -1 if that is not so."""
        is_over = self._is_border and 0 < self._wanted <= self._own and self._strayed < PATIENCE
        return self._closer() if is_over else -1

    def walk(self, chooser: Chooser, draws: UnitSource, place: int, room: int) -> list[int]:
        """Draw tokens among those that are expected and read them, at most `room`; returns them.

        It comes to a halt where others have to be looked at, and where everything has been said. The first
        token is drawn by the number at `place`.
        """
        tokens, at, borders, sure = self.tokens, draws.at, chooser.borders, chooser.sure
        blanks = self.language.blanks
        begin = len(tokens)
        lead = place - begin
        # The place where reading begins afresh belongs to `advance`.
        stop = min(begin + room, self._anchor + RESTART)
        while len(tokens) < stop:
            mark = len(tokens)
            active = self._active
            is_drawn = False
            if active is None:
                if not self._is_border or 0 < self._wanted <= self._own or self._strayed >= PATIENCE:
                    break
                if sure == 1.0 and self._recite(chooser, draws, lead, stop):
                    continue
                nodes = self._plan()
                firsts = {node.first for node in nodes}
                if len(firsts) < len(nodes) or -1 in firsts:
                    self._active = fresh(nodes)
                    if self._step(chooser, at(mark + lead)):
                        continue
                    break
                where = bisect_right(borders(SHARES[len(nodes)]), at(mark + lead))
                if where >= len(nodes) or nodes[where].first in blanks:
                    break
                node, step, is_drawn = nodes[where], 0, True
            elif len(active) > 1:
                if self._step(chooser, at(mark + lead)):
                    continue
                break
            else:
                node, step, _ = active[0]
            # Along one sentence, as far as it goes without others.
            while True:
                run, branches, shares = node.run, node.branches, node.shares
                rest = run[step : step + stop - len(tokens)]
                if sure < 1.0:
                    rest = rest[: _certain(len(rest), is_drawn, draws, len(tokens) + lead, sure)]
                tokens += rest
                step += len(rest)
                if step < len(run) or not branches or not shares or len(tokens) >= stop:
                    break
                where = bisect_right(borders(shares), at(len(tokens) + lead))
                if where >= len(branches):
                    break
                node, step, is_drawn = branches[where][1], 0, True
            if len(tokens) > mark:
                self._ahead = None
                self._is_border = False
                if step == len(run) and not branches:
                    self._close_sentence(is_own=True, is_fact=self._is_fact())
                    continue
                self._active = ((node, step, 1.0),)
            if shares or step < len(run) or len(tokens) >= stop or not self._step(chooser, at(len(tokens) + lead)):
                break
        if len(tokens) > begin:
            self.last = tokens[-1]
            self.before = tokens[-2] if len(tokens) > 1 else -1
        return tokens[begin:]

    def _recite(self, chooser: Chooser, draws: UnitSource, lead: int, stop: int) -> bool:
        """Draw whole sentences of the agenda and read them, the last of them up to `stop`; False if none could be.

        A sentence that may turn out otherwise is left to a closer look.
        """
        agenda, language = self._agenda, self.language
        if agenda is None or self._is_fact() or (self._mode == "raw" and self._own == 0):
            return False
        tokens, at, borders, blanks = self.tokens, draws.at, chooser.borders, language.blanks
        nodes_of = language.phrases.nodes_of(is_spaced=self._is_spaced())
        turn, last = self._sentences, self._sentences + self._wanted - self._own
        begin = start = len(tokens)
        mark = self._mixed_up()
        while turn < last:
            nodes = nodes_of(agenda.candidates(turn))
            count, place = len(nodes), 0
            if count > 1:
                firsts = set(map(_first, nodes))
                place = bisect_right(borders(SHARES[count]), at(begin + lead))
                if place >= count or len(firsts) < count or -1 in firsts:
                    break
                place = (place + (mark >> 8)) % count
            node = nodes[place]
            if node.first < 0 or node.first in blanks:
                break
            tokens += node.run
            end, ahead = len(tokens), crc32(node.packed, mark)
            while (branches := node.branches) and end < stop:
                shares = node.shares
                place = bisect_right(borders(shares), at(end + lead)) if shares else len(branches)
                if place >= len(branches):
                    break
                node = branches[place][1]
                tokens += node.run
                end, ahead = len(tokens), crc32(node.packed, ahead)
            if end < stop and branches:
                del tokens[begin:]
                break
            if end > stop or branches:
                del tokens[stop:]
                self._active = ((node, len(node.run) - end + stop, 1.0),)
                self._is_border = False
                break
            begin, mark = end, ahead
            if turn == self._sentences:
                nodes_of = language.phrases.nodes_of(is_spaced=True)
            turn += 1
        self._sum, self._summed = mark, begin
        self._own += turn - self._sentences
        self._sentences = turn
        return len(tokens) > start

    def _step(self, chooser: Chooser, unit: float) -> bool:
        """Draw one token where several sentences may go on with the same, and read it; False if that cannot be."""
        ahead = self._next()
        certainty = self.certainty
        chances: dict[int, float] = {}
        for token, _, _, weight in ahead:
            chances[token] = chances.get(token, 0.0) + certainty * weight
        rows = sorted([(-chance, token) for token, chance in chances.items()])
        shares = tuple([-chance / certainty for chance, _ in rows])
        place = bisect_right(chooser.borders(shares), unit)
        if place >= len(shares):
            return False
        token = rows[place][1]
        if self._is_border and token in self.language.blanks:
            return False
        self.tokens.append(token)
        self.before, self.last = self.last, token
        self._is_border = False
        self._go_on(token, ahead)
        return True


def _certain(count: int, is_drawn: bool, draws: UnitSource, place: int, sure: float) -> int:
    """How many of so many tokens are drawn, each by its number, as they are the only ones expected."""
    for step in range(is_drawn, count):
        if draws.at(place + step) >= sure:
            return step
    return count
