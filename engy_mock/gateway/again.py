"""The answer that a request might have got as well: for faults that need another one."""

from collections.abc import Callable
from dataclasses import replace

from engy_mock.model.catalog import Catalog
from engy_mock.model.engine import Engine
from engy_mock.model.prepared import Prepared
from engy_mock.vocabulary.generation import Generation
from engy_mock.vocabulary.request import Sampling
from engy_mock.vocabulary.seeds import digest


def another(catalog: Catalog, seed: int, prepared: Prepared, cached_tokens: int) -> Callable[[str], Generation]:
    """Makes of each text another answer to the same prompt, as another seed would have."""

    def generate(salt: str) -> Generation:
        other_seed = int.from_bytes(digest("salt", seed, salt)[:6], "big")
        made = Engine(catalog, other_seed).generate(_warmed(prepared))
        return replace(made, usage=replace(made.usage, cached_tokens=cached_tokens)) if cached_tokens else made

    return generate


def _warmed(prepared: Prepared) -> Prepared:
    """The same request with something left to chance, if nothing is."""
    request = prepared.request
    if request.sampling.temperature != 0 and request.sampling.top_k != 1:
        return prepared
    sampling = Sampling(temperature=1.0, seed=request.sampling.seed, logit_bias=request.sampling.logit_bias)
    return replace(prepared, request=replace(request, sampling=sampling))
