"""The proof that a worker shows for an answer: made up, in the documented layout (E-146, E-147)."""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from engy_mock.vocabulary.generation import Choice
from engy_mock.vocabulary.seeds import digest, hex_id

BATCH = 32
"""So many output tokens share one proof."""

PROOF_BYTES = 258
_DIGESTS = -(-PROOF_BYTES // 32)


def proof(model: str, prompts: Sequence[Sequence[int]], choices: Sequence[Choice]) -> dict[str, Any]:
    """What is shown for all choices of an answer, one after the other, and the prompts that they were made of.

    Each proof stands for the model, the prompts and the output up to the end of its tokens.
    """
    root = hex_id(64, "model root", model)
    prompt_ids = [token for prompt in prompts for token in prompt]
    output_ids = [token for choice in choices for token in choice.output_ids]
    proofs: list[str] = []
    state = digest("proof", root, repr(prompt_ids))
    for start in range(0, len(output_ids), BATCH):
        state = digest(state, repr(output_ids[start : start + BATCH]))
        made_up = b"".join([digest(state, place) for place in range(_DIGESTS)])
        proofs.append(b64encode(made_up[:PROOF_BYTES]).decode())
    return {
        "scheme": "toploc",
        "model_root": root,
        "prompt_ids": prompt_ids,
        "output_token_ids": output_ids,
        "n_tokens": len(output_ids),
        "toploc": {"proofs": proofs, "topk": 128, "decode_batching_size": BATCH, "skip_prefill": True},
    }
