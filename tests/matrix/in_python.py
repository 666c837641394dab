"""The official clients for Python, as they come but for retries, patience and whom they trust."""

import ssl
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cache
from typing import Any

import anthropic
import openai
import scale_gp_beta

from tests.matrix.job import Address
from tests.matrix.outcome import Heard, failed

Said = dict[str, Any]
Fields = Mapping[str, Any]

FAMILIES: Mapping[str, type[Exception]] = {
    "OP": openai.OpenAIError,
    "AP": anthropic.AnthropicError,
    "SG": scale_gp_beta.SGPClientError,
}
"""The class that all exceptions of a client's own descend from."""


@cache
def trust(authority: str) -> ssl.SSLContext:
    """Whom clients trust: making this anew for each takes longer than all else that they do."""
    context = ssl.create_default_context()
    if authority:
        context.load_verify_locations(cadata=authority)
    return context


def opened(client: str, address: Address) -> Any:
    """A client that has never connected before."""
    rest: dict[str, Any] = {"timeout": address.read_seconds, "api_key": address.api_key}
    if address.retries is not None:
        rest["max_retries"] = address.retries
    verify = trust(address.authority)
    if client == "OP":
        web = openai.DefaultHttpxClient(verify=verify)
        return openai.OpenAI(base_url=f"{address.origin}/v1", http_client=web, **rest)
    if client == "AP":
        return anthropic.Anthropic(
            base_url=address.origin, http_client=anthropic.DefaultHttpxClient(verify=verify), **rest
        )
    own = scale_gp_beta.DefaultHttpxClient(verify=verify)
    return scale_gp_beta.SGPClient(base_url=address.origin, account_id="an account", http_client=own, **rest)


def ask(
    client: str,
    endpoint: str,
    form: str,
    fields: Fields,
    address: Address,
    between: Callable[[], object],
    calls: int,
) -> Heard:
    """What the program gets from the last of so many calls; `between` them something may happen."""
    with closing(opened(client, address)) as own:
        for call in range(calls):
            if call:
                between()
            try:
                answer = FORMS[form](own, endpoint, _sendable(fields))
            except Exception as error:
                heard = failed(error, FAMILIES[client])
            else:
                heard = Heard(said=_dumped(answer))
    return heard


def _sendable(fields: Fields) -> Said:
    """The fields, with those apart of which no official client knows."""
    known = {name: value for name, value in fields.items() if name != "provider"}
    return {**known, "extra_body": {"provider": fields["provider"]}} if "provider" in fields else known


def _resource(client: Any, endpoint: str) -> Any:
    return client.chat.completions if endpoint == "chat" else getattr(client, endpoint)


def _raw(client: Any, endpoint: str, fields: Said) -> Said:
    with _resource(client, endpoint).create(stream=True, **fields) as stream:
        return {"events": list(stream)}


FINAL = {"chat": "get_final_completion", "messages": "get_final_message", "responses": "get_final_response"}


def _helper(client: Any, endpoint: str, fields: Said) -> Said:
    with _resource(client, endpoint).stream(**fields) as stream:
        return {"whole": getattr(stream, FINAL[endpoint])()}


def _whole(client: Any, endpoint: str, fields: Said) -> Said:
    return {"whole": _resource(client, endpoint).create(**fields)}


FORMS: Mapping[str, Callable[[Any, str, Said], Said]] = {"raw": _raw, "helper": _helper, "whole": _whole}


def _dumped(answer: Said) -> Said:
    """The models of the client as plain values."""
    if "events" in answer:
        return {"events": [_plain(event) for event in answer["events"]]}
    return {"whole": _plain(answer["whole"])}


def _plain(value: Any) -> Any:
    return value.to_dict(warnings=False) if hasattr(value, "to_dict") else value
