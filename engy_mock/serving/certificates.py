"""Certificates of a pretend service, good ones and bad ones: new in each run, short-lived, trusted by nobody.

Nothing of them is ever a part of an answer, so they are the one thing that a seed does not settle (Q-28): whoever
has told his machine to trust one would trust all who know the seed.
"""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from engy_mock.vocabulary.clock import WallClock
from engy_mock.vocabulary.seeds import digest, secret

LIFE = timedelta(days=30)
"""How long certificates are valid."""

SLACK = timedelta(days=1)
"""So much earlier they begin, for clocks that are late, and so long ago an expired one has ended."""

ELSEWHERE = "elsewhere.invalid"
"""The host that a certificate for another host is for."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate with its key."""

    key: Ed25519PrivateKey
    signed: x509.Certificate

    @property
    def text(self) -> str:
        """The certificate as PEM."""
        return self.signed.public_bytes(Encoding.PEM).decode()

    @property
    def key_text(self) -> str:
        """The key as PEM."""
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def authority(seed: int) -> Certificate:
    """What the mock with this seed has its certificates signed by."""
    return _made("engy_mock authority", _key("authority", seed), None)


def certificate(seed: int, kind: str, hosts: tuple[str, ...]) -> Certificate:
    """The certificate of a door of this kind, for these hosts."""
    return _made(
        "engy_mock",
        _key(kind, seed),
        None if kind == "self-signed" else authority(seed),
        hosts=(ELSEWHERE,) if kind == "wrong-host" else hosts,
        is_over=kind == "expired",
    )


def _key(what: str, seed: int) -> Ed25519PrivateKey:
    """A key of this run, the same for every door of this seed."""
    return Ed25519PrivateKey.from_private_bytes(digest("tls", what, seed, _run()))


@cache
def _run() -> str:
    """What nobody outside this process knows."""
    return secret()


@cache
def _today() -> datetime:
    """When this run has begun, to the hour: what is made in it is made alike."""
    return datetime.fromtimestamp(WallClock().now(), UTC).replace(minute=0, second=0, microsecond=0)


def _made(
    name: str,
    key: Ed25519PrivateKey,
    issuer: Certificate | None,
    *,
    hosts: tuple[str, ...] = (),
    is_over: bool = False,
) -> Certificate:
    """A certificate for these hosts; one without hosts signs others. Without an issuer it signs itself."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    public, signs = key.public_key(), not hosts
    end = _today() - SLACK if is_over else _today() + LIFE
    issuing = key if issuer is None else issuer.key
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if issuer is None else issuer.signed.subject)
        .public_key(public)
        .serial_number(int.from_bytes(digest("serial", name, public.public_bytes_raw())[:8], "big") | 1)
        .not_valid_before(end - LIFE - SLACK)
        .not_valid_after(end)
        .add_extension(x509.BasicConstraints(ca=signs, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=signs), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuing.public_key()), critical=False)
    )
    if hosts:
        server = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        names = x509.SubjectAlternativeName([_host(host) for host in hosts])
        builder = builder.add_extension(server, critical=False).add_extension(names, critical=False)
    return Certificate(key, builder.sign(issuing, None))


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    """What the key is for: certificates, or handshakes."""
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
