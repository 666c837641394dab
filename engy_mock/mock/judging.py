"""What becomes of a test's client: what it says it got, and the verdict on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engy_mock.gateway import Gateway
    from engy_mock.verdict.judging import Oracle
    from engy_mock.verdict.verdict import Verdict
    from engy_mock.verdict.words import FailLevel

Said = TypeVar("Said")

_NOTHING: Any = object()


class Judging:
    """Judges the client under test by the journal."""

    gateway: Gateway

    @overload
    def heard(self, said: Said, *, of: str | None = None) -> Said: ...
    @overload
    def heard(self, *, error: BaseException, of: str | None = None) -> None: ...
    def heard(self, said: Any = _NOTHING, *, error: BaseException | None = None, of: str | None = None) -> Any:
        """Say what the client under test has got: `return engy.heard(client.chat.completions.create(...))`.

        That is an answer object of a client, chunks of a stream, a text as the caller gets it, or an exception. It
        is compared with what was sent: silence is found by it, and where a call ends. `of` is the id of the
        request; without it that of the answer counts, and else the order. Returns what it was given.
        """
        from engy_mock.verdict.hearing import heard
        from engy_mock.vocabulary.errors import MockError

        if said is _NOTHING and error is None:
            raise MockError("heard() takes what the client has got, or error= with an exception")
        if said is not _NOTHING and said is not None and error is not None:
            raise MockError("heard() takes what the client has got, or error= with an exception, not both")
        self.gateway.journal.hear(heard(None if said is _NOTHING else said, error, of))
        return None if said is _NOTHING else said

    def verdict(
        self,
        *,
        fail_level: FailLevel = "error",
        ignore: str | Iterable[str] = (),
        patience: float = 30.0,
        since: int = 0,
        oracle: Oracle | None = None,
    ) -> Verdict:
        """What the journal says of the client under test: `engy.verdict(fail_level="warning").check()`.

        Words in `ignore` are left out. `patience` is how many seconds of silence no client should bear, `since`
        the first exchange that counts. An `oracle` is told each call, and the texts that the client says it got
        (None if it says nothing), and may return a complaint. Raises MockError for an unknown word or level.
        """
        from engy_mock.verdict.judging import judged

        return judged(
            self.gateway.journal,
            self.gateway.clock,
            fail_level=fail_level,
            ignore=ignore,
            patience=patience,
            since=since,
            oracle=oracle,
        )

    def _judged(self, **words: Any) -> dict[str, Any]:
        """The verdict as plain values, for those who ask over HTTP."""
        verdict = self.verdict(**words)
        return verdict.snapshot() | {"text": str(verdict)}
