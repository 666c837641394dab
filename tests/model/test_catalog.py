"""Which models there are, by which names they are found, and what a test can put in their place."""

from dataclasses import replace

import pytest

from engy_mock.model.cards import CARDS
from engy_mock.model.catalog import Catalog
from engy_mock.model.engine import Engine
from engy_mock.model.templates import Rendered, bundled
from engy_mock.model.tokenizer import tokenizer_file
from engy_mock.vocabulary.errors import MockError, ModelNotFound
from tests.model.made import MODELS, answer, byte_level, chat, other


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("prefix", ["", "engy/", "openai/", "any thing/", "/"])
def test_find(model, prefix):
    """E-30: one leading segment is dropped, whatever it says."""
    assert Catalog().find(prefix + model).id == model


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("a/b/glm-5.2", id="E-30 a second segment"),
        pytest.param("glm-5.2/x", id="E-30 a segment behind"),
        pytest.param("GLM-5.2", id="E-30 case"),
        pytest.param("deepseek-v4-flash", id="E-31 undated"),
        pytest.param("qwen3.8-27b-bf16", id="E-31 preview"),
        pytest.param("glm-5.2 ", id="a space"),
        pytest.param("", id="empty"),
        pytest.param("/", id="slash"),
        pytest.param("glm", id="beginning"),
    ],
)
def test_unknown(name):
    """E-30, E-31: any other name is unknown; the error names it and the field."""
    with pytest.raises(ModelNotFound) as caught:
        Catalog().find(name)
    assert (caught.value.message, caught.value.param) == (f"model {name} not found", "model")


def test_long_names_are_cut():
    """E-196: no more than 200 characters of a name are repeated."""
    with pytest.raises(ModelNotFound) as caught:
        Catalog().find("x" * 10_000)
    assert caught.value.message == f"model {'x' * 197}... not found"


def test_unavailable():
    """E-32: a model that is marked unavailable is listed, yet not found; it can come back."""
    catalog = Catalog()
    catalog.mark("glm-5.2", is_available=False)
    assert "glm-5.2" in [card.id for card in catalog]
    for name in ("glm-5.2", "engy/glm-5.2"):
        with pytest.raises(ModelNotFound):
            catalog.find(name)
    catalog.mark("glm-5.2", is_available=True)
    assert catalog.find("glm-5.2") == CARDS[0]
    assert [card.id for card in catalog][:8] == list(MODELS)


def test_add():
    """A model can be put in, last in the list, or in the place of the one with its id, where that stood."""
    catalog = Catalog()
    mine = replace(CARDS[0], id="org/mine", context=1000, max_input=900, max_output=100)
    catalog.add(mine)
    assert list(catalog)[-1] is mine
    for name in ("org/mine", "vendor/org/mine"):
        assert catalog.find(name) is mine
    with pytest.raises(ModelNotFound):
        catalog.find("mine")
    catalog.add(replace(CARDS[1], context=5))
    assert [card.id for card in catalog][:8] == list(MODELS)
    assert catalog.find("glm-5.3").context == 5


def test_an_added_model_answers():
    """A model that a test puts in speaks with its own voice."""
    catalog = Catalog()
    catalog.add(replace(CARDS[0], id="mine", voice=replace(CARDS[0].voice, name="mine")))
    engine = Engine(catalog)
    own = answer(chat("Tell me about tea", model="mine"), engine=engine)
    assert own.finish_reason == "stop"
    assert own.text != answer(chat("Tell me about tea"), engine=engine).text


@pytest.mark.parametrize(
    ("model", "hint"),
    [("glm5.2", r"Did you mean 'glm-5\.2'\?"), ("kimi", r"Did you mean 'kimi-k3'\?"), ("zzz", r"model 'zzz'\.$")],
)
def test_did_you_mean(model, hint):
    """A test that names no model gets the nearest name."""
    for change in (
        lambda: Catalog().mark(model, is_available=False),
        lambda: Catalog().use(model, chat_template="{{ 1 }}"),
    ):
        with pytest.raises(MockError, match=hint):
            change()


@pytest.mark.parametrize("kind", ["path", "text", "tokenizer"])
def test_use_tokenizer(kind, tmp_path):
    """A tokenizer is given as a path, as the text of a path, or as one that is there; others keep theirs."""
    path = tmp_path / "tokenizer.json"
    path.write_text(byte_level(), encoding="utf-8")
    catalog = Catalog()
    catalog.use("glm-5.2", tokenizer={"path": path, "text": str(path), "tokenizer": other("byte level")}[kind])
    assert catalog.tokenizer(CARDS[0]).text_size == other("byte level").text_size
    assert catalog.tokenizer(CARDS[1]).text_size > 4000


@pytest.mark.slow
def test_use_tokenizer_later():
    """A tokenizer can be exchanged after a model has spoken; what it has learned is learned anew."""
    catalog = Catalog()
    before = catalog.language(CARDS[0])
    assert catalog.language(CARDS[0]) is before
    catalog.use("glm-5.2", tokenizer=other("byte level"))
    after = catalog.language(CARDS[0])
    assert after.tokenizer is other("byte level")
    assert after is not before


def test_use_template(tmp_path):
    """A template is given as a path, as the text of one, as text with a brace, or as a function."""
    path = tmp_path / "template.jinja"
    path.write_text("<|user|>{{ messages[0].content }}!", encoding="utf-8")
    catalog = Catalog()
    engine = Engine(catalog)
    assert catalog.template(CARDS[0]) is bundled

    def counted(template):
        catalog.use("glm-5.2", chat_template=template)
        return len(engine.prepare(chat("Hello"), CARDS[0]).prompts[0].tokens)

    assert counted(path) == counted(str(path)) == 3
    assert counted("{{ messages[0].content }}") == 1
    assert counted(lambda *_: Rendered([50] * 7)) == 7
    assert catalog.template(CARDS[1]) is bundled


@pytest.mark.parametrize(
    "wrong", [{"tokenizer": "nowhere.json"}, {"chat_template": "nowhere.jinja"}, {"chat_template": "{% if %}"}]
)
def test_unusable(wrong):
    """What cannot be used is refused at once, and nothing changes."""
    catalog = Catalog()
    with pytest.raises(MockError):
        catalog.use("glm-5.2", **wrong)
    assert catalog.template(CARDS[0]) is bundled
    assert catalog.tokenizer(CARDS[0]).text_size > 4000


def test_the_bundled_file():
    """The file that clients can count with is the vocabulary that the models have."""
    catalog = Catalog()
    catalog.use("glm-5.2", tokenizer=tokenizer_file())
    assert catalog.tokenizer(CARDS[0]).raw == catalog.tokenizer(CARDS[1]).raw


def test_version():
    """Each change raises the version, a look does not."""
    catalog = Catalog()
    seen = [catalog.version]
    catalog.find("glm-5.2")
    assert catalog.version == seen[0]
    for change in (
        lambda: catalog.add(CARDS[0]),
        lambda: catalog.mark("glm-5.2", is_available=True),
        lambda: catalog.use("glm-5.2", chat_template="{{ 1 }}"),
        lambda: catalog.use("glm-5.2", tokenizer=other("byte level")),
    ):
        change()
        seen.append(catalog.version)
    assert seen == sorted(set(seen))
