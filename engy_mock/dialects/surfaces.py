"""The two surfaces of the mock as rows: what differs between `/v1` and `/v5` is data, not code."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from engy_mock.vocabulary.request import Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """What one family of paths has in common.

    `error_body` says how refusals look, `has_receipt` whether answers carry `x_engy` and Engy's request id
    headers, `end_mark` what closes a stream (or nothing), `is_prefixed_model` whether model names must be
    `vendor/name`, `vendors` which of them serve an endpoint that not all do. Numbers are limits of the request
    fields of that name.

    `account_header` names the account that is meant. `shape` says whether answers have the fields of Engy's
    documentation alone or all of OpenAI's. `has_unprocessable`: fields are refused with 422, but with 400 if
    they are out of range on an endpoint in `plain_ranges`. `makes_copies`: `n` counts. `max_choices` is for
    all prompts and copies of a completion together. `completion_tokens`
    limits a completion that names no limit. `has_echo_offsets`: the offsets of an echoed prompt are told.
    `tells_failures`: a failure in a stream has a frame unless a fault says otherwise.
    """

    name: str
    key_prefix: str
    error_body: Literal["error", "detail"]
    has_receipt: bool
    end_mark: bytes
    is_prefixed_model: bool
    fingerprint: str | None
    max_logprobs: int
    max_top_logprobs: int
    max_scored_tokens: int | None
    streams_completions: bool
    vendors: Mapping[Endpoint, tuple[str, ...]]
    account_header: str | None
    shape: Literal["engy", "openai"]
    has_unprocessable: bool
    plain_ranges: frozenset[Endpoint]
    makes_copies: bool
    max_choices: int | None
    completion_tokens: int | None
    has_echo_offsets: bool
    tells_failures: bool


V1 = Surface(
    name="v1",
    key_prefix="sk-engy-",
    error_body="error",
    has_receipt=True,
    end_mark=b"data: [DONE]\n\n",
    is_prefixed_model=False,
    fingerprint=None,
    max_logprobs=30,
    max_top_logprobs=30,
    max_scored_tokens=1024,
    streams_completions=False,
    vendors={},
    account_header=None,
    shape="engy",
    has_unprocessable=False,
    plain_ranges=frozenset(),
    makes_copies=False,
    max_choices=None,
    completion_tokens=None,
    has_echo_offsets=False,
    tells_failures=True,
)

V5 = Surface(
    name="v5",
    key_prefix="",
    error_body="detail",
    has_receipt=False,
    # Its clients take a closing `[DONE]` for a chunk, and fail on it after all the others (S-1).
    end_mark=b"",
    is_prefixed_model=True,
    fingerprint="fp_engy_mock",
    max_logprobs=5,
    max_top_logprobs=20,
    max_scored_tokens=None,
    streams_completions=True,
    vendors={"responses": ("openai",)},
    account_header="x-selected-account-id",
    shape="openai",
    has_unprocessable=True,
    plain_ranges=frozenset({"completions"}),
    makes_copies=True,
    max_choices=1024,
    completion_tokens=16,
    has_echo_offsets=True,
    tells_failures=False,
)
