"""The seal on reasoning that is told in the open, by which reasoning that comes back is known."""

from base64 import b64encode

from engy_mock.vocabulary.seeds import digest

_DIGESTS = 4


def signature(thinking: str) -> str:
    """What stands for a seal on reasoning: opaque, and the same for the same words."""
    digests = [digest("signature", thinking, place) for place in range(_DIGESTS)]
    return b64encode(b"".join(digests)).decode()
