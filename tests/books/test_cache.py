"""The prompt cache: who shares one, what is a hit, what it saves, and how to be rid of it."""

from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engy_mock import EngyMock, Prices, Reply, Usage
from engy_mock.books.cache import BLOCK, PromptCache
from tests.books.routes import CHAT, COMPLETIONS, MESSAGES, RESPONSES, V1, V5, bearer, body
from tests.dialects.called import Answer, ask
from tests.dialects.heard_messages import heard as heard_messages
from tests.dialects.heard_responses import heard as heard_responses

LONG = "The river runs through the old town and under the bridge. " * 20


@pytest.fixture
def engy() -> EngyMock:
    return EngyMock()


def asked(engy: EngyMock, path: str = CHAT, text: str = LONG, key: str | None = None, **fields: Any) -> Answer:
    headers = bearer() if key is None else bearer(key)
    answer = ask(engy.gateway, path, body(path, text, **fields), headers=headers)
    assert answer.status == 200
    return answer


def cached(engy: EngyMock, *args: Any, **fields: Any) -> int:
    """How many tokens the cache knew."""
    asked(engy, *args, **fields)
    usage = engy.journal.last.usage
    assert usage is not None
    return usage.cached_tokens


@pytest.mark.parametrize("path", [*V1, *V5])
def test_the_second_time(engy, path):
    """E-139, E-141: whole blocks of 64, at least one token stays new; /v5 counts the same."""
    assert cached(engy, path) == 0
    usage = engy.journal.last.usage
    assert usage.prompt_tokens > 200
    assert cached(engy, path) == (usage.prompt_tokens - 1) // 64 * 64
    assert cached(engy, path) == (usage.prompt_tokens - 1) // 64 * 64


def test_short_prompts_are_never_cached(engy):
    """E-141: under 65 tokens there is no block that could be."""
    assert [cached(engy, text="Hello") for _ in range(3)] == [0, 0, 0]
    assert len(engy.cache) == 0


@pytest.mark.parametrize(("tokens", "hit"), [(63, 0), (64, 0), (65, 64), (127, 64), (128, 64), (129, 128)])
def test_one_token_stays_new(engy, tokens, hit):
    """E-141: at most one less than the prompt, rounded down; exact on token ids."""
    ids = list(range(100, 100 + tokens))
    assert [cached(engy, COMPLETIONS, ids) for _ in range(2)] == [0, hit]


def _shown(path: str, answer: Answer) -> Any:
    if path == MESSAGES:
        return answer.json()["usage"].get("cache_read_input_tokens")
    details = "input_tokens_details" if path.endswith("responses") else "prompt_tokens_details"
    return answer.json()["usage"][details]["cached_tokens"]


@pytest.mark.parametrize("path", [*V1, *V5[:3]])
def test_it_is_shown(engy, path):
    """E-110, E-139, E-170, E-184, S-45: in the place of each dialect; in messages by a setting."""
    engy.settings.messages_cache_counts = True
    first, second = asked(engy, path), asked(engy, path)
    assert _shown(path, first) == 0
    assert _shown(path, second) == engy.journal.last.usage.cached_tokens > 0
    engy.settings.messages_cache_counts = False
    if path == MESSAGES:
        assert _shown(path, asked(engy, path)) is None


def test_it_is_shown_in_streams(engy):
    """E-124, E-174, E-187: with the usage at the end, and in the skeleton of a message."""
    engy.settings.messages_cache_counts = True
    for path in (CHAT, MESSAGES, RESPONSES):
        asked(engy, path)
    known = engy.journal.last.usage.prompt_tokens // 64 * 64
    chat = asked(engy, stream=True, stream_options={"include_usage": True}).data.decode()
    assert f'"prompt_tokens_details":{{"cached_tokens":{known}}}' in chat
    streamed = asked(engy, MESSAGES, stream=True).data
    heard_messages(streamed)
    assert streamed.count(b'"cache_read_input_tokens":%d' % known) == 2
    streamed = asked(engy, RESPONSES, stream=True).data
    heard_responses(streamed)
    assert b'"input_tokens_details":{"cached_tokens":%d,"cache_write_tokens":0}' % known in streamed


def test_it_costs_the_cached_price(engy):
    """E-116, E-139: in the charge, not in the hold, for list prices and for those of an account."""
    own = Prices(input=Decimal(3), output=Decimal(0), cached=Decimal(1))
    for account, prices in ((engy.account(), engy.catalog.find("glm-5.2").prices), (engy.account(), own)):
        account.prices = {} if prices is not own else {"glm-5.2": own}
        for _ in range(2):
            asked(engy, key=account.key)
            usage, charged = engy.journal.last.usage, engy.journal.last.charged_micro
            exact = (
                usage.prompt_tokens - usage.cached_tokens
            ) * prices.input + usage.cached_tokens * prices.cached
            assert charged == int(exact + usage.completion_tokens * prices.output + Decimal("0.5"))
        assert usage.cached_tokens > 0
        needed = int(usage.prompt_tokens * prices.input + 4 * prices.output) + 1
        account.balance_micro = needed - 2
        assert ask(engy.gateway, CHAT, body(CHAT, LONG), headers=bearer(account.key)).status == 402


def test_content_does_not_change(engy):
    """E-13: only the counts and what depends on them."""
    documents = [asked(engy).json() for _ in range(2)]
    assert documents[0]["choices"] == documents[1]["choices"]


def test_the_dialects_share_a_cache(engy):
    """E-140: chat, messages and responses make the same prompt of a conversation; a model has its own."""
    assert cached(engy, CHAT) == 0
    known = cached(engy, MESSAGES)
    assert known > 0
    assert cached(engy, RESPONSES) == known
    assert cached(engy, CHAT, model="vendor/glm-5.2") == known
    assert cached(engy, CHAT, model="glm-5.3") == 0


def test_who_shares_a_cache(engy):
    """E-65, E-140: the account, then prompt_cache_key, else user, else whoever begins alike."""
    mine = engy.account().key
    assert cached(engy) == 0
    assert cached(engy, key="sk-engy-other") > 0  # the default account as well
    assert cached(engy, key=mine) == 0
    assert cached(engy, prompt_cache_key="a") == 0
    assert cached(engy, prompt_cache_key="a") > 0
    assert cached(engy, prompt_cache_key="b", user="a") == 0
    assert cached(engy, user="a") > 0
    assert cached(engy, user="c") == 0
    assert cached(engy, user="c") > 0
    assert cached(engy, MESSAGES, metadata={"user_id": "c"}) > 0
    assert cached(engy, RESPONSES, prompt_cache_key="b") > 0
    assert cached(engy, key=mine, user="c") == 0
    assert cached(engy, key=mine) > 0


def test_the_longest_common_beginning(engy):
    """E-141: of all prompts that are remembered the one that helps most counts."""
    common = list(range(100, 300))
    assert cached(engy, COMPLETIONS, [*common[:70], *[50] * 200]) == 0
    assert cached(engy, COMPLETIONS, [*common[:200], *[51] * 200]) == 64
    assert cached(engy, COMPLETIONS, [*common[:150], *[52] * 200]) == 128
    assert cached(engy, COMPLETIONS, [*common, *[53] * 200]) == 192
    assert cached(engy, COMPLETIONS, [99, *common]) == 0


def test_a_conversation_that_grows(engy):
    """What agents do: each turn finds the one before it."""
    turns: list[dict[str, str]] = [{"role": "user", "content": LONG}]
    lengths = []
    for _ in range(3):
        asked(engy, messages=turns, max_tokens=400)
        usage = engy.journal.last.usage
        lengths.append((usage.prompt_tokens, usage.cached_tokens))
        turns += [{"role": "assistant", "content": "Yes. " * 40}, {"role": "user", "content": LONG}]
    assert lengths[0][1] == 0
    for (before, _), (_, known) in pairwise(lengths):
        assert before - 2 - 64 < known <= before


def test_a_batch(engy):
    """E-141, E-150: the sum over its prompts; they do not help each other the first time."""
    prompts = [list(range(100, 230)), list(range(100, 230)), [5, 6, 7]]
    assert [cached(engy, COMPLETIONS, prompts) for _ in range(2)] == [0, 256]


def test_copies_count_a_prompt_once(engy):
    """S-45: cached tokens never exceed the prompt, however many answers are made of it."""
    for _ in range(2):
        asked(engy, "/v5/completions", n=3)
    usage = engy.journal.last.usage
    assert usage.cached_tokens == (usage.prompt_tokens - 1) // 64 * 64


def crowd(engy):
    """Take the only place that there is."""
    engy.settings.capacity = 1
    engy.gateway.fleet.enter(None)


@pytest.mark.parametrize(
    ("spoil", "status"),
    [
        (lambda engy: setattr(engy.accounts.default, "balance_micro", 0), 402),
        (crowd, 429),
        (lambda engy: engy.when().refuse(500, times=1), 500),
        (lambda engy: engy.catalog.mark("glm-5.2", is_available=False), 404),
    ],
)
def test_a_refused_prompt_is_not_remembered(engy, spoil, status):
    """E-142: whoever refused it."""
    spoil(engy)
    assert ask(engy.gateway, CHAT, body(CHAT, LONG), headers=bearer()).status == status
    engy.accounts.default.balance_micro = 1_000_000_000
    engy.settings.capacity = None
    engy.catalog.mark("glm-5.2", is_available=True)
    assert cached(engy) == 0


def test_counting_is_not_remembered(engy):
    """E-177: the page leaves no trace in the cache."""
    ask(engy.gateway, "/v1/messages/count_tokens", body(MESSAGES, LONG), headers=bearer())
    assert cached(engy, MESSAGES) == 0


def test_a_client_that_left_has_left_its_prompt(engy):
    """E-142, E-200: the answer was decided; what it then pays for is told at the cached price."""
    from engy_mock.vocabulary import json
    from engy_mock.vocabulary.wire import Call

    for known in (False, True):
        data = json.write(body(CHAT, LONG, stream=True))
        steps: Any = engy.gateway.answer(Call(method="POST", path=CHAT, headers=bearer(), body=data))
        steps.close()
        assert (engy.journal.last.usage.cached_tokens > 0) == known


def test_scripted_answers_are_remembered_and_dictated_usage_stays(engy):
    """E-142: a rule's words are an answer too; numbers that a test dictates are not touched."""
    engy.when(says="river").reply("One.", times=2)
    assert cached(engy) == 0
    assert cached(engy) > 0
    usage = Usage(prompt_tokens=1000, completion_tokens=1, cached_tokens=7)
    engy.when(says="river").reply(Reply(text="Two.", usage=usage))
    assert cached(engy) == 7


def test_to_be_rid_of_it(engy):
    """E-142: emptied, turned off, or reset; while it is off nothing is remembered either."""
    asked(engy)
    assert len(engy.cache) > 0
    engy.cache.clear()
    assert cached(engy) == 0
    engy.settings.prompt_cache = False
    assert cached(engy) == 0
    assert cached(engy, user="a") == 0
    engy.settings.prompt_cache = True
    assert cached(engy, user="a") == 0
    assert cached(engy) > 0
    engy.reset()
    assert cached(engy) == 0


def test_cache_control_changes_nothing(engy):
    """E-139: marks are accepted, on blocks and beside them."""
    block = {"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}
    assert cached(engy, MESSAGES) == 0
    marked = cached(engy, MESSAGES, messages=[{"role": "user", "content": [block]}])
    assert marked == cached(engy, MESSAGES) > 0


# Four kinds of block, so that common beginnings happen.
kinds = st.lists(st.sampled_from("abcd"), max_size=5)


def _tokens(kinds: list[str], rest: int) -> list[int]:
    return [ord(kind) for kind in kinds for _ in range(BLOCK)] + [7] * rest


@settings(max_examples=80)
@given(st.lists(st.tuples(kinds, st.integers(0, BLOCK - 1)), max_size=12))
def test_any_prompts(history: list[tuple[list[str], int]]):
    """E-141: against all remembered prompts, token by token."""
    cache = PromptCache()
    known: list[list[int]] = []
    for blocks, rest in history:
        prompt = _tokens(blocks, rest)
        common = [_common(prompt, other) for other in known]
        expected = max([0, *(min(length, len(prompt) - 1) // BLOCK * BLOCK for length in common)])
        assert cache.use("a", "m", None, [prompt]) == expected
        known.append(prompt)
    assert len(cache) == len({tuple(prompt[:end]) for prompt in known for end in _ends(prompt)})


def _common(one: list[int], other: list[int]) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _ends(prompt: list[int]) -> range:
    return range(BLOCK, len(prompt) + 1, BLOCK)


def test_it_is_bounded():
    """What was used longest ago goes, the ends of prompts before their beginnings."""
    cache = PromptCache(max_blocks=6)
    old, new = _tokens(["a"] * 4, 1), _tokens(["b"] * 4, 1)
    assert cache.use("a", "m", None, [old]) == 0
    assert cache.use("a", "m", None, [new]) == 0
    assert len(cache) == 6
    assert cache.use("a", "m", None, [new]) == 4 * BLOCK
    assert cache.use("a", "m", None, [old]) == 2 * BLOCK
    assert cache.use("a", "m", None, [new]) == 2 * BLOCK
    longest = _tokens(["c"] * 20, 1)
    assert [cache.use("a", "m", None, [longest]) for _ in range(2)] == [0, 6 * BLOCK]
    assert len(cache) == 6


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", "m", None), ("b", "m", None)),
        (("a", "m", None), ("a", "n", None)),
        (("a", "m", None), ("a", "m", "")),
        (("a", "m", "x"), ("a", "m", "y")),
        (("ab", "c", None), ("a", "bc", None)),
        (("a", "b", None), ("a", "", "b")),
    ],
)
def test_servers_are_apart(one: tuple[str, str, str | None], other: tuple[str, str, str | None]):
    """E-140: no two of account, model and key are taken for each other."""
    cache = PromptCache()
    prompt = _tokens(["a"], 1)
    assert cache.use(*one, [prompt]) == 0
    assert cache.use(*other, [prompt]) == 0
    assert cache.use(*one, [prompt]) == cache.use(*other, [prompt]) == BLOCK
