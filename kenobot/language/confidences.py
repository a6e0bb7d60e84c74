"""Recognise words by which people tell a thing in confidence, in Spanish and English."""

from collections.abc import Iterable

from kenobot.core import lazy
from kenobot.language.lexicon import alternatives
from kenobot.language.words import fold
from kenobot.ports.memory import CONFIDED

_LONGEST = 4000  # characters of a text that are read
CONFIDES = rf"(?<!\w)(?:{alternatives('confides')})(?!\w)"
"""A regular expression, over folded text, for words that ask to keep a thing quiet."""

_CONFIDES = lazy.regex(CONFIDES)


def is_confided(text: str) -> bool:
    """Return whether a text tells something in confidence."""
    return _CONFIDES.search(fold(text[:_LONGEST])) is not None


def tags_of_confidence(said: Iterable[str], tags: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the tags of what messages tell: with that of a confidence where one of them is told in confidence."""
    return tuple(dict.fromkeys((*tags, CONFIDED))) if any(map(is_confided, said)) else tags
