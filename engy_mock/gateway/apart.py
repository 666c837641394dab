"""What in the head of a call sets it apart from others that ask the same."""

from engy_mock.dialects import routes
from engy_mock.gateway.direction import SCENARIO, asked_of
from engy_mock.scripting.script import Script
from engy_mock.vocabulary.seeds import digest
from engy_mock.vocabulary.wire import Call


def apart(call: Call, script: Script, *more: str) -> bytes:
    """What stands for all in a head that service or rules may answer otherwise; empty for what is usual.

    Who is set apart is counted apart, so that it does not matter who of them comes first (E-14). That is what
    rules look for in a head, the scenario that is asked for, and `more`: another account than the usual one, or
    what the head was refused for.
    """
    looks, scenario, parts = script.looks_at_heads(), call.headers.get(SCENARIO), list(more)
    if looks:
        asked = asked_of(call, routes.speaker(call.path))
        parts += [f"{one.word} {one.value!r}" for one in looks if one.check(asked) is None]
    if scenario is not None:
        parts += [SCENARIO, scenario]
    return digest(*parts) if parts else b""
