"""Join the characters of a PDF page to lines of words, in the order of reading. Pure."""

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from kenobot.agent.media.formats.package import SIGNS
from kenobot.agent.media.formats.pdf_rows import attach_small, join_beside
from kenobot.agent.media.formats.pdf_strings import keep_strings, part_strings
from kenobot.agent.media.formats.pdf_text import Glyph, Run

_SPACE: Final = 0.16  # of the size of letters: a gap that parts words
_WIDE: Final = 0.9  # the same, one that may part columns
_MOVED: Final = 0.35  # the same, where words of a text have a blank between them and these have none
_CELL: Final = 0.12  # the same, where these are drawn by themselves, as cells are
_OVER: Final = 0.2  # the same, a string that begins so far within the one before
_MANY: Final = 5  # gaps of one width, which cells of tables have not
_LEAST_RAISED: Final = 0.5  # of the height of the word beside: initials at the top of a text are taller
_ENDS: Final = ".,;:!?)]}\"'’”»%€$"  # signs behind which a note may be marked
_BLANKS: Final = 0.05  # of all letters
FAR: Final = 2.0  # the same, one that parts cells on a line of its own
_APART: Final = 2.2  # of the height of a line: lines further apart than this are of different tables
_SAME: Final = 0.7  # points: what begins or ends together
_MARKED: Final = 3.5  # of the height of a line: a mark of a list is no further from its text
_MARK: Final = re.compile(r"[•‣◦▪●○■□·–—*\-▶➢✓☐☒\ue000-\uf8ff]|\(?(?:\d{1,2}|[a-zA-Z])[.)]")
_NUMBER: Final = re.compile(r"\d{1,2}(?:\.\d{1,2})*")
_LARGER: Final = 1.1
_SIGNS: Final = ("☐", "☒", "☑", "•", "◦", "▪")  # marks that are one wherever they come
_OPENING, _CLOSING = "([{<«", ")]}>»"


def drop_doubles(glyphs: Sequence[Glyph]) -> Iterator[Glyph]:
    """Leave out letters that are drawn twice at the same place to look bold."""
    seen: dict[str, list[Glyph]] = {}
    for each in glyphs:
        same, near = seen.setdefault(each.text, []), 0.2 * (each.y1 - each.y0)
        if not any(abs(each.x0 - other.x0) < near and abs(each.y0 - other.y0) < near for other in same[-40:]):
            same.append(each)
            yield each


def group_rows(glyphs: Iterable[Glyph]) -> list[list[Glyph]]:
    """Return the letters of each line, from the top down."""
    rows: list[list[Glyph]] = []
    for glyph in sorted((each for each in glyphs if each.text), key=lambda each: (-(each.y0 + each.y1), each.x0)):
        middle = (glyph.y0 + glyph.y1) / 2
        row = next((row for row in reversed(rows[-4:]) if _is_beside(row[0], middle, glyph)), None)
        if row is None:
            rows.append([glyph])
        else:
            row.append(glyph)
    return rows


def find_lines(glyphs: Iterable[Glyph]) -> list[list[Run]]:
    """Return the lines from the top down, each as its runs from left to right."""
    letters = list(glyphs)
    rows = group_rows(letters)
    has_blanks = sum(each.text == " " for each in letters) > _BLANKS * len(letters)
    lines = [_join_mark(list(_runs(keep_strings(row), has_blanks=has_blanks))) for row in attach_small(rows)]
    lines = join_beside(list(_join_numbers([line for line in lines if line])))
    lines = part_strings(lines, _run)
    for above, below in pairwise(range(len(lines))):
        lines[below] = _part(lines[below], lines[above])
    for below, above in pairwise(reversed(range(len(lines)))):
        lines[above] = _part(lines[above], lines[below])
    return lines


def _part(line: list[Run], other: list[Run]) -> list[Run]:
    """Part the runs of a line where a cell of a line beside it begins or ends, as the cells of a table do."""
    if len(other) < 2 or is_apart(*sorted((line, other), key=lambda each: -each[0].y0)):
        return line
    found = list[Run]()
    for run in line:
        cuts = (_cut(run, cell) for before, cell in pairwise(other) if run.x0 < before.x1)
        at = next(filter(None, cuts), 0)
        found += [_run(run.glyphs[:at]), _run(run.glyphs[at:])] if at else [run]
    return found


def _cut(run: Run, cell: Run) -> int:
    """Return which glyph of a run begins a word where a cell begins, or the last word where a cell ends."""
    is_last = abs(run.x1 - cell.x1) < _SAME and any(map(str.isdigit, cell.text))
    for at, (before, glyph) in enumerate(pairwise(run.glyphs), 1):
        begins = not before.text.strip() or glyph.x0 - before.x1 > _SPACE * (glyph.y1 - glyph.y0)
        rest = "".join(each.text for each in run.glyphs[at:])
        if begins and glyph.text.strip() and (abs(glyph.x0 - cell.x0) < _SAME or (is_last and " " not in rest.strip())):
            return 0 if is_right_to_left(run.text) else at
    return 0


def is_right_to_left(text: str) -> bool:
    """Return whether some of a text is read from right to left."""
    return any(unicodedata.bidirectional(each) in ("R", "AL") for each in text)


def _join_mark(line: list[Run]) -> list[Run]:
    """Join the mark of an item of a list to its text, and boxes that are ticked to theirs."""
    found = list[Run]()
    for run in reversed(line):
        after = found[-1] if found else None
        is_mark = _MARK.fullmatch(run.text) if run is line[0] else run.text in _SIGNS
        if after is None or not is_mark or after.x0 - run.x1 > _MARKED * (after.y1 - after.y0):
            found.append(run)
            continue
        mark = "•" if "\ue000" <= run.text <= "\uf8ff" else run.text
        found[-1] = replace(after, text=f"{mark} {after.text}", x0=run.x0, glyphs=())
    return found[::-1]


def _join_numbers(lines: Sequence[list[Run]]) -> Iterator[list[Run]]:
    """Join the numbers of headings, whose letters are larger than those of the next line, to their words."""
    for line, below in pairwise([*lines, []]):
        is_heading = len(line) == 2 and bool(below) and line[0].size > _LARGER * below[0].size
        if is_heading and _NUMBER.fullmatch(line[0].text) and line[1].x0 - line[0].x1 < _WIDE * line[0].size:
            number, title = line
            text, first = f"{number.text} {title.text}", min(number.first, title.first)
            yield [replace(title, text=text, x0=number.x0, first=first, glyphs=())]
        else:
            yield line


def _is_beside(first: Glyph, middle: float, glyph: Glyph) -> bool:
    larger = max(first.y1 - first.y0, glyph.y1 - glyph.y0)
    return abs((first.y0 + first.y1) / 2 - middle) < 0.45 * larger


def _runs(row: Sequence[Glyph], *, has_blanks: bool) -> Iterator[Run]:
    """Yield the words that are close together. has_blanks: blanks between words are drawn as letters."""
    begun: list[Glyph] = []
    end, is_justified, operators = 0.0, _is_justified(row), _find_operators(row)
    for at, glyph in enumerate(row):
        is_blank = not glyph.text.strip()
        is_moved = (  # further along without a blank
            has_blanks and bool(begun) and bool(begun[-1].text.strip()) and not {at - 1, at} & operators
        )
        share = _WIDE if not is_moved else _MOVED if glyph.string == begun[-1].string else _CELL
        is_wide = glyph.x0 - end > share * (glyph.y1 - glyph.y0)
        is_over = (
            bool(begun) and glyph.string != begun[-1].string and begun[-1].x1 - glyph.x0 > _OVER * (glyph.y1 - glyph.y0)
        )
        if begun and not is_blank and (is_over or (is_wide and not is_justified)):
            yield _run(begun)
            begun = []
        if begun or not is_blank:
            begun.append(glyph)
        if not is_blank:
            end = glyph.x1 if len(begun) == 1 else max(end, glyph.x1)
    if begun:
        yield _run(begun)


def _find_operators(row: Sequence[Glyph]) -> set[int]:
    """Return which letters are signs such as "=", drawn by themselves as in formulas."""
    return {
        at
        for at, glyph in enumerate(row)
        if unicodedata.category(glyph.text[0]) == "Sm"
        and all(near.string != glyph.string for near in (*row[max(0, at - 1) : at], *row[at + 1 : at + 2]))
    }


def _is_justified(row: Sequence[Glyph]) -> bool:
    """Return whether a line has the same wide blank between all of its words, which columns have not."""
    words, end, is_blank, least = list[tuple[float, float]](), -math.inf, True, 2
    for glyph in row:
        if not glyph.text.strip():
            is_blank = True
            continue
        if glyph.x0 - end > _SPACE * (glyph.y1 - glyph.y0):
            if not is_blank:  # as cells are, which may be as far apart if they are few
                least = _MANY
            words.append((glyph.x0, glyph.x1))
        else:
            words[-1] = (words[-1][0], max(end, glyph.x1))
        end, is_blank = words[-1][1], False
    gaps = [after[0] - before[1] for before, after in pairwise(words)]
    steps = [after[0] - before[0] for before, after in pairwise(words)]
    return len(gaps) >= least and max(gaps) - min(gaps) < _SAME < max(steps) - min(steps)


def _run(glyphs: Sequence[Glyph]) -> Run:
    pieces, end, before, blank = list[str](), glyphs[0].x0, glyphs[0], False
    struck = False
    for at, glyph in enumerate(glyphs):
        if not glyph.text.strip():
            blank = True
            continue
        is_apart = (
            blank
            or _begins_note(pieces, before, glyph)
            or glyph.x0 - end > _SPACE * min(glyph.y1 - glyph.y0, before.y1 - before.y0)
        )
        if struck and not glyph.struck:
            pieces.append("~~")
        if pieces and is_apart:
            pieces.append(" ")
        elif pieces and _is_mark(glyphs, at):
            pieces.append("^")
        if glyph.struck and not struck:
            pieces.append("~~")
        pieces.append(glyph.text)
        end, before, blank, struck = max(end, glyph.x1), glyph, False, glyph.struck
    pieces += ["~~"] if struck else []
    bottom, top = min(each.y0 for each in glyphs), max(each.y1 for each in glyphs)
    inked = [each for each in glyphs if each.text.strip()]
    strings = [each.string for each in inked if each.text[0].isalnum()] or [each.string for each in inked]
    text, first, last = order_letters(pieces), min(strings), max(strings)
    return Run(text, glyphs[0].x0, end, bottom, top, tuple(glyphs), first=first, last=last)


def _is_raised(glyph: Glyph, beside: Glyph) -> bool:
    share, height = glyph.y1 - glyph.y0, beside.y1 - beside.y0
    return _LEAST_RAISED * height < share < 0.95 * height and glyph.y0 - beside.y0 > 0.25 * height


def _is_mark(glyphs: Sequence[Glyph], at: int) -> bool:
    """Return whether a letter is raised behind a word, as powers and marks of notes are, but not "1st" or cents."""
    before, glyph = glyphs[at - 1], glyphs[at]
    behind, sign = before.text[-1:], glyph.text[0]
    if not _is_raised(glyph, before):
        return False
    if sign.isdigit() or sign in SIGNS:
        is_price = behind in ".," and at + 1 < len(glyphs) and glyphs[at + 1].text[:1].isdigit()
        return behind.isalnum() or (behind in _ENDS and not is_price)
    is_ordinal = behind.isdigit() and at + 1 < len(glyphs) and glyphs[at + 1].text[:1].isalpha()
    return sign.isalpha() and behind.isalnum() and not is_ordinal


def _begins_note(pieces: Sequence[str], before: Glyph, glyph: Glyph) -> bool:
    """Return whether a word follows the raised mark that begins a note."""
    mark = "".join(pieces)
    return (mark.isdigit() or len(mark) == 1) and glyph.text[0].isalpha() and _is_raised(before, glyph)


def order_letters(pieces: Sequence[str]) -> str:
    """Join letters that come from left to right, turning round those that are read from right to left."""
    pieces = [unicodedata.normalize("NFKC", each) if each and each[0] >= "\ufb00" else each for each in pieces]
    directions = [unicodedata.bidirectional(each[0]) if each else "" for each in pieces]
    turned = sum(each in ("R", "AL") for each in directions)
    if not turned:
        return "".join(pieces)
    if turned < sum(each == "L" for each in directions):
        return "".join(_turn_parts(pieces, directions))
    return _mirror("".join(_turn(pieces, directions)))


def _turn(pieces: Sequence[str], directions: Sequence[str]) -> list[str]:
    """Turn a line round, but for its numbers and its words of other scripts."""
    found, run = list[str](), list[str]()
    for at in range(len(pieces) - 1, -1, -1):
        joins = directions[at] in ("CS", "ES", "ET", "ON", "WS") and 0 < at < len(pieces) - 1
        inside = joins and all(directions[near] in ("EN", "L", "AN", "ET") for near in (at - 1, at + 1))
        if directions[at] in ("EN", "L", "AN") or inside:
            run.append(pieces[at])
            continue
        found += [*reversed(run), pieces[at]]
        run = []
    return found + run[::-1]


def _turn_parts(pieces: Sequence[str], directions: Sequence[str]) -> Iterator[str]:
    """Turn the words within a line that are read from right to left."""
    begin = 0
    while begin < len(pieces):
        end = begin + 1
        if directions[begin] in ("R", "AL"):
            while end < len(pieces) and directions[end] not in ("L", "EN"):
                end += 1
            while directions[end - 1] not in ("R", "AL"):
                end -= 1
            yield _mirror("".join(reversed(pieces[begin:end])))
        else:
            yield pieces[begin]
        begin = end


def _mirror(text: str) -> str:
    """Turn brackets round where they came as they look."""
    first = next((sign for sign in text if sign in _OPENING + _CLOSING), "")
    return text if first in _OPENING else text.translate(str.maketrans(_OPENING + _CLOSING, _CLOSING + _OPENING))


def is_apart(above: Sequence[Run], below: Sequence[Run]) -> bool:
    """Return whether two lines are further apart than those of one table."""
    size = min(below[0].size, above[0].size)
    return above[0].y0 - below[0].y1 + below[0].size > _APART * size


def write_line(line: Sequence[Run]) -> str:
    """Write the runs of a line, those that are far apart as cells."""
    ordered = line[::-1] if is_leftward(run.text for run in line) else line
    written = ordered[0].text
    for before, run in pairwise(ordered):
        gap = max(run.x0 - before.x1, before.x0 - run.x1)
        written += (" | " if gap > FAR * run.size else " ") + run.text
    return written


def is_leftward(texts: Iterable[str]) -> bool:
    """Return whether most letters of cells are read from right to left, as then the cells are."""
    kinds = [unicodedata.bidirectional(each) for text in texts for each in text]
    return sum(each in ("R", "AL") for each in kinds) > kinds.count("L")
