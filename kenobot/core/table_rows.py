"""Write the rows of tables as lines. Pure."""

from collections.abc import Iterable
from itertools import groupby
from typing import Final

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
