"""Letters and words of a PDF page with their places."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from kenobot.ports.frozen import dataclass

_HYPHENS: Final = ("-", "\u2010", "\u00ad")


class Glyph(NamedTuple):
    """Characters that are drawn at once, and where: from left to right and from the bottom up, in points.

    string: the number of the string that they are drawn in, in the order of drawing, 0 for none.
    """

    text: str
    x0: float
    x1: float
    y0: float
    y1: float
    struck: bool = False
    string: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """Words of a line that are close together. glyphs: its letters, between which it may be parted."""

    text: str
    x0: float
    x1: float
    y0: float
    y1: float
    glyphs: tuple[Glyph, ...] = ()
    lines: int = 1  # of a cell, whose text may be wrapped
    first: int = 0  # string that it is drawn in
    last: int = 0

    @property
    def size(self) -> float:
        """Return the height of its letters."""
        return (self.y1 - self.y0) / self.lines


def join_words(lines: Iterable[str]) -> Iterator[str]:
    """Join words that are cut at the ends of lines."""
    held = ""
    for line in lines:
        if held and line[:1].islower() and " | " not in line:
            rest, _, behind = line.partition(" ")
            held = held[:-1] + rest
            if held.endswith(_HYPHENS) and not behind:
                continue
            yield held
            held = ""
            if not behind:
                continue
            line = behind  # noqa: PLW2901
        elif held:
            yield held
            held = ""
        if line.endswith(_HYPHENS) and line[-2:-1].isalpha():
            held = line
        else:
            yield line.replace("\u00ad", "")
    if held:
        yield held
