"""Recognise words by which people tell a thing in confidence, in Spanish and English."""

from kenobot.core import lazy
from kenobot.language.lexicon import alternatives
from kenobot.language.words import fold

_LONGEST = 4000  # characters of a text that are read
CONFIDES = rf"(?<!\w)(?:{alternatives('confides')})(?!\w)"
"""A regular expression, over folded text, for words that ask to keep a thing quiet."""

_CONFIDES = lazy.regex(CONFIDES)


def is_confided(text: str) -> bool:
    """Return whether a text tells something in confidence."""
    return _CONFIDES.search(fold(text[:_LONGEST])) is not None
