"""What the parameters of faults mean, for editors and for `help`: a row for a word, or for one of a kind."""

import re
from collections.abc import Mapping

COMMON: Mapping[str, str] = {
    "after": "So many pieces of the answer (tokens of text, reasoning and tool calls) get through first.",
    "at": "Where it is cut.",
    "body": "The body of the refusal.",
    "count": "How many.",
    "finish": "The finish reason that is given.",
    "form": "How it is written.",
    "limit": "So many may be answered at once.",
    "place": "Where it stands.",
    "rate": "The share of the answers of its rule that are hit, 0 to 1: the same ones in each run.",
    "requests": "After so many requests.",
    "seconds": "So many seconds of mock time; left out where there is no end.",
    "size": "So many bytes.",
    "status": "The status; left out, it is the refusal's own.",
    "tokens": "After so many tokens.",
    "value": "What is said.",
}
"""What a word means for most of the kinds that take it."""

OF_ONE_KIND: Mapping[tuple[str, str], str] = {
    ("200-error-body", "status"): "The status whose error is told; left out, the refusal's own, or 504.",
    ("413-plain", "cause"): "What was too large: the body, or the media in it.",
    ("429-forever", "value"): "The hint, in seconds.",
    ("bad-chunk-size", "after"): "So many pieces of the answer get through before the chunk that is no chunk.",
    ("brown-out", "requests"): "In so many requests the share of failures goes from one end to the other.",
    ("brown-out", "status"): "The status of the failures.",
    ("bytewise", "size"): "So many bytes go into a write.",
    ("clock-skew", "seconds"): "By so many seconds the clock is ahead, or behind if they are negative.",
    ("cold-start", "seconds"): "For so many seconds of mock time there is no answer.",
    ("content-filter", "after"): "So many pieces of the answer get through; left out, half of the text.",
    ("content-filter-error", "place"): "Whether it is a status, or the first event of a stream.",
    ("content-type-odd", "value"): "No type, an unknown charset, or plain text.",
    ("created-odd", "value"): "What is odd about the time: a fraction, milliseconds, 0, or null.",
    ("denied-as", "status"): "The status of the denial.",
    ("denied-as", "what"): "What is denied: the key, or the model.",
    ("dribble", "seconds"): "So many seconds of mock time lie between two writes.",
    ("dribble", "size"): "So many bytes go into a write.",
    ("drifting-logprobs", "by"): "By so much two servers differ at most.",
    ("drifting-logprobs", "servers"): "So many servers there are.",
    ("early-response", "status"): "The status of the refusal.",
    ("empty-error", "status"): "The status; left out, the refusal's own, or 502.",
    ("fail", "status"): "The status that the failure belongs to.",
    ("finish-odd", "value"): "The word that is given as the finish reason.",
    ("flapping", "pattern"): "The statuses, in turn; 200 is an answer.",
    ("giant-event", "size"): "So many MiB the event has.",
    ("headers-huge", "size"): "So many bytes the header has.",
    ("headers-many", "count"): "So many headers there are.",
    ("html-error", "status"): "The status; left out, the refusal's own, or 502.",
    ("http10", "after"): "So many pieces get through before the connection ends; left out, all of them.",
    ("idle-close", "requests"): "Behind so many answers the connection is broken when it is used again.",
    ("idle-close", "seconds"): "After so many idle seconds the connection is broken when it is used again.",
    (
        "keep-alive-mismatch",
        "seconds",
    ): "After so many idle seconds the connection is broken when it is used again.",
    ("key-concurrency", "limit"): "So many requests of one key may be answered at once.",
    ("key-revoked", "requests"): "For so many requests the key is accepted.",
    ("length-mid-json", "after"): "So many pieces of the answer get through; left out, half of the text.",
    ("limit-headers-drift", "limit"): "The limit that the headers name.",
    ("many-per-write", "events"): "So many events go into a write.",
    ("message-delta-bare", "lacks"): "What is missing: the token counts, the reason, or both.",
    ("model-vanishes", "times"): "For so many requests there is no such model; left out, from now on.",
    ("named-events", "name"): "The name of the events.",
    ("no-worker", "hint"): "Whether there is a hint to try again.",
    ("odd-characters", "which"): "Which characters: all of them, or one by its name.",
    ("overloaded", "place"): "Whether it is a status, or the first event of a stream.",
    ("ping-storm", "count"): "So many pings come between two events.",
    ("quota-refill", "requests"): "So many requests are allowed in each span.",
    ("quota-refill", "seconds"): "So many seconds of mock time a span has.",
    ("quota-refill", "tokens"): "So many tokens are allowed in each span.",
    ("reason-phrase", "text"): "The phrase behind the status; empty for none.",
    (
        "reasoning-elsewhere",
        "place",
    ): "Where the reasoning is told: in `reasoning`, or marked in the text.",
    ("refusal-in-stream", "status"): "The status whose refusal is told; left out, the refusal's own, or 429.",
    ("refused-window", "seconds"): "For so many seconds of the wall the port is closed.",
    ("relayed-worker-error", "body"): "What the worker said.",
    ("replayed-stream", "after"): "So many pieces get through before it begins anew; left out, half of them.",
    ("request-id-odd", "form"): "No id, two of them, or different ones.",
    ("response-failed", "code"): "The code of the error.",
    (
        "response-incomplete",
        "after",
    ): "So many pieces, all of them reasoning, use the budget up.",
    ("retry-after", "form"): "How the hint is written.",
    ("retry-after", "status"): "The status; left out, the refusal's own, or 429.",
    ("retry-differs", "after"): "So many pieces get through the first time; left out, half of the answer.",
    ("retryable-status", "status"): "The status of the refusal.",
    ("route-missing", "body"): "Whether the refusal is JSON or an HTML page.",
    ("should-retry", "status"): "The status; left out, the refusal's own, or 400 for true and 429 for false.",
    ("should-retry", "value"): "Whether the client is told to try again.",
    ("slow-tokenizer", "per"): "So many seconds of mock time for each token of the prompt.",
    ("sse-comments", "where"): "Where the comments stand.",
    ("status-wrapped", "outer"): "The status of the refusal.",
    ("stream-refused", "model"): "The model whose streams are refused; left out, those of any.",
    ("tool-args-split", "at"): "Where the arguments are cut: at every byte, in an escape, or in a surrogate pair.",
    ("truncated-error", "status"): "The status; left out, the refusal's own, or 502.",
    ("utf8-split", "at"): "So many bytes a character has that is split; left out, any that has more than one.",
    ("warm-up", "requests"): "So many answers are late.",
    ("warm-up", "seconds"): "So many seconds of mock time they are late.",
    ("worker-gone", "wish"): "The wish that is not met any more; left out, any.",
    ("wrong-method-or-type", "status"): "405 for the method, 406 for what is accepted, 415 for what is sent.",
}
"""What a word means for one kind, where neither the common meaning nor a sentence of the kind says so."""


def meaning(kind: str, told: str, word: str) -> str:
    """What a parameter of a kind that is `told` so means, in a sentence; empty if nothing is known of it."""
    own = OF_ONE_KIND.get((kind, word))
    if own is not None:
        return own
    sentences = re.split(r"(?<=[.;])\s", told)
    said = [sentence for sentence in sentences if re.search(rf"`{re.escape(word)}`", sentence)]
    if said and word != "rate":
        return said[0][:1].upper() + said[0][1:].rstrip(";.") + "."
    return COMMON.get(word, "")
