"""The headers by which a refusal for lack of capacity says when to come back, by dialect (E-194)."""

from datetime import UTC, datetime

from engy_mock.vocabulary.errors import RateLimited

Headers = tuple[tuple[str, str], ...]


def openai_limits(error: RateLimited, now: float) -> Headers:
    """The limit in force, as OpenAI's clients know it; with the time to its reset, unless that would not help."""
    limit = (f"x-ratelimit-limit-{error.unit}", str(error.limit))
    remaining = (f"x-ratelimit-remaining-{error.unit}", "0")
    reset = (f"x-ratelimit-reset-{error.unit}", f"{error.seconds}s")
    return (limit, remaining, reset) if error.seconds else (limit, remaining)


def no_limits(error: RateLimited, now: float) -> Headers:
    """Nothing, where clients know of no such headers."""
    return ()


def anthropic_limits(error: RateLimited, now: float) -> Headers:
    """The same as Anthropic's clients know it."""
    at = datetime.fromtimestamp(int(now) + error.seconds, UTC)
    limit = (f"anthropic-ratelimit-{error.unit}-limit", str(error.limit))
    remaining = (f"anthropic-ratelimit-{error.unit}-remaining", "0")
    reset = (f"anthropic-ratelimit-{error.unit}-reset", f"{at:%Y-%m-%dT%H:%M:%SZ}")
    return (limit, remaining, reset) if error.seconds else (limit, remaining)
