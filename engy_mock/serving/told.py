"""What aiohttp gets back for a request that has been answered already."""

from aiohttp import web


class Told(web.StreamResponse):
    """An answer that is on the wire already, so that nothing is left for aiohttp to do."""

    def __init__(self, *, is_kept: bool) -> None:
        super().__init__()
        self._is_kept = is_kept

    @property
    def keep_alive(self) -> bool:
        """Whether the connection takes another request."""
        return self._is_kept

    async def prepare(self, request: web.BaseRequest) -> None:
        """Nothing is left to begin."""

    async def write_eof(self, data: bytes = b"") -> None:
        """Nothing is left to end."""


KEPT, CLOSED = Told(is_kept=True), Told(is_kept=False)
