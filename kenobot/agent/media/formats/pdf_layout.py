"""Read the columns and tables of a PDF page in the order in which a person does. Pure."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from statistics import median
from typing import Final

from kenobot.agent.media.formats.pdf_bands import join_bands
from kenobot.agent.media.formats.pdf_grids import NEAR, Rule, find_grids
from kenobot.agent.media.formats.pdf_lines import (
    FAR,
    drop_doubles,
    find_lines,
    is_apart,
    is_leftward,
    is_right_to_left,
    write_line,
)
from kenobot.agent.media.formats.pdf_order import (
    Span,
    find_columns,
    has_figure,
    is_beside,
    is_drawn_apart,
    is_table,
    is_within,
    join_wrapped_bands,
    split_bands,
)
from kenobot.agent.media.formats.pdf_rows import join_cells
from kenobot.agent.media.formats.pdf_text import Glyph, Run, join_words
from kenobot.core.table_rows import write_row

_PROSE_LINES: Final = 3
_PROSE_CHARS: Final = 22  # of a line of a column of text, usually
_LEAST: Final = 0.1  # points between columns
_FILLED: Final = 0.75  # of the width of a column


def page_lines(glyphs: Sequence[Glyph], rules: Sequence[Rule]) -> Iterator[str]:
    """Yield the lines of a page."""
    left, tables = list(drop_doubles(glyphs)), list[tuple[float, list[str]]]()
    for grid in find_grids(rules, left):
        inside = [each for each in left if grid.holds(each)]
        rows = grid.rows(inside)
        if sum(bool(row) for row in rows) and any(" | " in row for row in rows):
            left = [each for each in left if not grid.holds(each)]
            tables.append((grid.ys[-1], [row for row in rows if row]))
    lines = join_bands(find_lines(left), rules)
    for top, rows in sorted(tables, reverse=True):
        above = [line for line in lines if line[0].y0 >= top - NEAR]
        lines = [line for line in lines if line[0].y0 < top - NEAR]
        yield from join_words(_read(above))
        yield from rows
    yield from join_words(_read(lines))


def _read(lines: Sequence[list[Run]]) -> Iterator[str]:
    """Yield lines, columns of text one after another."""
    at = 0
    while at < len(lines):
        end, columns = _region(lines, at)
        if len(columns) > 1 and (drawn := _read_drawn(lines, at, end, columns)) is not None:
            at, written = drawn
            yield from written
            continue
        region = lines[at:end]
        if _is_prose(region, columns):
            yield from _read_columns(region, columns)
        elif all(len(_columns(line)) < 2 for line in region):
            yield from map(write_line, region)
        else:
            yield from _table(region)
        at = end


def _read_drawn(lines: Sequence[list[Run]], at: int, end: int, columns: list[Span]) -> tuple[int, Iterable[str]] | None:
    """Return where columns of text or a table with wrapped cells end, and their lines, if their drawing shows them."""
    bands = split_bands(lines[at:end])
    if len(bands) == 1:
        end, columns = _extend_drawn(lines, at, end, columns)
        bands = [list(lines[at:end])]
    bands = join_wrapped_bands(bands, columns)
    if not any(is_drawn_apart(band, columns) for band in bands):
        return None
    is_whole = len(bands) == 1 or len(bands[0]) >= _PROSE_LINES  # and no head of a table
    if is_whole and is_beside(bands[0], columns):
        return at + len(bands[0]), _read_columns(bands[0], columns)
    if is_table(bands, columns) or not any(is_beside(band, columns) for band in bands):
        rows = [line for band in bands for line in _join_wrapped(band, columns)]
        return (end, _table(rows)) if len(rows) < end - at else None
    written = [_read_columns(band, columns) if is_beside(band, columns) else _table(band) for band in bands]
    return end, chain.from_iterable(written)


def _extend_drawn(lines: Sequence[list[Run]], at: int, end: int, columns: list[Span]) -> tuple[int, list[Span]]:
    """Extend columns over the lines further down that are drawn before the last of them ends."""
    gap = min(map(_gap, lines[at:end]))
    while end < len(lines):
        gap = min(gap, _gap(lines[end]))
        grown = _merge([*columns, *((run.x0, run.x1) for run in lines[end])], gap)
        band = lines[at : end + 1]
        if len(grown) != len(columns) or len(split_bands(band)) > 1 or not is_drawn_apart(band, grown):
            break
        columns, end = grown, end + 1
    return end, columns


def _join_wrapped(band: list[list[Run]], columns: Sequence[Span]) -> list[list[Run]]:
    parts = [[run for line in band for run in line if is_within(run, column)] for column in columns]
    is_row = is_drawn_apart(band, columns) and (is_beside(band, columns) or min(map(len, filter(None, parts))) < 2)
    return [join_cells(band)] if is_row else band


def _read_columns(lines: Sequence[list[Run]], columns: Sequence[Span]) -> Iterator[str]:
    for column in reversed(columns) if is_right_to_left(lines[0][-1].text) else columns:
        inside = [[run for run in line if is_within(run, column)] for line in lines]
        yield from _read([_close_gaps(line) for line in inside if line])


def _close_gaps(line: list[Run]) -> list[Run]:
    """Join a line of text whose blanks are wide because it fills its column."""
    if len(line) < 2 or sum(len(run.text) for run in line) < _PROSE_CHARS:
        return line
    first, last = min(run.first for run in line), max(run.last for run in line)
    return [
        replace(line[0], text=" ".join(run.text for run in line), x1=line[-1].x1, first=first, last=last, glyphs=())
    ]


def _region(lines: Sequence[list[Run]], start: int, *, close: bool = False) -> tuple[int, list[Span]]:
    """Return where a stretch of lines ends that has the same gaps down the page, and the columns between them.

    close: also end it where a gap ends.
    """
    columns, gap = _columns(lines[start]), _gap(lines[start])
    end = start + 1
    while end < len(lines):
        line = lines[end]
        gap = _gap(line) if len(line) > 1 else min(gap, _gap(line))
        grown = _merge([*columns, *((run.x0, run.x1) for run in line)], gap)
        if len(columns) > 1 and (len(grown) < 2 or len(grown) == len(columns) + len(line) > len(columns) + 1):
            break
        is_first = end - start == 1 and not _is_moved(lines[start], line)
        is_other = _begins_table(lines, end) or (len(grown) > 1 and not is_first)
        if len(columns) < 2 and is_other and not (is_first and _fits(lines[start], line)):
            break
        if is_apart(lines[end - 1], line):
            break
        if close and len(grown) < len(columns):
            break
        columns, end = grown, end + 1
    return end, columns


def _is_moved(above: Sequence[Run], below: Sequence[Run]) -> bool:
    """Return whether one line of words is under and beside another, as text at the left under a title at the middle."""
    (one, *more), (other, *rest) = above, below
    return not (more or rest) and one.y0 >= other.y1 and (one.x0 > other.x1 or other.x0 > one.x1)


def _columns(line: Sequence[Run]) -> list[Span]:
    return _merge([(run.x0, run.x1) for run in line], _gap(line))


def _begins_table(lines: Sequence[list[Run]], at: int) -> bool:
    """Return whether a line has columns: far apart, or going on in the next line."""
    line, below = lines[at], lines[at + 1] if at + 1 < len(lines) else []
    if any(after.x0 - before.x1 > FAR * after.size for before, after in pairwise(line)):
        return True
    if len(line) < 2:
        return bool(below) and _fits(line, below)
    gap = min(_gap(line), _gap(below)) if below else 0
    return len(below) > 1 and len(_merge([*_columns(line), *_columns(below)], gap)) > 1


def _fits(line: Sequence[Run], below: Sequence[Run]) -> bool:
    """Return whether a line of one run is in a column of the next line."""
    columns = _columns(below)
    grown = _merge([*_columns(line), *columns], _gap(line))
    return len(line) == 1 and len(grown) == len(columns) > 1 and not is_apart(line, below)


def _merge(spans: Sequence[Span], gap: float) -> list[Span]:
    found = list[Span]()
    for begin, end in sorted(spans):
        if found and begin - found[-1][1] < gap:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found


def _gap(line: Sequence[Run]) -> float:
    """Return how wide a gap is at least that parts columns: no wider than those of the line itself."""
    own = [0.9 * (after.x0 - before.x1) for before, after in pairwise(line)]
    return max(_LEAST, min(0.5 * min(run.size for run in line), *own, math.inf))


def _is_prose(region: Sequence[list[Run]], columns: Sequence[Span]) -> bool:
    """Return whether columns hold running text: most lines are long, and fill their column."""
    if len(columns) < 2:
        return False
    for left, right in columns:
        inside = [[run for run in line if is_within(run, (left, right))] for line in region]
        lines = [line for line in inside if line]
        if len(lines) < _PROSE_LINES or median(sum(len(run.text) for run in line) for line in lines) < _PROSE_CHARS:
            return False
        if median(line[-1].x1 - line[0].x0 for line in lines) < _FILLED * (right - left):
            return False
    return True


def _table(region: Sequence[list[Run]]) -> Iterator[str]:
    at, step = 0, -1 if is_leftward(run.text for line in region for run in line) else 1
    while at < len(region):
        end, columns = _region(region, at, close=True)
        columns = _narrow(region[at:end], columns)
        for line in region[at:end]:
            if line is region[0] and len(line) == 1:
                yield write_line(line)
                continue
            cells = _place(line, columns)
            yield write_row(cells[::step]) if len(columns) > 1 else write_line(line)
        at = end


def _place(line: Sequence[Run], columns: Sequence[Span]) -> list[str]:
    """Return the text of each column, where a cell of several columns is in the first of them."""
    cells, last = [""] * len(columns), -1
    for run in line:
        at = next(number for number, (_, end) in enumerate(columns) if end > run.x0 or end == columns[-1][1])
        if at == last and at + 1 < len(columns) and columns[at + 1][0] < run.x1:
            at += 1
        cells[at], last = f"{cells[at]} {run.text}".strip(), at
    return cells


def _narrow(lines: Sequence[list[Run]], columns: list[Span]) -> list[Span]:
    """Part the columns of a table by the narrowest gap of its lines, or by any that gives each cell one of its own."""
    if len(columns) < 2:
        return columns
    spans = find_columns(lines)
    fine = _join_heads(lines, _merge(spans, _LEAST))
    if len(fine) == max(map(len, lines)):
        return fine
    return _join_heads(lines, _merge(spans, min(map(_gap, lines))))


def _join_heads(lines: Sequence[list[Run]], columns: Sequence[Span]) -> list[Span]:
    """Join columns beside each other of which one has a head, and that are never filled both: figures lie aside."""
    if any(has_figure(run) for run in lines[0]):
        return list(columns)
    joined, filled = list[Span](), list[set[int]]()
    for column in columns:
        found = {at for at, line in enumerate(lines) if any(is_within(run, column) for run in line)}
        if filled and (0 in filled[-1]) != (0 in found) and not filled[-1] & found:
            joined[-1] = (joined[-1][0], column[1])
            filled[-1] |= found
        else:
            joined.append(column)
            filled.append(found)
    return joined
