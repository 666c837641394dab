"""The headers by which a refusal for lack of capacity says when to come back, by dialect (E-194)."""

from datetime import UTC, datetime

Headers = tuple[tuple[str, str], ...]

PAUSE_SECONDS = 1
"""After so long another request is welcome."""


def openai_limits(limit: int, now: float) -> Headers:
    """The limit in force, as OpenAI's clients know it."""
    return (
        ("x-ratelimit-limit-requests", str(limit)),
        ("x-ratelimit-remaining-requests", "0"),
        ("x-ratelimit-reset-requests", f"{PAUSE_SECONDS}s"),
    )


def no_limits(limit: int, now: float) -> Headers:
    """Nothing, where clients know of no such headers."""
    return ()


def anthropic_limits(limit: int, now: float) -> Headers:
    """The same as Anthropic's clients know it, with the time of the reset."""
    reset = datetime.fromtimestamp(int(now) + PAUSE_SECONDS, UTC)
    return (
        ("anthropic-ratelimit-requests-limit", str(limit)),
        ("anthropic-ratelimit-requests-remaining", "0"),
        ("anthropic-ratelimit-requests-reset", f"{reset:%Y-%m-%dT%H:%M:%SZ}"),
    )
