"""API keys as the mock makes and takes them: plainly nobody's secret, and always of the documented form."""

import re
from base64 import urlsafe_b64encode

from engy_mock.vocabulary.errors import MockError, quoted
from engy_mock.vocabulary.seeds import Part, digest

PREFIX = "sk-engy-"
LENGTH = 43
"""How many characters follow the prefix in a key that the mock made (E-19)."""

_MARK = "mock-"
_FORM = re.compile(r"sk-engy-[A-Za-z0-9._~+/=-]{1,200}")


def made_key(*parts: Part) -> str:
    """The key that stands for these parts."""
    made_up = urlsafe_b64encode(digest(*parts)).decode()
    return PREFIX + (_MARK + made_up)[:LENGTH]


def checked_key(key: object) -> str:
    """A key that a test wants to use; raises MockError if the service would never take it (E-17)."""
    if not isinstance(key, str) or not _FORM.fullmatch(key):
        raise MockError(
            f"a key is {PREFIX!r} with 1 to 200 letters, digits and ._~+/=- behind it, got {quoted(key)!r}: "
            f"write {PREFIX + 'mine'!r}, or leave it out"
        )
    return key
