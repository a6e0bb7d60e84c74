"""Take out of a memory the phrase whose value a message replaces; all other words of the memory go on holding."""

from itertools import pairwise

from kenobot.cognitive.remember.extract.change_signs import (
    Signs,
    compare_values,
    content_stems,
    read_signs,
    value_spans,
)
from kenobot.cognitive.text.lexicon import load_phrases
from kenobot.cognitive.text.words import fold
from kenobot.core import lazy

_ROWS = load_phrases("kenobot.cognitive.remember.extract", "likely_change.toml", "phrase")
_LEADS = lazy.regex(rf"(?:\s(?:{_ROWS['leads']}))+\s\Z")
_MEASURES = lazy.regex(rf"(?:\s?(?:{_ROWS['measures']})(?!\w))*")
_NEXT = lazy.regex(rf"\W*\Z|[,;]|\s(?:{_ROWS['next']})\s")
_PART = lazy.regex(r"\s*[,;]\s+(?:(?:and|but|y|e|pero)\s)?|\s(?:and|but|y|e|pero)\s(?!(?:media|cuarto|pico)\b)")
_LEAST = 2  # words of its own that a memory needs to be understood


def tells_more(text: str, message: str) -> bool:
    """Return whether a memory has a part that shares no word and no kind of value with a message."""
    told, plain = read_signs(message), fold(text)
    bounds = [0, *(found.end() for found in _PART.finditer(plain)), len(plain)]
    parts = [plain[start:end] for start, end in pairwise(bounds)]
    return len(parts) > 1 and any(_is_apart(read_signs(part), told) for part in parts)


def _is_apart(part: Signs, told: Signs) -> bool:
    shares = part.stems & told.stems or part.values.keys() & told.values.keys()
    return bool(part.stems or part.values) and not shares


def without_value(text: str, message: str) -> str:
    """Return a memory without the phrase of a value of which a message tells another; "" where none alone is meant.

    That is the part behind a comma or an "and" that the value is in, or a value with the words that lead to it: "on
    Thursdays", "a las 5". Nothing is taken out for a message that says that all of it is over.
    """
    told, known, plain = read_signs(message), read_signs(text), fold(text)
    if len(plain) != len(text) or "over" in told.cues or compare_values(told, known) != "another":
        return ""
    kinds = [kind for kind in told.values.keys() & known.values.keys() if not told.values[kind] & known.values[kind]]
    spans = {span: kind for kind in kinds for span in value_spans(plain, kind)}
    widest = [span for span in spans if not any(span != other and _holds(other, span) for other in spans)]
    if len(widest) != 1:
        return ""
    left = _cut_part(plain, text, *widest[0])
    if not left and spans[widest[0]] != "bare":
        left = _cut_phrase(plain, text, *widest[0])
    return left if len(content_stems(left)) >= _LEAST else ""


def _holds(outer: tuple[int, int], inner: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _cut_part(plain: str, text: str, start: int, end: int) -> str:
    """Cut the part behind a mark or an "and" that a value is in; "" where it is in the first."""
    marks = [found.span() for found in _PART.finditer(plain)]
    before = [mark for mark in marks if mark[1] <= start]
    if not before:
        return ""
    following = next((mark[0] for mark in marks if mark[0] >= end), len(text))
    return f"{text[: before[-1][0]]}{text[following:]}".strip()


def _cut_phrase(plain: str, text: str, start: int, end: int) -> str:
    """Cut a value with what leads to it and measures it, at the end or before another such phrase; "" elsewhere."""
    first = plain[start:end].lstrip("£$€ ")
    leads = _LEADS.search(plain, 0, start)
    own = any(first.startswith(f"{word} ") for word in ("at", "from", "till", "until", "a", "el", "del", "hasta"))
    if leads is None and not own:
        return ""
    measures = _MEASURES.match(plain, end)
    after = measures.end() if measures is not None else end
    if _NEXT.match(plain, after) is None:
        return ""
    return f"{text[: leads.start() if leads is not None else start].rstrip()}{text[after:].rstrip(' ,;')}".strip()
