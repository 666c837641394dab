"""Whether another attempt can mend a failure, by all that its answer says."""

import re

from engy_mock.scripting.refusals import RETRYABLE
from engy_mock.verdict.attempt import Attempt

_QUOTA = re.compile(r"insufficient_quota|quota_exceeded|billing_hard_limit|billing_not_active")
_PERMANENT = frozenset(
    {"invalid_request_error", "authentication_error", "permission_error", "not_found_error", "request_too_large"}
)
_MENDABLE = frozenset({408, 409, 425, 429})


def is_mendable(attempt: Attempt) -> bool:
    """Whether another attempt may bring an answer, also by what the error says inside."""
    return attempt.is_retryable and not is_spent_quota(attempt) and not is_permanent(attempt)


def is_spent_quota(attempt: Attempt) -> bool:
    """Whether a refusal that might pass says that a quota is used up for good (R-80)."""
    fields = attempt.error_fields
    return attempt.status in RETRYABLE and any(
        _QUOTA.search(str(fields.get(name) or "")) is not None for name in ("code", "type")
    )


def is_permanent(attempt: Attempt) -> bool:
    """Whether the error inside a failure of the server is one of the request (R-86)."""
    if attempt.state != "refused" or attempt.status < 500:
        return False
    fields = attempt.error_fields
    numbers = [fields.get(name) for name in ("code", "status", "status_code")]
    inner = next((one for one in numbers if isinstance(one, int) and 100 <= one <= 599), None)
    if inner is not None:
        return 400 <= inner < 500 and inner not in _MENDABLE
    return fields.get("type") in _PERMANENT
