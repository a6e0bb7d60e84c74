"""Rows of tables in a line, also those whose cells hold tables."""

import pytest

from kenobot.core.table_rows import Cell, write_cells

_INNER = Cell(["A | 1", "B | 2"], is_outer=True)


@pytest.mark.parametrize(
    ("cells", "lines"),
    [
        ([Cell(["a"]), Cell([]), Cell(["b", "c"])], ["a |  | b / c"]),
        ([Cell(["Item"]), _INNER, Cell(["30"])], ["Item | [A | 1 / B | 2] | 30"]),
        ([Cell(["two", "lines"]), _INNER], ["two / lines | [A | 1 / B | 2]"]),
        ([Cell([]), _INNER], ["A | 1", "B | 2"]),
        ([Cell(["a column", "of", "a", "page"]), _INNER], ["a column", "of", "a", "page", "A | 1", "B | 2"]),
        ([Cell(["a"]), Cell(["x"] * 13, is_outer=True)], ["a", *["x"] * 13]),
        ([Cell([]), Cell([])], []),
    ],
)
def test_a_row_with_a_table_in_it_stays_one(cells: list[Cell], lines: list[str]) -> None:
    """But where the outer table only lays out a page."""
    assert write_cells(cells) == lines
