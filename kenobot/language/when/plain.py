"""Fold a text and keep the place in it of every letter."""

import unicodedata

from kenobot.language.words import fold


class PlainText:
    """A folded text with single blanks, and for each of its letters the place that it comes from."""

    __slots__ = ("_starts", "plain")

    def __init__(self, text: str) -> None:
        pieces: list[str] = []
        starts: list[int] = []
        place = 0
        while place < len(text):
            end = place + 1
            while end < len(text) and unicodedata.combining(text[end]):
                end += 1
            folded = fold(text[place:end])
            if "\N{FRACTION SLASH}" in folded and pieces and pieces[-1][-1:].isdigit():
                folded = f" {folded}"
            if folded.isspace():
                folded = " " if not pieces or not pieces[-1].endswith(" ") else ""
            pieces.append(folded)
            starts += [place] * len(folded)
            place = end
        self.plain = "".join(pieces)
        self._starts = [*starts, len(text)]

    def find_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the original text of a piece of the folded one."""
        return self._starts[start], self._starts[end]


def mask(plain: str, start: int, end: int) -> str:
    """Put a comma and blanks in the place of a piece: what was read is not read again."""
    return f"{plain[:start]}{',' + ' ' * (end - start - 1)}{plain[end:]}" if end > start else plain
