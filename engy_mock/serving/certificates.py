"""Certificates of a pretend service, good ones and bad ones: made from the seed, trusted by nobody."""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from engy_mock.vocabulary.seeds import digest

BEGIN, END, PAST = (datetime(year, 1, 1, tzinfo=UTC) for year in (2020, 2050, 2021))
"""When certificates begin and end to be valid, and when an expired one has ended."""

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
        end=PAST if kind == "expired" else END,
    )


def _key(what: str, seed: int) -> Ed25519PrivateKey:
    """A key that whoever knows the seed knows too."""
    return Ed25519PrivateKey.from_private_bytes(digest("tls", what, seed))


def _made(
    name: str,
    key: Ed25519PrivateKey,
    issuer: Certificate | None,
    *,
    hosts: tuple[str, ...] = (),
    end: datetime = END,
) -> Certificate:
    """A certificate for these hosts; one without hosts signs others. Without an issuer it signs itself."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    public, signs = key.public_key(), not hosts
    issuing = key if issuer is None else issuer.key
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if issuer is None else issuer.signed.subject)
        .public_key(public)
        .serial_number(int.from_bytes(digest("serial", name, public.public_bytes_raw())[:8], "big") | 1)
        .not_valid_before(BEGIN)
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
