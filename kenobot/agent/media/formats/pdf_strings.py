"""Part the strings of a PDF page that are cells of narrow columns, with no more than a blank between them. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final

from kenobot.agent.media.formats.pdf_text import Glyph, Run

_GAP: Final = 0.16  # of the size of letters
_SAME: Final = 0.5  # points
_NEAR: Final = 3  # lines above and below
_ALIKE: Final = 2  # of these
_LEADERS: Final = (".", "…", "_", "·")
_INTO: Final = 0.3  # of the width of a letter: it is drawn over another

_Edges = tuple[list[float], list[float]]


def part_strings(lines: Sequence[list[Run]], join: Callable[[Sequence[Glyph]], Run]) -> list[list[Run]]:
    """Part runs beside figures, where these begin or end as strings of lines near do, as those of a column do."""
    edges = [_find_edges(line) for line in lines]
    parted = list[list[Run]]()
    for at, line in enumerate(lines):
        near = [*edges[max(0, at - _NEAR) : at], *edges[at + 1 : at + 1 + _NEAR]]
        parted.append([part for run in line for part in _part(run, near, join)])
    return parted


def _find_edges(line: Sequence[Run]) -> _Edges:
    """Return where the strings of a line begin and end."""
    strings = [string for run in line for string in _split(run)]
    return [string[0].x0 for string in strings], [string[-1].x1 for string in strings]


def _split(run: Run) -> list[list[Glyph]]:
    return [list(string) for _, string in groupby(run.glyphs, key=lambda glyph: glyph.string)]


def _part(run: Run, near: Sequence[_Edges], join: Callable[[Sequence[Glyph]], Run]) -> Iterator[Run]:
    strings, begun = _split(run), list[Glyph]()
    for before, string in pairwise([[], *strings]):
        if before and _is_border(before, string, near):
            yield join(begun)
            begun = []
        begun += string
    yield join(begun) if len(begun) < len(run.glyphs) else run


def _is_border(before: Sequence[Glyph], string: Sequence[Glyph], near: Sequence[_Edges]) -> bool:
    end, begin = before[-1], string[0]
    if not (end.text.strip() and begin.text.strip()) or begin.x0 - end.x1 < _GAP * (begin.y1 - begin.y0):
        return False
    if not (_is_figure(before) or _is_figure(string)) or end.text in _LEADERS:
        return False
    begins = sum(any(abs(begin.x0 - each) < _SAME for each in places) for places, _ in near)
    ends = sum(any(abs(end.x1 - each) < _SAME for each in places) for _, places in near)
    return max(begins, ends) >= _ALIKE


def _is_figure(string: Sequence[Glyph]) -> bool:
    text = "".join(glyph.text for glyph in string)
    return any(map(str.isdigit, text)) and not any(map(str.isalpha, text)) and text[-1] not in ".)"


def keep_strings(row: Iterable[Glyph]) -> list[Glyph]:
    """Return the letters of a line from left to right, but string by string where these are drawn over each other."""
    ordered = sorted(row, key=lambda glyph: glyph.x0)
    whole = set[int]()
    for before, glyph in pairwise(each for each in ordered if each.text[0].isalnum()):
        if glyph.string != before.string and before.x1 - glyph.x0 > _INTO * (glyph.x1 - glyph.x0):
            whole |= {before.string, glyph.string}
    if not whole:
        return ordered
    begins = {string: min(each.x0 for each in ordered if each.string == string) for string in whole}
    return sorted(
        ordered, key=lambda each: (begins.get(each.string, each.x0), each.string if each.string in whole else 0)
    )
