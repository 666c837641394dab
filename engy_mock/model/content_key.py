"""What stands for everything that shapes the content of an answer (E-13)."""

from collections.abc import Sequence
from functools import lru_cache

from engy_mock.model.cards import ModelCard
from engy_mock.model.phrases import packed
from engy_mock.model.sampling import Knobs
from engy_mock.vocabulary import json
from engy_mock.vocabulary.request import GenerationRequest
from engy_mock.vocabulary.seeds import digest


def content_key(
    seed: int, request: GenerationRequest, card: ModelCard, context: Sequence[int], knobs: Knobs
) -> bytes:
    """The digest of the mock's seed, the model, the tokens before the answer, and the wishes that count."""
    form, choice = request.response_format, request.tool_choice
    cuts = (knobs.temperature, knobs.top_p, knobs.top_k, knobs.min_p)
    shifts = (knobs.presence_penalty, knobs.frequency_penalty, tuple(sorted(knobs.logit_bias.items())))
    # Whether calls may be parallel matters where one is made, which is where one has to be.
    is_parallel = request.parallel_tool_calls or choice.mode not in ("required", "named")
    rest = (card.speaker, request.sampling.seed, choice.mode, choice.name, is_parallel, form.type)
    schema = b"" if form.schema is None else json.write(form.schema)
    return digest("content", seed, packed(context), _shape(*cuts, *shifts, *rest), schema)


@lru_cache(maxsize=256, typed=True)
def _shape(*knobs: object) -> str:
    """The knobs of a request as text: most requests have the same."""
    *cuts, presence, frequency, bias = knobs[:7]
    return repr((tuple(cuts), (presence, frequency, list(bias)), knobs[7:]))  # type: ignore[call-overload]
