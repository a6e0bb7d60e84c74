"""Classify how much memory a message needs: an acknowledgement none, an order to a machine little."""

from collections.abc import Sequence
from typing import Literal

from kenobot.language.lexicon import phrases, word_set
from kenobot.language.words import fold, words

RecallNeed = Literal["no_recall", "minimal", "full"]

_ACKNOWLEDGEMENTS = word_set("acknowledgements")
_WISHES = word_set("standing_wishes")
_MOST_WORDS = 4
_ORDERS = word_set("orders")
_OF_MEMORY = phrases("of_memory")
_MOST_ORDER = 6  # words
_ASKING = ("?", "¿", "？", "؟", "か。")
_LONGEST_ORDER = 200  # characters


def recall_need(text: str) -> RecallNeed:
    """Classify a message by how much memory it needs."""
    if len(text) > _LONGEST_ORDER:
        return "full"
    found = words(text)
    if not found:
        return "no_recall"
    if len(found) <= _MOST_WORDS and all(word in _ACKNOWLEDGEMENTS for word in found):
        return "no_recall"
    if len(found) <= _MOST_ORDER and found[0] in _ORDERS and "?" not in text and not _OF_MEMORY.search(fold(text)):
        return "minimal"
    return "full"


def is_standing_wish(said: Sequence[str]) -> bool:
    """Return whether the words of a message say how things are always to be, or what its sender prefers."""
    return not _WISHES.isdisjoint(said)


def is_question(text: str) -> bool:
    """Return whether a message asks for something, as far as its signs tell."""
    return any(sign in text for sign in _ASKING)
