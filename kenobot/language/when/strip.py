"""Take the words that name a time out of a text."""

from kenobot.core import lazy
from kenobot.language.when.meaning import When

_BLANKS = lazy.regex(r"\s{2,}")
_BEFORE_MARK = lazy.regex(r"\s+([,.;:!?)])")
_MARKS = lazy.regex(r"([,;:])(?:\s*[,;:])+")
_ENDS = " ,;:-–—"


def strip_when(text: str, when: When) -> str:
    """Return the text without the words that name the time."""
    rest = text
    for start, end in sorted(when.spans, reverse=True):
        rest = f"{rest[:start]} {rest[end:]}"
    rest = _BEFORE_MARK.sub(r"\1", _BLANKS.sub(" ", rest))
    return _MARKS.sub(r"\1", rest).strip(_ENDS)
