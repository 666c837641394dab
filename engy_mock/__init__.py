"""A pretend LLM inference service for tests: the Engy and Scale APIs, repeatable to the byte.

In a test of pytest the fixture `engy` is an EngyMock that runs; elsewhere `with EngyMock() as engy:` makes one.

    def test_two_refusals_do_not_stop_us(engy):
        engy.when(endpoint="chat").refuse(429, times=2)
        engy.when(says="France").reply("Paris.")
        ...
        assert [entry.status for entry in engy.journal] == [429, 429, 200]

- What it is made with: EngyMock, Settings, Limits, StandingClock, WallClock.
- What rules say: Reply, Usage, ToolCall; what goes wrong with it: the classes of `engy_mock.faults`, which
  `engy_mock.faults.by_kind()` lists by the names that scenario files use.
- Who pays, for what, and who answers: Account, Prices, ModelCard, Worker; `tokenizer_file()` is the bundled one.
- What is said of the client: Verdict, with a CallGroup for each call and its attempts, and Findings.
- What is raised: MockError at the author of a test, UnmetExpectation at a client that did not do what it should
  have, and ApiError is what the service tells a client.

`help(EngyMock)` tells what a test can do with it, and the README how.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engy_mock.books.account import Account as Account
    from engy_mock.books.fleet import Worker as Worker
    from engy_mock.gateway import Settings as Settings
    from engy_mock.mock import EngyMock as EngyMock
    from engy_mock.model.cards import ModelCard as ModelCard
    from engy_mock.model.cards import Prices as Prices
    from engy_mock.model.tokenizer import tokenizer_file as tokenizer_file
    from engy_mock.serving.limits import Limits as Limits
    from engy_mock.verdict.finding import Finding as Finding
    from engy_mock.verdict.verdict import CallGroup as CallGroup
    from engy_mock.verdict.verdict import Verdict as Verdict
    from engy_mock.vocabulary.clock import StandingClock as StandingClock
    from engy_mock.vocabulary.clock import WallClock as WallClock
    from engy_mock.vocabulary.errors import ApiError as ApiError
    from engy_mock.vocabulary.errors import MockError as MockError
    from engy_mock.vocabulary.errors import UnmetExpectation as UnmetExpectation
    from engy_mock.vocabulary.generation import Reply as Reply
    from engy_mock.vocabulary.generation import Usage as Usage
    from engy_mock.vocabulary.request import ToolCall as ToolCall

__version__ = "0.1.0"

__all__ = [
    "Account",
    "ApiError",
    "CallGroup",
    "EngyMock",
    "Finding",
    "Limits",
    "MockError",
    "ModelCard",
    "Prices",
    "Reply",
    "Settings",
    "StandingClock",
    "ToolCall",
    "UnmetExpectation",
    "Usage",
    "Verdict",
    "WallClock",
    "Worker",
    "__version__",
    "tokenizer_file",
]

_HOMES = {
    "Account": "books.account",
    "ApiError": "vocabulary.errors",
    "CallGroup": "verdict.verdict",
    "EngyMock": "mock",
    "Finding": "verdict.finding",
    "Limits": "serving.limits",
    "MockError": "vocabulary.errors",
    "ModelCard": "model.cards",
    "Prices": "model.cards",
    "Reply": "vocabulary.generation",
    "Settings": "gateway",
    "StandingClock": "vocabulary.clock",
    "ToolCall": "vocabulary.request",
    "UnmetExpectation": "vocabulary.errors",
    "Usage": "vocabulary.generation",
    "Verdict": "verdict.verdict",
    "WallClock": "vocabulary.clock",
    "Worker": "books.fleet",
    "tokenizer_file": "model.tokenizer",
}
"""Where the public names live. None is imported before it is asked for: every run of pytest loads this."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
