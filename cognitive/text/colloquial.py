"""Write out what people leave away as they chat: apostrophes ("im", "dont"), the ends of days, and letters drawn out.

Rules read the words of careful writers; so they read those of hasty ones as well. Names and figures stay as written.
"""

import re
from functools import lru_cache

from kenobot.core import lazy

_LONGEST = 4000  # characters that are looked at, as of what is read for facts
_DRAWN_OUT = lazy.regex(r"(?<=[a-zñ])([aeiouáéíóúy])\1{2,}")
_NOT = lazy.regex(r"\b((?:do|does|did|is|are|was|were|have|has|had|could|would|should)n|can|won)t\b", re.IGNORECASE)
_IS = lazy.regex(
    r"\b(i(?=m\b)|(?:he|she|that|what|there|who|where)(?=s\b)|(?:they|you)(?=re\b)|(?:i|they|you)(?=ve\b))",
    re.IGNORECASE,
)
_IT_IS = lazy.regex(
    r"(?:(?<=\A)|(?<=[,.;!] )|(?<=\band )|(?<=\bbut )|(?<=\bso )|(?<=\bcos )|(?<=\bthink ))(it)"
    r"(?=s (?:an?|the|my|our|on|at|in|not|no|now|been|off|over|gone|called|just|only|actually|still|going|due|\d|"
    r"[£$€]\d|(?:mon|tue|wed|thu|fri|sat|sun)\w*|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*)(?!\w))",
    re.IGNORECASE,
)
_WILL = lazy.regex(
    r"\b(i)(?=ll (?:be|go|get|have|let|see|do|try|take|call|ask|need|start|pay|send|probably|just|never)\b)",
    re.IGNORECASE,
)


_DAYS = lazy.regex(r"\b(?:(tue)s|(wed)s|(thu)rs?)\b", re.IGNORECASE)
_ENDS_OF_DAYS = ("sday", "nesday", "rsday")


@lru_cache(64)
def written_out(text: str) -> str:
    """Return a text with its apostrophes, and with one letter for each that is drawn out."""
    head, tail = text[:_LONGEST], text[_LONGEST:]
    head = _DRAWN_OUT.sub(r"\1", head)
    head = _NOT.sub(r"\1't", head)
    for pattern in (_IS, _IT_IS, _WILL):
        head = pattern.sub(r"\1'", head)
    head = _DAYS.sub(lambda day: day[day.lastindex or 0] + _ENDS_OF_DAYS[(day.lastindex or 1) - 1], head)
    return head + tail
