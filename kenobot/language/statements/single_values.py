"""Judge whether one value of an attribute takes the place of another, where no reader of both has said so (ADR 44).

It does so only of what there is one of at a time, and only where both statements tell that of their subject and nothing
else: with one more word ("also", "until 2015", "on weekends", "not") the value is not the only one, or not of now.
"""

import re
from collections.abc import Iterable, Iterator

from kenobot.core import lazy
from kenobot.language.claims import claims
from kenobot.language.dates import MONTHS
from kenobot.language.fingerprint import is_same_or_more_exact, normalize_name
from kenobot.language.lexicon import load_tables
from kenobot.language.statements.attribute_statements import read_attribute
from kenobot.language.words import fold
from kenobot.ports.frozen import dataclass

_TABLES = load_tables(__package__, "single_values.toml")
_LIGHT = frozenset(fold(str(_TABLES["light"])).split())
_RESERVES = frozenset(fold(str(_TABLES["reserves"])).split())
_GROUPS = {
    fold(name): frozenset(fold(table["words"]).split())
    for table in _TABLES.values()
    if isinstance(table, dict)
    for name in table["names"].split()
}
_ENDS = " .!…"
_NOW = (" now", " ahora", " currently", " actualmente", " these days")
_RECENTLY = lazy.regex(r"\b(?:yesterday|last (?:week|month)|ayer|la semana pasada|el mes pasado)\b")
_MOVED = lazy.regex(r"\b(?:moved|moving|relocated|mud\w+)\b")  # perhaps to another phone, or service
_MARKS = lazy.regex(r"[^\w\s]|_")
_CLITIC = lazy.regex(r"['’](?:s|m|re|ve)\b")
_MORE_OF_PLACE = r"(?:, [A-ZÁÉÍÓÚÑ][\w'’-]*(?: [A-ZÁÉÍÓÚÑ][\w'’-]*)*)*"
_DENIED = (
    r",? (?:(?:and|but|y|pero|sino) )?(?:not|no|instead of|rather than|en vez de|en lugar de)"
    r"(?: (?:in|at|for|en|para|el))? (?i:{})(?!\w)"
)
_ORDINAL = lazy.regex(r"(?<=\d)(?:st|nd|rd|th|o|º)\b")
_FIGURE = lazy.regex(r"[+£$€(~]?\d[\d\s.,:/()+-]*(?:\s?[^\W\d]{1,6}\.?){0,2}")
_JOINTS = frozenset("de del la las los el of the upon van von di da du le al".split())
_DATE_WORDS = frozenset((*MONTHS, "of", "de", "del", "the", "el"))
_MOST_LOWER = 2  # words of a value without a capital letter: "dark blue"


@dataclass(frozen=True, slots=True)
class ValueStatement:
    """A statement that gives an attribute a value.

    subjects: what its subject is called. others: what else it says. by_rules: rules read the attribute in the text, and
    may have misread it.
    """

    text: str
    value: str
    subjects: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    by_rules: bool = False


def takes_place(attribute: str, told: ValueStatement, known: ValueStatement) -> bool:
    """Return whether a value that is told takes the place of a known one of the same subject."""
    words = _GROUPS.get(fold(normalize_name(attribute)))
    if words is None or is_same_or_more_exact(told.value, known.value):
        return False
    kinds = {_kind(told.value), _kind(known.value)}
    if len(kinds) != 1 or "" in kinds:
        return False
    former = (*known.subjects, known.value)  # "moved from Oslo to Paris"
    denied = re.compile(_DENIED.format(re.escape(known.value)))
    is_told = any(
        _is_plain(denied.sub("", text), told, words, former)
        or (told.by_rules and _is_framed(text, attribute, told.value))
        for text in _list_claims(told)
    )
    return is_told and any(
        _is_plain(text, known, words) or _is_framed(text, attribute, known.value) for text in _list_claims(known)
    )


def _list_claims(stated: ValueStatement) -> Iterator[str]:
    """Yield the claims of a statement that has no reserve, but for a move that rules took for one of a home."""
    if not _RESERVES.isdisjoint(_split(stated.text)):
        return
    for claim in claims(stated.text):
        text = claim.standalone_text.strip(_ENDS)
        if not (stated.by_rules and _MOVED.search(fold(text))):
            yield text


def _is_framed(text: str, attribute: str, value: str) -> bool:
    """Return whether a text is a plain sentence of the attribute that ends with the value."""
    read = read_attribute(text)
    if read is None or normalize_name(read.attribute) != normalize_name(attribute):
        return False
    for now in _NOW:
        text = text.removesuffix(now)
    return read.value == value and text.endswith(value)


def _is_plain(text: str, stated: ValueStatement, words: frozenset[str], more: Iterable[str] = ()) -> bool:
    """Return whether a text has no word but those that tell the attribute, its value, and of whom. more: or these."""
    value, is_figure = re.escape(stated.value), _kind(stated.value) == "figure"
    rest, count = re.subn(rf"(?<!from )(?<!desde )(?i:{value})(?!\w){_MORE_OF_PLACE}", " ", text)
    if not count and not is_figure:
        return False
    named = set(_split(" ".join((*stated.subjects, *stated.others, *more))))
    left = set(_split(_ORDINAL.sub("", _RECENTLY.sub(" ", fold(rest))))) - named - _LIGHT
    if is_figure:
        left = {each for each in left if not each.isdigit() and each not in _DATE_WORDS}
    return left <= words and (bool(left) or is_figure)


def _split(text: str) -> Iterator[str]:
    yield from _MARKS.sub(" ", _CLITIC.sub(" ", fold(text))).split()


def _kind(value: str) -> str:
    """Return the kind of a value: a figure or a name; "" for one with more words beside it."""
    plain = " ".join(word for word in _ORDINAL.sub("", fold(value)).split() if word.strip(",") not in _DATE_WORDS)
    if _FIGURE.fullmatch(plain):
        return "figure"
    words = value.replace(",", " ").split()
    named = all(not word[0].islower() or word in _JOINTS for word in words)
    return "name" if named or len(words) <= _MOST_LOWER else ""
