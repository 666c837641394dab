"""The page of the mock: its files by fixed names, and the headers that keep a browser strict about them."""

from functools import cache
from pathlib import Path

from engy_mock.vocabulary.wire import Head

_FOLDER = Path(__file__).parent
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_PLACE = b'content="" name="engy-mock-secret"'

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        # No text ever becomes markup: the browser itself refuses to try.
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
"""What the page may do: run its own scripts and speak to its own origin, nothing else."""

_STRICT = (
    ("Content-Security-Policy", POLICY),
    ("Referrer-Policy", "no-referrer"),
    ("X-Frame-Options", "DENY"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
)


@cache
def files() -> dict[str, tuple[str, bytes]]:
    """The kind and the bytes of each file beside the page; read once, so that no request opens any (Q-26)."""
    return {
        path.name: (_KINDS[path.suffix], path.read_bytes())
        for path in sorted(_FOLDER.iterdir())
        if path.suffix in _KINDS
    }


@cache
def _document() -> bytes:
    return (_FOLDER / "index.html").read_bytes()


def head(kind: str) -> Head:
    """The head of an answer with a file of this kind."""
    return Head(200, (("Content-Type", kind), *_STRICT))


def page(secret: str) -> tuple[Head, bytes]:
    """The page with the secret that lets it use the control API, or with none."""
    told = _PLACE.replace(b'""', b'"%b"' % secret.encode("ascii"), 1)
    return head("text/html; charset=utf-8"), _document().replace(_PLACE, told, 1)
