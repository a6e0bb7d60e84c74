"""Tell what answer a question asks for, and whether a memory may hold it.

By words, see `answers.toml`. Kinds of answer - a time, a number, a person, a place - are hints for a ranking. Types - a
colour, a price, a name - are narrower and tell which memories cannot hold the answer: one without any number does not
answer "how much does the dog weigh?". Types only of texts in Latin letters.
"""

import re
from functools import lru_cache
from typing import Literal, get_args

from kenobot.core import lazy
from kenobot.language.dates import asks_time_first, calendar_names, names_time
from kenobot.language.lexicon import load_tables, table_pattern
from kenobot.language.question.relations import (
    names_other_relationship,
    names_relationship,
    names_same_relationship,
)
from kenobot.language.words import fold, stems, words

AnswerKind = Literal["time", "number", "person", "place"]
AnswerType = Literal[
    "phone", "mail", "weight", "money", "size", "age", "often", "long", "favourite", "colour", "code", "clock",
    "festivity", "year", "sign", "blood", "count", "language", "address", "surname", "school", "job", "name", "person",
    "thing",
]  # fmt: skip

_KINDS: tuple[AnswerKind, ...] = ("number", "person", "place")
_TYPES: tuple[AnswerType, ...] = get_args(AnswerType)  # as they are tried: the first that matches counts
_NAME_ASKED = lazy.regex(r"\b(?:name|called|nombre|se llama)\b")
_OPENS = lazy.regex(
    r"\b(?:what|which|how|who|whom|whose|where|when|why|que|cual|quien|donde|adonde|cuando|cuant[oa]s?)\b"
)
_SHORT_IS = lazy.regex(r"^(\W*(?:\w+ )?(?:what|which|who|when|where|how))(?:'s|’s|s) ")
_LEADING = lazy.regex(r"^\W*(?:(?:y|and|but|pero|so|in|on|at|from|to|en|de|a|desde|por|con)\s+)?")
_QUESTION_MARK = lazy.regex(r"[?？؟]")
_NAME = lazy.regex(
    r"(?<![.!?:] )(?<!^)\b[^\W\d_a-zà-ÿ][^\W\d_]*[a-zà-ÿ]\w*"  # a capital within a sentence
    r"|^[^\W\d_a-zà-ÿ]\w+(?='s |’s | (?:is|has|wants|likes|does|es|tiene|quiere|bebe|no)\b)"  # or at its beginning
)
_OWN_NAME = lazy.regex(
    r"(?:my (?:full )?name is|i(?:'m| am)(?: called)?|(?:yo )?(?:me llamo|soy)|mi nombre es)(?: [\w'-]+){1,3}\W*"
)
_CAPITALS = lazy.regex(r"(?<![.!?:;¿¡\n] )(?<![¿¡\n])(?<!^)\b[^\W\d_a-zà-ÿ][^\W\d_]*[a-zà-ÿ]\w*")
_LONGEST_NAMING = 2000  # characters in which names are looked for
CAPITALISED = lazy.regex(r"(?<![^\W_])[^\W\d_a-zà-ÿ][\w'’-]*")
_PLACE_FOLLOWS = lazy.regex(r"\b(?:in|en)\s+$")
_FESTIVE = lazy.regex(
    r"\b(?:birthday|bday|anniversary|turn(?:s|ed|ing)?|cumpl\w+|aniversario|santo)\b|['’]s \d+(?:st|nd|rd|th)\b"
)
_BORN = lazy.regex(
    r"\b(?:born|nacio|naci|nacid[oa]|marri\w+|wed(?:ding)?|casad[oa]s|cas(?:o|amos|aron)|boda)\b|\d[./-]\d"
)
_FULL_NAME = lazy.regex(r"[^\W\d_a-zà-ÿ][\w'’-]+ [^\W\d_a-zà-ÿ][\w'’-]+")
_MARKED = lazy.regex(r"[\"“«]\w|\d[A-Za-z]|[A-Za-z]\d")  # a title, or the name of a thing
_TO_BE_NAMED = lazy.regex(
    r"\b(?:llamar|llamara|(?:will be|be) called|will (?:call|name)|going to (?:call|name))\b"
)  # whose bond is not yet told
_OF_SOMEBODY = lazy.regex(
    r"\b(?:de|del) [^\W\d_a-zà-ÿ]\w+|[^\W\d_a-zà-ÿ]\w+['’]s? \w+"
)  # "la mujer de Javier", "Javier's wife"
_ORDER = lazy.regex(  # after a verb that begins a sentence: "Call the dentist", "Llamar al dentista"
    r" (?:the|an?|my|our|his|her|their|your|some|with|to|for|al|el|l[ao]s?|una?|mis?|sus?|nuestr[oa]s?|con|por|\d+)\b"
)
_SELF = frozenset("i'm i've i'd i'll".split())
_LONGEST = 2000  # characters of a text that are searched
_KIND_OPENING, _TYPE_OPENING = 5, 12  # words of a question within which it says what it asks for
_LATIN = 0.7  # share of Latin letters from which on a text is one in Latin letters


# ── patterns ─────────────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(1)
def _tables() -> dict[str, dict[str, str]]:
    return load_tables("kenobot.language.question", "answers.toml")


@lru_cache(64)  # bounded: one file of patterns; start
def _pattern(table: str, name: str) -> re.Pattern[str]:
    """Compile a pattern of `answers.toml` when it is first needed: all of them take 20 ms."""
    return table_pattern(_tables(), table, name)


@lru_cache(1)
def _sentence_beginnings() -> frozenset[str]:
    """Load the words that have a capital only because a sentence begins with them."""
    return frozenset(_tables()["other"]["sentence_beginnings"].split())


# ── kinds ────────────────────────────────────────────────────────────────────────────────────────────────────────


def classify_kinds(question: str) -> frozenset[AnswerKind]:
    """Classify what a question asks for; nothing where it asks for another kind, or does not say."""
    plain = " ".join(fold(_first_question(question[:_LONGEST])).split()[:_KIND_OPENING])
    opens = _OPENS.search(plain)
    first = opens.start() if opens is not None else len(plain)
    asked: set[AnswerKind] = set()
    for kind in _KINDS:
        match = _pattern("kind_asked", kind).search(plain)
        if match is not None and match.start() <= first:
            asked.add(kind)
    if _NAME_ASKED.search(plain):
        asked.add("person")
    return frozenset(asked | {"time"} if asks_time_first(plain, first) else asked)


def _first_question(text: str) -> str:
    """Cut a text to its first question; all of it where it has none."""
    for mark in _QUESTION_MARK.finditer(text):
        begin = max(text.rfind(end, 0, mark.start()) for end in ".!?¿？؟\n") + 1
        if begin < mark.start():
            return text[begin : mark.start()]
    return text


def kind_score(asked: frozenset[AnswerKind], text: str) -> float:
    """Score a memory for the kinds of answer: 1 holds one, 0 none; a half where no kind is asked for."""
    return 0.5 if not asked else float(any(holds_kind(text, kind) for kind in asked))


@lru_cache(512)
def holds_kind(text: str, kind: AnswerKind) -> bool:
    """Return whether a memory may hold this kind of answer."""
    text = text[:_LONGEST]
    plain = fold(text)
    if _pattern("kind_held", "number" if kind == "time" else kind).search(plain):
        return True
    return (kind == "time" and names_time(plain)) or (kind == "person" and _NAME.search(text) is not None)


@lru_cache(512)
def is_negative(text: str) -> bool:
    """Return whether a text speaks of what is not so, not wanted, not allowed or feared."""
    return _pattern("other", "turned_down").search(fold(text[:_LONGEST])) is not None


# ── types ────────────────────────────────────────────────────────────────────────────────────────────────────────


def classify_type(question: str) -> AnswerType | None:
    """Classify what a question asks for by its opening; None where it asks for another type, or does not say."""
    plain = " ".join(fold(question[:_LONGEST]).replace("¿", " ").split()[:_TYPE_OPENING])
    plain = _SHORT_IS.sub(r"\1 is ", plain)
    start = _LEADING.match(plain)
    begin = start.end() if start is not None else 0
    return next((each for each in _TYPES if _pattern("type_asked", each).match(plain, begin)), None)


def lacks_answer(asked: AnswerType | None, question: str, text: str) -> bool:
    """Return whether a memory certainly does not hold the answer of this type."""
    text = text[:_LONGEST]
    plain = fold(text)
    if asked is None or asked == "thing" or not is_latin(text):
        return False
    if asked == "festivity":
        return _lacks_day(question, plain)
    held = _pattern("type_held", asked).search(plain) is not None
    if asked == "surname":
        return not held and not _FULL_NAME.search(text)
    if asked not in ("name", "person"):
        return not held
    if asked == "person":
        held = _names_person(question, plain)
    of_relative = names_relationship(question)
    if of_relative and _OWN_NAME.fullmatch(plain):
        return True
    person = asked == "person" or of_relative
    if not held and not _MARKED.search(text) and not _has_new_name(question, text, person=person):
        return True
    if asked != "name" or not of_relative:
        return False
    if _OF_SOMEBODY.search(question):
        return not (names_same_relationship(question, text) or _BORN.search(plain))
    return names_other_relationship(question, text) and not _TO_BE_NAMED.search(plain)


@lru_cache(64)
def _fold_question(question: str) -> str:
    """Fold a question, once for all texts that may answer it."""
    return fold(question[:_LONGEST])


@lru_cache(64)
def _question_words(question: str) -> frozenset[str]:
    """Split a question into words, once for all texts that may answer it."""
    return frozenset(words(_fold_question(question)))


def asks_who_is(question: str) -> bool:
    """Return whether a question asks who it is that has a bond or trade, as "who is my dentist?" does."""
    return _pattern("other", "who_is").search(_fold_question(question)) is not None


def _names_person(question: str, plain: str) -> bool:
    """Return whether a folded text names a person by a bond, trade or pronoun that the question has not.

    "Who is my dentist?" has its trade, and no pronoun says who that is.
    """
    known = _question_words(question)
    if asks_who_is(question):
        known = known.union(_tables()["other"]["pronouns"].split())
    return any(match[0] not in known for match in _pattern("type_held", "person").finditer(plain))


def _lacks_day(question: str, plain: str) -> bool:
    """Return whether a folded text has no birthday or the like, or only those of others where the asker's is meant."""
    if _pattern("other", "own_day").search(_fold_question(question)) and _is_day_of_others(plain):
        return True
    if _BORN.search(plain) is not None:
        return False
    dated = names_time(plain) or re.search(r"\d", plain) or any(calendar_names(word) for word in words(plain))
    return _FESTIVE.search(plain) is None or not dated


def _is_day_of_others(plain: str) -> bool:
    """Return whether a text tells a birthday or the like of others alone."""
    return _pattern("other", "day_of_others").search(plain) is not None and not _pattern("other", "own_day").search(
        plain
    )


def type_words_in(question: str) -> frozenset[str]:
    """Return the stems of the words of a question that ask for a type of answer."""
    return frozenset(stem for word in _question_words(question) for stem in stems(word)) & _type_stems()


def is_type_word(word: str) -> bool:
    """Return whether a word asks for a type of answer, as "number" does."""
    return not _type_stems().isdisjoint(stems(fold(word)))


@lru_cache(1)
def _type_stems() -> frozenset[str]:
    return frozenset(stem for word in _tables()["other"]["type_words"].split() for stem in stems(word))


def is_latin(text: str) -> bool:
    """Return whether a text is mostly in Latin letters."""
    if text.isascii():
        return True
    letters = [char for char in text if char.isalpha()]
    return sum(ord(char) < 0x250 for char in letters) >= _LATIN * len(letters)


def _has_new_name(question: str, text: str, *, person: bool) -> bool:
    """Return whether a text has a name with a capital that the question has not. person: no name of a place."""
    known = _question_words(question)
    for name in CAPITALISED.finditer(text):
        before = text[: name.start()]
        if person and _PLACE_FOLLOWS.search(before):
            continue
        first = not before.rstrip(" ¿¡\"'(").strip() or before.rstrip()[-1] in ".:;!?"
        if first and _ORDER.match(fold(text[name.end() :])):
            continue
        for word in words(name[0]):
            if len(word) < 2 or word in _SELF or word in known or calendar_names(word):
                continue
            if not (first and word in _sentence_beginnings()):
                return True
    return False


def proper_names(text: str) -> list[str]:
    """List the words of a text that begin with a capital within a sentence."""
    return _CAPITALS.findall(text[:_LONGEST_NAMING])
