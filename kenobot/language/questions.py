"""Recognise sentences that ask without a question mark, in Spanish and English, by the patterns of `questions.toml`."""

from functools import lru_cache

from kenobot.language.colloquial import write_out
from kenobot.language.lexicon import load_tables, table_pattern
from kenobot.language.words import fold

_LONGEST = 120  # characters
_TABLES = load_tables(__package__, "questions.toml")
_STATES = table_pattern(_TABLES, "other", "states")
_ACCENTED = table_pattern(_TABLES, "asks", "accented")
_ASKS = tuple(table_pattern(_TABLES, "asks", name) for name in _TABLES["asks"] if name != "accented")


@lru_cache(512)  # bounded: a sentence is asked for several times in its turn
def asks_unmarked(sentence: str) -> bool:
    """Return whether a sentence without a mark surely asks: "a q hora tomo la pastilla", "who is my barber"."""
    if len(sentence) > _LONGEST:
        return False
    written = " ".join(write_out(sentence).lower().split()).rstrip(" .…")
    plain = fold(written)
    if _STATES.fullmatch(plain):
        return False
    return _ACCENTED.fullmatch(written) is not None or any(pattern.fullmatch(plain) for pattern in _ASKS)
