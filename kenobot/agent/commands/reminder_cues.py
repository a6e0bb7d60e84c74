"""Tell at little cost whether a message may be about reminders: what reads it is imported for those alone."""

from kenobot.language.lexicon import load_tables
from kenobot.language.words import fold

_TABLES = load_tables(__package__, "reminder_cues.toml")
_ORDER: tuple[str, ...] = tuple(_TABLES["order"])
_STAY: tuple[str, ...] = tuple(_TABLES["stay"])
LONGEST_ANSWER = 80
"""Characters of an answer to a question about a reminder."""

_LONGEST = 1000  # characters of a message that may be about them


def may_order(text: str) -> bool:
    """Return whether a message may order something about reminders."""
    return _has_any(_ORDER, text)


def may_tell_stay(text: str) -> bool:
    """Return whether a message may say where somebody is."""
    return _has_any(_STAY, text)


def _has_any(pieces: tuple[str, ...], text: str) -> bool:
    if len(text) > _LONGEST:
        return False
    plain = fold(text)
    return any(map(plain.__contains__, pieces))
