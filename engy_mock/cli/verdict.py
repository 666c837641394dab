"""`engy-mock verdict`: what a mock that serves elsewhere says of its client, and an exit code that tells it."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

TIMEOUT_SECONDS = 30.0
BASES = ("/v1", "/v5")
"""What a base URL has behind the address of the mock."""

FAILED = 2
"""The exit code of a verdict that fails; 1 is for what went wrong before there was one."""


def add_verdict(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.set_defaults(command=_verdict)
    parser.add_argument(
        "--url",
        default="http://127.0.0.1:8787",
        help="where the mock serves, or its base URL (default: %(default)s)",
    )
    parser.add_argument(
        "--control-token",
        default=os.environ.get("ENGY_MOCK_CONTROL_TOKEN") or "1",
        metavar="TOKEN",
        help="what the control API asks for, if it does; also ENGY_MOCK_CONTROL_TOKEN",
    )
    parser.add_argument("--fail-level", choices=("error", "warning", "never"), default="error")
    parser.add_argument("--ignore", action="append", default=[], metavar="WORD", help="leave out this word")
    parser.add_argument("--since", type=int, default=0, metavar="N", help="the first exchange that counts")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _verdict(options: argparse.Namespace) -> int:
    from urllib.parse import urlencode

    query = {"fail_level": options.fail_level, "ignore": ",".join(options.ignore), "since": options.since}
    found = _asked(f"{_place(options.url)}/_mock/verdict?{urlencode(query)}", options.control_token)
    text = found.pop("text")
    print(json.dumps(found, indent=2) if options.json else text)
    return FAILED if found["fails"] else 0


def _place(url: str) -> str:
    """Where a mock serves, be it told by its base URL; raises MockError for what is no address."""
    from urllib.parse import urlsplit

    from engy_mock.vocabulary.errors import MockError, quoted

    try:
        parts = urlsplit(url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_one = False
    if not is_one or parts.query or parts.fragment:
        raise MockError(f"--url: {quoted(url)!r:.80} is no address of a mock: write http://127.0.0.1:8787")
    path = parts.path.rstrip("/")
    for base in BASES:
        path = path.removesuffix(base)
    return f"{parts.scheme}://{parts.netloc}{path}"


def _asked(url: str, token: str) -> dict[str, Any]:
    """The answer of the control API; raises MockError."""
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import ProxyHandler, Request, build_opener

    from engy_mock.vocabulary.errors import MockError

    place = url.partition("?")[0]
    opener = build_opener(ProxyHandler({}))  # the mock sits on this machine, not behind a proxy
    try:
        request = Request(url, headers={"X-Engy-Mock-Control": token})
        with opener.open(request, timeout=TIMEOUT_SECONDS) as answer:
            found = json.loads(answer.read())
    except HTTPError as refusal:
        raise MockError(f"{place} refuses with {refusal.code}: {refusal.read(400)!r}") from None
    except (OSError, ValueError, HTTPException) as error:
        raise MockError(f"no mock with a control API at {place}: {str(error) or type(error).__name__}") from None
    if not isinstance(found, dict) or not {"text", "fails"} <= found.keys():
        raise MockError(f"no mock with a control API at {place}: what it says is no verdict")
    return found
