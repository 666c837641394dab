"""What stands out on the card, in sentences that a test holds against the results."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.card.columns import COLUMNS
from tests.card.result import Sign


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """A sentence about a kind, and the calls that it rests on: who ended how, with a whole answer or a stream.

    `word` is what the verdict found in some of them.
    """

    kind: str
    says: str
    whole: Mapping[Sign, str] | None = None
    streamed: Mapping[Sign, str] | None = None
    word: str = ""

    @property
    def calls(self) -> dict[tuple[str, str], Sign]:
        """The calls by column and form, with how they ended."""
        found: dict[tuple[str, str], Sign] = {}
        for place, named in ((0, self.whole), (1, self.streamed)):
            for sign, clients in (named or {}).items():
                for column in COLUMNS:
                    if column.client in clients.split():
                        found[column.name, column.forms[place]] = sign
        return found

    def __str__(self) -> str:
        word = f" (`{self.word}`)" if self.word else ""
        return f"`{self.kind}`{word}: {self.says}"


TELLING = (
    Telling(
        kind="truncate",
        word="truncated-accepted",
        says=(
            "a stream that ends in order, but in the middle of a sentence, is a whole answer for the "
            "official clients for Python, for openai for Node.js and for langchain-openai. litellm, "
            "@anthropic-ai/sdk and the AI SDK report it; pydantic-ai asks again."
        ),
        streamed={"silent": "OP ON AP SG LC", "reported": "LL AT AI", "recovered": "PA"},
    ),
    Telling(
        kind="cut",
        word="error-class-lost",
        says=(
            "when the connection breaks within a whole answer, the clients for Python and what is built "
            "on them ask again; those for Node.js throw a bare `TypeError`, and the AI SDK gives up."
        ),
        whole={"recovered": "OP AP SG LC LL PA", "raw": "ON AT", "gave-up": "AI"},
    ),
    Telling(
        kind="reset",
        says=(
            "when it breaks within a stream, nobody can ask again unseen. openai for Python reports it in"
            " its own words; anthropic and scale-gp-beta for Python let an exception of the HTTP library "
            "through."
        ),
        streamed={"reported": "OP LC LL PA AT AI", "raw": "AP SG ON"},
    ),
    Telling(
        kind="stall",
        word="no-read-timeout",
        says=(
            "a stream that falls silent hangs the clients for Node.js for ever: the timeout of OpenAI's and "
            "Anthropic's is one for the head of an answer, and the AI SDK has none unless it is given `chunkMs`, "
            "which is not done here. Those for Python have one for each read."
        ),
        streamed={"hung": "ON AT AI", "reported": "OP LC LL PA", "raw": "AP SG"},
    ),
    Telling(
        kind="stall-with-comments",
        says=(
            "with a comment now and then, which is a sign of life, no client of all these notices that nothing "
            "more is said."
        ),
        streamed={"hung": "OP ON AP AT SG LC LL PA AI"},
    ),
    Telling(
        kind="slow-headers",
        word="charged-twice",
        says=(
            "whoever has a read timeout asks again, and both answers are paid for: a timeout that is "
            "shorter than answers take costs money."
        ),
        whole={"recovered": "OP ON AP AT SG LC LL PA", "hung": "AI"},
    ),
    Telling(
        kind="quota-exhausted",
        word="retried-spent-quota",
        says=(
            "a quota that is spent stays spent, and its code says so; still everybody asks three times. Scale's "
            "/v5 has no such code, so scale-gp-beta cannot be blamed."
        ),
        whole={"reported": "OP ON AP AT LC LL PA AI"},
    ),
    Telling(
        kind="status-wrapped",
        word="retried-permanent-error",
        says=(
            "an error that a gateway has wrapped in a 5xx is tried again by its status, though its type says that "
            "the request was wrong."
        ),
        whole={"recovered": "OP ON AP AT LC LL PA AI"},
    ),
    Telling(
        kind="should-retry",
        word="retried-non-retryable",
        says=(
            "a refusal that says `x-should-retry: false` is final for the official clients; the AI SDK "
            "does not look."
        ),
        whole={"recovered": "AI", "reported": "OP ON AP AT"},
    ),
    Telling(
        kind="200-html",
        word="silent-acceptance",
        says=(
            "a page of HTML under a 200 is handed on as an answer by all official clients, as a text that"
            " has none of the fields; the frameworks report it."
        ),
        whole={"silent": "OP ON AP AT SG", "gave-up": "AI LL"},
    ),
    Telling(
        kind="200-error-body",
        word="silent-acceptance",
        says=("an error in the body of a 200 is an answer too, for the official clients."),
        whole={"silent": "OP ON AP AT SG"},
    ),
    Telling(
        kind="retry-block",
        word="good-answer-lost",
        says=(
            "a `retry:` line, which the format of event streams has, breaks a healthy stream for openai "
            "for Python and all that is built on it."
        ),
        streamed={"raw": "OP SG LC", "reported": "LL PA", "answered": "ON"},
    ),
    Telling(
        kind="role-missing",
        word="good-answer-lost",
        says=("a message without its role is no message for langchain-openai and pydantic-ai; nobody else minds."),
        whole={"raw": "LC", "reported": "PA"},
    ),
    Telling(
        kind="comment-as-data",
        word="malformed-chunk-ignored",
        says=(
            "an event that is no JSON is left out without a word by Anthropic's clients, and ends a "
            "stream with a bare `JSONDecodeError` or `SyntaxError` in OpenAI's."
        ),
        streamed={"answered": "AP AT", "raw": "OP ON"},
    ),
)
"""The sentences."""
