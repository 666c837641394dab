"""What a mock does otherwise than by default."""

from dataclasses import dataclass

from engy_mock.books.fleet import WORKERS, Worker
from engy_mock.model.engine import MAX_IMAGE_BYTES, MAX_IMAGES
from engy_mock.model.overflow import Wording


@dataclass(slots=True, kw_only=True)
class Settings:
    """What the mock does otherwise than by default.

    `closed_accounts`: only registered keys are valid (E-18). `one_event_per_write`: no two events of a stream
    share a write (E-118). `allowed_hosts`: names accepted in `Host` beside the loopback ones. `cors_origins`:
    origins whose pages may read answers in a browser, beside those of this machine (Q-5).
    `messages_cache_counts`: messages tell how much of the prompt was cached (E-170). `v5_accepts_bearer`: a
    bearer key opens `/v5` too (S-12). `v5_named_events`: streamed responses have `event:` lines there (S-71).
    `hurries_retries`: refusals that clients try again carry a hint of one millisecond; those for want of room or
    of a worker only while the clock stands.
    `strict_tools`: responses refuse tools that are no functions (E-181). `max_images`, `max_image_bytes`: the most
    pictures in a request, and the most bytes of one (E-145). `scenario_header`: a request may ask for a
    scenario of its own by `X-Engy-Mock-Scenario`. `strict`: a request that no rule answers is a
    mistake of the test, and the model says nothing of its own. `prompt_cache`: prompts are remembered (E-139).
    `workers`: what the pretend workers can promise (E-148). `capacity`: so many requests of all accounts together
    are answered at once, None for any number (E-83). `overflow_wording`: whose phrase refuses a
    prompt that does not fit (R-42). `keep_alive_comments`, `ping_seconds`: while a stream pauses, a comment
    line, or in messages a ping, comes every so many seconds (E-118, E-176).
    """

    closed_accounts: bool = False
    one_event_per_write: bool = False
    allowed_hosts: frozenset[str] = frozenset()
    cors_origins: frozenset[str] = frozenset()
    messages_cache_counts: bool = False
    v5_accepts_bearer: bool = False
    v5_named_events: bool = False
    hurries_retries: bool = True
    strict_tools: bool = False
    max_images: int = MAX_IMAGES
    max_image_bytes: int = MAX_IMAGE_BYTES
    scenario_header: bool = False
    strict: bool = False
    prompt_cache: bool = True
    workers: tuple[Worker, ...] = WORKERS
    capacity: int | None = None
    overflow_wording: Wording = "engy"
    keep_alive_comments: float | None = None
    ping_seconds: float | None = None
