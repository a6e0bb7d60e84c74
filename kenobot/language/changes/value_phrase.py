"""Take out of a memory the phrase whose value a message replaces; all other words of the memory go on holding."""

from collections.abc import Iterable

from kenobot.core import lazy
from kenobot.language.changes.change_signs import Signs, content_stems, read_signs, value_spans
from kenobot.language.completions import names_part
from kenobot.language.lexicon import load_phrases
from kenobot.language.words import fold, words

_ROWS = load_phrases(__package__, "likely_change.toml", "phrase")
_LEADS = lazy.regex(rf"(?:\s(?:{_ROWS['leads']}))+\s\Z")
_MEASURES = lazy.regex(rf"(?:\s?(?:{_ROWS['measures']})(?!\w))*")
_NEXT = lazy.regex(rf"\W*\Z|[,;]|\s(?:{_ROWS['next']})\s")
_STAYS = lazy.regex(rf"(?<!\w)(?:{_ROWS['stays']})(?!\w)")
_IS = lazy.regex(r"\s(?:is|are|es|son)\s")
_PHRASE = lazy.regex(rf"\s(?:{_ROWS['next']})\s")
_ENDS_OPEN = lazy.regex(rf"(?<!\w)(?:{_ROWS['next']}|de|of)\Z")
_ENDS_IN_VERB = lazy.regex(rf"(?<!\w)(?:{_ROWS['verbs']})\Z")
_COMPANY = lazy.regex(r"(?:with|con)\s")
_MARKS = r"\s*[,;]\s+(?:(?:and|but|y|e|pero)\s)?|\s(?:and|but|y|e|pero)\s(?!(?:media|cuarto|pico)\b)"
_PART = lazy.regex(_MARKS)
_PARTS = lazy.regex(rf"{_MARKS}|\s(?=(?:with|con)\s)")  # and who is with them
_HALF_PAST = lazy.regex(r"\sy (?:media|cuarto|pico|\d+)\b")  # of an hour: it joins no two things
_LEAST_OF_PARTS = 3  # words that carry a meaning
_LEAST = 2  # words of its own that a memory needs to be understood
_LEAST_TO_TELL = 3  # and to tell anything: "the surgery opens" tells nothing


def has_parts(text: str) -> bool:
    """Return whether a part of a memory may be over alone: it has words for more than a thing and its value."""
    return _count_meant(text) >= _LEAST_OF_PARTS


def _count_meant(text: str) -> int:
    """Count the words that carry a meaning."""
    return sum(bool(content_stems(word)) for word in words(fold(text)))


def tells_more(text: str, message: str) -> bool:
    """Return whether a memory has a part that a message is not about, or a message says that something stays."""
    if _STAYS.search(fold(message)) or names_part(message, _HALF_PAST.sub(" ", text)):
        return True
    told = read_signs(message)
    parts = [part for part in _PARTS.split(fold(text)) if part]
    return len(parts) > 1 and any(_is_company(part, told) or _is_apart(read_signs(part), told) for part in parts)


def _is_company(part: str, told: Signs) -> bool:
    """Return whether a part of a memory names people of the message; what others do may go on without them."""
    return _COMPANY.match(part) is not None and bool(read_signs(part).stems & told.stems)


def _is_apart(part: Signs, told: Signs) -> bool:
    shares = part.stems & told.stems or part.values.keys() & told.values.keys()
    return bool(part.stems or part.values) and not shares


def without_value(text: str, message: str, *, is_part: bool = False) -> str:
    """Return a memory without the phrase of a value of which a message tells another; "" where none alone is meant.

    That is the part behind a comma or an "and" that the value is in, or a value with the words that lead to it: "on
    Thursdays", "a las 5". Nothing is taken out for a message that says that all of it is over. is_part: the person said
    that a part goes on holding, so that less need be left.
    """
    told, known, plain = read_signs(message), read_signs(text), fold(text)
    kinds = [kind for kind in told.values.keys() & known.values.keys() if told.values[kind] - known.values[kind]]
    if len(plain) != len(text) or "over" in told.cues:
        return ""
    spans = [_join(value_spans(plain, kind)) for kind in kinds]
    left = text
    for start, end in sorted({span for found in spans for span in found}, reverse=True):
        left = _cut_part(left, start, end) or _cut_phrase(left, start, end)
    is_clear = bool(spans) and all(len(found) == 1 for found in spans) and left != text and not left.endswith("'s")
    if not is_part and _ENDS_IN_VERB.search(fold(left)) is not None:
        return ""
    least = _LEAST if is_part or _PHRASE.search(fold(left)) else _LEAST_TO_TELL
    return left if is_clear and (_count_meant(left) >= least or read_signs(left).values) else ""


def _join(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join spans that overlap."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _cut_part(text: str, start: int, end: int) -> str:
    """Cut the part behind a mark or an "and" that a value is in; "" where it is in the first."""
    marks = [found.span() for found in _PART.finditer(fold(text))]
    before = [mark for mark in marks if mark[1] <= start]
    if not before:
        return ""
    following = next((mark[0] for mark in marks if mark[0] >= end), len(text))
    return f"{text[: before[-1][0]]}{text[following:]}".strip()


def _cut_phrase(text: str, start: int, end: int) -> str:
    """Cut a value with what leads to it and measures it, at the end or before another such phrase; "" elsewhere."""
    plain = fold(text)
    first = plain[start:end].lstrip("£$€ ")
    leads = _LEADS.search(plain, 0, start)
    own = any(first.startswith(f"{word} ") for word in ("at", "from", "till", "until", "a", "el", "del", "hasta"))
    if leads is None and not own:
        return ""
    measures = _MEASURES.match(plain, end)
    after = measures.end() if measures is not None else end
    if _NEXT.match(plain, after) is None:
        return ""
    if leads is not None and _IS.search(leads[0]) and not plain[after:].strip(" .!"):
        return ""  # all that the memory tells is the value
    kept = text[: leads.start() if leads is not None else start].rstrip()
    if _ENDS_OPEN.search(fold(kept)) is not None:
        return ""
    return f"{kept}{text[after:].rstrip(' ,;')}".strip()
