"""Classify the value that a question asks for, and detect texts that state a new one of its kind.

"How much is the rent?" asks for money, and "the rent is due on the 5th" states a date only. By the patterns of
`asked_values.toml`. A value that the question has itself is not stated: "the 9th" answers no "what is on the 9th?".
"""

import re
from functools import lru_cache
from typing import Literal, get_args

from kenobot.core import lazy
from kenobot.language.lexicon import STOPWORDS, load_tables, table_pattern
from kenobot.language.words import fold, stems, words

ValueKind = Literal[
    "mail", "phone", "blood", "dose", "clock", "age", "frequency", "duration", "size", "colour", "measure", "count",
    "code", "money", "year", "reason", "date", "person", "name", "place", "job", "thing", "whether", "amount", "none",
]  # fmt: skip
VALUE_KINDS: tuple[ValueKind, ...] = get_args(ValueKind)
EXACT_KINDS = frozenset(
    "clock age frequency money date code year duration measure dose mail phone blood colour size amount".split()
)
"""Kinds whose values have a form that patterns know."""

NAMED_KINDS = frozenset({"person", "name", "place", "count"})
"""Kinds whose values are names or small numbers, which patterns know less well."""

_OF_NOUN: tuple[ValueKind, ...] = (
    "blood", "mail", "dose", "clock", "age", "size", "colour", "name", "code", "phone", "year", "date", "place", "job",
    "measure", "money",
)  # fmt: skip
_OF_QUANTITY: tuple[ValueKind, ...] = ("age", "frequency", "duration", "measure", "count")
_OF_AMOUNT: tuple[ValueKind, ...] = ("money", "measure", "count", "dose")
_OF_LEAD: dict[str, ValueKind] = {
    "since when": "duration", "desde cuando": "duration", "why": "reason", "how come": "reason", "para que": "reason",
}  # fmt: skip
_OF_BEGINNING: dict[str, ValueKind] = {
    "when": "date", "cuando": "date", "where": "place", "donde": "place", "adonde": "place", "who": "person",
    "quien": "person",
}  # fmt: skip
_NOUN_PHRASE = lazy.regex(
    r"\b(?:what|which|que|cual)\s+(?:(?:is|are|was|were|es|son|era|the|my|our|el|la|los|las|mi|mis) )*(.{0,40})"
)
_WHICH_YEAR = lazy.regex(r"(?:what|which|que)(?:.s)? (?:year|año)")
_BY_WHICH = lazy.regex(r".{0,10}por que (?:calle|cosa|porcentaje)")
_OF_PHONE = lazy.regex(r"\b(?:phone|mobile|cell|telefono|tlf|movil|celular|fijo|number|numero|extension)\b")
_OF_MONEY_IN_SPANISH = lazy.regex(r"que (?:precio|sueldo|salario|cuota|tarifa|alquiler)")
_HOW_MUCH = lazy.regex(r"\bhow much\b|\bcuanto\b|\bcuanta (?:plata|lana|pasta|guita)")
_CAPITAL = lazy.regex(r"(?<![^\W_])[^\W\d_a-zà-ÿ][\w'’&.-]*")
_PLACE_BEFORE = lazy.regex(
    r"\b(?:in|en|at|to|from|near|a|de|del|desde|hasta|on|por|por la|en la|en el|at the|in the|the)\s+$"
)
_TITLE_BEFORE = lazy.regex(
    r"\b(?:dr|dra|mr|mrs|ms|miss|doctora?|don|doña|señora?|sra?|prof\w*|coach|teacher|tia|tio|padre|sister|fr|aunt|uncle|nan|"
    r"auntie|seño)\.?\s+$"
)
_BEGINS_WITH_PERSON = lazy.regex(
    r"^\W*[A-ZÁÉÍÓÚÑ][\w'’-]+ (?:is|has|was|will|does|es|tiene|va|me|se|está|fue|le|and|y|from|\w+s)\b"
)
_QUOTED = lazy.regex(r"[\"“«][^\"”»]+[\"”»]")
_LETTERS = lazy.regex(r"[^\W\d_][\w'-]*")
_LONG_WORD = lazy.regex(r"\b[^\W\d_]{4,}\b")
_OF_TOPIC = frozenset({"lead", "paid", "code", "job", "thing", "whether"})  # their words are what a question is about
_LONGEST_QUESTION, _LONGEST = 400, 2000  # characters that are read
_HEAD_WORDS = 4


@lru_cache(1)
def _tables() -> dict[str, dict[str, str]]:
    return load_tables(__package__, "asked_values.toml")


@lru_cache(64)  # bounded: one file of patterns; start
def _pattern(table: str, name: str) -> re.Pattern[str]:
    return table_pattern(_tables(), table, name)


def _fold(text: str) -> str:
    return fold(text).replace("’", "'")


# ── what is asked for ────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(64)
def classify_value(question: str) -> ValueKind:
    """Classify the value that a question asks for; "none" where it does not say."""
    plain = " ".join(_fold(question[:_LONGEST_QUESTION]).replace("¿", " ").split())
    lead = _pattern("asked", "lead").search(plain)
    if lead is None:
        kind = _first_asked(_OF_NOUN, plain)
        return kind or ("whether" if _asks("whether", plain) else "none")
    first = lead[1]
    if first in _OF_LEAD:
        return _OF_LEAD[first]
    if first == "por que" and not _BY_WHICH.match(plain):
        return "reason"
    for beginning, kind in _OF_BEGINNING.items():
        if first.startswith(beginning):
            return kind
    return _find_quantity(plain) if first == "how" or first.startswith("cuant") else _find_noun(first, plain)


def _asks(kind: str, text: str) -> bool:
    return _pattern("asked", kind).search(text) is not None


def _first_asked(kinds: tuple[ValueKind, ...], text: str) -> ValueKind | None:
    return next((kind for kind in kinds if _asks(kind, text)), None)


def _find_quantity(plain: str) -> ValueKind:
    """Classify a question that begins with "how" or "cuánto"."""
    if kind := _first_asked(_OF_QUANTITY, plain):
        return kind
    if _HOW_MUCH.search(plain):
        return "money" if _asks("paid", plain) else "amount"
    return "none" if plain.startswith("how") else "amount"


def _find_noun(first: str, plain: str) -> ValueKind:
    """Classify a question that begins with "what" or "which", by the noun behind it."""
    phrase = _NOUN_PHRASE.search(plain)
    head = " ".join([first, *(phrase[1] if phrase else plain).split()[:_HEAD_WORDS]])
    if _WHICH_YEAR.match(head):
        return "year"
    for kind in _OF_NOUN:
        if kind == "phone" and not _OF_PHONE.search(head):
            continue
        if kind == "money" and first == "que" and not _OF_MONEY_IN_SPANISH.match(head):
            continue
        if _asks(kind, head):
            return kind
    return next((kind for kind in ("job", "clock") if _asks(kind, plain)), "thing")


@lru_cache(64)
def words_of_form(question: str) -> frozenset[str]:
    """Return the words of a question, folded, that say which value it wants and not what it is about."""
    plain = _fold(question[:_LONGEST])
    kinds = (kind for kind in _tables()["asked"] if kind not in _OF_TOPIC)
    spans = (match[0] for kind in kinds for match in _pattern("asked", kind).finditer(plain))
    return frozenset(word for span in spans for word in words(span)) | general_words()


@lru_cache(1)
def general_words() -> frozenset[str]:
    """Return the words that hardly say what a question is about, such as "have", folded."""
    return frozenset(_tables()["other"]["general"].split())


# ── what a text states ───────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(1024)
def states_value(question: str, kind: ValueKind, text: str) -> bool:
    """Return whether a text states a value of a kind that the question does not have itself."""
    text = text[:_LONGEST]
    if kind == "amount":
        return any(_states_new(question, each, text) for each in _OF_AMOUNT)
    if kind == "date":
        return _states_new(question, "date", text) or _states_new(question, "frequency", text)
    if kind in _tables()["held"]:
        return _states_new(question, kind, text)
    if kind in ("person", "name"):
        return _names_somebody(question, kind, text)
    if kind == "place":
        names = _new_names(question, text)
        return any(located for located, _, _ in names) or _holds("located", _mask(question, text))
    return kind != "thing" or bool(_new_names(question, text)) or _LONG_WORD.search(_mask(question, text)) is not None


def _holds(name: str, text: str) -> bool:
    return _pattern("held", name).search(text) is not None


@lru_cache(64)
def _question_stems(question: str) -> frozenset[str]:
    return frozenset(stem for word in words(question) if word not in STOPWORDS for stem in stems(word))


def _states_new(question: str, kind: ValueKind, text: str) -> bool:
    asked, figures = _question_stems(question), set(re.findall(r"\d+", question))
    for match in _pattern("held", kind).finditer(_fold(text)):
        said = words(match[0])
        if not said or any(w not in figures if w.isdigit() else asked.isdisjoint(stems(w)) for w in said):
            return True
    return False


def _names_somebody(question: str, kind: ValueKind, text: str) -> bool:
    names = _new_names(question, text)
    if any((titled or not located) and not first for located, titled, first in names):
        return True
    if any(first and not located for located, _, first in names) and _BEGINS_WITH_PERSON.match(text):
        return True
    if kind == "person" and _holds("related", _mask(question, text)):
        return True
    return (kind == "name" and _QUOTED.search(text) is not None) or _introduces_new(question, text)


def _introduces_new(question: str, text: str) -> bool:
    """Return whether a text says that somebody or something is called by a name that the question does not have."""
    asked = _question_stems(question)
    named = (words(match[0])[-1] for match in _pattern("held", "named").finditer(_fold(text)))
    return any(word not in STOPWORDS and asked.isdisjoint(stems(word)) for word in named)


def _mask(question: str, text: str) -> str:
    """Fold a text, with an underscore for each word of the question."""
    asked = _question_stems(question)

    def mask(match: re.Match[str]) -> str:
        said = (word for word in words(match[0]) if word not in STOPWORDS)
        return "_" if any(not asked.isdisjoint(stems(word)) for word in said) else match[0]

    return _LETTERS.sub(mask, _fold(text))


def _new_names(question: str, text: str) -> list[tuple[bool, bool, bool]]:
    """List the words with a capital that a question has not: behind a preposition, behind a title, at a beginning."""
    asked, known = _question_stems(question), set(words(question))
    found: list[tuple[bool, bool, bool]] = []
    for match in _CAPITAL.finditer(text):
        before, word = text[: match.start()], _fold(match[0]).removesuffix("'s").rstrip(".")
        if len(word) < 2 or word in known or _holds("calendar", word) or not asked.isdisjoint(stems(word)):
            continue
        bare = before.rstrip(" ¿¡\"'(")
        first = not bare or bare[-1] in ".:;!?"
        if first and word in STOPWORDS:
            continue
        plain = fold(before[-40:])
        found.append((_PLACE_BEFORE.search(plain) is not None, _TITLE_BEFORE.search(plain) is not None, first))
    return found


def count_new_names(question: str, text: str) -> int:
    """Count the words with a capital within a sentence of a text that the question has not: names, mostly."""
    return sum(not first for _, _, first in _new_names(question, text[:_LONGEST]))
