"""Where a test has failed: its own lines, without the mock's source on the way there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engy_mock.vocabulary.errors import MockError, UnmetExpectation

if TYPE_CHECKING:
    from types import TracebackType

    import pytest

PACKAGE = "engy_mock"

HIDE = "__tracebackhide__"
"""The name by which pytest asks a function, or its module, whether it has to be shown."""


def shorten(failure: pytest.ExceptionInfo[BaseException]) -> None:
    """Let pytest ask before it shows the modules of the mock that this has passed."""
    for frame in _frames(failure.tb):
        if _is_own(frame):
            frame.tb_frame.f_globals[HIDE] = _is_beside_the_point


def _is_beside_the_point(failure: pytest.ExceptionInfo[BaseException]) -> bool:
    """Whether the mock itself is in order: it complains, or only called the function that failed."""
    return isinstance(failure.value, MockError | UnmetExpectation) or not _is_own(_frames(failure.tb)[-1])


def _frames(traceback: TracebackType | None) -> list[TracebackType]:
    found = []
    while traceback is not None:
        found.append(traceback)
        traceback = traceback.tb_next
    return found


def _is_own(traceback: TracebackType) -> bool:
    return str(traceback.tb_frame.f_globals.get("__name__", "")).partition(".")[0] == PACKAGE
