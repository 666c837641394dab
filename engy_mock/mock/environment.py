"""The variables by which clients find a mock: those of the official clients, and that no proxy stands between."""

from collections.abc import Mapping

KEYS = ("ENGY_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "SGP_API_KEY")
BASE_URLS = ("ENGY_BASE_URL", "OPENAI_BASE_URL")
ORIGINS = ("ANTHROPIC_BASE_URL", "SGP_CLIENT_BASE_URL")
PROXY_EXCEPTIONS = ("NO_PROXY", "no_proxy")
LOOPBACK = "127.0.0.1,localhost,::1"
FOREIGN_KEYS = ("ANTHROPIC_AUTH_TOKEN",)
"""Variables that would lead a client past its key; they are not set where a client should find a mock (Q-42)."""

NAMES = (*KEYS, *BASE_URLS, *ORIGINS, *PROXY_EXCEPTIONS)


def variables(base_url: str, origin: str, key: str, others: Mapping[str, str]) -> dict[str, str]:
    """What to set beside these others, so that clients find the mock at this address with this key."""
    found = dict.fromkeys(KEYS, key)
    found |= dict.fromkeys(BASE_URLS, base_url)
    found |= dict.fromkeys(ORIGINS, origin)
    for name in PROXY_EXCEPTIONS:
        before = others.get(name)
        found[name] = f"{before},{LOOPBACK}" if before else LOOPBACK
    return found
