"""The language in which a question is written, and the one it asks for in a script without spaces."""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from engy_mock.model.answers.lexicon import bag
from engy_mock.model.answers.material import tongues

_SCRIPTS: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (name, re.compile(telling), re.compile(letters))
    for name, telling, letters in (
        ("japanese", "[\u3040-\u30ff]", "[\u3040-\u30ff\u4e00-\u9fff]"),
        ("korean", "[\uac00-\ud7a3]", "[\uac00-\ud7a3]"),
        (
            "chinese",
            # Ideographs alone may be Japanese: these are not, or hardly ever.
            "[你您妳她它们們这這哪什么麼吗嗎呢吧怎谁说說让很没从为对时问题请语释绍诉谢帮简单过开关头东车书马样应该发电业会写给"
            "长门间过还做个]|是什|的|表格|列表",
            "[\u4e00-\u9fff]",
        ),
        ("ukrainian", "[\u0404\u0406\u0407\u0454\u0456\u0457\u0490\u0491]", "[\u0400-\u04ff]"),
        ("russian", "[\u0400-\u04ff]", "[\u0400-\u04ff]"),
        ("greek", "[\u0370-\u03ff]{3}", "[\u0370-\u03ff]"),
        ("hebrew", "[\u0590-\u05ff]{2}", "[\u0590-\u05ff]"),
        ("arabic", "[\u0600-\u06ff]{2}", "[\u0600-\u06ff]"),
        ("hindi", "[\u0900-\u097f]{2}", "[\u0900-\u097f]"),
        ("thai", "[\u0e00-\u0e7f]{2}", "[\u0e00-\u0e7f]"),
    )
)
"""Names of languages, what shows that a text is in one, and its letters; the first that fits counts."""

ENGLISH = bag(
    "the is are what which who why how where when does of and with you this that it my please can could would "
    "should there mean means meaning word from has have about between"
)
"""Words that show that a question is in English, whatever it quotes."""

_BY_NAME: Mapping[str, str] = {
    "german": "ドイツ|德|독일|немецк",
    "french": "フランス|法|프랑스|французск",
    "spanish": "スペイン|西班牙|스페인|испанск",
    "italian": "イタリア|意大利|이탈리아|итальянск",
    "portuguese": "ポルトガル|葡萄牙|포르투갈|португальск",
    "russian": "ロシア|俄|러시아|русск",
    "chinese": "中国|中|중국|китайск",
    "japanese": "日本|日|일본|японск",
    "korean": "韓国|韩|한국|корейск",
    "english": "英|영|английск",
}
"""How languages are called in other scripts, without what stands behind."""

_ASKED = tuple(
    (
        name,
        re.compile(
            rf"(?:{names})語で(?!は|の)|(?<!不)(?<!不要)(?<!别)(?<!請勿)[用以](?:{names})[语文語]"
            rf"|(?:{names})어로|\bпо-(?:{names})и\b|\bна (?:{names})ом\b"  # noqa: RUF001
        ),
    )
    for name, names in _BY_NAME.items()
)

_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "table",
        re.compile(
            r"(?<![不别])[用做画列以给成](?:一个|一張|一张|个|出)?表格|生成.{0,8}表格|表(?:で|にして|にまとめ)"
            r"|表を(?:$|[。!\uff01]|作|書|見せ|出|お願い|ください)"
        ),
    ),
    (
        "list",
        re.compile(
            r"(?<![不别])[用做列以给成](?:一个|个|出)?列表|生成.{0,8}列表|リスト(?:で|にして|にまとめ)"
            r"|リストを(?:$|[。!\uff01]|作|書|見せ|出|お願い|ください)"
        ),
    ),
)
"""What asks for forms where words have no borders."""

_LETTER = re.compile(r"[^\W\d_]")


@lru_cache(maxsize=1)
def strong_words() -> Mapping[str, tuple[str, ...]]:
    """Languages by their small words; a question in plain letters that has none of them is in English."""
    return _by_word([(tongue.name, tongue.strong) for tongue in tongues()])


@lru_cache(maxsize=1)
def _weak_words() -> Mapping[str, tuple[str, ...]]:
    """Languages by words that names have as well."""
    return _by_word([(tongue.name, tongue.weak) for tongue in tongues()])


def _by_word(rows: Sequence[tuple[str, Sequence[str]]]) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, words in rows:
        for word in words:
            found[word] = (*found.get(word, ()), name)
    return found


def native(question: str, words: Collection[str]) -> str | None:
    """The language of a question, None if it is English or cannot be known; its words are in small letters."""
    is_english = not ENGLISH.isdisjoint(words)
    if not question.isascii():
        found = _by_script(question, is_english=is_english)
        if found is not None:
            return found
    return None if is_english else _by_words(question, words)


def asked_in_script(question: str) -> tuple[str | None, tuple[str, ...]]:
    """The language and the forms that a question asks for in a script where words have no borders."""
    if question.isascii() or "ないで" in question:
        return None, ()
    tongue = next((name for name, pattern in _ASKED if pattern.search(question)), None)
    return tongue, tuple(form for form, pattern in _FORMS if pattern.search(question))


def _by_script(question: str, *, is_english: bool) -> str | None:
    """The language of a question of which at least a sixth, and half beside English words, is in a script."""
    for name, telling, letters in _SCRIPTS:
        if telling.search(question):
            share = len(letters.findall(question)) / max(1, len(_LETTER.findall(question)))
            return name if share >= (1 / 2 if is_english else 1 / 6) else None
    return None


def _by_words(question: str, words: Collection[str]) -> str | None:
    """The language that most small words and letters speak for: two of them at least, one a word of weight."""
    counts: dict[str, int] = {}
    distinct = dict.fromkeys(words)
    for word in distinct:
        for name in strong_words().get(word, ()):
            counts[name] = counts.get(name, 0) + 1
    if not counts:
        return None
    letters = {tongue.name: tongue.letters for tongue in tongues()}
    for name in counts:
        counts[name] += sum([name in _weak_words().get(word, ()) for word in distinct])
        others = "".join([word for word in distinct if name not in strong_words().get(word, ())])
        others += "".join([mark for mark in "¿¡" if mark in question])
        counts[name] += any(letter in others for letter in letters[name])
    best = max(counts.values())
    return next(name for name, count in counts.items() if count == best) if best >= 2 else None
