"""The headers by which a refusal for lack of capacity says when to come back, by dialect (E-194)."""

from datetime import UTC, datetime

from engy_mock.vocabulary.errors import RateLimited

Headers = tuple[tuple[str, str], ...]


def openai_limits(error: RateLimited, now: float) -> Headers:
    """The limit in force, as OpenAI's clients know it."""
    return (
        (f"x-ratelimit-limit-{error.unit}", str(error.limit)),
        (f"x-ratelimit-remaining-{error.unit}", "0"),
        (f"x-ratelimit-reset-{error.unit}", f"{error.seconds}s"),
    )


def no_limits(error: RateLimited, now: float) -> Headers:
    """Nothing, where clients know of no such headers."""
    return ()


def anthropic_limits(error: RateLimited, now: float) -> Headers:
    """The same as Anthropic's clients know it, with the time of the reset."""
    reset = datetime.fromtimestamp(int(now) + error.seconds, UTC)
    return (
        (f"anthropic-ratelimit-{error.unit}-limit", str(error.limit)),
        (f"anthropic-ratelimit-{error.unit}-remaining", "0"),
        (f"anthropic-ratelimit-{error.unit}-reset", f"{reset:%Y-%m-%dT%H:%M:%SZ}"),
    )
