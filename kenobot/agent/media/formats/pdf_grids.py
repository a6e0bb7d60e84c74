"""Find tables that are drawn with rules between their cells, on a PDF page. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from kenobot.agent.media.formats.package import write_row
from kenobot.agent.media.formats.pdf_lines import Glyph, find_lines, join_words, write_line

_MOST_RULES: Final = 1000
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


class Grid:
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
                if any(abs(r.x0 - x) < NEAR and r.y0 - NEAR <= middle <= r.y1 + NEAR for r in self._down)
            }
            walls = walls or set(self.xs)  # a row without rules between others that have them
            cells, begin = list[str](), 0
            for end in range(1, len(self.xs)):
                if self.xs[end] not in walls and end < len(self.xs) - 1:
                    continue
                own = [each for each in inside if self.xs[begin] <= (each.x0 + each.x1) / 2 < self.xs[end]]
                lines = [write_line(line) for line in find_lines(own)]
                cells += ["\n".join(join_words(lines)), *[""] * (end - begin - 1)]
                begin = end
            rows.append(write_row(" ".join(cell.splitlines()) for cell in cells))
        return rows


def _distinct(places: Iterable[float]) -> list[float]:
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
        yield grid


def _goes_on(above: Grid, below: Grid, glyphs: Sequence[Glyph]) -> bool:
    if len(above.xs) != len(below.xs) or any(abs(a - b) > NEAR for a, b in zip(above.xs, below.xs, strict=True)):
        return False
    top, bottom = above.ys[0], below.ys[-1]
    if top - bottom > 2 * max(above.ys[-1] - above.ys[-2], below.ys[1] - below.ys[0]):
        return False
    between = [each for each in glyphs if bottom < (each.y0 + each.y1) / 2 < top]
    runs = [run for line in find_lines(between) for run in line]
    return not any(run.x0 < x - NEAR and run.x1 > x + NEAR for run in runs for x in above.xs)


def _meet(one: Rule, other: Rule) -> bool:
    return (
        one.x0 - NEAR <= other.x1
        and other.x0 - NEAR <= one.x1
        and one.y0 - NEAR <= other.y1
        and other.y0 - NEAR <= one.y1
    )
