"""Tell the message that breaks off a turn: a single word, `stop`, `para`, `basta`, with a slash or without."""

from collections.abc import Mapping
from typing import Final

from kenobot.core import lazy
from kenobot.core.i18n import Language
from kenobot.language.words import fold
from kenobot.ports.messages import Inbound

STOP_WORDS: Final[Mapping[str, Language]] = {  # bounded: as is; start
    "stop": "en",
    "para": "es",
    "cancel": "en",
    **dict.fromkeys(("cancelar", "cancela", "cancele", "basta", "detente", "deten", "detenga", "pare", "parate"), "es"),
}
"""The words, each with its language; in a message two of them have an accent."""
LONGEST_STOP: Final = 32  # characters of a message that stops, with room for blanks around the word

_STOP = lazy.regex(rf"[¡/\s]*(?:ya )?({'|'.join(STOP_WORDS)}|detén|párate)(?:,? (?:ya|now|please|por favor))?[\s.!]*")


def stop_word(text: str) -> str:
    """Return the word of a message that is nothing but one; "" for any other."""
    match = _STOP.fullmatch(text.casefold()) if len(text) <= LONGEST_STOP else None
    return fold(match[1]) if match is not None else ""


def ends(stop: Inbound, other: Inbound) -> bool:
    """Return whether `stop` speaks for an earlier message of its chat: in a group, each for their own."""
    return stop.private or stop.user == other.user
