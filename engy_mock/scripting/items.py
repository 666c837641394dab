"""The function calls in documents of responses, wherever they stand: in events, and in a whole response."""

from collections.abc import Iterator

from engy_mock.scripting.sse import Document

DELTA = "response.function_call_arguments.delta"
DONE = "response.function_call_arguments.done"


def function_calls(document: Document) -> Iterator[Document]:
    """The items that call a function."""
    response = document.get("response")
    around = response if isinstance(response, dict) else document
    output = around.get("output")
    for item in (document.get("item"), *(output if isinstance(output, list) else ())):
        if isinstance(item, dict) and item.get("type") == "function_call":
            yield item


def whole_arguments(document: Document) -> Iterator[Document]:
    """The objects with the arguments of a call, as far as they have been told."""
    yield from function_calls(document)
    if document.get("type") == DONE:
        yield document


def ended(document: Document) -> Document | None:
    """The response in a document that tells how it ended."""
    response = document.get("response", document)
    if isinstance(response, dict) and response.get("object") == "response":
        return None if response.get("status") in (None, "queued", "in_progress") else response
    return None
