"""Find how a text refers to what was said before, and to people: as a cause, by a pronoun, as changed, by a name."""

import re
from collections.abc import Collection

from kenobot.core import lazy
from kenobot.language.lexicon import alternatives, phrases
from kenobot.language.words import fold

_CAUSAL = phrases("cause")
_BACKWARD = lazy.regex(rf"(?:y |and )?(?:{alternatives('cause_before')})(?!\w)")
_POINTS_BACK = lazy.regex(
    r"^\W*(?:(?:and|but|so|y|pero|que|porque|because|also|tambien)\b|(?:it|its|they|their|them|he|she|his|her|this|that|these|those|there|su|sus"
    r"|lo|le|les|eso|esto|ese|esa|esos|esas|ella|ellas|ellos|alli|ahi)\b)|\b(?:it|its|them|their|eso|ello)\b"
)
_TELLS_A_CHANGE = lazy.regex(
    r"\b(?:ahora|ya|desde|al final|cambi\w*|pas(?:o|a|an|aron|amos) al?|nuev[oa]s?|mejor|en vez|sub(?:io|e|en)"
    r"|baj(?:o|a)|correg\w*|corrijo|no|now|moved?|instead|from|new|actually|changed?|switched|turns out|in the end"
    r"|put back|resched\w*|correct\w*|not)\b"
)
_GOES_ON = lazy.regex(r"'s\b|\s+\w")
_CALLS = lazy.regex(r"(?:[,!¡]|\b(?:hi|hey|hello|hola|buenas|dear|thanks|thank you|gracias|oh|wow|yes|no|yeah|ok))\s+$")


def causal_phrase(text: str) -> str | None:
    """Return the first phrase of cause in `text`, folded; None when it tells of none."""
    found = _CAUSAL.search(fold(text))
    return found[0] if found else None


def names_previous_as_cause(text: str) -> bool:
    """Return whether `text` begins by naming what came before it as its cause: "That's why …", «Por eso …»."""
    return _BACKWARD.match(fold(text).lstrip("¿¡\"'«“( ")) is not None


def points_back(text: str) -> bool:
    """Return whether a text begins as what goes on, or has a pronoun for what was said before."""
    return _POINTS_BACK.search(fold(text)) is not None


def tells_change(plain: str) -> bool:
    """Return whether a folded text has a word by which people tell that something is different now."""
    return _TELLS_A_CHANGE.search(plain) is not None


def speaks_of(named: Collection[str], text: str) -> bool:
    """Return whether a text says something of one of these people; a name that it only calls out says nothing."""
    plain = fold(text)
    found = (match for each in named for match in re.finditer(rf"\b{re.escape(each.partition(' ')[0])}\b", plain))
    return any(_GOES_ON.match(plain, each.end()) and not _CALLS.search(plain, 0, each.start()) for each in found)
