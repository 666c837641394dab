"""YAML by libyaml, where it is there: that a text is too large is told long before it could be read otherwise."""

from typing import Any

import yaml

from engy_mock.vocabulary.errors import MockError

IS_THERE = hasattr(yaml, "CSafeLoader")

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def check_limits(text: str, source: str, *, most: int, depth: int, no_anchors: str) -> None:
    """Raise MockError for one value too many, for too many around one, and for what stands for another.

    A text that is no YAML is looked at as far as it goes.
    """
    loader = Loader(text)
    around: list[bool | None] = []  # for each mapping that is open whether a key comes next, for each list None
    left = most
    try:
        while loader.check_event():
            event = loader.get_event()
            if isinstance(event, yaml.DocumentEndEvent):
                return
            if isinstance(event, yaml.CollectionEndEvent):
                around.pop()
            if not isinstance(event, yaml.NodeEvent):
                continue
            is_key = bool(around) and around[-1] is True
            left -= not is_key
            wrong = None
            if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
                wrong = no_anchors
            elif left < 0:
                wrong = f"more than {most} values"
            elif len(around) >= depth + isinstance(event, yaml.ScalarEvent):
                wrong = f"nested deeper than {depth} levels"
            if wrong is not None:
                where: Any = event.start_mark
                raise MockError(f"{source}, line {where.line + 1}: {wrong}")
            if around and around[-1] is not None:
                around[-1] = not is_key
            if isinstance(event, yaml.CollectionStartEvent):
                around.append(True if isinstance(event, yaml.MappingStartEvent) else None)
    except yaml.YAMLError:
        return
    finally:
        loader.dispose()
