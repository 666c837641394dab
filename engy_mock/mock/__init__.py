"""`EngyMock`: what a test holds in its hand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

from engy_mock.mock.arguments import (
    WORDS,
    check_callable,
    check_kind,
    check_known,
    check_place,
    check_seed,
    check_span,
    clock_of,
    folders_of,
    scenarios_of,
)
from engy_mock.mock.door import Door
from engy_mock.mock.expecting import Expecting
from engy_mock.mock.judging import Judging
from engy_mock.mock.scripting import Scripting
from engy_mock.mock.without_socket import WithoutSocket
from engy_mock.vocabulary.clock import StandingClock
from engy_mock.vocabulary.errors import MockError

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Any, Literal, Never, Unpack

    from aiohttp import web

    from engy_mock.books.accounts import Account, Accounts, Terms
    from engy_mock.books.cache import PromptCache
    from engy_mock.books.journal import Journal
    from engy_mock.gateway import Gateway, Settings
    from engy_mock.gateway.replaying import Replay
    from engy_mock.model.catalog import Catalog
    from engy_mock.recording.replay import Manner
    from engy_mock.scripting.scenario import Scenario
    from engy_mock.serving.control import Control
    from engy_mock.serving.limits import Limits
    from engy_mock.serving.shell import Shell
    from engy_mock.serving.thread import ServerThread
    from engy_mock.serving.watch import Watch
    from engy_mock.vocabulary.clock import Clock


class EngyMock(Scripting, Door, WithoutSocket, Expecting, Judging):
    """A pretend inference service on a port of this machine.

    `with EngyMock() as engy:` and `async with EngyMock() as engy:` do the same: the service runs in a thread
    of its own, so that neither a blocking client nor a loop that stands still can starve it. `app()` is for
    tests that want it on their own loop. The words are those of the marker `engy`:

    - `seed`: what it makes up comes from this number, and from nothing else.
    - `port`, `host`: where it listens; 0 is any port that is free.
    - `clock`: `standing`, which moves by `engy.clock.advance` only; `today`, which stands too, but at the
      machine's time of its making; `patient`, which stands, and moves on when a client that was told to wait
      comes again; `wall`; or a clock, which several mocks can share. `time_scale` stretches pauses in answers
      under a wall clock, and only those.
    - `settings`: `Settings`, or a mapping of those that are otherwise, of which it has a copy; `limits`: what
      strangers may cost it.
    - `strict`: a request that no rule answers is a mistake. `verify`: the end of a `with` block verifies too, or
      `stop()` where there is none.
    - `scenario`, or `scenarios`: names, or paths of files; they take part from the beginning and again after
      each reset. `scenario_folders` are looked in before those that come with the package.
    - `cassette`: the path of what `engy-mock record` has written: its answers are given again; with `replay`
      `strict` to the very same requests alone, `lenient` to those much alike, and the model answers the others.
    - `tls`: it speaks TLS: `valid`, or with a certificate that is `expired`, for the `wrong-host` or
      `self-signed`, or by a `handshake-stall`; whoever trusts `authority` trusts the valid one.
    - `control`: it can be shown and changed over HTTP too, under `/_mock/`. `control_token` is what callers of
      that have to show, and has to be set where others reach the port; `complaints` tells it what is wrong with
      files that this mock depends on.
    - `loop_factory`: makes the loop on which it serves.
    """

    def __init__(
        self,
        seed: int = 0,
        port: int = 0,
        host: str = "127.0.0.1",
        *,
        clock: Clock | Literal["standing", "today", "patient", "wall"] | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        limits: Limits | None = None,
        time_scale: float = 1.0,
        strict: bool | None = None,
        verify: bool = False,
        scenario: str | Path | Scenario | Iterable[str | Path | Scenario] = (),
        scenarios: str | Path | Scenario | Iterable[str | Path | Scenario] = (),
        scenario_folders: str | Path | Iterable[str | Path] = (),
        tls: str | None = None,
        cassette: str | Path | None = None,
        replay: Manner = "strict",
        control: bool = False,
        control_token: str | None = None,
        complaints: Callable[[], Sequence[str]] = tuple,
        loop_factory: Callable[[], AbstractEventLoop] | None = None,
        **unknown: Never,
    ) -> None:
        # Imported here, not above: a test module that names EngyMock costs nothing until a test uses it.
        from engy_mock.books.keys import made_key
        from engy_mock.gateway import Gateway, Settings
        from engy_mock.serving.limits import Limits

        for word in unknown:
            check_known("EngyMock", word, WORDS)
        check_seed(seed)
        check_place(host, port)
        check_kind("limits", limits, Limits)
        check_kind("strict", strict, bool)
        check_kind("verify", verify, bool)
        check_kind("control", control, bool)
        check_kind("control_token", control_token, str)
        check_callable("complaints", complaints)
        check_callable("loop_factory", loop_factory)
        check_span("time_scale", time_scale)
        chosen = Settings.of(settings)
        if strict is not None:
            chosen = replace(chosen, strict=strict)
        self.gateway: Gateway = Gateway(seed=seed, clock=clock_of(clock), settings=chosen)
        self.api_key = made_key("api key", seed)
        self._first_settings = replace(self.gateway.settings)
        self._first_time = self.gateway.clock.now()
        self._host = host
        self._wanted_port = port
        self._limits = limits
        self._time_scale = time_scale
        self._has_control = control
        self._control_token = control_token
        self._complaints = complaints
        self._prepare: Callable[[EngyMock], None] | None = None
        self._seed = seed
        self._tls = tls
        self._verifies = verify
        self._is_entered = False
        self._is_over = False
        if tls is not None:
            from engy_mock.serving.security import check

            check(tls)
        self._loop_factory = loop_factory
        self._first_scenarios: tuple[str | Path | Scenario, ...] = (
            *scenarios_of(scenario),
            *scenarios_of(scenarios),
        )
        folders = folders_of(scenario_folders)
        if folders:
            self.gateway.scenes.look_in(folders)
        for scenario in self._first_scenarios:
            self.scenario(scenario)
        self._first_replay: Replay | None = None
        if cassette is not None:
            self.play(cassette, replay)
            self._first_replay = self.gateway.replay
        self._shell: Shell | None = None
        self._thread: ServerThread | None = None

    @property
    def is_running(self) -> bool:
        """It serves: it has been started, not stopped, and its thread is alive."""
        return self._thread is not None and self._thread.is_alive

    @property
    def port(self) -> int:
        """The port it listens on; raises MockError unless it runs."""
        return self._running().port

    @property
    def origin(self) -> str:
        """Its address without a path, as the Anthropic and Scale clients want it."""
        return self._running().origin

    @property
    def base_url(self) -> str:
        """Its address with `/v1`, as the OpenAI clients want it."""
        return f"{self.origin}/v1"

    @property
    def journal(self) -> Journal:
        """Every exchange since the last reset."""
        return self.gateway.journal

    @property
    def catalog(self) -> Catalog:
        """Its models: add some, exchange their tokenizers and templates, mark them unavailable."""
        return self.gateway.catalog

    @property
    def accounts(self) -> Accounts:
        """Its accounts by name; `accounts.default` is the one that keys open which nobody registered."""
        return self.gateway.accounts

    @property
    def cache(self) -> PromptCache:
        """The prompts that it remembers; `cache.clear()` forgets them."""
        return self.gateway.cache

    @property
    def settings(self) -> Settings:
        """What it does otherwise than by default; may be changed, and is as before after a reset."""
        return self.gateway.settings

    @property
    def clock(self) -> StandingClock:
        """Its time, for moving it; raises MockError if it is not the mock's to move."""
        clock = self.gateway.clock
        if not isinstance(clock, StandingClock):
            raise MockError(f"{type(clock).__name__} cannot be moved: leave out clock= for one that can")
        return clock

    def play(self, cassette: str | Path, replay: Manner = "strict") -> None:
        """Answer from a cassette from now on, until a reset; raises MockError for a file that is none.

        Rules with answers stand before it, and rules with faults mar what it says.
        """
        from engy_mock.recording.replay import player

        self.gateway.replay = player(cassette, replay)

    def account(self, name: str | None = None, *, key: str | None = None, **terms: Unpack[Terms]) -> Account:
        """Open an account with a key of its own: `key = engy.account(balance_micro=50).key`.

        Terms: balance_micro, prices, discount_percent, max_concurrent, requests_per_minute, tokens_per_minute. A
        reset forgets it. Raises MockError for what cannot be.
        """
        return self.gateway.accounts.open(name, key=key, **terms)

    def start(self) -> Self:
        """Serve; returns when clients can connect."""
        from engy_mock.serving.server import is_loopback, listen, load_for_heads
        from engy_mock.serving.thread import ServerThread

        if self._thread is not None:
            raise MockError(f"this EngyMock serves already, at {self.base_url}: enter it once, or make another")
        if self._has_control and self._control_token is None and not is_loopback(self._host):
            raise MockError(f"whoever reaches {self._host} could change the mock: set a control token")
        self.catalog.keep()
        security = self._security
        listener = listen(self._host, self._wanted_port)
        shell, factory = self._serving_shell(), self._loop_factory
        scheme = "http" if self._tls is None else "https"
        self.gateway.heads = load_for_heads
        if self.gateway.looks_at_heads:
            load_for_heads()
        thread = ServerThread(shell, listener, self._host, factory, security, scheme=scheme, holds=self._holds)
        self._holds.clear()
        thread.start()
        self._thread = thread
        self._is_over = False
        self.gateway.annex = thread.annex
        return self

    def stop(self) -> None:
        """Close the port; stalls and connections end at once. A second time does nothing.

        With `verify` it raises UnmetExpectation as `verify()` does; in a `with` block the end of that does.
        """
        thread, self._thread = self._thread, None
        self.gateway.annex = self.gateway.heads = None
        self.gateway.break_off()
        if thread is not None:
            thread.stop()
        self._abandon(stops=True)
        was_over, self._is_over = self._is_over, True
        if self._verifies and not was_over and not self._is_entered:
            self.verify()

    def reset(self) -> None:
        """Forget all that has happened, changed time and settings too, and break off answers under way."""
        self.gateway.replay = self._first_replay
        self.gateway.reset()
        self.gateway.settings = replace(self._first_settings)
        if isinstance(self.gateway.clock, StandingClock):
            self.gateway.clock.stand()
            self.gateway.clock.set(self._first_time)
        for scenario in self._first_scenarios:
            self.scenario(scenario)
        if self._prepare is not None:
            self._prepare(self)
        self._abandon()
        if self._thread is not None and self._thread.is_alive:
            self._thread.accept()
        self._holds.clear()

    def prepare_by(self, prepare: Callable[[EngyMock], None] | None) -> None:
        """Let a function, or none any more, set the mock up, now and again after each reset."""
        self._prepare = prepare
        if prepare is not None:
            prepare(self)

    @property
    def watch(self) -> Watch:
        """What sees every exchange on its way; whoever wants to know of them becomes one of its `listeners`."""
        from engy_mock.serving.watch import Watch

        shell = self._serving_shell()
        if shell.watch is None:
            shell.watch = Watch()
        return shell.watch

    def app(self) -> web.Application:
        """The same service as an application for `aiohttp_client`, on the test's own loop; needs no start."""
        from engy_mock.serving.application import application

        return application(self._serving_shell())

    def __enter__(self) -> Self:
        return self._enter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._leave(error)

    async def __aenter__(self) -> Self:
        return self._enter()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._leave(error)

    def _enter(self) -> Self:
        self.start()
        self._is_entered = True
        return self

    def _leave(self, error: BaseException | None) -> None:
        """Stop, and look whether all has happened that should have, unless something is wrong already."""
        self.stop()
        self._is_entered = False
        if self._verifies and error is None:
            self.verify()

    def __repr__(self) -> str:
        return f"<EngyMock at {self.base_url}>" if self._thread is not None else "<EngyMock, not running>"

    def _running(self) -> ServerThread:
        if self._thread is None:
            raise MockError(
                "this EngyMock is not running: write `with EngyMock() as engy:`, or call start() first"
            )
        return self._thread

    def _abandon(self, *, stops: bool = False) -> None:
        """Break off all answers that are under way."""
        if self._shell is not None:
            self._shell.abandon()
        self._leave_inside(stops=stops)

    @property
    def is_looked_at(self) -> bool:
        """Whether somebody has called the control API, as its page does."""
        from engy_mock.serving.aside import LateControl

        aside = None if self._shell is None else self._shell.aside
        return isinstance(aside, LateControl) and aside.is_wanted

    def _serving_shell(self) -> Shell:
        if self._shell is None:
            from engy_mock.serving.shell import Shell

            self._shell = Shell(self.gateway, self._limits, time_scale=self._time_scale)
            if self._has_control:
                from engy_mock.serving.aside import LateControl, watched

                watched(self._shell)
                self._shell.aside = LateControl(self._control)
        return self._shell

    def _control(self) -> Control:
        from engy_mock.serving.control import control_of

        control = control_of(
            self._serving_shell(),
            self.gateway,
            reset=self.reset,
            api_key=self.api_key,
            token=self._control_token,
            scheme="http" if self._tls is None else "https",
        )
        control.house.complaints = self._complaints
        control.house.judged = self._judged
        return control
