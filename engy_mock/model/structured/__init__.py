"""Structured output: a made-up JSON value for any JSON Schema.

`reading` turns the JSON into schemas, `gathering` chooses a way through their branches, `building` makes
values and `checking` has the last word.
"""

from engy_mock.model.structured.building import document
from engy_mock.model.structured.trouble import UnmetSchema, UnusableSchema
from engy_mock.model.structured.values import JsonValue

__all__ = ["JsonValue", "UnmetSchema", "UnusableSchema", "document"]
