"""The words of `format`: how a value is made, how one is checked, and a pattern for unusual lengths."""

from __future__ import annotations

import base64
import datetime
import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from engy_mock.model.structured.pattern import parse
from engy_mock.model.structured.prose import NOUNS, slug, title, word, words
from engy_mock.vocabulary.seeds import Draws

FIRST_DAY = datetime.date(2015, 1, 1)
LAST_DAY = datetime.date(2025, 12, 31)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One word of `format`; the pattern is for values that must have a certain length."""

    make: Callable[[Draws], str]
    is_valid: Callable[[str], bool]
    pattern: str = ""


def bits(draws: Draws, count: int) -> int:
    """A number of that many bits."""
    value = 0
    for _ in range(0, count, 32):
        value = value << 32 | draws.below(1 << 32)
    return value & ((1 << count) - 1)


def date(draws: Draws, first: datetime.date = FIRST_DAY, last: datetime.date = LAST_DAY) -> str:
    """A day between two fixed days, whatever the clock says."""
    return (first + datetime.timedelta(days=draws.below((last - first).days + 1))).isoformat()


def birthday(draws: Draws) -> str:
    """The day a grown-up was born."""
    return date(draws, datetime.date(1950, 1, 1), datetime.date(2004, 12, 31))


def clock_time(draws: Draws) -> str:
    """Hours and minutes in the daytime."""
    return f"{8 + draws.below(12):02}:{5 * draws.below(12):02}"


def time(draws: Draws) -> str:
    """A time of day in UTC."""
    return f"{clock_time(draws)}:{draws.below(60):02}Z"


def date_time(draws: Draws) -> str:
    """A moment in UTC."""
    return f"{date(draws)}T{time(draws)}"


def duration(draws: Draws) -> str:
    """Some days or some hours and minutes."""
    if draws.below(2):
        return f"P{1 + draws.below(30)}D"
    return f"PT{1 + draws.below(23)}H{1 + draws.below(59)}M"


def uuid(draws: Draws, version: int = 4) -> str:
    """An identifier laid out like RFC 9562 asks."""
    value = bits(draws, 128)
    value = value & ~(0xF << 76) | version << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    digits = f"{value:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def hostname(draws: Draws) -> str:
    """A host below a domain that belongs to nobody."""
    return f"{draws.pick(NOUNS)}.example.{draws.pick(('com', 'net', 'org'))}"


def uri(draws: Draws) -> str:
    """A page on such a host."""
    return f"https://{hostname(draws)}/{slug(draws)}"


def email(draws: Draws) -> str:
    """An address at such a host; a person's name is better where there is one."""
    return f"{slug(draws).replace('-', '.')}@example.{draws.pick(('com', 'net', 'org'))}"


def ipv4(draws: Draws) -> str:
    """An address of a private network."""
    return f"10.{draws.below(256)}.{draws.below(256)}.{1 + draws.below(254)}"


def ipv6(draws: Draws) -> str:
    """An address of the documentation's network."""
    return str(ipaddress.IPv6Address((0x20010DB8 << 96) + bits(draws, 64)))


def base64_text(draws: Draws) -> str:
    """Some words, encoded."""
    return base64.b64encode(words(draws).encode()).decode()


def base64url_text(draws: Draws) -> str:
    """Some words, encoded for addresses."""
    return base64.urlsafe_b64encode(words(draws).encode()).decode()


def ipv4_network(draws: Draws) -> str:
    """A private network."""
    return f"10.{draws.below(256)}.{draws.below(256)}.0/24"


def database_uri(draws: Draws) -> str:
    """Where a database might listen."""
    return f"postgresql://reader@{hostname(draws)}:5432/{word(draws)}"


def password(draws: Draws) -> str:
    """Letters of both cases, digits and a sign."""
    return f"{title(draws).replace(' ', '')}#{100 + draws.below(900)}"


def color(draws: Draws) -> str:
    """A colour in hexadecimal digits."""
    return f"#{bits(draws, 24):06x}"


def phone(draws: Draws) -> str:
    """A number of the range kept for stories."""
    return f"+1201555{100 + draws.below(100):04}"


def _reads(read: Callable[[str], object]) -> Callable[[str], bool]:
    """Whether a reader takes the text without a ValueError."""

    def is_valid(text: str) -> bool:
        try:
            read(text)
        except ValueError:
            return False
        return True

    return is_valid


def _like(expression: str) -> Callable[[str], bool]:
    compiled = re.compile(expression, re.ASCII)
    return lambda text: compiled.fullmatch(text) is not None


def _is_any(text: str) -> bool:
    return True


def _is_date(text: str) -> bool:
    return re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) is not None and _reads(datetime.date.fromisoformat)(
        text
    )


def _is_date_time(text: str) -> bool:
    return _is_date(text[:10]) and text[10:11] in ("T", "t") and _is_time(text[11:])


def _is_decoded(text: str, altchars: bytes | None = None) -> bool:
    return text.isascii() and _reads(lambda shown: base64.b64decode(shown, altchars, validate=True))(text)


_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_is_host = _like(rf"(?!.{{254}}){_LABEL}(\.{_LABEL})*")
_is_time = _like(r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|z|[+-]([01]\d|2[0-3]):[0-5]\d)")
_is_duration = _like(r"P(?!$)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?)")
_is_email = _like(r"[^\s@]+@[^\s@]+")
_is_uri = _like(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\\<>{}|^`\"]*")
_is_reference = _like(r"[^\s\\<>{}|^`\"]*")
_is_uuid = _like(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_is_pointer = _like(r"(/([^~/]|~[01])*)*")

_DAY = r"20(1[5-9]|2[0-5])-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])"
_HOUR = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.(\d{3}|\d{6}|\d{1,5000}))?(Z|\+00:00)"
_PATH = "(/[a-z0-9]{1,5000})"
_URI = rf"https://[a-z]{{1,30}}\.(com|net|org){_PATH}?|[a-z]{{1,8}}:[a-z]{{1,30}}"

_URIS = Format(make=uri, is_valid=_is_uri, pattern=_URI)
_REFERENCES = Format(make=lambda draws: f"/{slug(draws)}", is_valid=_is_reference, pattern=f"{_PATH}*")
_EMAILS = Format(make=email, is_valid=_is_email, pattern=r"[a-z]{1,60}@([a-z]{1,60}\.){1,3}(com|net|org|de)")
_HOSTS = Format(make=hostname, is_valid=_is_host, pattern=r"([a-z]{1,60}\.){0,3}[a-z]{1,60}")
_BASE64 = Format(make=base64_text, is_valid=_is_decoded, pattern="([A-Za-z0-9+/]{4})*")
_BASE64URL = Format(
    make=base64url_text, is_valid=lambda text: _is_decoded(text, b"-_"), pattern="([A-Za-z0-9_-]{4})*"
)
_PASSWORDS = Format(make=password, is_valid=_is_any, pattern="[A-Za-z0-9]*")
_PATHS = Format(make=lambda draws: f"/{word(draws)}/{word(draws)}.txt", is_valid=_is_any, pattern=f"{_PATH}*")

FORMATS: dict[str, Format] = {
    "date": Format(make=date, is_valid=_is_date),
    "date-time": Format(make=date_time, is_valid=_is_date_time, pattern=f"{_DAY}T{_HOUR}"),
    "time": Format(make=time, is_valid=_is_time, pattern=_HOUR),
    "duration": Format(make=duration, is_valid=_is_duration, pattern=r"P(T[1-9]\d{0,8}(H|M|S)|[1-9]\d{0,8}D)"),
    "email": _EMAILS,
    "idn-email": _EMAILS,
    "name-email": Format(make=lambda draws: f"{title(draws)} <{email(draws)}>", is_valid=_is_any),
    "hostname": _HOSTS,
    "idn-hostname": _HOSTS,
    "ipv4": Format(make=ipv4, is_valid=_reads(ipaddress.IPv4Address), pattern=r"10(\.(\d|[1-9]\d|1\d\d)){3}"),
    "ipv6": Format(make=ipv6, is_valid=_reads(ipaddress.IPv6Address), pattern="::[1-9a-f]{1,4}"),
    "ipvanyaddress": Format(make=ipv4, is_valid=_reads(ipaddress.ip_address)),
    "ipv4network": Format(make=ipv4_network, is_valid=_reads(ipaddress.IPv4Network)),
    "ipv6network": Format(make=lambda _: "2001:db8::/32", is_valid=_reads(ipaddress.IPv6Network)),
    "ipvanynetwork": Format(make=ipv4_network, is_valid=_reads(ipaddress.ip_network)),
    "ipv4interface": Format(make=ipv4, is_valid=_reads(ipaddress.IPv4Interface)),
    "ipv6interface": Format(make=ipv6, is_valid=_reads(ipaddress.IPv6Interface)),
    "ipvanyinterface": Format(make=ipv4, is_valid=_reads(ipaddress.ip_interface)),
    "uri": _URIS,
    "url": _URIS,
    "iri": _URIS,
    "multi-host-uri": Format(make=database_uri, is_valid=_is_uri),
    "uri-reference": _REFERENCES,
    "iri-reference": _REFERENCES,
    "uri-template": Format(make=lambda draws: f"/{word(draws)}/{{id}}", is_valid=_is_any, pattern=f"{_PATH}*"),
    "uuid": Format(make=uuid, is_valid=_is_uuid),
    **{
        f"uuid{version}": Format(make=partial(uuid, version=version), is_valid=_is_uuid) for version in range(1, 9)
    },
    "json-pointer": Format(make=lambda draws: f"/{word(draws)}/0", is_valid=_is_pointer, pattern=f"{_PATH}*"),
    "relative-json-pointer": Format(
        make=lambda draws: f"1/{word(draws)}",
        is_valid=lambda text: _is_pointer(text.lstrip("0123456789#")),
        pattern=f"1{_PATH}*",
    ),
    "regex": Format(make=lambda _: "^[a-z]+$", is_valid=_reads(parse), pattern="[a-z]*"),
    "byte": _BASE64,
    "base64": _BASE64,
    "base64url": _BASE64URL,
    "password": _PASSWORDS,
    "path": _PATHS,
    "file-path": _PATHS,
    "directory-path": _PATHS,
    "color": Format(make=color, is_valid=_is_any, pattern="#[0-9a-f]{6}"),
    "phone": Format(make=phone, is_valid=_is_any, pattern=r"\+1201555\d{4}"),
    "json-string": Format(make=lambda draws: f'"{words(draws)}"', is_valid=_is_any, pattern=r"\d*"),
}

INTEGER_RANGES: dict[str, tuple[int, int]] = {
    **{f"int{bits}": (-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)},
}
