"""Join letters and cells of a PDF page to the line that they belong to, though they lie higher or lower. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from kenobot.agent.media.formats.pdf_text import Glyph, Run, join_words

_SMALL: Final = 0.95  # of the size of the letters beside: what is raised or lowered is no larger
_OVERLAP: Final = 0.15  # of the size of small letters, by which they lie in the height of the line
_TOUCH: Final = 0.35  # the same, the gap to the letters beside
_NEAR: Final = 4  # rows
_INTO: Final = 0.3  # of the size of letters: cells that overlap so far are beside each other
_MOST_LINES: Final = 3  # of each of the cells of a row
_ALIKE: Final = 1.4  # times the size of the other: letters of one table


def attach_small(rows: Sequence[Sequence[Glyph]]) -> Iterator[list[Glyph]]:
    """Yield the rows from left to right, with what is raised or lowered in the row of its word."""
    ordered = [sorted(row, key=lambda each: each.x0) for row in rows]
    sizes = [max((each.y1 - each.y0 for each in row if each.text.strip()), default=0.0) for row in ordered]
    for at, row in enumerate(ordered):
        near = [
            beside
            for beside in range(max(0, at - _NEAR), min(len(ordered), at + _NEAR + 1))
            if sizes[at] < _SMALL * sizes[beside]
        ]
        if not near:
            continue
        for word in _words(row, sizes[at]):
            share, home = max((_overlap(word, ordered[beside]), beside) for beside in near)
            if share > _OVERLAP:
                ordered[home] = sorted([*ordered[home], *word], key=lambda each: each.x0)
                ordered[at] = [each for each in ordered[at] if each not in word]
    yield from ordered


def _words(row: Sequence[Glyph], size: float) -> Iterator[list[Glyph]]:
    word = list[Glyph]()
    for glyph in row:
        if word and (not glyph.text.strip() or glyph.x0 - word[-1].x1 > _TOUCH * size):
            yield word
            word = []
        if glyph.text.strip():
            word.append(glyph)
    if word:
        yield word


def _overlap(word: Sequence[Glyph], row: Sequence[Glyph]) -> float:
    """Return which share of its height a small word has in common with a larger letter of a row that it touches.

    It is 0 for one that lies over or under letters of the row.
    """
    x0, x1, y0, y1 = word[0].x0, word[-1].x1, word[0].y0, word[0].y1
    size, share = y1 - y0, 0.0
    for each in row:
        if not each.text.strip() or size >= _SMALL * (each.y1 - each.y0):
            continue
        if min(x1, each.x1) - max(x0, each.x0) > 0.2 * size:
            return 0.0
        if min(abs(x0 - each.x1), abs(each.x0 - x1)) < _TOUCH * size:
            share = max(share, (min(y1, each.y1) - max(y0, each.y0)) / size)
    return share


def join_beside(lines: Sequence[list[Run]]) -> list[list[Run]]:
    """Join cells to rows where some are wrapped and those beside them lie at half their height."""
    found, at = list[list[Run]](), 0
    while at < len(lines):
        end = at + 1
        while end < len(lines) and _is_beside(lines[end - 1], lines[end]):
            end += 1
        found += _join_rows(lines[at:end]) if end - at > 2 else lines[at:end]
        at = end
    return found


def _is_beside(above: Sequence[Run], below: Sequence[Run]) -> bool:
    sizes = sorted((above[0].size, below[0].size))
    overlap = max(run.y1 for run in below) - min(run.y0 for run in above)
    if overlap < _INTO * sizes[0] or sizes[1] > _ALIKE * sizes[0]:
        return False
    spans = sorted((run.x0, run.x1) for run in (*above, *below))
    return all(before[1] <= after[0] for before, after in pairwise(spans))


def _join_rows(group: Sequence[list[Run]]) -> list[list[Run]]:
    """Join the lines of a row whose cells are wrapped, or else each line with the one cell beside it."""
    shorter, longer = sorted((group[::2], group[1::2]), key=lambda lines: max(map(len, lines)))
    if not (len(shorter) == 1 and len(shorter[0]) == 1 and all(len(line) > 1 for line in longer)):
        is_list = (
            min(len(group[::2]), len(group[1::2])) > _MOST_LINES
        )  # beside another, at half the height of its lines
        return list(group) if is_list else [join_cells(group)]
    found, joined = [group[0]], False
    for above, line in pairwise(group):
        joined = not joined and _is_beside(above, line)
        if joined:
            found[-1] = sorted([*found[-1], *line], key=lambda each: each.x0)
        else:
            found.append(line)
    return found


def join_cells(group: Iterable[Iterable[Run]]) -> list[Run]:
    """Join the lines of a row of a table, each of its cells to one run."""
    columns: list[list[Run]] = []
    for run in sorted((run for line in group for run in line), key=lambda each: each.x0):
        if columns and run.x0 < max(each.x1 for each in columns[-1]):
            columns[-1].append(run)
        else:
            columns.append([run])
    return [_join_cell(column) for column in columns]


def _join_cell(column: Sequence[Run]) -> Run:
    if len(column) == 1:
        return column[0]
    lines = sorted(column, key=lambda each: -each.y1)
    text = " ".join(join_words(run.text for run in lines))
    bottom, top = lines[-1].y0, lines[0].y1
    left, right = min(run.x0 for run in column), max(run.x1 for run in column)
    count = max(1, round((top - bottom) / lines[0].size))
    first, last = min(run.first for run in lines), max(run.last for run in lines)
    return Run(text, left, right, bottom, top, lines=count, first=first, last=last)
