"""Read which relation of the speaker's a text calls a named person: “my sister Ana lives here”, “Ana es mi hermana”."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from kenobot.core import lazy
from kenobot.language.lexicon import STOPWORDS, word_rows
from kenobot.language.words import fold, words

RELATIVES = {word: row.split()[0] for row in word_rows("relatives") for word in row.split()}
"""The relations in English by their folded words in either language."""

RELATIVE_WORDS = {row.split()[0]: tuple(row.split()) for row in word_rows("relatives")}
"""The folded words of each relation in either language, by its name."""

_KIN = rf"(?i:(?P<kin>{'|'.join(sorted(RELATIVES, key=len, reverse=True))}))"
_MINE = r"\b(?i:my|our|mi|nuestr[oa])\s(?:[^\W\d_A-ZÁÉÍÓÚÑ]\w*\s)?"
_NAME = r"(?P<name>[^\W\d_a-zß-öø-ÿ][\w-]+)"
_TOLD = (
    lazy.regex(
        rf"{_MINE}{_KIN}(?:\s(?i:mayor|menor|pequeñ[oa]|gemel[oa]))?,?\s(?:(?i:is|is called|es|se llama)\s)?{_NAME}"
    ),
    lazy.regex(rf"\b{_NAME}\s(?i:is|es)(?:\s(?i:now|ahora))?\s{_MINE}{_KIN}(?![\w'’-])"),
    lazy.regex(rf"\b{_NAME},\s{_MINE}{_KIN}(?=[,.;:!)]|\Z)"),  # "Today my sister …" and "yes, my sister …" name nobody
)
_ANYBODY = lazy.regex(
    r"\b(?i:my|our|mi|nuestr[oa]|(?:the )?(?:user|owner)['’]s)\s(?:[^\W\d_A-ZÁÉÍÓÚÑ]\w*\s)?"
    rf"(?P<kin>[^\W\d_A-ZÁÉÍÓÚÑ][\w-]+?)(?:\s(?:mayor|menor|pequeñ[oa]|gemel[oa]))?,?\s{_NAME}"
)
_LONGEST = 400
_KEPT = 2048  # texts that are kept: what is told is compared with all that is known
_MORE_NAMES = lazy.regex(r"(?:\.?\s[^\W\d_a-zß-öø-ÿ][\w-]+)*")
_OF = lazy.regex(r"\b(?:of|de)\s\Z")  # "the coach of my son is Marta" calls nobody a son


def list_relatives(text: str) -> set[tuple[str, str]]:
    """Return the relations that a text names people by, each with the first name, folded: ("sister", "ana")."""
    text = text[:_LONGEST]
    found = (match for pattern in _TOLD for match in pattern.finditer(text))
    told = {(RELATIVES[fold(match["kin"])], fold(match["name"])) for match in found}
    return {(kin, name) for kin, name in told if name not in STOPWORDS}


def calls_another(text: str, other: str) -> bool:
    """Return whether both texts name a person alike, each by another relation: "my cousin Leo", "my brother Leo"."""
    here = _list_called(text)
    there = _list_called(other) if here else {}
    return any(here[name].isdisjoint(there[name]) for name in here.keys() & there.keys())


def is_of_namesake(text: str, known: str, others: Iterable[str]) -> bool:
    """Return whether a text may tell of another person than a known statement that calls somebody a relation.

    It calls them another, or by their name alone, while one of the other statements calls them another.
    """
    told, called = _list_called(text), _list_called(known)
    if calls_another(text, known):
        return True
    alone = not called.keys().isdisjoint(words(text)) and called.keys().isdisjoint(told)
    return alone and any(calls_another(known, other) for other in others)


@lru_cache(_KEPT)
def _list_called(text: str) -> Mapping[str, frozenset[str]]:
    """Return what a text calls people, by their first names: relations, or any other word behind "my"."""
    found = list_relatives(text)
    for match in _ANYBODY.finditer(text[:_LONGEST]):
        kin = fold(match["kin"])
        if kin not in STOPWORDS:
            found.add((RELATIVES.get(kin, kin), fold(match["name"])))
    names = {name for _, name in found}
    return {name: frozenset(kin for kin, each in found if each == name) for name in names}


def find_lost_relative(text: str, message: str) -> str:
    """Return the words by which a text calls a person a relation that a message does not name: "my husband Walter".

    "" where there are none, and where the text tells nothing else.
    """
    named = {kin for kin, _ in list_relatives(message)}
    plain = text[:_LONGEST].rstrip(" .!")
    for found in (match for pattern in _TOLD for match in pattern.finditer(plain)):
        if (
            RELATIVES[fold(found["kin"])] in named
            or fold(found["name"]) in STOPWORDS
            or _OF.search(plain[: found.start()])
        ):
            continue
        more = _MORE_NAMES.match(plain, found.end())
        words = plain[found.start() : more.end() if more is not None else found.end()]
        return words if len(words) < len(plain) else ""
    return ""
