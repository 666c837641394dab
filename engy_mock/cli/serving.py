"""The command `serve`: a mock on a port until a signal ends it."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engy_mock import __version__

if TYPE_CHECKING:
    import argparse
    from asyncio import AbstractEventLoop
    from collections.abc import Callable
    from threading import Event

    from engy_mock.cli.files import Files
    from engy_mock.mock import EngyMock

LOOKS_EVERY = 0.5
"""Seconds between two looks at files that may have been saved."""

LOOKS_FOR_GARBAGE = (50_000, 20, 100)
"""After how many new objects the collector looks at the youngest, and how often then at the others."""

GREETING = """\
engy-mock {version} serves at {base_url}
key: {key}

curl {base_url}/chat/completions \\
  -H "Authorization: Bearer {key}" \\
  -H "Content-Type: application/json" \\
  -d '{{"model": "glm-5.2", "messages": [{{"role": "user", "content": "Hello!"}}]}}'
"""

CONTROL = """\
page: {origin}/_mock/{note}
control: {origin}/_mock/openapi.json
"""
ASKS = " (asks for the control token)"


def serve(given: argparse.Namespace) -> int:
    """Serve; returns the exit code."""
    import gc
    import signal
    import threading

    # Nothing of what is loaded until the first answer is garbage: the collector would look at it thirty times.
    gc.disable()
    from engy_mock.cli.files import Files

    is_over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: is_over.set())
    _raise_file_limit()

    files = Files(vars(given))
    engy = made(files)
    with engy:
        engy.gateway.warm_up()
        _spare_what_stays()
        greeting = GREETING if files.options["no-control"] else CONTROL + GREETING
        note = "" if files.options["control-token"] is None else ASKS
        told = {"base_url": engy.base_url, "origin": engy.origin, "key": engy.api_key, "note": note}
        print(greeting.format(version=__version__, **told), flush=True)
        if not is_over.wait(LOOKS_EVERY):
            _load_the_rest()
        has_read = False
        while not is_over.wait(LOOKS_EVERY):
            files.look(engy)
            if not has_read and engy.is_looked_at:
                has_read = True
                _read_scenarios(engy, is_over)
    return 0


def _load_the_rest() -> None:
    """Load what most answers do without, while nothing is asked yet: nobody should have to wait for it later."""
    import gc

    import engy_mock.serving.odd  # noqa: F401

    gc.collect()
    _spare_what_stays()


def _read_scenarios(engy: EngyMock, is_over: Event) -> None:
    """Read the library while somebody looks at the first view of the page, for that of the scenarios."""
    from engy_mock.serving.control.scenarios import reading

    for _ in reading(engy.gateway.scenes.library):
        if is_over.is_set():
            break


def made(files: Files) -> EngyMock:
    """The mock that the options and files ask for; raises MockError."""
    from engy_mock.cli.pace import settings_of, takes_time
    from engy_mock.gateway import Settings
    from engy_mock.mock import EngyMock
    from engy_mock.serving.server import is_loopback
    from engy_mock.vocabulary.clock import StandingClock, WallClock
    from engy_mock.vocabulary.errors import MockError

    options = files.options
    if not is_loopback(options["host"]) and options["control-token"] is None:
        raise MockError(
            f"whoever reaches {options['host']} reaches the mock: listening there needs --control-token as well"
        )
    is_paced = takes_time(options["pace"])
    settings = Settings(
        allowed_hosts=frozenset(options["allow-host"]),
        cors_origins=frozenset(options["cors-origin"]),
        hurries_retries=False,
        scenario_header=frozenset(options["scenario-header"]) or False,
        answers=options["answers"],
        **settings_of(options["pace"]),
    )
    engy = EngyMock(
        seed=options["seed"],
        port=options["port"],
        host=options["host"],
        clock=WallClock() if options["wall-clock"] or is_paced else StandingClock(),
        settings=settings,
        scenario_folders=options["scenarios"],
        cassette=options["cassette"],
        replay=options["replay"],
        control=not options["no-control"],
        control_token=options["control-token"],
        complaints=lambda: files.complaints,
        loop_factory=_fastest_loop(),
    )
    for model, path in options["tokenizer"]:
        engy.gateway.catalog.use(model, tokenizer=path)
    for model, path in options["chat-template"]:
        engy.gateway.catalog.use(model, chat_template=path)
    if options["models"] is not None:
        from engy_mock.cli.rows import add_models

        add_models(Path(options["models"]), engy.gateway.catalog)
    for model in settings.pace_by_model:
        engy.gateway.catalog.row(model)
    engy.prepare_by(files.prepare)
    _log_to_stdout(engy, options)
    return engy


def _log_to_stdout(engy: EngyMock, options: dict[str, Any]) -> None:
    """Write a line for each request, if that is wanted; nobody has to read a pipe that he did not ask for."""
    wanted = options["log-format"]
    if wanted == "auto":
        wanted = "text" if sys.stdout.isatty() else "none"
    if wanted != "none":
        from engy_mock.serving.access_log import AccessLog

        engy.watch.listeners.append(AccessLog(sys.stdout, is_json=wanted == "json"))


def _fastest_loop() -> Callable[[], AbstractEventLoop] | None:
    """The loop factory of uvloop if it is installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _spare_what_stays() -> None:
    """Let the collector of garbage look less often, and never at what is there by now and stays.

    A look at everything takes a quarter of a second while a thousand streams are open, and all of them wait.
    """
    import gc

    gc.freeze()
    gc.set_threshold(*LOOKS_FOR_GARBAGE)
    gc.enable()


def _raise_file_limit() -> None:
    """Let this process have as many connections open as the machine allows."""
    try:
        import resource
    except ImportError:  # there is no such limit on Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems name a limit that they do not grant
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
