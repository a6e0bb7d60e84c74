"""Classify how urgently a message needs extraction: when, never whether.

Bounded: of a long text its beginning and end are scanned; see `kenobot.core.pattern_set` for the owner's patterns.
"""

import unicodedata
from typing import Literal

from kenobot.cognitive.policy.remember import ExtractPolicy
from kenobot.cognitive.text.lexicon import phrases
from kenobot.cognitive.text.words import fold
from kenobot.core.pattern_set import PatternSet

SignalLevel = Literal["high", "medium", "low", "none"]

_APOSTROPHES = str.maketrans("’‘ʼ`´", "'''''")
_NO_PATTERNS = PatternSet(())


_HIGH = phrases("signal_high")
_MEDIUM = phrases("signal_medium")
_LOW = phrases("signal_low")


def signal_level(text: str, policy: ExtractPolicy, patterns: PatternSet = _NO_PATTERNS) -> SignalLevel:
    """The level of what a person said. `patterns`: the owner's own, any of which makes it high."""
    seen = unicodedata.normalize("NFKC", _window(text, policy.scanned_chars))[
        : policy.scanned_chars
    ]  # some letters become many
    if patterns.search(seen, policy.pattern_steps):
        return "high"
    plain = fold(seen).translate(_APOSTROPHES)
    if _HIGH.search(plain):
        return "high"
    if _MEDIUM.search(plain):
        return "medium"
    return "low" if _LOW.search(plain) else "none"


def _window(text: str, size: int) -> str:
    """A short text whole; of a long one the beginning and the end, where people say what they want."""
    if len(text) <= size:
        return text
    return f"{text[: size * 3 // 4]}\n{text[-(size // 4) :]}"
