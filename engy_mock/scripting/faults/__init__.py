"""The catalogue: every way in which the mock can misbehave, one small class each, in files by what they touch."""

from engy_mock.scripting.faults import (
    behaviour,
    capacity,
    hints,
    http_bodies,
    http_denials,
    http_forms,
    http_heads,
    transport,
)

__all__ = [
    "behaviour",
    "capacity",
    "hints",
    "http_bodies",
    "http_denials",
    "http_forms",
    "http_heads",
    "transport",
]
