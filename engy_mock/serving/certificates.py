"""Certificates of a pretend service, good ones and bad ones (RFC 5280): made from the seed, trusted by nobody."""

import ipaddress
from base64 import encodebytes
from dataclasses import dataclass
from hashlib import sha1

from engy_mock.serving.elliptic import SIZE, Key, Point, key_of

BEGIN, END, PAST = "200101000000Z", "491231235959Z", "210101000000Z"
"""When certificates begin and end to be valid, and when an expired one has ended."""

ELSEWHERE = "elsewhere.invalid"
"""The host that a certificate for another host is for."""

_INTEGER, _BITS, _OCTETS, _OBJECT, _TEXT, _TIME = 0x02, 0x03, 0x04, 0x06, 0x0C, 0x17
_SEQUENCE, _SET = 0x30, 0x31

# The dotted numbers of these are in the comments.
_ECDSA_SHA256 = "2a8648ce3d040302"  # 1.2.840.10045.4.3.2
_EC_PUBLIC_KEY = "2a8648ce3d0201"  # 1.2.840.10045.2.1
_P256 = "2a8648ce3d030107"  # 1.2.840.10045.3.1.7
_COMMON_NAME = "550403"  # 2.5.4.3
_KEY_IDENTIFIER = "551d0e"  # 2.5.29.14
_KEY_USAGE = "551d0f"  # 2.5.29.15
_ALTERNATIVE_NAMES = "551d11"  # 2.5.29.17
_BASIC_CONSTRAINTS = "551d13"  # 2.5.29.19
_ISSUERS_KEY_IDENTIFIER = "551d23"  # 2.5.29.35
_EXTENDED_KEY_USAGE = "551d25"  # 2.5.29.37
_SERVER = "2b06010505070301"  # 1.3.6.1.5.5.7.3.1

_SIGNS_CERTIFICATES, _SIGNS_HANDSHAKES = bytes([1, 0x06]), bytes([7, 0x80])


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A certificate with its key; `authority` is what signs it, None for itself."""

    name: str
    key: Key
    authority: "Certificate | None" = None
    hosts: tuple[str, ...] = ()
    end: str = END

    @property
    def text(self) -> str:
        """The certificate as PEM."""
        return _pem("CERTIFICATE", self._signed())

    @property
    def key_text(self) -> str:
        """The key as PEM."""
        curve, point = _der(0xA0, _object(_P256)), _der(0xA1, _bits(_point(self.key.public)))
        secret = _der(_OCTETS, self.key.secret.to_bytes(SIZE, "big"))
        return _pem("EC PRIVATE" + " KEY", _der(_SEQUENCE, _integer(1), secret, curve, point))

    def _signed(self) -> bytes:
        issuer = self.authority or self
        content = self._content(issuer)
        r, s = issuer.key.sign(content)
        signature = _bits(_der(_SEQUENCE, _integer(r), _integer(s)))
        return _der(_SEQUENCE, content, _der(_SEQUENCE, _object(_ECDSA_SHA256)), signature)

    def _content(self, issuer: "Certificate") -> bytes:
        """All that is signed."""
        public = self.key.public
        return _der(
            _SEQUENCE,
            _der(0xA0, _integer(2)),
            _integer(public[0] >> 192),
            _der(_SEQUENCE, _object(_ECDSA_SHA256)),
            _name(issuer.name),
            _der(_SEQUENCE, _der(_TIME, BEGIN.encode()), _der(_TIME, self.end.encode())),
            _name(self.name),
            _der(_SEQUENCE, _der(_SEQUENCE, _object(_EC_PUBLIC_KEY), _object(_P256)), _bits(_point(public))),
            _der(0xA3, _der(_SEQUENCE, *self._extensions(issuer))),
        )

    def _extensions(self, issuer: "Certificate") -> list[bytes]:
        """What it may be used for, and for which hosts; one without hosts signs others."""
        usage = _SIGNS_HANDSHAKES if self.hosts else _SIGNS_CERTIFICATES
        limits = _der(_SEQUENCE) if self.hosts else _der(_SEQUENCE, _der(0x01, b"\xff"))
        made = [
            _extension(_BASIC_CONSTRAINTS, limits, is_critical=True),
            _extension(_KEY_USAGE, _der(_BITS, usage), is_critical=True),
            _extension(_KEY_IDENTIFIER, _der(_OCTETS, _identifier(self.key))),
            _extension(_ISSUERS_KEY_IDENTIFIER, _der(_SEQUENCE, _der(0x80, _identifier(issuer.key)))),
        ]
        if self.hosts:
            made.append(_extension(_EXTENDED_KEY_USAGE, _der(_SEQUENCE, _object(_SERVER))))
            names = _der(_SEQUENCE, *[_host(host) for host in self.hosts])
            made.append(_extension(_ALTERNATIVE_NAMES, names))
        return made


def authority(seed: int) -> Certificate:
    """What the mock with this seed has its certificates signed by."""
    return Certificate(name="engy_mock authority", key=key_of(b"authority %d" % seed))


def certificate(seed: int, kind: str, hosts: tuple[str, ...]) -> Certificate:
    """The certificate of a door of this kind, for these hosts."""
    return Certificate(
        name="engy_mock",
        key=key_of(b"%b %d" % (kind.encode(), seed)),
        authority=None if kind == "self-signed" else authority(seed),
        hosts=(ELSEWHERE,) if kind == "wrong-host" else hosts,
        end=PAST if kind == "expired" else END,
    )


def _der(tag: int, *parts: bytes) -> bytes:
    """A value in DER (X.690)."""
    body = b"".join(parts)
    size = len(body)
    if size < 0x80:
        return bytes([tag, size]) + body
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + body


def _integer(value: int) -> bytes:
    return _der(_INTEGER, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def _object(number: str) -> bytes:
    return _der(_OBJECT, bytes.fromhex(number))


def _bits(data: bytes) -> bytes:
    return _der(_BITS, b"\x00", data)


def _name(text: str) -> bytes:
    pair = _der(_SEQUENCE, _object(_COMMON_NAME), _der(_TEXT, text.encode()))
    return _der(_SEQUENCE, _der(_SET, pair))


def _host(host: str) -> bytes:
    try:
        return _der(0x87, ipaddress.ip_address(host).packed)
    except ValueError:
        return _der(0x82, host.encode("idna"))


def _extension(number: str, value: bytes, *, is_critical: bool = False) -> bytes:
    critical = _der(0x01, b"\xff") if is_critical else b""
    return _der(_SEQUENCE, _object(number), critical, _der(_OCTETS, value))


def _point(point: Point) -> bytes:
    x, y = point
    return b"\x04" + x.to_bytes(SIZE, "big") + y.to_bytes(SIZE, "big")


def _identifier(key: Key) -> bytes:
    """What a key is called by (RFC 5280, 4.2.1.2)."""
    return sha1(_point(key.public), usedforsecurity=False).digest()


def _pem(label: str, data: bytes) -> str:
    return f"-----BEGIN {label}-----\n{encodebytes(data).decode()}-----END {label}-----\n"
