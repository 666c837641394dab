"""What a rule remembers of its uses: atomic, bounded, and its own."""

from threading import Thread

from engy_mock.scripting import memory
from engy_mock.scripting.memory import Memory


def test_no_count_is_lost_or_double():
    """Eight threads count the same thing: each number comes once."""
    own = Memory()
    seen: list[list[int]] = [[] for _ in range(8)]

    def count(into: list[int]) -> None:
        into += [own.count("requests", 3) for _ in range(2_000)]

    threads = [Thread(target=count, args=(one,)) for one in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(number for one in seen for number in one) == list(range(16_000))


def test_things_are_kept_apart():
    """Counts and first values are those of one thing; the value that came first stays."""
    own = Memory()
    assert [own.count("a", 0), own.count("a", 1), own.count("a", 0)] == [0, 0, 1]
    assert [own.first(7, "tokens", 0), own.first(9, "tokens", 0), own.first(9, "tokens", 1)] == [7, 7, 9]


def test_the_oldest_is_forgotten(monkeypatch):
    """It does not grow without end."""
    monkeypatch.setattr(memory, "MAX_REMEMBERED", 2)
    own = Memory()
    assert [own.count(what) for what in "abab"] == [0, 0, 1, 1]
    assert [own.count(what) for what in "cbca"] == [0, 2, 1, 0]
