"""Judge how urgent a text makes it to remember what it says: when, never whether.

Of a long text its beginning and end are scanned; see `kenobot.core.pattern_set` for the owner's patterns.
"""

import unicodedata
from functools import lru_cache
from typing import Literal

from kenobot.core.pattern_set import PatternSet
from kenobot.language.lexicon import phrases
from kenobot.language.words import fold

SignalLevel = Literal["high", "medium", "low", "none"]

_SCANNED = 2000  # characters of a text
_PATTERN_STEPS = 2500  # work spent on the owner's patterns in one scan
_APOSTROPHES = str.maketrans("’‘ʼ`´", "'''''")
_NO_PATTERNS = PatternSet(())
_HIGH, _MEDIUM, _LOW = phrases("signal_high"), phrases("signal_medium"), phrases("signal_low")


def signal_level(text: str, patterns: PatternSet = _NO_PATTERNS) -> SignalLevel:
    """Return the level of what a person said. patterns: the owner's own, any of which makes it high."""
    seen = unicodedata.normalize("NFKC", _window(text))[:_SCANNED]  # some letters become many
    return "high" if patterns.search(seen, _PATTERN_STEPS) else _level_of(seen)


@lru_cache(512)  # of a line of a summary it is asked in each round
def _level_of(seen: str) -> SignalLevel:
    plain = fold(seen).translate(_APOSTROPHES)
    if _HIGH.search(plain):
        return "high"
    if _MEDIUM.search(plain):
        return "medium"
    return "low" if _LOW.search(plain) else "none"


def _window(text: str) -> str:
    """Return a short text whole; of a long one the beginning and the end, where people say what they want."""
    if len(text) <= _SCANNED:
        return text
    return f"{text[: _SCANNED * 3 // 4]}\n{text[-(_SCANNED // 4) :]}"
