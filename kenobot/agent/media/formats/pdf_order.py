"""Tell columns of a PDF page from rows of a table by the order in which they are drawn. Pure."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

from kenobot.agent.media.formats.pdf_text import Run

Span = tuple[float, float]

_TABLE: Final = 3  # rows of wrapped cells: so many are a table, fewer are texts beside each other
_VALUES: Final = 2 / 3  # of the lines of a column, which have figures
_TIGHT: Final = 0.92  # of the distance of rows: that of the lines of a cell
_FILLED: Final = 0.7  # of the width of a column, by a line that is wrapped
_LEVEL: Final = 0.8  # points: lines at one height


def is_within(run: Run, column: Span) -> bool:
    """Return whether the middle of a run is in a column."""
    return column[0] <= (run.x0 + run.x1) / 2 <= column[1]


def find_columns(lines: Sequence[list[Run]]) -> list[Span]:
    """Return where the cells of lines are, but for those that have several cells of another line over or under them."""
    worded = ([run for run in line if any(map(str.isalnum, run.text))] for line in lines)
    pairs = (pair for line in worded for pair in pairwise(line))
    gaps = sorted((before.x1, after.x0) for before, after in pairs if before.x1 < after.x0)
    begins = [begin for begin, _ in gaps]
    ends = [*reversed(list(accumulate((end for _, end in reversed(gaps)), min))), math.inf]
    return [(run.x0, run.x1) for line in lines for run in line if ends[bisect_right(begins, run.x0)] >= run.x1]


def has_figure(run: Run) -> bool:
    """Return whether there is a figure among the words."""
    return any(map(str.isdigit, run.text))


def split_bands(lines: Sequence[list[Run]]) -> list[list[list[Run]]]:
    """Part lines wherever all above is drawn before all below: rows of tables are, columns of text are one band."""
    firsts = [min(run.first for run in line) for line in lines]
    if not all(firsts):
        return [[line] for line in lines]
    above = list(accumulate((max(run.last for run in line) for line in lines), max))
    below = list(accumulate(reversed(firsts), min))[::-1]
    cuts = [0, *(at for at in range(1, len(lines)) if above[at - 1] < below[at]), len(lines)]
    return [list(lines[begin:end]) for begin, end in pairwise(cuts)]


def join_wrapped_bands(bands: Sequence[list[list[Run]]], columns: Sequence[Span]) -> list[list[list[Run]]]:
    """Join bands of which one begins or ends with a further line of a cell of the other."""
    found = list[list[list[Run]]]()
    for at, band in enumerate(bands):
        pitches = [above[-1][0].y0 - below[0][0].y0 for above, below in pairwise(bands[max(0, at - 2) : at + 2])]
        is_title = at == 1 and len(found[0][0]) == 1
        if found and not is_title and _goes_on(found[-1][-1], band[0], columns, pitches):
            found[-1] = [*found[-1], *band]
        else:
            found.append(band)
    return found


def _goes_on(above: list[Run], below: list[Run], columns: Sequence[Span], pitches: Sequence[float]) -> bool:
    pitch = above[0].y0 - below[0].y0
    if min(len(above), len(below)) > 1 or pitch >= _TIGHT * min((each for each in pitches if each != pitch), default=0):
        return False
    return any(
        one.last + 1 == other.first
        and is_within(one, column)
        and is_within(other, column)
        and one.x1 - one.x0 > _FILLED * (column[1] - column[0])
        for column in columns
        for one in above
        for other in below
    )


def is_drawn_apart(band: Sequence[list[Run]], columns: Sequence[Span]) -> bool:
    """Return whether lines hold columns, each of which is drawn before the next begins."""
    parts = [part for column in columns if (part := _runs(band, column))]
    spans = sorted((min(run.first for run in part), max(run.last for run in part)) for part in parts)
    return len(band) > 1 and len(spans) > 1 and all(before[1] < after[0] for before, after in pairwise(spans))


def is_beside(band: Sequence[list[Run]], columns: Sequence[Span]) -> bool:
    """Return whether two columns at least have more than a line, and are no names with their values."""
    parts = [part for column in columns if (part := _runs(band, column))]
    counts = [sum(any(is_within(run, column) for run in line) for line in band) for column in columns]
    return sum(count > 1 for count in counts) > 1 and not _has_values(parts)


def is_table(bands: Sequence[Sequence[list[Run]]], columns: Sequence[Span]) -> bool:
    """Return whether bands are rows of a table, some of whose cells are wrapped."""
    has_rows = any(len(line) > 1 for band in bands if not is_beside(band, columns) for line in band)
    return has_rows or sum(len(band) > 1 for band in bands) >= _TABLE


def _runs(band: Sequence[list[Run]], column: Span) -> list[Run]:
    return [run for line in band for run in line if is_within(run, column)]


def _has_values(parts: Sequence[Sequence[Run]]) -> bool:
    """Return whether a column of names is beside columns of their values, line by line."""
    names, *values = parts
    if any(len(part) != len(names) for part in values) or any(
        abs(run.y0 - name.y0) > _LEVEL for part in values for run, name in zip(part, names, strict=True)
    ):
        return False
    if all(name.text.endswith(":") for name in names):
        return True
    if any(has_figure(name) for name in names):
        return False
    shares = (sum(map(has_figure, part)) / len(part) for part in values if has_figure(part[0]) or len(parts) > 2)
    return any(share >= _VALUES for share in shares)
