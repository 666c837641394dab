"""The variables by which clients find a mock: those of the official clients, and that no proxy stands between."""

from collections.abc import Mapping

KEYS = ("ENGY_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "SGP_API_KEY")
BASE_URLS = ("ENGY_BASE_URL", "OPENAI_BASE_URL")
ORIGINS = ("ANTHROPIC_BASE_URL", "SGP_CLIENT_BASE_URL")
ACCOUNTS = ("SGP_ACCOUNT_ID",)
PROXY_EXCEPTIONS = ("NO_PROXY", "no_proxy")
LOOPBACK = "127.0.0.1,localhost,::1"
FOREIGN_KEYS = (
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_AWS_API_KEY",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_ENVIRONMENT_KEY",
    "ANTHROPIC_FOUNDRY_API_KEY",
    "ANTHROPIC_IDENTITY_TOKEN",
    "ANTHROPIC_IDENTITY_TOKEN_FILE",
    "ANTHROPIC_ORGANIZATION_ID",
    "ANTHROPIC_PROFILE",
    "ANTHROPIC_WEBHOOK_SIGNING_KEY",
    "ANTHROPIC_WORK_SECRET",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AZURE_OPENAI_AD_TOKEN",
    "AZURE_OPENAI_API_KEY",
    "OPENAI_ADMIN_KEY",
    "OPENAI_CUSTOM_HEADERS",
    "OPENAI_ORG_ID",
    "OPENAI_PROJECT_ID",
    "OPENAI_WEBHOOK_SECRET",
    "SGP_CLIENT_CUSTOM_HEADERS",
)
"""Variables in which official clients look for other keys, for headers, and for whose they are.

They are not set where a client should find a mock (Q-42).
"""

NAMES = (*KEYS, *ACCOUNTS, *BASE_URLS, *ORIGINS, *PROXY_EXCEPTIONS)


def variables(base_url: str, origin: str, key: str, others: Mapping[str, str]) -> dict[str, str]:
    """What to set beside these others, so that clients find the mock at this address with this key."""
    found = dict.fromkeys(KEYS, key)
    # Scale's client does not begin without an account; the key opens the default one.
    found |= dict.fromkeys(ACCOUNTS, "default")
    found |= dict.fromkeys(BASE_URLS, base_url)
    found |= dict.fromkeys(ORIGINS, origin)
    for name in PROXY_EXCEPTIONS:
        before = others.get(name)
        found[name] = f"{before},{LOOPBACK}" if before else LOOPBACK
    return found
