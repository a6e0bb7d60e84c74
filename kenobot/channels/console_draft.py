"""Lay out a reply that is still being written: as the rows of a terminal, which can be taken away again."""

import unicodedata
from functools import lru_cache

from kenobot.core import lazy

_COLOUR = lazy.regex(r"\x1b\[[0-9;]*m")
_TAB = 8


def last_rows(text: str, columns: int, most: int) -> list[str]:
    """Break `text` into rows as a terminal of `columns` cells does, and return the last of them, `most` or fewer."""
    rows: list[str] = []
    longest = 4 * most * columns  # of a line, because more cannot be seen of it
    for line in reversed(text.split("\n")[-most:]):
        rows[:0] = _rows(line[(len(line) - longest) // columns * columns :] if len(line) > longest else line, columns)
        if len(rows) >= most:
            break
    return rows[-most:]


def erasure(text: str, columns: int, rows: int) -> str:
    """Return what takes `text` off a terminal whose cursor is behind it, as far as it is still on the screen."""
    up = len(last_rows(_COLOUR.sub("", text), columns, rows)) - 1
    return f"\r\x1b[{up}A\x1b[J" if up else "\r\x1b[J"


def _rows(line: str, columns: int) -> list[str]:
    if line.isascii() and "\t" not in line:
        return [line[at : at + columns] for at in range(0, len(line), columns)] or [""]
    rows, width = [""], 0
    for char in line:
        cells = _TAB - width % _TAB if char == "\t" else _cells(char)
        if width + cells > columns:
            rows.append("")
            width = 0
        rows[-1] += " " * cells if char == "\t" else char
        width += cells
    return rows


@lru_cache(maxsize=4096)
def _cells(char: str) -> int:
    """Return how many cells a terminal gives a character."""
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
