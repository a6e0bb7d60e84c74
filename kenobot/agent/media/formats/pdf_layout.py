"""Put the characters of a PDF page in the order in which they are read: lines, columns, and rows of tables. Pure."""

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

from kenobot.agent.media.formats.package import write_row

_SPACE: Final = 0.16  # of the size of letters: a gap that parts words
_WIDE: Final = 0.9  # the same, one that may part columns
_FAR: Final = 2.0  # the same, one that parts cells on a line of its own
_APART: Final = 2.2  # of the height of a line: lines further apart than this are of different tables
_PROSE_LINES: Final = 3
_PROSE_CHARS: Final = 22  # of a line of a column of text, usually
_FILLED: Final = 0.75  # of the width of a column
_MOST_RULES: Final = 1000
_SAME: Final = 0.7  # points: what begins or ends together
_LOOK_AHEAD: Final = 3  # stretches of lines
_NEAR: Final = 3.0  # points within which rules meet
_MARKED: Final = 3.5  # of the height of a line: a mark of a list is no further from its text
_MARK: Final = re.compile(r"[•◦▪●○■□·–—*\-▶➢✓☐☒\ue000-\uf8ff]|\(?(?:\d{1,2}|[a-zA-Z])[.)]")
_HYPHENS: Final = ("-", "\u2010", "\u00ad")
_OPENING, _CLOSING = "([{<«", ")]}>»"


_Span = tuple[float, float]


class Glyph(NamedTuple):
    """Characters that are drawn at once, and where: from left to right and from the bottom up, in points."""

    text: str
    x0: float
    x1: float
    y0: float
    y1: float


class Rule(NamedTuple):
    """A line that is drawn across or down the page."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def is_vertical(self) -> bool:
        """Return whether it goes down the page."""
        return self.y1 - self.y0 > self.x1 - self.x0


@dataclass(frozen=True, slots=True)
class _Run:
    """Words of a line that are close together. glyphs: its letters, between which it may be parted."""

    text: str
    x0: float
    x1: float
    y0: float
    y1: float
    glyphs: tuple[Glyph, ...] = ()


def page_lines(glyphs: Sequence[Glyph], rules: Sequence[Rule]) -> Iterator[str]:
    """Yield the lines of a page."""
    left, tables = list(_drop_doubles(glyphs)), list[tuple[float, list[str]]]()
    for grid in _stack(list(_grids(rules)), left):
        inside = [each for each in left if grid.holds(each)]
        rows = grid.rows(inside)
        if sum(bool(row) for row in rows) and any(" | " in row for row in rows):
            left = [each for each in left if not grid.holds(each)]
            tables.append((grid.ys[-1], [row for row in rows if row]))
    lines = _lines(left)
    for top, rows in sorted(tables, reverse=True):
        above = [line for line in lines if line[0].y0 >= top - _NEAR]
        lines = [line for line in lines if line[0].y0 < top - _NEAR]
        yield from _join_words(_read(above))
        yield from rows
    yield from _join_words(_read(lines))


def _drop_doubles(glyphs: Sequence[Glyph]) -> Iterator[Glyph]:
    """Leave out letters that are drawn twice at the same place to look bold."""
    seen: dict[str, list[Glyph]] = {}
    for each in glyphs:
        same, near = seen.setdefault(each.text, []), 0.2 * (each.y1 - each.y0)
        if not any(abs(each.x0 - other.x0) < near and abs(each.y0 - other.y0) < near for other in same[-40:]):
            same.append(each)
            yield each


# ── lines ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _lines(glyphs: Iterable[Glyph]) -> list[list[_Run]]:
    """Return the lines from the top down, each as its runs from left to right."""
    rows: list[list[Glyph]] = []
    for glyph in sorted((each for each in glyphs if each.text), key=lambda each: (-(each.y0 + each.y1), each.x0)):
        middle = (glyph.y0 + glyph.y1) / 2
        row = next((row for row in reversed(rows[-4:]) if _is_beside(row[0], middle, glyph)), None)
        if row is None:
            rows.append([glyph])
        else:
            row.append(glyph)
    lines = [_join_mark(list(_runs(sorted(row, key=lambda each: each.x0)))) for row in rows]
    lines = [line for line in lines if line]
    for above, below in pairwise(range(len(lines))):
        lines[below] = _part(lines[below], lines[above])
    for below, above in pairwise(reversed(range(len(lines)))):
        lines[above] = _part(lines[above], lines[below])
    return lines


def _part(line: list[_Run], other: list[_Run]) -> list[_Run]:
    """Part the runs of a line where a cell of a line beside it begins or ends, as the cells of a table do."""
    if len(other) < 2 or _is_apart(*sorted((line, other), key=lambda each: -each[0].y0)):
        return line
    found = list[_Run]()
    for run in line:
        cuts = (_cut(run, cell) for before, cell in pairwise(other) if run.x0 < before.x1)
        at = next(filter(None, cuts), 0)
        found += [_run(run.glyphs[:at]), _run(run.glyphs[at:])] if at else [run]
    return found


def _cut(run: _Run, cell: _Run) -> int:
    """Return which glyph of a run begins a word where a cell begins, or the last word where a cell ends."""
    is_last = abs(run.x1 - cell.x1) < _SAME and any(map(str.isdigit, cell.text))
    for at, (before, glyph) in enumerate(pairwise(run.glyphs), 1):
        begins = not before.text.strip() or glyph.x0 - before.x1 > _SPACE * (glyph.y1 - glyph.y0)
        rest = "".join(each.text for each in run.glyphs[at:])
        if begins and glyph.text.strip() and (abs(glyph.x0 - cell.x0) < _SAME or (is_last and " " not in rest.strip())):
            return at if all(unicodedata.bidirectional(each.text[0]) not in ("R", "AL") for each in run.glyphs) else 0
    return 0


def _join_mark(line: list[_Run]) -> list[_Run]:
    """Join the mark of an item of a list to its text, and boxes that are ticked to theirs."""
    found = list[_Run]()
    for run in reversed(line):
        after = found[-1] if found else None
        is_mark = _MARK.fullmatch(run.text) if run is line[0] else run.text in "☐☒"
        if after is None or not is_mark or after.x0 - run.x1 > _MARKED * (after.y1 - after.y0):
            found.append(run)
            continue
        mark = "•" if "\ue000" <= run.text <= "\uf8ff" else run.text
        found[-1] = _Run(f"{mark} {after.text}", run.x0, after.x1, after.y0, after.y1)
    return found[::-1]


def _is_beside(first: Glyph, middle: float, glyph: Glyph) -> bool:
    larger = max(first.y1 - first.y0, glyph.y1 - glyph.y0)
    return abs((first.y0 + first.y1) / 2 - middle) < 0.45 * larger


def _runs(row: Sequence[Glyph]) -> Iterator[_Run]:
    begun: list[Glyph] = []
    end = 0.0
    for glyph in row:
        is_blank = not glyph.text.strip()
        if begun and not is_blank and glyph.x0 - end > _WIDE * (glyph.y1 - glyph.y0):
            yield _run(begun)
            begun = []
        if begun or not is_blank:
            begun.append(glyph)
        if not is_blank:
            end = glyph.x1 if len(begun) == 1 else max(end, glyph.x1)
    if begun:
        yield _run(begun)


def _run(glyphs: Sequence[Glyph]) -> _Run:
    pieces, end, before, blank = list[str](), glyphs[0].x0, glyphs[0], False
    for glyph in glyphs:
        if not glyph.text.strip():
            blank = True
            continue
        if pieces and (blank or glyph.x0 - end > _SPACE * min(glyph.y1 - glyph.y0, before.y1 - before.y0)):
            pieces.append(" ")
        elif pieces and _is_power(before, glyph):
            pieces.append("^")
        pieces.append(glyph.text)
        end, before, blank = max(end, glyph.x1), glyph, False
    bottom, top = min(each.y0 for each in glyphs), max(each.y1 for each in glyphs)
    return _Run(order_letters(pieces), glyphs[0].x0, end, bottom, top, tuple(glyphs))


def _is_power(before: Glyph, glyph: Glyph) -> bool:
    """Return whether a figure is raised behind a letter or figure."""
    height = before.y1 - before.y0
    raised = glyph.y1 - glyph.y0 < 0.8 * height and glyph.y0 - before.y0 > 0.25 * height
    return raised and glyph.text[0].isdigit() and before.text[-1].isalnum()


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


def _join_words(lines: Iterable[str]) -> Iterator[str]:
    """Join words that are cut at the ends of lines."""
    held = ""
    for line in lines:
        if held and line[:1].islower() and " | " not in line:
            rest, _, behind = line.partition(" ")
            held = held[:-1] + rest
            if held.endswith(_HYPHENS) and not behind:
                continue
            yield held
            held = ""
            if not behind:
                continue
            line = behind  # noqa: PLW2901
        elif held:
            yield held
            held = ""
        if line.endswith(_HYPHENS) and line[-2:-1].isalpha():
            held = line
        else:
            yield line.replace("\u00ad", "")
    if held:
        yield held


# ── columns and tables ───────────────────────────────────────────────────────────────────────────────────────────


def _read(lines: Sequence[list[_Run]]) -> Iterator[str]:
    """Yield lines, columns of text one after another."""
    at = 0
    while at < len(lines):
        end, columns = _region(lines, at)
        region = lines[at:end]
        if _is_prose(region, columns):
            end, columns = _extend(lines, end, columns)
            for column in columns:
                inside = [[run for run in line if _is_within(run, column)] for line in lines[at:end]]
                yield from _read([_close_gaps(line) for line in inside if line])
        elif all(len(_columns(line)) < 2 for line in region):
            yield from map(_write_line, region)
        else:
            yield from _table(region)
        at = end


def _close_gaps(line: list[_Run]) -> list[_Run]:
    """Join a line of text whose blanks are wide because it fills its column."""
    if len(line) < 2 or sum(len(run.text) for run in line) < _PROSE_CHARS:
        return line
    return [_Run(" ".join(run.text for run in line), line[0].x0, line[-1].x1, line[0].y0, line[0].y1)]


def _extend(lines: Sequence[list[_Run]], end: int, columns: list[_Span]) -> tuple[int, list[_Span]]:
    """Extend columns of text over the lines further down that go on with them."""
    at, grown = end, columns
    for _ in range(_LOOK_AHEAD):
        if at == len(lines):
            break
        at, below = _region(lines, at)
        grown = _merge([*grown, *below], _gap(lines[end]))
        if len(grown) != len(columns):
            break
        if _is_prose(lines[end:at], grown) or _fills(lines[end:at], grown):
            return _extend(lines, at, grown)
    return end, columns


def _region(lines: Sequence[list[_Run]], start: int, *, close: bool = False) -> tuple[int, list[_Span]]:
    """Return where a stretch of lines ends that has the same gaps down the page, and the columns between them.

    close: also end it where a gap ends.
    """
    columns = _columns(lines[start])
    end = start + 1
    while end < len(lines):
        line = lines[end]
        grown = _merge([*columns, *((run.x0, run.x1) for run in line)], _gap(line))
        if len(columns) > 1 and len(grown) < 2:
            break
        is_first = end - start == 1
        is_other = _begins_table(lines, end) or (len(grown) > 1 and not is_first)
        if len(columns) < 2 and is_other and not (is_first and _fits(lines[start], line)):
            break
        if _is_apart(lines[end - 1], line):
            break
        if close and len(grown) < len(columns):
            break
        columns, end = grown, end + 1
    return end, columns


def _columns(line: Sequence[_Run]) -> list[_Span]:
    return _merge([(run.x0, run.x1) for run in line], _gap(line))


def _begins_table(lines: Sequence[list[_Run]], at: int) -> bool:
    """Return whether a line has columns: far apart, or going on in the next line."""
    line, below = lines[at], lines[at + 1] if at + 1 < len(lines) else []
    if any(after.x0 - before.x1 > _FAR * (after.y1 - after.y0) for before, after in pairwise(line)):
        return True
    if len(line) < 2:
        return bool(below) and _fits(line, below)
    return len(below) > 1 and len(_merge([*_columns(line), *_columns(below)], _gap(line))) > 1


def _fits(line: Sequence[_Run], below: Sequence[_Run]) -> bool:
    """Return whether a line of one run is in a column of the next line."""
    columns = _columns(below)
    grown = _merge([*_columns(line), *columns], _gap(line))
    return len(line) == 1 and len(grown) == len(columns) > 1 and not _is_apart(line, below)


def _merge(spans: Sequence[_Span], gap: float) -> list[_Span]:
    found = list[_Span]()
    for begin, end in sorted(spans):
        if found and begin - found[-1][1] < gap:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found


def _gap(line: Sequence[_Run]) -> float:
    """Return how wide a gap is at least that parts columns: no wider than those of the line itself."""
    own = [0.9 * (after.x0 - before.x1) for before, after in pairwise(line)]
    return max(0.1, min(0.5 * min(run.y1 - run.y0 for run in line), *own, math.inf))


def _is_apart(above: Sequence[_Run], below: Sequence[_Run]) -> bool:
    return above[0].y0 - below[0].y0 > _APART * min(below[0].y1 - below[0].y0, above[0].y1 - above[0].y0)


def _is_within(run: _Run, column: _Span) -> bool:
    return column[0] <= (run.x0 + run.x1) / 2 <= column[1]


def _is_prose(region: Sequence[list[_Run]], columns: Sequence[_Span]) -> bool:
    """Return whether columns hold running text: most lines are long, and fill their column."""
    if len(columns) < 2:
        return False
    for left, right in columns:
        inside = [[run for run in line if _is_within(run, (left, right))] for line in region]
        lines = [line for line in inside if line]
        if len(lines) < _PROSE_LINES or median(sum(len(run.text) for run in line) for line in lines) < _PROSE_CHARS:
            return False
        if median(line[-1].x1 - line[0].x0 for line in lines) < _FILLED * (right - left):
            return False
    return True


def _fills(region: Sequence[list[_Run]], columns: Sequence[_Span]) -> bool:
    """Return whether lines are of one column of text, which some of them fill."""
    wide = 0.9 * min(right - left for left, right in columns)
    return any(len(line) == 1 and line[0].x1 - line[0].x0 > wide for line in region)


def _table(region: Sequence[list[_Run]]) -> Iterator[str]:
    at = 0
    while at < len(region):
        end, columns = _region(region, at, close=True)
        for line in region[at:end]:
            if line is region[0] and len(line) == 1:
                yield _write_line(line)
                continue
            cells = [" ".join(run.text for run in line if _is_within(run, column)) for column in columns]
            yield write_row(cells) if len(columns) > 1 else _write_line(line)
        at = end


def _write_line(line: Sequence[_Run]) -> str:
    written = line[0].text
    for before, run in pairwise(line):
        written += (" | " if run.x0 - before.x1 > _FAR * (run.y1 - run.y0) else " ") + run.text
    return written


# ── ruled tables ─────────────────────────────────────────────────────────────────────────────────────────────────


class _Grid:
    """A table with rules between its cells."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self._down = [rule for rule in rules if rule.is_vertical]
        self.xs = _distinct(rule.x0 for rule in self._down)
        self.ys = _distinct(rule.y0 for rule in rules if not rule.is_vertical)
        if self._down:
            self.ys = _distinct([*self.ys, min(r.y0 for r in self._down), max(r.y1 for r in self._down)])

    @property
    def is_table(self) -> bool:
        """Return whether there are two columns at least."""
        return len(self.xs) > 2 and len(self.ys) > 1

    def holds(self, glyph: Glyph) -> bool:
        """Return whether a glyph lies within."""
        x, y = (glyph.x0 + glyph.x1) / 2, (glyph.y0 + glyph.y1) / 2
        return self.xs[0] <= x <= self.xs[-1] and self.ys[0] <= y <= self.ys[-1]

    def rows(self, glyphs: Sequence[Glyph]) -> list[str]:
        """Return the rows from the top down."""
        rows = list[str]()
        for bottom, top in reversed(list(zip(self.ys, self.ys[1:], strict=False))):
            inside = [each for each in glyphs if bottom <= (each.y0 + each.y1) / 2 < top]
            middle = (bottom + top) / 2
            walls = {
                x
                for x in self.xs
                if any(abs(r.x0 - x) < _NEAR and r.y0 - _NEAR <= middle <= r.y1 + _NEAR for r in self._down)
            }
            walls = walls or set(self.xs)  # a row without rules between others that have them
            cells, begin = list[str](), 0
            for end in range(1, len(self.xs)):
                if self.xs[end] not in walls and end < len(self.xs) - 1:
                    continue
                own = [each for each in inside if self.xs[begin] <= (each.x0 + each.x1) / 2 < self.xs[end]]
                lines = [_write_line(line) for line in _lines(own)]
                cells += ["\n".join(_join_words(lines)), *[""] * (end - begin - 1)]
                begin = end
            rows.append(write_row(" ".join(cell.splitlines()) for cell in cells))
        return rows


def _distinct(places: Iterable[float]) -> list[float]:
    found = list[float]()
    for place in sorted(places):
        if not found or place - found[-1] > _NEAR:
            found.append(place)
    return found


def _grids(rules: Sequence[Rule]) -> Iterator[_Grid]:
    """Yield the tables that rules make which meet."""
    left = list({tuple(map(round, each)): each for each in rules}.values())
    if len(left) > _MOST_RULES:  # a drawing
        return
    while left:
        group, at = [left.pop()], 0
        while at < len(group):
            met = [each for each in left if _meet(group[at], each)]
            if met:
                left = [each for each in left if not _meet(group[at], each)]
                group += met
            at += 1
        grid = _Grid(group)
        if len(group) > 4 and grid.is_table:
            yield grid


def _stack(grids: list[_Grid], glyphs: Sequence[Glyph]) -> Iterator[_Grid]:
    """Yield tables, joining those that only a row without rules parts, as stripes do."""
    grids.sort(key=lambda each: -each.ys[-1])
    while grids:
        grid = grids.pop(0)
        for other in list(grids):
            if _goes_on(grid, other, glyphs):
                grids.remove(other)
                grid = _Grid([*grid.rules, *other.rules])
        yield grid


def _goes_on(above: _Grid, below: _Grid, glyphs: Sequence[Glyph]) -> bool:
    if len(above.xs) != len(below.xs) or any(abs(a - b) > _NEAR for a, b in zip(above.xs, below.xs, strict=True)):
        return False
    top, bottom = above.ys[0], below.ys[-1]
    if top - bottom > 2 * max(above.ys[-1] - above.ys[-2], below.ys[1] - below.ys[0]):
        return False
    between = [each for each in glyphs if bottom < (each.y0 + each.y1) / 2 < top]
    runs = [run for line in _lines(between) for run in line]
    return not any(run.x0 < x - _NEAR and run.x1 > x + _NEAR for run in runs for x in above.xs)


def _meet(one: Rule, other: Rule) -> bool:
    return (
        one.x0 - _NEAR <= other.x1
        and other.x0 - _NEAR <= one.x1
        and one.y0 - _NEAR <= other.y1
        and other.y0 - _NEAR <= one.y1
    )
