"""Print rows as a table with a heading, cut to the width of a terminal."""

import os
import shutil
import sys
import unicodedata
from collections.abc import Sequence

from kenobot.cli.language import say
from kenobot.core.redaction import one_line

_GAP = "  "
_SHORTEST = 20  # columns that the last cell keeps, however narrow the terminal


def print_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print `rows` below their translated `heads`, numbers to the right; the last column takes the room left."""
    table = [[say(head) for head in heads], *([flat(cell) for cell in row] for row in rows)]
    widths = [max(display_width(row[column]) for row in table) for column in range(len(heads) - 1)]
    room = line_width()
    if room is not None:
        room = max(_SHORTEST, room - sum(widths) - len(_GAP) * len(widths))
    numeric = [all(isinstance(row[column], int) for row in rows) for column in range(len(widths))]
    for row in table:
        cells = [_pad(cell, width, right) for cell, width, right in zip(row, widths, numeric, strict=False)]
        print(_GAP.join([*cells, shortened(row[-1], room)]).rstrip())


def line_width() -> int | None:
    """Return the columns that a line may take; None where no terminal or COLUMNS limits them."""
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return None
    return shutil.get_terminal_size().columns


def flat(cell: object) -> str:
    """Return a cell's text on one line, with blanks for line breaks and escapes for other controls."""
    return one_line(" ".join(str(cell).split()))


def shortened(text: str, width: int | None) -> str:
    """Return the text, or as much of it as fits into `width` columns, with an ellipsis."""
    if width is None or display_width(text) <= width:
        return text
    kept, used = [], 1
    for char in text:
        used += display_width(char)
        if used > width:
            break
        kept.append(char)
    return "".join(kept).rstrip() + "…"


def display_width(text: str) -> int:
    """Return the columns of a terminal that a text takes."""
    return sum(
        0 if unicodedata.combining(char) or unicodedata.category(char) == "Cf"
        else 2 if unicodedata.east_asian_width(char) in "WF"
        else 1
        for char in text
    )  # fmt: skip


def _pad(text: str, width: int, right: bool) -> str:
    blanks = " " * (width - display_width(text))
    return blanks + text if right else text + blanks
