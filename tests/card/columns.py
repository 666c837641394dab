"""The columns of the card: which client asks on which route, whole and streamed, in its usual way."""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from tests.matrix import columns as matrix
from tests.matrix.columns import Column

PACKAGES: Mapping[str, tuple[str, ...]] = {
    "LC": ("langchain-openai",),
    "LL": ("litellm",),
    "PA": ("pydantic-ai-slim",),
}
"""What each framework is called where it is installed from; the others are those of the matrix."""

LIBRARIES: Mapping[str, str] = {
    "OP": "openai for Python",
    "ON": "openai for Node.js",
    "AP": "anthropic for Python",
    "AT": "@anthropic-ai/sdk for Node.js",
    "SG": "scale-gp-beta for Python",
    "LC": "langchain-openai",
    "LL": "litellm",
    "PA": "pydantic-ai",
    "AI": "AI SDK with @ai-sdk/openai-compatible",
}

COLUMNS = (
    Column(name="OP chat", client="OP", endpoint="chat", forms=("whole", "raw")),
    Column(name="OP responses", client="OP", endpoint="responses", forms=("whole", "raw")),
    Column(name="ON chat", client="ON", endpoint="chat", forms=("whole", "raw")),
    Column(name="AP messages", client="AP", endpoint="messages", forms=("whole", "helper")),
    Column(name="AT messages", client="AT", endpoint="messages", forms=("whole", "helper")),
    Column(name="SG chat", client="SG", endpoint="chat", surface="v5", forms=("whole", "raw")),
    Column(name="LC chat", client="LC", endpoint="chat", forms=("whole", "stream")),
    Column(name="LL chat", client="LL", endpoint="chat", forms=("whole", "stream")),
    Column(name="PA chat", client="PA", endpoint="chat", forms=("whole", "stream")),
    Column(name="AI chat", client="AI", endpoint="chat", forms=("whole", "stream")),
)


def title(column: Column, version: str = "") -> str:
    """What a column is called where people read it; the route stands with clients that have two."""
    routes = [one for one in COLUMNS if one.client == column.client]
    words = [LIBRARIES[column.client], version, f"({column.endpoint})" if len(routes) > 1 else ""]
    return " ".join([word for word in words if word])


def installed(client: str) -> str:
    """The version of a client on this machine; empty if it is not there."""
    if client not in PACKAGES:
        return matrix.installed(client)
    try:
        return " + ".join(version(package) for package in PACKAGES[client])
    except PackageNotFoundError:
        return ""
