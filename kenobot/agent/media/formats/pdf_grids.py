"""Find tables that are drawn with rules between their cells, on a PDF page. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Final, NamedTuple

from kenobot.agent.media.formats.pdf_lines import find_lines, group_rows, is_leftward, write_line
from kenobot.agent.media.formats.pdf_text import Glyph, join_words
from kenobot.core.table_rows import write_row

_MOST_RULES: Final = 1000
_CROSSED: Final = (0.14, 0.45)  # of the height of a letter, above its line
_WORD: Final = 0.1  # of the size of letters: a gap within a word
_BLANK: Final = 0.9  # the same, within words that are drawn at once
NEAR: Final = 3.0  # points within which rules meet


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


class Strikes:
    """Rules across letters that are crossed out."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._across: dict[int, list[Rule]] = {}
        for rule in rules:
            if not rule.is_vertical:
                self._across.setdefault(int(rule.y0), []).append(rule)

    def cross(self, glyph: Glyph, base: float) -> bool:
        """Return whether a rule crosses a letter out. base: the height of the line that it is written on."""
        low, high = (base + share * (glyph.y1 - glyph.y0) for share in _CROSSED)
        middle = (glyph.x0 + glyph.x1) / 2
        near = (rule for at in range(int(low), int(high) + 1) for rule in self._across.get(at, ()))
        return any(low < rule.y0 < high and rule.x0 <= middle <= rule.x1 for rule in near)


class Grid:
    """A table with rules between its cells."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self._down = [rule for rule in rules if rule.is_vertical]
        self.xs = _merge_close(rule.x0 for rule in self._down)
        self.ys = _merge_close(rule.y0 for rule in rules if not rule.is_vertical)
        if self._down:
            self.ys = _merge_close([*self.ys, min(r.y0 for r in self._down), max(r.y1 for r in self._down)])

    @property
    def is_table(self) -> bool:
        """Return whether there are two columns at least."""
        return len(self.xs) > 2 and len(self.ys) > 1

    def holds(self, glyph: Glyph) -> bool:
        """Return whether a glyph lies within."""
        x, y = (glyph.x0 + glyph.x1) / 2, (glyph.y0 + glyph.y1) / 2
        return self.xs[0] <= x <= self.xs[-1] and self.ys[0] <= y <= self.ys[-1]

    def rows(self, glyphs: Sequence[Glyph]) -> list[str]:
        """Return the rows from the top down, each cell in the first of those that it takes."""
        bands = list(reversed(list(pairwise(self.ys))))
        cells: list[dict[tuple[int, int], list[Glyph]]] = []
        for at, (bottom, top) in enumerate(bands):
            inside = [each for each in glyphs if bottom <= (each.y0 + each.y1) / 2 < top]
            row: dict[tuple[int, int], list[Glyph]] = {}
            for begin, end in self._spans((bottom + top) / 2):
                own = [each for each in inside if self.xs[begin] <= (each.x0 + each.x1) / 2 < self.xs[end]]
                above = cells[at - 1].get((begin, end)) if at else None
                if above is not None and not self._is_closed(top, (self.xs[begin] + self.xs[end]) / 2):
                    above += own
                    own = above
                row[begin, end] = own
            cells.append(row)
        return self._write(cells)

    def _spans(self, middle: float) -> Iterator[tuple[int, int]]:
        """Yield the first and last rule of each cell at a height."""
        walls = {
            x for x in self.xs if any(abs(r.x0 - x) < NEAR and r.y0 - NEAR <= middle <= r.y1 + NEAR for r in self._down)
        }
        walls = walls or set(self.xs)  # a row without rules between others that have them
        begin = 0
        for end in range(1, len(self.xs)):
            if self.xs[end] in walls or end == len(self.xs) - 1:
                yield begin, end
                begin = end

    def _is_closed(self, y: float, x: float) -> bool:
        across = (rule for rule in self.rules if not rule.is_vertical)
        return any(abs(rule.y0 - y) < NEAR and rule.x0 - NEAR <= x <= rule.x1 + NEAR for rule in across)

    def _write(self, rows: Sequence[Mapping[tuple[int, int], list[Glyph]]]) -> list[str]:
        told, written = set[int](), list[list[str]]()  # told: cells that are written
        for row in rows:
            cells = list[str]()
            for (begin, end), glyphs in row.items():
                lines = [] if id(glyphs) in told else _cell_lines(glyphs)
                told.add(id(glyphs))
                cells += [" ".join(lines), *[""] * (end - begin - 1)]
            written.append(cells)
        step = -1 if is_leftward(chain.from_iterable(written)) else 1
        return [write_row(cells[::step]) for cells in written]


def _cell_lines(glyphs: Sequence[Glyph]) -> list[str]:
    """Return the lines of a cell. One that fills it is a line of words, however wide its blanks are."""
    lines = find_lines(glyphs)
    left, right = min((line[0].x0 for line in lines), default=0.0), max((line[-1].x1 for line in lines), default=0.0)
    written = list[str]()
    for line, below in pairwise([*lines, []]):
        fills = bool(below) and line[0].x0 - left < NEAR and right - line[-1].x1 < NEAR and len(below) < len(line)
        written.append(" ".join(run.text for run in line) if fills else write_line(line))
    return list(join_words(written))


def _merge_close(places: Iterable[float]) -> list[float]:
    found = list[float]()
    for place in sorted(places):
        if not found or place - found[-1] > NEAR:
            found.append(place)
    return found


def _grids(rules: Sequence[Rule]) -> Iterator[Grid]:
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
        grid = Grid(group)
        if len(group) > 4 and grid.is_table:
            yield grid


def find_grids(rules: Sequence[Rule], glyphs: Sequence[Glyph]) -> Iterator[Grid]:
    """Yield the ruled tables, joining those that only a row without rules parts, as stripes do."""
    grids = sorted(_grids(rules), key=lambda each: -each.ys[-1])
    while grids:
        grid = grids.pop(0)
        for other in list(grids):
            if _goes_on(grid, other, glyphs):
                grids.remove(other)
                grid = Grid([*grid.rules, *other.rules])
        yield _take_beside(grid, glyphs)


def _goes_on(above: Grid, below: Grid, glyphs: Sequence[Glyph]) -> bool:
    if len(above.xs) != len(below.xs) or any(abs(a - b) > NEAR for a, b in zip(above.xs, below.xs, strict=True)):
        return False
    top, bottom = above.ys[0], below.ys[-1]
    if top - bottom > 2 * max(above.ys[-1] - above.ys[-2], below.ys[1] - below.ys[0]):
        return False
    return _fits([each for each in glyphs if bottom < (each.y0 + each.y1) / 2 < top], above.xs)


def _take_beside(grid: Grid, glyphs: Sequence[Glyph]) -> Grid:
    """Return a table with the row above it and the one below that only lack a stripe."""
    height = min(top - bottom for bottom, top in pairwise(grid.ys))
    for low, high, edge in (
        (grid.ys[-1], grid.ys[-1] + height, grid.ys[-1] + height),
        (grid.ys[0] - height, grid.ys[0], grid.ys[0] - height),
    ):
        row = [each for each in glyphs if low < (each.y0 + each.y1) / 2 < high]
        columns = {sum(each.x0 >= x - 0.5 for x in grid.xs) for each in row if each.text.strip()}
        if len(columns) > 1 and 0 not in columns and len(grid.xs) not in columns and _fits(row, grid.xs):
            grid = Grid([*grid.rules, Rule(grid.xs[0], edge, grid.xs[-1], edge)])
    return grid


def _fits(glyphs: Sequence[Glyph], xs: Sequence[float]) -> bool:
    """Return whether no word of some lines goes over a place between columns."""
    for row in group_rows(glyphs):
        letters = sorted((each for each in row if each.text.strip()), key=lambda each: each.x0)
        for x in xs:
            if any(each.x0 < x - 0.5 and each.x1 > x + 0.5 for each in letters):
                return False
            for before, after in pairwise(letters):
                blank = _BLANK if before.string and before.string == after.string else _WORD
                is_word = after.x0 - before.x1 < blank * (after.y1 - after.y0)
                if is_word and before.x1 <= x + 0.5 and after.x0 >= x - 0.5:
                    return False
    return True


def _meet(one: Rule, other: Rule) -> bool:
    return (
        one.x0 - NEAR <= other.x1
        and other.x0 - NEAR <= one.x1
        and one.y0 - NEAR <= other.y1
        and other.y0 - NEAR <= one.y1
    )
