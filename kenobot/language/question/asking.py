"""Detect messages that ask for something, also without a question mark, and what asks for work; see `asking.toml`."""

import re
from functools import lru_cache

from kenobot.core import lazy
from kenobot.language.lexicon import load_tables, table_pattern
from kenobot.language.recall_need import is_question
from kenobot.language.words import fold

_LONGEST_QUESTION = 400  # characters; what is longer tells and asks for work
_LONGEST_UNMARKED = 120  # characters of a question without a mark


@lru_cache(1)
def _tables() -> dict[str, dict[str, str]]:
    return load_tables("kenobot.language.question", "asking.toml")


@lru_cache(64)  # bounded: one file of patterns; start
def _pattern(table: str, name: str) -> re.Pattern[str]:
    return table_pattern(_tables(), table, name)


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
def asks_for_work(text: str) -> bool:
    """Return whether a message asks for something to be done or worked out, such as help, advice or a sum.

    No single memory has what it needs, so that nothing is told as unknown of it.
    """
    return len(text) > _LONGEST_QUESTION or _pattern("other", "work").search(" ".join(fold(text).split())) is not None


_SENTENCE = lazy.regex(r"[^.!?？؟\n]*\w[^.!?？؟\n]*[.!?？؟]*")
_MARKED = lazy.regex(r".*[?？؟]\W*", re.DOTALL)
_FIGURE = lazy.regex(r"\d")


def only_asks(text: str) -> bool:
    """Return whether a text is a question, or some, and no more; one without a mark tells where it has a figure."""
    sentences = [match[0].strip() for match in _SENTENCE.finditer(text)]
    return bool(sentences) and all(
        _MARKED.fullmatch(each) is not None or (asks(each) and _FIGURE.search(each) is None) for each in sentences
    )
