"""The catalogue: every way in which the mock can misbehave, one small class each, in files by what they touch."""

from engy_mock.scripting.faults import (
    compression,
    connections,
    doors,
    failing,
    framing,
    redirects,
    sse_blocks,
    sse_bytes,
    sse_lines,
    sse_marks,
    sse_names,
    sse_order,
    sse_writes,
    stalls,
    transport,
    uploads,
)

__all__ = [
    "compression",
    "connections",
    "doors",
    "failing",
    "framing",
    "redirects",
    "sse_blocks",
    "sse_bytes",
    "sse_lines",
    "sse_marks",
    "sse_names",
    "sse_order",
    "sse_writes",
    "stalls",
    "transport",
    "uploads",
]
