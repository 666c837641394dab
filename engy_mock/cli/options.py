"""What `serve` can be told, as rows: on the command line, by the environment, or in a file, in this order."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from engy_mock.vocabulary.errors import MockError, did_you_mean, quoted

DEFAULT_PORT = 8787
VARIABLE = "ENGY_MOCK_"
LOGS = ("auto", "text", "json", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option: `name` is its key in files, its flag and, in capitals, its variable.

    `read` makes its value of a text; it raises ValueError that says what is wrong. `shape`: one value, a list of
    them, a map from models to them, or a switch. What `is_path` is seen from the folder of the file that names it.
    """

    name: str
    help: str
    read: Callable[[str], Any] = str
    shape: Literal["one", "list", "map", "switch"] = "one"
    default: Any = None
    metavar: str | None = None
    is_path: bool = False

    @property
    def variable(self) -> str:
        """The environment variable."""
        return VARIABLE + self.name.replace("-", "_").upper()


def _port(text: str) -> int:
    port = _whole(text)
    if not 0 <= port <= 65535:
        raise ValueError(f"{text} is no port: 0 to 65535 are")
    return port


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r:.80} is not a whole number") from None


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"{text!r:.80} is none of {', '.join(words)}.{did_you_mean(text, words)}")
        return text

    return read


def _pace(text: str) -> Any:
    from engy_mock.cli.pace import said_of

    return said_of(text)


def _origin(text: str) -> str:
    from engy_mock.gateway.origins import checked_origin

    try:
        return checked_origin(text)
    except MockError as error:
        raise ValueError(str(error)) from None


def _token(text: str) -> str:
    if not text or not text.isascii() or not text.isprintable() or text != text.strip():
        raise ValueError("a control token is printable ASCII without blanks around it")
    return text


def _model_and_path(text: str) -> tuple[str, Path]:
    model, _, path = text.partition("=")
    if not model or not path:
        raise ValueError(f"{text!r:.80} is not MODEL=PATH")
    return model, Path(path)


OPTIONS = (
    Option(name="host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)"),
    Option(name="port", read=_port, default=DEFAULT_PORT, help="0 takes a free one (default: 8787)"),
    Option(name="seed", read=_whole, default=0, help="seed of everything made up (default: 0)"),
    Option(
        name="pace",
        shape="list",
        read=_pace,
        metavar="[MODEL:]PACE",
        help="how fast answers come: instant (default), realistic, slow, so many tokens a second, or numbers, "
        "as first_seconds=0.5/per_second=40/jitter=0.2/half_at=20; all but instant imply --wall-clock; "
        "may be repeated",
    ),
    Option(
        name="answers",
        read=_one_of("plain", "asked", "markdown"),
        default="asked",
        metavar="STYLE",
        help="lists, tables, code, other languages and calls of tools where the question asks for them "
        "(asked, the default), Markdown always (markdown), or plain sentences (plain)",
    ),
    Option(
        name="allow-host",
        shape="list",
        metavar="NAME",
        help="accept this name in `Host` beside the loopback ones; may be repeated",
    ),
    Option(
        name="cors-origin",
        shape="list",
        read=_origin,
        metavar="ORIGIN",
        help="let pages of this origin read answers, beside those of this machine; may be repeated",
    ),
    Option(name="wall-clock", shape="switch", help="show the machine's time, and let pauses really wait"),
    Option(
        name="tokenizer",
        shape="map",
        read=_model_and_path,
        metavar="MODEL=PATH",
        is_path=True,
        help="use this tokenizer.json for a model; may be repeated",
    ),
    Option(
        name="chat-template",
        shape="map",
        read=_model_and_path,
        metavar="MODEL=PATH",
        is_path=True,
        help="use this chat template for a model; may be repeated",
    ),
    Option(
        name="scenario",
        shape="list",
        metavar="SCENARIO",
        help="let this scenario take part, by its name or the path of its file; may be repeated",
    ),
    Option(
        name="scenario-header",
        shape="list",
        metavar="SCENARIO",
        help="let a request ask for this scenario, or for any (*), by X-Engy-Mock-Scenario; may be repeated",
    ),
    Option(
        name="scenarios",
        shape="list",
        metavar="FOLDER",
        is_path=True,
        help="look for scenarios in this folder before those that come with the package; may be repeated",
    ),
    Option(
        name="cassette",
        is_path=True,
        metavar="FILE",
        help="answer what stands in this cassette as it was recorded by `engy-mock record`",
    ),
    Option(
        name="replay",
        read=_one_of("strict", "lenient"),
        default="strict",
        metavar="MANNER",
        help="strict (default): nothing else is answered; lenient: what is much alike, and else the model answers",
    ),
    Option(name="accounts", is_path=True, metavar="FILE", help="open the accounts of this file"),
    Option(name="models", is_path=True, metavar="FILE", help="add or change the models of this file"),
    Option(
        name="log-format",
        read=_one_of(*LOGS),
        default="auto",
        metavar="FORMAT",
        help="a line for each request: text, json or none (default: text on a terminal, else none)",
    ),
    Option(name="no-control", shape="switch", help="do without the control API under /_mock/"),
    Option(
        name="control-token",
        read=_token,
        metavar="TOKEN",
        help="what callers of the control API have to show; needed where others reach the port",
    ),
)
"""All options of `serve`, in the order of its help."""

NAMES = tuple([option.name for option in OPTIONS])


def add_serve(serve: argparse.ArgumentParser) -> None:
    """Add the options to a parser; what is not given stays None there."""
    from engy_mock.cli.serving import serve as command

    serve.set_defaults(command=command)
    serve.add_argument(
        "--config",
        type=_for_argparse(str),
        metavar="FILE",
        help="take options from this YAML or TOML file (default: [tool.engy-mock] in ./pyproject.toml)",
    )
    for option in OPTIONS:
        words: dict[str, Any] = {"dest": option.name, "help": option.help}
        if option.shape == "switch":
            words |= {"action": "store_true", "default": None}
        else:
            words |= {"type": _for_argparse(option.read), "metavar": option.metavar}
            words |= {"action": "append"} if option.shape != "one" else {}
        serve.add_argument(f"--{option.name}", **words)


def _for_argparse(read: Callable[[str], Any]) -> Callable[[str], Any]:
    def checked(text: str) -> Any:
        try:
            return read(_filled(text))
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return checked


def chosen(given: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The value of each option, and under `config` the file that was read; raises MockError.

    What is `given` on the command line counts before the environment, which counts before the file.
    """
    from engy_mock.cli.config import from_file

    variables = os.environ if environment is None else environment
    said = _from_environment(variables)
    file = given.get("config") or variables.get(f"{VARIABLE}CONFIG", "").strip()
    path, in_file = from_file(Path(file) if file else None)
    found: dict[str, Any] = {"config": path}
    for option in OPTIONS:
        values = (given.get(option.name), said.get(option.name), in_file.get(option.name))
        found[option.name] = next((value for value in values if value is not None), option.default)
        if option.shape in ("list", "map") and found[option.name] is None:
            found[option.name] = []
    return found


def _from_environment(variables: Mapping[str, str]) -> dict[str, Any]:
    """What the environment says; lists are separated by commas, and what is empty says nothing.

    Where containers are described, a variable that is not set is handed on as an empty one: `${X:-}`.
    """
    by_variable = {option.variable: option for option in OPTIONS}
    found: dict[str, Any] = {}
    for variable in sorted(variables):
        if not variable.startswith(VARIABLE) or variable == f"{VARIABLE}CONFIG":
            continue
        option = by_variable.get(variable)
        if option is None:
            raise MockError(f"{variable}: there is no such option.{did_you_mean(variable, tuple(by_variable))}")
        text = variables[variable].strip()
        if not text:
            continue
        value: Any = text
        if option.shape in ("list", "map"):
            value = [part.strip() for part in text.split(",") if part.strip()]
        found[option.name] = value_of(option, value, variable)
    return found


def value_of(option: Option, said: Any, place: str, folder: Path | None = None) -> Any:
    """What was said of an option outside the command line, as its value; raises MockError that names the place."""
    try:
        return _value(option, said, folder)
    except ValueError as error:
        raise MockError(f"{place}: {error}") from None


def _value(option: Option, said: Any, folder: Path | None) -> Any:
    if option.shape == "switch":
        return _switch(said)
    if option.shape == "one":
        return _located(option, option.read(_text(said)), folder)
    if option.shape == "map" and isinstance(said, Mapping):
        said = [f"{model}={path}" for model, path in said.items()]
    if not isinstance(said, list):
        said = [said]
    return [_located(option, option.read(_text(one)), folder) for one in said]


def _located(option: Option, value: Any, folder: Path | None) -> Any:
    """The same with a path taken from the folder of the file that names it."""
    if folder is None:
        return value
    if option.shape == "map":
        model, path = value
        return model, folder / path
    if option.name == "scenario":
        from engy_mock.scripting.library import is_path

        return str(folder / value) if is_path(value) else value
    return str(folder / value) if option.is_path else value


def _text(said: Any) -> str:
    if isinstance(said, bool) or not isinstance(said, str | int | float):
        raise ValueError(f"{quoted(said)} is neither a text nor a number")
    return _filled(str(said))


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("nothing is said here: name a value, or leave the option out")
    return text


def _switch(said: Any) -> bool:
    words = {
        "1": True,
        "true": True,
        "yes": True,
        "on": True,
        "0": False,
        "false": False,
        "no": False,
        "off": False,
    }
    if isinstance(said, bool):
        return said
    found = words.get(str(said).lower())
    if found is None:
        raise ValueError(f"{quoted(said)} is neither true nor false")
    return found
