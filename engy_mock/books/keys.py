"""API keys as the mock makes and takes them: plainly nobody's secret, and always of the documented form."""

import re
from base64 import urlsafe_b64encode

from engy_mock.vocabulary.errors import MockError, quoted
from engy_mock.vocabulary.seeds import Part, digest

PREFIX = "sk-engy-"
LENGTH = 43
"""How many characters follow the prefix in a key that the mock made (E-19)."""

_MARK = "mock-"
_FORM = re.compile(r"sk-engy-[^\x00-\x1f\x7f\ud800-\udfff]{1,4000}")
"""What a header can bring after `Bearer`: whatever begins like a key is one (E-15, E-17, E-18)."""


def made_key(*parts: Part) -> str:
    """The key that stands for these parts."""
    made_up = urlsafe_b64encode(digest(*parts)).decode()
    return PREFIX + (_MARK + made_up)[:LENGTH]


def checked_key(key: object) -> str:
    """A key that a test wants to use; raises MockError if the service would never take it (E-17)."""
    if not isinstance(key, str) or not _FORM.fullmatch(key) or key != key.strip():
        raise MockError(
            f"a key is {PREFIX!r} with 1 to 4000 characters behind it that a header can have, without blanks "
            f"around it, got {quoted(key)!r}: write {PREFIX + 'mine'!r}, or leave it out"
        )
    return key
