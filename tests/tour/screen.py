"""The screen of a terminal, as text: what stands on it after all that a program has written."""

import re
from collections.abc import Callable

_PIECE = re.compile(r"\x1b\[(?P<numbers>[0-9;?]*)(?P<order>[@-~])|\x1b\][^\x07]*\x07|\x1b[=>]|[\r\n\b]|[^\x1b\r\n\b]+")


class Screen:
    """Lines without end in either direction. Knows the orders that line editors use, and skips colours.

    row: of the cursor, from 0.
    """

    def __init__(self) -> None:
        self._lines: list[str] = [""]
        self.row = 0
        self._column = 0
        self._rest = ""

    @property
    def lines(self) -> list[str]:
        """The lines, without blanks at their ends."""
        return [line.rstrip() for line in self._lines]

    @property
    def current(self) -> str:
        """The line of the cursor, up to the cursor."""
        return self._lines[self.row][: self._column].ljust(self._column)

    def change(self, line: Callable[[str], str]) -> None:
        """Put another text into each line."""
        self._lines = [*map(line, self._lines)]

    def feed(self, text: str) -> None:
        """Take what a program wrote; a piece of an order waits for its end."""
        text, at = self._rest + text, 0
        while at < len(text) and (piece := _PIECE.match(text, at)):
            if text[at] == "\x1b" and piece["order"]:
                self._obey(piece["order"], piece["numbers"])
            elif text[at] != "\x1b":
                self._write(piece[0])
            at = piece.end()
        self._rest = text[at:]

    def _write(self, text: str) -> None:
        if text == "\r":
            self._column = 0
        elif text == "\n":
            self._move(self.row + 1)
        elif text == "\b":
            self._column = max(0, self._column - 1)
        else:
            line = self._lines[self.row].ljust(self._column)
            self._lines[self.row] = line[: self._column] + text + line[self._column + len(text) :]
            self._column += len(text)

    def _obey(self, order: str, numbers: str) -> None:
        number = int(numbers) if numbers.isdecimal() else 0
        if order in "AB":
            self._move(self.row + max(1, number) * (1 if order == "B" else -1))
        elif order in "CD":
            self._column = max(0, self._column + max(1, number) * (1 if order == "C" else -1))
        elif order == "G":
            self._column = max(0, number - 1)
        elif order in "JK":
            kept = "" if number == 2 else self._lines[self.row][: self._column]
            self._lines[self.row] = kept
            if order == "J":
                del self._lines[self.row + 1 :]

    def _move(self, row: int) -> None:
        self.row = max(0, row)
        self._lines += [""] * (self.row + 1 - len(self._lines))
