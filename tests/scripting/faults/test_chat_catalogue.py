"""The kinds of chat and completions are complete: each of the catalogue has a row in a table of tests."""

import pytest

from engy_mock.scripting.fault import catalogue, made
from tests.scripting.faults import (
    test_choices,
    test_completions,
    test_content,
    test_envelope,
    test_finish,
    test_logprobs,
    test_roles,
    test_tool_arguments,
    test_tool_deltas,
    test_usage,
    test_words,
)

CHAT = [
    "role-missing",
    "role-null",
    "role-empty",
    "role-every-chunk",
    "role-late",
    "choices-empty-first",
    "choices-empty-mid",
    "choices-empty-last",
    "choices-missing",
    "choices-null",
    "usage-missing",
    "usage-null",
    "usage-zero",
    "usage-strings",
    "usage-every-chunk",
    "usage-on-finish",
    "usage-twice",
    "no-finish-reason",
    "finish-odd",
    "finish-twice",
    "finish-with-content",
    "length-mid-json",
    "stop-with-tool-calls",
    "content-filter",
    "tool-index-missing",
    "tool-index-null",
    "tool-index-gap",
    "tool-index-from-one",
    "tool-index-reused",
    "tool-id-missing",
    "tool-id-empty",
    "tool-id-duplicated",
    "tool-id-every-chunk",
    "tool-name-repeated",
    "tool-name-split",
    "tool-name-empty-later",
    "tool-name-late",
    "tool-args-empty",
    "tool-args-null",
    "tool-args-object",
    "tool-args-split",
    "tool-args-invalid",
    "tool-args-trailing",
    "tool-args-doubled",
    "tool-args-truncated",
    "tool-calls-interleaved",
    "tool-unknown",
    "tool-despite-none",
    "content-null",
    "content-empty",
    "content-missing",
    "content-parts",
    "whitespace-only",
    "reasoning-only",
    "reasoning-elsewhere",
    "reasoning-empty-chunks",
    "refusal",
    "id-changes",
    "id-null",
    "model-other",
    "object-missing",
    "fingerprint-changes",
    "created-odd",
    "extra-fields",
    "deep-extras",
    "odd-numbers",
    "duplicate-keys",
    "choices-interleaved",
    "choice-index-missing",
    "logprobs-null",
    "logprob-bytes-missing",
    "logprob-bytes-split",
    "logprob-sentinel",
    "logprob-not-finite",
    "logprob-top-count",
    "logprob-top-duplicates",
    "long-token",
    "zero-width-token",
    "control-tokens-leaked",
    "odd-scripts",
]

COMPLETIONS = [
    "logprob-first-not-null",
    "logprob-wrong-count",
    "text-offsets-real",
    "token-ids-only",
    "echo-missing",
    "batch-shuffled",
]

TABLES = (
    test_choices,
    test_completions,
    test_content,
    test_envelope,
    test_finish,
    test_logprobs,
    test_roles,
    test_tool_arguments,
    test_tool_deltas,
    test_usage,
    test_words,
)

ROWS = [row for table in TABLES for row in table.ROWS]


def test_every_kind_has_a_row():
    """The tables test exactly these kinds, and each of them is in the catalogue."""
    assert {row.kind for row in ROWS} == {*CHAT, *COMPLETIONS}
    assert len({*CHAT, *COMPLETIONS}) == len(CHAT) + len(COMPLETIONS) == 86
    assert {*CHAT, *COMPLETIONS} <= catalogue().keys()


@pytest.mark.parametrize("kind", [*CHAT, *COMPLETIONS])
def test_every_kind_needs_nothing_but_its_name(kind):
    """The bare name is enough, and has a row of its own or one that differs by parameters only."""
    own = made(kind)
    assert own.kind == kind
    assert type(own).__doc__
