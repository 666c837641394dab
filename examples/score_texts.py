"""Which of these sentences does the model find likeliest? Average log probability per token, best first."""

from openai import OpenAI

from engy_mock import EngyMock

SENTENCES = (
    "The capital of France is Paris.",
    "The capital of France is Berlin.",
    "Paris the is France of capital.",
    "Xq zv! kkr pwt?",
)


def average_logprob(client: OpenAI, text: str) -> float:
    """The mean over all tokens but the first, which nothing precedes."""
    answer = client.completions.create(
        model="glm-5.2", prompt=text, max_tokens=1, temperature=0, echo=True, logprobs=1
    )
    logprobs = answer.choices[0].logprobs
    assert logprobs is not None
    assert logprobs.token_logprobs is not None
    # The last entry belongs to the one token that had to be generated.
    values = logprobs.token_logprobs[1:-1]
    return sum(values) / len(values)


def main() -> None:
    """Print the sentences, likeliest first."""
    with EngyMock() as engy, OpenAI(base_url=engy.base_url, api_key=engy.api_key) as client:
        scores = {text: average_logprob(client, text) for text in SENTENCES}
    for text, score in sorted(scores.items(), key=lambda item: -item[1]):
        print(f"{score:8.3f}  {text}")


if __name__ == "__main__":
    main()
