"""Whether the turns of a conversation leave alone what earlier turns have sent, so that a cache can know it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from engy_mock.books.entry import Entry
from engy_mock.model.catalog import Catalog
from engy_mock.verdict.rendering import common, level_of, rendered
from engy_mock.verdict.requests import doubt, is_for_model, is_sound, request_of
from engy_mock.vocabulary.errors import UnmetExpectation
from engy_mock.vocabulary.request import Conversation, GenerationRequest, Message, RawPrompt

Said = tuple[Message, ...]


def check_stable_prefix(entries: Iterable[Entry], catalog: Catalog) -> None:
    """Raise UnmetExpectation if a turn changes what earlier turns have sent, so that no cache can know it.

    A request with answers in it goes on from an earlier one to the same model (with the same cache key): from the
    one that it has most in common with, or else from one that would look like its beginning. It has to begin with
    all messages of that, to offer the same tools, and to wish for an effort with which its prompt begins alike.
    Several conversations at once do not disturb each other; those that begin in the middle need cache keys of
    their own. Requests that were refused are turns like others, but that an effort has changed is said only of
    those that break no rule.
    """
    groups: dict[tuple[str, str | None], Conversations] = {}
    for entry in entries:
        request = request_of(entry)
        if request is None and is_for_model(entry) and (unread := doubt(entry)) is not None:
            raise UnmetExpectation(f"{entry}\n     nobody knows how it begins: {unread}")
        if request is not None and not isinstance(request.prompt, RawPrompt):
            turn = Turn(entry, request)
            conversations = groups.setdefault((request.model, request.cache_key), Conversations())
            before = conversations.before(turn)
            reason = None if before is None else _changed(before, turn) or _thinks_otherwise(before, turn, catalog)
            if before is not None and reason is not None:
                raise UnmetExpectation(f"{entry}\n     {reason} since\n{before.entry}")
            conversations.add(turn, before)


class Turn:
    """One request of a conversation.

    `said` are its messages without the beginning of an answer, `known` those up to the last answer.
    """

    def __init__(self, entry: Entry, request: GenerationRequest) -> None:
        self.entry = entry
        self.request = request
        self.tools = request.tools
        said = request.messages
        while said and said[-1].role == "assistant":
            said = said[:-1]
        self.said: Said = said
        last = max((place for place, message in enumerate(said) if message.role == "assistant"), default=-1)
        self.known = said[: last + 1]

    @cached_property
    def told(self) -> Counter[Message]:
        """What was told the model, its instructions apart."""
        return Counter(message for message in self.said if message.role != "system")

    @cached_property
    def goes_on(self) -> bool:
        """It is not the first turn of its conversation."""
        return bool(self.known) or sum([message.role == "user" for message in self.said]) > 1

    @property
    def answers(self) -> Iterator[str]:
        """What stands for the answer to it where a later turn repeats it: the text, and the ids of calls."""
        if self.entry.text:
            yield self.entry.text
        yield from (call.id for call in self.entry.tool_calls if call.id)

    @cached_property
    def repeated(self) -> frozenset[str]:
        """The answers that it repeats."""
        said = [message for message in self.said if message.role == "assistant"]
        ids = [call.id for message in said for call in message.tool_calls if call.id]
        return frozenset([*[message.text for message in said if message.text], *ids])

    def shape(self, length: int) -> tuple[object, ...]:
        """What its beginning has in common with that of any turn of such a conversation."""
        said = self.said[:length]
        names = tuple([tool.name for tool in self.tools])
        return (names, *[message if message.role == "system" else message.role for message in said])


class Conversations:
    """The turns so far, and which of them a new one goes on from; of equal turns the last one counts."""

    def __init__(self) -> None:
        self._known: set[Said] = set()
        self._by_end: dict[Message, dict[Said, Turn]] = {}
        self._by_answer: dict[str, dict[Said, Turn]] = {}
        self._open: dict[tuple[object, ...], dict[Said, Turn]] = {}

    def add(self, turn: Turn, before: Turn | None) -> None:
        """A turn that goes on from another one, or from none."""
        if not turn.said:
            return
        if before is not None:
            self._open.get(before.shape(len(before.said)), {}).pop(before.said, None)
        self._known.add(turn.known)
        self._by_end.setdefault(turn.said[-1], {})[turn.said] = turn
        for answer in turn.answers:
            self._by_answer.setdefault(answer, {})[turn.said] = turn
        self._open.setdefault(turn.shape(len(turn.said)), {})[turn.said] = turn

    def before(self, turn: Turn) -> Turn | None:
        """The turn that this one goes on from; None where it begins a conversation, or tries the same again."""
        if not turn.goes_on or (turn.known and turn.known in self._known):
            return None
        near: dict[Said, Turn] = {}
        for message in turn.said[:-1]:
            near |= self._by_end.get(message, {})
        for answer in turn.repeated:
            near |= self._by_answer.get(answer, {})
        found = [(_likeness(one, turn), one) for one in near.values() if len(one.said) and one.said != turn.said]
        found = [(count, one) for count, one in found if count >= min(2, one.told.total())]
        if found:
            return max(found, key=lambda one: (one[0], _begins(one[1], turn), one[1].entry.number))[1]
        return self._alike(turn)

    def _alike(self, turn: Turn) -> Turn | None:
        """The last turn that nobody has gone on from, and that such a turn could go on from."""
        places = [place for place, message in enumerate(turn.said) if message.role == "assistant"]
        found = [one for place in places for one in self._open.get(turn.shape(place), {}).values()]
        return max(found, key=lambda one: one.entry.number, default=None)


def _likeness(before: Turn, after: Turn) -> int:
    """How many messages two turns have in common; the answer to the one counts if the other repeats it."""
    common = (before.told & after.told).total()
    return common + any(answer in after.repeated for answer in before.answers)


def _begins(before: Turn, after: Turn) -> bool:
    return after.said[: len(before.said)] == before.said


def _changed(before: Turn, after: Turn) -> str | None:
    if before.tools != after.tools:
        return "the tools have changed"
    for place, message in enumerate(before.said):
        if place >= len(after.said):
            return f"message {place} ({message.role}) is gone"
        other = after.said[place]
        if other == message:
            continue
        if other in before.said[place:]:
            end = before.said.index(other, place)
            many = (
                f"messages {place} to {end - 1} are" if end - 1 > place else f"message {place} ({message.role}) is"
            )
            return f"{many} gone"
        if message in after.said[place:]:
            return f"message {place} ({other.role}) has come in between"
        return f"message {place} ({message.role}) has changed"
    return None


def _thinks_otherwise(before: Turn, after: Turn, catalog: Catalog) -> str | None:
    """Whether another effort makes another beginning of the same turns, as the cache would find.

    Templates that change earlier turns by themselves are no fault of the client: what counts is what the same
    effort would have kept.
    """
    effort, other = level_of(before.request, catalog), level_of(after.request, catalog)
    if effort == other or not is_sound(before.entry) or not is_sound(after.entry):
        return None
    same = replace(after.request, prompt=Conversation(messages=after.said), thinking=before.request.thinking)
    was = rendered(before.request, catalog, effort)
    kept = common(was, rendered(after.request, catalog, other))
    if kept >= common(was, rendered(same, catalog, effort)):
        return None
    return (
        f"the effort of reasoning has changed from {effort} to {other} (the prompts have {kept} tokens in common)"
    )
