"""The parts of an answer that chat and completions have in common."""

from typing import Any

from engy_mock.dialects.dialect import Envelope
from engy_mock.dialects.surfaces import Surface
from engy_mock.vocabulary.events import Receipt
from engy_mock.vocabulary.generation import Usage

_ID_DIGITS = 24


def answer_id(prefix: str, receipt: Receipt) -> str:
    """The id of an answer: a prefix and the beginning of the request id (E-114)."""
    return prefix + receipt.request_id[:_ID_DIGITS]


def usage(counts: Usage, surface: Surface) -> dict[str, Any]:
    """The token counts, always complete (E-110, S-45)."""
    sums = {
        "prompt_tokens": counts.prompt_tokens,
        "completion_tokens": counts.completion_tokens,
        "total_tokens": counts.total_tokens,
    }
    if surface.shape == "engy":
        return {
            **sums,
            "prompt_tokens_details": {"cached_tokens": counts.cached_tokens},
            "completion_tokens_details": {"reasoning_tokens": counts.reasoning_tokens},
        }
    return {
        **sums,
        "completion_tokens_details": {
            "accepted_prediction_tokens": 0,
            "audio_tokens": 0,
            "reasoning_tokens": counts.reasoning_tokens,
            "rejected_prediction_tokens": 0,
        },
        "prompt_tokens_details": {"audio_tokens": 0, "cached_tokens": counts.cached_tokens},
    }


def fingerprint(surface: Surface) -> dict[str, Any]:
    """`system_fingerprint`, on surfaces that have one."""
    return {} if surface.fingerprint is None else {"system_fingerprint": surface.fingerprint}


def receipt_fields(envelope: Envelope) -> dict[str, Any]:
    """`x_engy`, and `proof` behind it if one was demanded; nothing on surfaces without receipts."""
    receipt = envelope.receipt
    fields: dict[str, Any] = {}
    if envelope.surface.has_receipt:
        fields["x_engy"] = {"request_id": receipt.request_id, "charged_micro": receipt.charged_micro}
        if receipt.proof is not None:
            fields["proof"] = receipt.proof
    return fields
