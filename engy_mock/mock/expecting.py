"""What a test says of the requests that its client should have sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engy_mock.vocabulary.errors import MockError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Unpack

    from engy_mock.books.entry import Entry
    from engy_mock.gateway import Gateway
    from engy_mock.scripting.matchers import Words
    from engy_mock.vocabulary.request import GenerationRequest


class Expecting:
    """Looks at the journal for a test."""

    gateway: Gateway

    def asked(
        self,
        *functions: Callable[[GenerationRequest], object],
        times: int | None = None,
        at_least: int | None = None,
        at_most: int | None = None,
        **words: Unpack[Words],
    ) -> list[Entry]:
        """The exchanges that fit the words of `when`; at least one, unless a number is given.

        `engy.asked(says="France", times=2)`. Those that were refused count, as far as their bodies can be read.
        Raises UnmetExpectation, which names the nearest others and why they do not fit, or why nobody can know.
        """
        from engy_mock.verdict.expectations import found

        return found(self.gateway.journal, functions, words, times=times, at_least=at_least, at_most=at_most)

    def asked_in_order(self, *steps: Mapping[str, object]) -> list[Entry]:
        """Exchanges that fit these words of `when` one after the other; raises UnmetExpectation."""
        from engy_mock.verdict.expectations import found_in_order

        return found_in_order(self.gateway.journal, steps)

    def check_prompts(
        self,
        *,
        has: str | Sequence[str] = (),
        lacks: str | Sequence[str] = (),
        max_prompt_tokens: int | None = None,
        keeps_prefix: bool = False,
    ) -> None:
        """Look at what every request tells the model, also of those that were refused; raises UnmetExpectation.

        `has` and `lacks` are texts that must or must not be in a prompt: in the turns, in calls and results of
        tools, and in the names, descriptions and parameters of tools on offer; as it was sent, or as JSON is read,
        whose escapes hide nothing. What no template makes a prompt of
        is not looked at: names of speakers, past reasoning, the schema of `response_format`, `stop`, `metadata`
        and `user`; `asked(field={...})` sees these. Of a request that breaks a rule all that stands in its body
        counts for `lacks`; a body that is no JSON object fails whatever depends on it. `max_prompt_tokens` is a
        budget. With `keeps_prefix` each turn has to begin with what the turn before sent, as prompt caches want
        it, tools and effort of reasoning included, as these stand at the beginning of a prompt; requests to one
        model that begin in the middle of a conversation need a `prompt_cache_key` of their own.
        """
        from engy_mock.verdict.prefixes import check_stable_prefix
        from engy_mock.verdict.prompts import check

        if keeps_prefix is not True and max_prompt_tokens is None and has in ((), []) and lacks in ((), []):
            raise MockError(
                "check_prompts looks for nothing: it takes has, lacks, max_prompt_tokens, keeps_prefix"
            )
        gateway = self.gateway
        check(gateway.journal, gateway.catalog, has=has, lacks=lacks, max_prompt_tokens=max_prompt_tokens)
        if keeps_prefix:
            check_stable_prefix(gateway.journal, gateway.catalog)

    def verify(self) -> None:
        """Raise UnmetExpectation for a rule of this test that was not used (with `times`: not so often).

        Also for a fault that found no place, and for whatever failed in the mock or in a function of a rule.
        """
        from engy_mock.verdict.expectations import verified

        verified(self.gateway.script.rules, self.gateway.journal, self.gateway.defects)
