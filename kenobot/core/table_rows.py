"""Write the rows of tables as lines. Pure."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final, NamedTuple

_MOST_LINES, _MOST_NESTED = 3, 12  # of a cell beside one that holds a table, and of that one, which stay in a row
_MOST_EMPTY: Final = 20  # cells that are shown one by one


def write_row(cells: Iterable[str]) -> str:
    """Write the cells of a row in a line. Those that are empty keep their place, up to the last that is not."""
    written = [" / ".join(filter(None, (" ".join(line.split()) for line in cell.splitlines()))) for cell in cells]
    while written and not written[-1]:
        written.pop()
    shown = list[str]()
    for is_filled, run in groupby(written, bool):
        group = list(run)
        shown += group if is_filled or len(group) <= _MOST_EMPTY else [f"[{len(group)} empty cells]"]
    return " | ".join(shown)


class Cell(NamedTuple):
    """The lines of a cell. is_outer: it holds a table."""

    lines: Sequence[str]
    is_outer: bool = False


def write_cells(cells: Sequence[Cell]) -> list[str]:
    """Write a row: in a line, a table within in brackets; cell by cell where it is there for the look of the page."""
    filled = [cell for cell in cells if cell.lines]
    has_table = any(cell.is_outer for cell in filled)
    if has_table and (
        len(filled) < 2 or any(len(cell.lines) > (_MOST_NESTED if cell.is_outer else _MOST_LINES) for cell in filled)
    ):
        return [line for cell in cells for line in cell.lines]
    shown = ("\n".join(cell.lines) for cell in cells)
    row = write_row(f"[{text}]" if cell.is_outer and text else text for cell, text in zip(cells, shown, strict=True))
    return [row] if row else []
