"""The catalogue: every way in which the mock can misbehave, one small class each, in files by what they touch."""

from engy_mock.scripting.faults import transport

__all__ = ["transport"]
