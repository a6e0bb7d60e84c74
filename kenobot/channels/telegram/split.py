"""Split a formatted text into parts that Telegram accepts."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from kenobot.core import lazy
from kenobot.core.graphemes import LONGEST_CLUSTER, is_joined
from kenobot.ports.messages import MessagePart, TextEntity

MAX_UNITS: Final = 4096
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
_BLANK_LINES = lazy.regex(r"(?:[^\S\n]*+\n)*+")
_ITEM = lazy.regex(r"(?:[-*+•]|[0-9]{1,9}[.)])[ \t]+\S")
_BLANKS = lazy.regex(r"[^\S\n]*+\n?")


def split_message(text: str, spans: Sequence[TextEntity] = (), limit: int = MAX_UNITS) -> list[MessagePart]:
    """Split into parts of at most `limit` UTF-16 units (2 or more), between paragraphs, lines, words or characters.

    Code, links, list items and tables stay whole where one part can hold them, headings with what follows. Formatting
    that a cut goes through continues in the next part. Nothing is lost but white space at cuts, and parts in
    which there would be nothing to see. Spans must be in range and not begin or end inside a surrogate pair.
    """
    units = _units_before(text)
    whole = list[tuple[int, int]]()
    if units[-1] > limit:
        whole = [span for span in _find_unbreakable(text, spans, units) if units[span[1]] - units[span[0]] <= limit]
    ranges = [(first, last) for first, last in _ranges(text, units, limit, whole) if _has_visible(text, first, last)]
    starts = [first for first, _ in ranges]
    pieces: list[list[TextEntity]] = [[] for _ in ranges]
    for span in spans:
        end = span.offset + span.length
        number = max(0, bisect_right(starts, bisect_left(units, span.offset)) - 1)
        while number < len(ranges) and units[ranges[number][0]] < end:
            first, last = units[ranges[number][0]], units[ranges[number][1]]
            offset, stop = max(span.offset, first), min(end, last)
            if offset < stop:
                pieces[number].append(TextEntity(span.kind, offset - first, stop - offset, span.detail))
            number += 1
    return [MessagePart(text[first:last], tuple(piece)) for (first, last), piece in zip(ranges, pieces, strict=True)]


def _units_before(text: str) -> Sequence[int]:
    """Count the UTF-16 units before each character and before the end."""
    if text.isascii() or max(text) < "\U00010000":
        return range(len(text) + 1)
    return list(accumulate((1 + (char > "\uffff") for char in text), initial=0))


def _find_unbreakable(text: str, spans: Sequence[TextEntity], units: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of characters that a cut should not go through, in no order."""
    for span in spans:
        first, last = bisect_left(units, span.offset), bisect_left(units, span.offset + span.length)
        if span.kind in ("pre", "code", "text_link"):
            yield first, last
        elif span.kind == "bold" and span.detail:  # a heading stays with the line below it
            below = _skip(_BLANK_LINES, text, min(last + 1, len(text)))
            yield first, text.find("\n", below) if "\n" in text[below:] else len(text)
    items: list[tuple[int, int]] = []  # bounded: one reply; turn
    table: int | None = None
    at = 0
    for line in text.split("\n"):
        bare = line.lstrip()
        indent = len(line) - len(bare)
        is_row = bare.startswith("|")
        if table is not None and not is_row:
            yield table, at - 1
        table = (at if table is None else table) if is_row else None
        while items and (not bare or indent <= items[-1][1]):
            yield items.pop()[0], at - 1
        if _ITEM.match(bare):
            items.append((at, indent))
        at += len(line) + 1
    yield from ((first, len(text)) for first, _ in items)
    if table is not None:
        yield table, len(text)


def _move_before(text: str, start: int, cut: int, whole: Sequence[tuple[int, int]]) -> int | None:
    """Return where to cut instead, before all ranges that a cut goes through; None where it goes through none."""
    edge = cut
    while crossed := [first for first, last in whole if start < first < edge < last and text[start:first].strip()]:
        edge = min(crossed)
    return edge if edge < cut else None


def _ranges(text: str, units: Sequence[int], limit: int, whole: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the parts as ranges of characters, in order. whole: what is cut only where nothing else can be."""
    if units[-1] <= limit:
        yield 0, len(text)
        return
    start, broken = _skip(_BLANK_LINES, text, 0), False
    while start < len(text):
        fits = bisect_right(units, units[start] + limit) - 1
        line_end = text.find("\n", start, fits) if broken else -1
        broken = False
        if line_end >= 0:
            # What is left of a line that had to be broken inside a word stands alone.
            last = line_end
            following = _skip(_BLANK_LINES, text, last)
        elif fits == len(text):
            last = following = fits
        elif (end := _between_lines(text, start, fits)) is not None:
            last, following = end, _skip(_BLANK_LINES, text, end)
        elif (end := _between_words(text, start, fits)) is not None:
            last, following = end, _skip(_BLANKS, text, end)
        else:
            last = following = _between_characters(text, start, fits)
            broken = True
        if following < len(text) and (edge := _move_before(text, start, last, whole)) is not None:
            last, following, broken = start + len(text[start:edge].rstrip()), edge, False
        yield start, last
        start = following


def _skip(blanks: re.Pattern[str], text: str, at: int) -> int:
    match = blanks.match(text, at)
    return match.end() if match else at


def _between_lines(text: str, start: int, fits: int) -> int | None:
    """Return the end of the last paragraph or line that fits; a paragraph only if it fills half of the part."""
    paragraph = text.rfind("\n\n", start, fits + 1)
    line = text.rfind("\n", start, fits + 1)
    best = paragraph if paragraph - start >= (fits - start) // 2 else line
    end = start + len(text[start : max(best, start)].rstrip())
    return end if end > start else None


def _between_words(text: str, start: int, fits: int) -> int | None:
    for at in range(fits, start, -1):
        if text[at].isspace() and not text[at - 1].isspace() and not is_joined(text, at + 1):
            return at
    return None


def _between_characters(text: str, start: int, fits: int) -> int:
    for at in range(fits, max(start, fits - LONGEST_CLUSTER), -1):
        if not is_joined(text, at):
            return at
    return fits


def _has_visible(text: str, first: int, last: int) -> bool:
    """Return whether a range has a visible character, which Telegram demands of a message."""
    return any(unicodedata.category(text[at]) not in _INVISIBLE for at in range(first, last))
