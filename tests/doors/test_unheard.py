"""Answers that nobody hears: they end when it is time, or when all are ended."""

import threading
from functools import partial

from engy_mock.serving.unheard import Unheard
from engy_mock.vocabulary.clock import monotonic
from tests.waiting import until


def test_each_ends_when_it_is_time():
    """In their order, however they came, and those whose time is far away stay."""
    unheard = Unheard()
    ended: list[str] = []
    now = monotonic()
    for name, seconds in (("far", 600.0), ("second", 0.02), ("first", 0.01), ("past", -1.0)):
        unheard.keep(now + seconds, partial(ended.append, name))
    until(lambda: len(ended) == 3)
    assert sorted(ended, key=["past", "first", "second"].index) == ended
    unheard.end_all()
    assert ended[3:] == ["far"]


def test_all_end_at_once():
    """The first to come first, and nobody waits for them any more."""
    unheard = Unheard()
    ended: list[str] = []
    for name, seconds in (("late", 900.0), ("soon", 600.0)):
        unheard.keep(monotonic() + seconds, partial(ended.append, name))
    until(lambda: [one.daemon for one in threading.enumerate() if one.name == "engy-mock-unheard"] == [True])
    unheard.end_all()
    assert ended == ["soon", "late"]
    until(lambda: not any(one.name == "engy-mock-unheard" for one in threading.enumerate()))
    unheard.end_all()
    assert len(ended) == 2
