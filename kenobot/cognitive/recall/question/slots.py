"""Classify the slots that a question asks to be filled, wherever it says so, and those that a memory fills.

"reg of the van" asks for a code, "mum's birthday" for a day. By the patterns of `slots.toml`. Each slot is a feature of
`recall.search.answerable`, which has learned its weight: none of them decides by itself.
"""

import re
from functools import lru_cache

from kenobot.cognitive.recall.question.answers import CAPITALISED
from kenobot.language.dates import calendar_names
from kenobot.language.lexicon import STOPWORDS, load_tables, table_pattern
from kenobot.language.recall_need import is_question
from kenobot.language.words import fold, words

_LONGEST_UNMARKED = 120  # characters of a question without a mark
_LONGEST = 600  # characters of a text that are searched
_OF_TOPIC = frozenset({"code", "job", "kind", "whether"})  # their words are what a question is about, too


@lru_cache(1)
def _tables() -> dict[str, dict[str, str]]:
    return load_tables("kenobot.cognitive.recall.question", "slots.toml")


@lru_cache(64)  # bounded: one file of patterns; start
def _pattern(table: str, name: str) -> re.Pattern[str]:
    return table_pattern(_tables(), table, name)


@lru_cache(1)
def slot_names() -> tuple[str, ...]:
    """Return the names of all slots."""
    return tuple(_tables()["asked"])


@lru_cache(64)
def asks(text: str) -> bool:
    """Return whether a message asks for something, also where it only begins or ends as a question, or names what."""
    if is_question(text):
        return True
    if len(text) > _LONGEST_UNMARKED:
        return False
    plain = " ".join(fold(text).split())
    return (
        _pattern("other", "asks").match(plain) is not None
        or _pattern("other", "asks_last").fullmatch(plain) is not None
        or _pattern("other", "asks_briefly").fullmatch(plain) is not None
    )


@lru_cache(64)
def asked_slots(question: str) -> frozenset[str]:
    """Return the slots that a question asks to be filled; often several, as "how much" may be money or a weight."""
    plain = fold(question[:_LONGEST])
    return frozenset(name for name in slot_names() if _pattern("asked", name).search(plain))


@lru_cache(512)
def filled_slots(text: str) -> frozenset[str]:
    """Return the slots that a memory may fill."""
    plain = fold(text[:_LONGEST])
    return frozenset(name for name in slot_names() if _pattern("held", name).search(plain))


def new_names(question: str, text: str) -> int:
    """Count the words with a capital within a text that the question has not: names, mostly."""
    known = set(words(question))
    found = 0
    for match in CAPITALISED.finditer(text[:_LONGEST]):
        before = text[: match.start()].rstrip(" ¿¡\"'(")
        word = fold(match[0]).removesuffix("'s")
        if not before or before[-1] in ".:;!?" or word in known or word in STOPWORDS or calendar_names(word):
            continue
        found += len(word) > 1 and not word.startswith("i'")
    return found


@lru_cache(64)
def words_of_form(question: str) -> frozenset[str]:
    """Return the words of a question, folded, that say what it wants and not what it is about."""
    plain = fold(question[:_LONGEST])
    spans = (
        match[0] for name in slot_names() if name not in _OF_TOPIC for match in _pattern("asked", name).finditer(plain)
    )
    return frozenset(word for span in spans for word in words(span)) | _general_words()


@lru_cache(1)
def _general_words() -> frozenset[str]:
    return frozenset(_tables()["other"]["general"].split())
