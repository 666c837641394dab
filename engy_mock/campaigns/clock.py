"""A clock that runs fast: what takes a minute of mock time is over in a second or so on the wall."""

from engy_mock.vocabulary.clock import START, monotonic


class FastClock:
    """The standing clock's first moment, and from then on so much mock time for each second on the wall."""

    def __init__(self, scale: float) -> None:
        self._scale = scale
        self._began = monotonic()

    def now(self) -> float:
        """Unix time in seconds."""
        return START + (monotonic() - self._began) / self._scale

    def waits_for_real(self) -> bool:
        """Always, if only for a part of it: the mock stretches its pauses by the same scale."""
        return True
