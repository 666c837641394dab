"""What a mock does otherwise than by default."""

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Settings:
    """What the mock does otherwise than by default.

    `closed_accounts`: only registered keys are valid (E-18). `one_event_per_write`: no two events of a stream
    share a write (E-118). `allowed_hosts`: names accepted in `Host` beside the loopback ones.
    `messages_cache_counts`: messages tell how much of the prompt was cached (E-170). `v5_accepts_bearer`: a
    bearer key opens `/v5` too (S-12). `v5_named_events`: streamed responses have `event:` lines there (S-71).
    `hurries_retries`: scripted refusals that clients try again carry a hint of one millisecond.
    """

    closed_accounts: bool = False
    one_event_per_write: bool = False
    allowed_hosts: frozenset[str] = frozenset()
    messages_cache_counts: bool = False
    v5_accepts_bearer: bool = False
    v5_named_events: bool = False
    hurries_retries: bool = True
