"""The text that the pretend model has read: every line keeps its form, and questions lead to their topics."""

import re
import string
from collections import Counter

import pytest

from engy_mock.model import corpus as corpora
from engy_mock.model.corpus import read, readings, segments
from engy_mock.model.phrases import OPTION_WEIGHTS
from engy_mock.vocabulary.errors import MockError
from tests.model.made import all_readings

CORPUS = corpora.bundled()
SENTENCES = CORPUS.all_sentences()
TOPICS = (*CORPUS.topics, CORPUS.general)
CHOICES = [(sentence, part) for sentence in SENTENCES for part in segments(sentence) if len(part) > 1]


def test_every_topic_speaks():
    """A topic has a line that names the question, more reasoning, and sentences for the longest answer."""
    assert len({topic.name for topic in TOPICS}) == len(TOPICS)
    for topic in TOPICS:
        assert len(topic.reasoning) >= 4, topic.name
        # Six sentences, each chosen among three.
        assert len(topic.sentences) >= 12, topic.name
        assert not topic.is_closing
    assert len(CORPUS.general.sentences) >= 18


def test_every_fact_speaks():
    """A fact has one line of reasoning and one sentence, which is the whole answer."""
    for fact in CORPUS.facts:
        assert (len(fact.topic.reasoning), len(fact.topic.sentences), fact.topic.is_closing) == (1, 1, True)
        assert fact.key in fact.words
        assert "{" not in fact.topic.reasoning[0] + fact.topic.sentences[0]


def test_choices():
    """A choice has two to four options, none of them empty or the beginning of another."""
    for sentence, options in CHOICES:
        assert 2 <= len(options) <= 4, sentence
        assert all(options), sentence
        assert len(options) in OPTION_WEIGHTS
        assert not [(a, b) for a in options for b in options if a is not b and b.startswith(a)], sentence


def test_choices_stand_between_words():
    """A choice begins and ends at the border of a word, so that its tokens are those of the whole sentence."""
    for sentence in SENTENCES:
        for match in re.finditer(r"\[[^\]]*\]", sentence):
            before, after = sentence[: match.start()][-1:], sentence[match.end() :][:1]
            assert before in ("", " ", '"', "-"), sentence
            assert after in " ,.;:?!'\"-", sentence
            assert all(option == option.strip() for option in match.group()[1:-1].split("|")), sentence


def test_sentences():
    """A sentence is printable ASCII on one line, begins like one and ends like one, and nothing is left open."""
    for sentence in SENTENCES:
        assert set(sentence) <= set(string.printable) - set("\t\n\r\v\f"), sentence
        assert sentence == sentence.strip()
        assert "  " not in sentence
        for reading in readings(sentence):
            assert reading[-1] in ".?!", sentence
            assert reading[0].isupper() or reading[0].isdigit() or reading[0] == '"', sentence
            assert not set("[]|{}@=") & set(reading), sentence
        assert not sentence.startswith("? ")


def test_no_sentence_twice():
    """No sentence can be read in the same way as another."""
    counts = Counter(text for sentence in set(SENTENCES) for text in all_readings(sentence))
    assert [text for text, times in counts.items() if times > 1] == []
    assert len(set(SENTENCES)) == len(SENTENCES)


def test_own_words():
    """Most topics can be reached by several words, each topic by at least one."""
    reached = Counter(topic.name for topic in CORPUS.by_word.values())
    assert {topic.name for topic in CORPUS.topics} <= set(reached)
    assert all(word == word.lower() for word in CORPUS.by_word)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("How do I brew coffee?", "coffee"),
        ("COFFEE!", "coffee"),
        ("coffee or tea? Tea, rather: green tea.", "tea"),
        ("What is the capital of France?", "capital France"),
        ("France: tell me its CAPITAL", "capital France"),
        ("the capital of Freedonia", None),
        ("I was in France with coffee", "coffee"),
        ("xyzzy", None),
        ("", None),
    ],
)
def test_topic(question, name):
    """A question is about a fact whose words it has, else about the topic that it names most often."""
    topic = CORPUS.topic(question)
    assert (topic.name if topic is not None else None) == name


@pytest.mark.parametrize(
    ("sentence", "parts", "expected"),
    [
        ("Plain.", [("Plain.",)], ["Plain."]),
        ("A [b|c] d.", [("A ",), ("b", "c"), (" d.",)], ["A b d.", "A c d."]),
        ("[A|B] [c|d|e].", [("A", "B"), (" ",), ("c", "d", "e"), (".",)], ["A c.", "B d.", "A e."]),
    ],
)
def test_readings(sentence, parts, expected):
    """A sentence has as many readings as its widest choice has options, and each option is in one of them."""
    assert segments(sentence) == parts
    assert readings(sentence) == expected


SMALL = """
# A comment.
@topic tea: tea, teapot
? About tea.
Tea is [hot|warm].
@topic *:
? About anything.
It depends.
@facts colour: colour, {a}
? The colour of {a}.
{a} is {b}.
= Fresh Snow / white
= Coal / black
"""


def test_read():
    """A file has topics with reasoning and sentences, and families of facts in rows."""
    corpus = read(SMALL)
    assert [topic.name for topic in corpus.topics] == ["tea"]
    assert corpus.topics[0].reasoning == ("About tea.",)
    assert corpus.topics[0].sentences == ("Tea is [hot|warm].",)
    assert corpus.by_word == {"tea": corpus.topics[0], "teapot": corpus.topics[0]}
    assert corpus.general.sentences == ("It depends.",)
    snow, coal = corpus.facts
    assert (snow.key, snow.words) == ("snow", frozenset({"colour", "fresh", "snow"}))
    assert snow.topic.sentences == ("Fresh Snow is white.",)
    assert coal.topic.reasoning == ("The colour of Coal.",)
    assert corpus.topic("the colour of fresh snow") is snow.topic
    assert corpus.all_sentences()[-2:] == ["The colour of Coal.", "Coal is black."]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Tea is hot.", "corpus line 1: 'Tea is hot.' stands before the first @topic"),
        ("\n# Tea\n? Why?", "corpus line 3"),
        ("@topic tea: tea\nTea is hot.", r"no '@topic \*:'"),
        ("", r"no '@topic \*:'"),
    ],
)
def test_read_errors(text, message):
    """Text that belongs to no topic is named with its line, and a topic for everything else must be there."""
    with pytest.raises(MockError, match=message):
        read(text)
