"""A gateway for tests of the doors: the contract is the real one's, the answers are the test's."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engy_mock.vocabulary import json
from engy_mock.vocabulary.clock import Clock, StandingClock
from engy_mock.vocabulary.errors import ApiError
from engy_mock.vocabulary.wire import Call, Head, Step, Whole

Answer = Callable[[Call], Iterator[Step]]

JSON = (("Content-Type", "application/json"),)
SSE = (("Content-Type", "text/event-stream; charset=utf-8"), ("Cache-Control", "no-cache"))


@dataclass(slots=True, kw_only=True)
class Settings:
    """Those of the real settings that the doors, or their tests, have to do with."""

    closed_accounts: bool = False
    allowed_hosts: frozenset[str] = frozenset()
    cors_origins: frozenset[str] = frozenset()
    hurries_retries: bool = True
    scenario_header: bool = False
    answers: str = "plain"
    pace: Any = "instant"
    pace_by_model: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(wanted: "Settings | None") -> "Settings":
        return wanted or Settings()


class Catalog:
    def __init__(self) -> None:
        self.used: list[tuple[str, Path | None, Path | None]] = []

    def use(self, model: str, *, tokenizer: Path | None = None, chat_template: Path | None = None) -> None:
        self.used.append((model, tokenizer, chat_template))

    def keep(self) -> None:
        """Nothing here is ever undone."""


class Scenes:
    """Scenarios, of which there are none."""

    from_files: tuple[()] = ()

    def check_aside(self, names: list[str]) -> None:
        assert not names


@dataclass(slots=True)
class Gateway:
    """Answers by path; `closed` lists the paths whose answers were settled, `left` those closed too early."""

    seed: int = 0
    clock: Clock = field(default_factory=StandingClock)
    settings: Settings = field(default_factory=Settings)
    catalog: Catalog = field(default_factory=Catalog)
    scenes: Scenes = field(default_factory=Scenes)
    journal: list[Call] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    closed: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    defects: list[BaseException] = field(default_factory=list)
    is_warm: bool = False
    annex: Callable[[], str] | None = None
    heads: Callable[[], None] | None = None
    replay: object = None
    looks_at_heads: bool = False

    def before_body(self, call: Call, note: Callable[[Any], None] | None = None) -> None:
        """Nothing happens before a body is read."""

    def answer(self, call: Call, note: Callable[[Any], None] | None = None) -> Iterator[Step]:
        self.journal.append(call)
        try:
            if call.trouble is not None:
                yield whole(call.trouble.message.encode(), status=call.trouble.status)
            else:
                yield from self.answers.get(call.path, echo)(call)
        except GeneratorExit:
            self.left.append(call.path)
            raise
        finally:
            self.closed.append(call.path)

    def turned_away(self, path: str, error: ApiError) -> Whole:
        """The refusal with the path that could be read."""
        detail = {"message": error.message, "type": error.openai_type, "param": None, "code": error.status}
        headers = (("Content-Type", "application/json"), ("X-Path", path), *error.headers)
        return whole(json.write({"error": detail}), status=error.status, headers=headers)

    def break_off(self) -> None:
        """Nothing is settled here."""

    def reset(self) -> None:
        self.journal = []

    def warm_up(self) -> None:
        self.is_warm = True


def whole(body: bytes, *, status: int = 200, headers: Any = JSON) -> Whole:
    return Whole(Head(status, headers), body)


def echo(call: Call) -> Iterator[Step]:
    """The body, or the path if there is none."""
    yield whole(call.body or call.path.encode())


def says(*steps: Step) -> Answer:
    """The same steps for every call."""
    return lambda call: iter(steps)
