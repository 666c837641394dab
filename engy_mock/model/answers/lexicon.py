"""The words by which a question asks for something and refuses something, and what forms are called.

Mostly English, with the commonest words of languages that the answers know.
"""

from collections.abc import Mapping
from typing import Literal

Shape = Literal[
    "prose", "list", "steps", "tasks", "table", "code", "links", "quote", "math", "emoji", "headings", "long"
]
Form = Shape | Literal["markdown"]

FORMS: Mapping[Form, str] = {
    "tasks": "check list, checklist, task list, to do list, todo list, todo",
    "table": "table, tabular, spreadsheet, tabelle, tabellen, tableau, tabla, tabella",
    "steps": "step, step by step, numbered list, numbered, instruction, recipe",
    "list": "list, bullets, bullet list, bullet point, bulleted, listing, liste, listen, lista",
    "code": "code block, source code, code, snippet, script, program, function, regex, one liner, programm, "
    "funktion",
    "links": "link, url, reference, citation, web site, website, sources",
    "quote": "quote, quotation, block quote, blockquote",
    "math": "formula, formulae, equation, latex, integral, derivative",
    "emoji": "emoji, emoticon",
    "headings": "heading, headline, section, outline, structured",
    "long": "essay, article, blog post, in detail, in depth, at length, more detail",
    "markdown": "markdown, rich text, formatted, formatting",
}
"""What forms are called, also with an s at the end."""

MANNERS = frozenset({"in detail", "in depth", "at length", "step by step"})
"""What says how something is told, wherever it stands."""

IMPERATIVES: Mapping[str, Form] = {
    **{"list": "list", "enumerate": "list", "tabulate": "table", "quote": "quote", "outline": "headings"},
    **{"code": "code", "elaborate": "long"},
}
"""Verbs that name a form themselves."""

NEVER_ALONE = frozenset({"latex", "structured", "numbered", "bulleted", "tabular", "formatted", "formatting"})
"""What is a form only behind a word of asking: latex gloves are none."""


def bag(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


MAKING = bag(
    "make give show write create draw draft produce generate compose provide build use using add include insert "
    "print output return prepare design cite derive send get see have bring tell mach mache erstelle schreib "
    "schreibe zeig zeige gib fais faites donne donnez écris montre crée haz crea escribe dame muestra fai "
    "scrivi mostra dammi faz faça crie escreva be contain"
)
"""What is made is asked for: `make a table`."""

WISHING = bag("need want like prefer require love")
"""What somebody needs or would like."""

TELLING = bag(
    "answer explain say describe put present summarise summarize translate convert rewrite rephrase compare "
    "reply respond speak talk discuss display render turn express format port repeat continue sort rank "
    "reformat solve calculate compute implement structure organize organise illustrate teach recommend suggest "
    "define analyze analyse discuss review introduce clarify help plan antworte antworten erkläre erklär sag "
    "répondez réponds explique responde explica rispondi responda speaking"
)
"""How they tell it is asked for, not what: `explain it with a table`."""

ONLY_BEHIND_A_WISH = bag("see have get be contain using")
"""Verbs too common to ask for anything where a clause begins: `can I have`, `it should be`."""

TURNING = bag("translate convert turn port rewrite switch reformat put split break summarize summarise")
"""Verbs after which `to` and `into` lead to a language."""

FILLERS = bag(
    "please kindly just now then also always only so ok okay hi hello hey well thanks bitte really simply maybe "
    "do don't dont not never should"
)
"""What may stand before a verb that asks."""

MODALS = bag("can could would will can't couldn't won't wouldn't")
DUTIES = bag("must should shall have may")
ANSWERS = bag("you answer answers response responses reply replies output it")
"""What should be, or contain, something."""

LEADING = bag("need want like love prefer sure forget hesitate fail remember try have you able ask")
"""What may stand before `to` and a verb that asks: `be sure to add a table`."""

UNDOING = bag("forget hesitate fail mind problem only")
"""What turns a negation into none: `don't forget to`."""

DENIALS = bag(
    "no not never without avoid skip omit except exclude excluding don't dont doesn't isn't cannot can't won't "
    "nor neither stop kein keine keinen ohne nicht pas sans sin non"
)
"""What turns a wish into the opposite; so do `instead of` and `rather than`."""
LONE_DENIALS = bag("no not kein keine keinen nicht non")
"""Those that hold no longer than up to a comma and an article: `not a list, a table`."""

CONJOINED = bag("and or plus nor & und oder et ou y o e")
JOINTS = CONJOINED | bag(", then followed")

ARTICLES = bag("a an one two three some another eine ein einen une un una uma")
BEFORE_FORMS = ARTICLES | bag(
    "any few several short brief quick simple small little big large full complete plain neat "
    "new real pretty nicely formatted numbered bulleted markdown only just maybe me us it mir moi more longer "
    "long detailed please actual annotated ordered unordered working example sample "
    "basic how what about first finally next last"
)
"""What may stand before a form where a clause is little more than that: `a short table of ships`."""

AFTER_FORMS = bag(
    "of for with about on in to that which showing listing comparing please bitte and or then instead too also "
    "with without from as using by only next first again form format style version über sur de sobre mit "
    "von avec con com now not thanks s plus followed but containing explaining written called named"
)
"""What may stand behind it."""

NOT_OF = bag("code program function source sources article script formula")
"""The function of the liver is no program."""

FINITE = bag("is are was were has have does do did costs means seems looks will would can could isn't aren't")
"""A clause that goes on with one of these tells something: `a list of names is long`."""

BLOCKERS = bag(
    "sure of about on for to from by at into over between under near behind regarding concerning against through "
    "like how what why where who whom whose which that whether if because when while than is are was were über "
    "sur de sobre i"
)
"""Behind these stands what it is about, not what is asked for."""

CARRIERS = bag("as in with using via through als mit auf en em avec com con como come po in: form forme sous")
"""Words that lead to a form: `as a table`."""
ABROAD = bag("auf en em po")
"""Words that lead to the name of a language in that language."""

AIDS = bag("do can should would could might must does")
PEOPLE = bag("i we you one")
SUBJECTS = PEOPLE | bag("he she they it there this that these those my his her our their")
"""Who begins with these tells something."""
KINDS = bag("form forma forme format example examples sample piece bit lines lots lot plenty couple set series")
"""Behind these `of` leads to what is asked for: `a piece of code`."""
NO_STEPS = bag(
    "do feel know think like sleep mean see compare differ spell pronounce say call help look sound live "
    "function tell love believe get be have go"
)
"""`How do you feel` asks for no steps, and many say `how can I help`."""

COMPOUNDS = frozenset(
    {
        *(("table", word) for word in bag("tennis cloth top salt spoon lamp leg legs manners football d")),
        *(
            ("list", word)
            for word in bag("price prices comprehension comprehensions index indices object item items")
        ),
        *(("code", word) for word in bag("review reviews red word words name names conduct breaker")),
        *(("link", word) for word in bag("building between")),
        *(("formula", word) for word in bag("one 1 milk")),
        *(("function", word) for word in bag("key keys room")),
        *(("latex", word) for word in bag("gloves glove paint mattress allergy")),
        *((word, "code") for word in bag("dress zip postal area country bar qr promo discount penal civil")),
        *((word, "table") for word in bag("wooden kitchen dining coffee pool water picnic dinner")),
        *((word, "function") for word in bag("liver kidney heart brain body")),
        *((word, "list") for word in bag("mailing waiting")),
        ("emoji", "free"),
        *((word, "script") for word in bag("film movie")),
        *((word, "program") for word in bag("television tv radio training fitness")),
    }
)
"""Two words that together are another thing."""

EXTENSIVE = bag("long longer lengthy detailed thorough comprehensive extensive lengthier ausführlich")
TEXTS = bag(
    "text texts answer reply response explanation version story description report overview guide analysis "
    "letter post document summary poem essay article note email message translation sentence sentences "
    "paragraph paragraphs word words joke speech review dialogue greeting one"
)
"""What can be long, or in a language."""
SPEAKING = bag("speak talk write use answer reply respond say")
"""Verbs that a language may follow at once."""
ASKING_FOR_FACTS = bag("what why who whom whose how when where which is are was were do does did has have will am")
"""With these begins a question that can be answered in a sentence."""
IT = bag("it them this that be more much really")

PROGRAMS = bag(
    "code program programs script scripts function functions snippet snippets query queries class method struct "
    "example examples component page file command one liner implementation loop test tests block statement "
    "module programm skript funktion programme programa type interface schema document object config style "
    "stylesheet rule version server app api"
)
"""What is written in a language of programs."""

NAMING = bag("code function functions program programs script scripts snippet snippets implement implementation")
"""Words beside which a word like `go` names a language."""

NUMBERS: Mapping[str, int] = {
    **{"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9},
    **{"ten": 10, "hundred": 100, "thousand": 1000},
}
