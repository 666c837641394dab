"""Under which names credentials stand, in queries, fields, headers and texts; one list for all who hide them."""

import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import unquote_plus

from engy_mock.vocabulary.wire import Call

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_OWNERS = (
    "access|account|admin|api|app|auth|authorization|aws|bearer|bot|client|csrf|deploy|discord|encryption|engy|"
    "environment|functions?|gh|github|gitlab|hf|host|huggingface|id|jwt|license|master|npm|oauth|personal|private|"
    "refresh|sas|secret|security|service|session|sgp|shared|signing|slack|storage|subscription|telegram|vault|"
    "webhook|xsrf"
)
_CORE = (
    rf"(?:{_OWNERS})_?(?:keys?|token|secret)|secrets?|pass(?:words?|wd|phrase|code)|pwd|authorization|cookies?|"
    r"credentials?|jwt|(?:amz|goog|hub)_signature"
)
_TAILS = (
    r"again|b64|base|base64|confirm|confirmation|dev|hash|live|new|old|pem|plain|plaintext|primary|prod|production|"
    r"raw|repeat|secondary|staging|string|test|text|v|value|\d+"
)
_FIELD = re.compile(rf"(?:.*_)?(?:{_CORE})(?:_(?:{_TAILS}))*")

_PARAMETER = re.compile(
    r"(?:.*_)?(?:auth|credential|jwt|key|session|sig|signature|sid|token)|code|otp|[jp]?h?p?sess(?:ion)?id|ticket"
)
_COUNTED = re.compile(
    r"(?:.*_)?(?:cache|continuation|cursor|eos|group|idempotency|last|max|next|order|page|pagination|partition|"
    r"primary|public|sort|start|stop)_(?:key|token)"
)
"""Keys and tokens that open nothing."""

_KEY = re.compile(r"sk-[A-Za-z0-9_~-]{6,}")
"""How the keys of inference services begin."""

DOUBTFUL = frozenset({"auth", "sig", "token"})
"""Fields that have a credential in them only if it looks like one."""

TEXTS = frozenset({"session", "signature"})
"""Fields whose text is a credential; an object under such a name is something else."""

WORDS = (
    "auth",
    "code",
    "cookie",
    "credential",
    "jwt",
    "key",
    "otp",
    "pass",
    "pwd",
    "secret",
    "sess",
    "sid",
    "sig",
    "ticket",
    "token",
)
"""In every such name stands one of these."""

LEAST = 12
"""A parameter that is shorter could be any word where it stands elsewhere."""


@lru_cache(maxsize=4096)
def is_field(name: str) -> bool:
    """Whether what stands under this name is a credential, whatever it looks like."""
    return len(name) <= 100 and bool(_FIELD.fullmatch(_spelt(name)))


@lru_cache(maxsize=4096)
def is_parameter(name: str) -> bool:
    """The same of a query or a form, where every key and token opens something."""
    if len(name) > 100:
        return False
    spelt = _spelt(name)
    is_one = _FIELD.fullmatch(spelt) or _PARAMETER.fullmatch(spelt)
    return bool(is_one) and not _COUNTED.fullmatch(spelt)


def looks_like_one(value: str) -> bool:
    """Whether a value could open something: no word, no place in a program, no other name."""
    is_plain = re.fullmatch(r"[a-z_.]+", value) or re.fullmatch(r"[\d.,:+-]+", value)
    return len(value) >= 6 and not is_plain and not is_field(value) and not _PLACEHOLDER.match(value)


_PLACEHOLDER = re.compile(r"(?i)your|(?:os|process|self)\.|(?:none|null|true|false)\b|xxx|\.\.\.|\[scrubbed")


def without_credentials(query: str, shown: frozenset[str] = frozenset()) -> str:
    """A query without the parameters that are credentials, by name or because a client showed them as its key."""
    kept = [part for part, name, value in parameters(query) if not is_parameter(name) and value not in shown]
    return "&".join(kept)


def without_keys(text: str) -> str:
    """A path or a header as it may be kept: some write a key where none belongs."""
    return _KEY.sub("sk-...", text) if "sk-" in text else text


def parameters(query: str) -> Iterator[tuple[str, str, str]]:
    """The parts of a query, each with its name and its value."""
    for part in query.split("&") if query else ():
        name, _, value = part.partition("=")
        yield part, unquote_plus(name), unquote_plus(value)


def shown(call: Call) -> list[str]:
    """Every key that a client shows in headers or query, with and without what stands before it."""
    found: list[str] = []
    for name, value in call.headers.items():
        value = value.strip()
        if is_field(name) or (is_parameter(name) and len(value) >= LEAST):
            found += [value, value.partition(" ")[2].strip()]
            if name.lower() == "cookie":
                values = [one.partition("=")[2].strip() for one in value.split(";")]
                found += [one for one in values if len(one) >= LEAST]
    found += [value for _, name, value in parameters(call.query) if is_parameter(name) and len(value) >= LEAST]
    return list(dict.fromkeys([key for key in found if key]))


def _spelt(name: str) -> str:
    return "_".join(_WORD.findall(name)).lower()
