"""Join wrapped cells of PDF tables that have a rule or a stripe under each row, and none between columns. Pure."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from kenobot.agent.media.formats.pdf_grids import NEAR, Rule
from kenobot.agent.media.formats.pdf_rows import join_cells
from kenobot.agent.media.formats.pdf_text import Run

_LEVEL: Final = 0.8  # points: pieces of one rule are no further apart in height
_MOST_RULES: Final = 500
_MOST_LINES: Final = 12  # of a row
_SURE: Final = 3  # bands of a table whose rows are certainly between its rules


def join_bands(lines: Sequence[list[Run]], rules: Sequence[Rule]) -> list[list[Run]]:
    """Return the lines of a page, those of a row between two rules as one."""
    found = list(lines)
    for group in _group(rules):
        bands = [(each, _select_within(found, each)) for each in pairwise(group)]
        filled = [(band, inside) for band, inside in bands if inside]
        is_sure = len(filled) >= _SURE and all(_has_single(inside) for _, inside in filled)
        for _, inside in filled:
            if 1 < len(inside) <= _MOST_LINES and (is_sure or _wraps_one(inside)) and _has_single(inside):
                at = found.index(inside[0])
                found = [line for line in found if not any(line is each for each in inside)]
                found.insert(at, join_cells(inside))
    return found


def _group(rules: Sequence[Rule]) -> Iterator[list[Rule]]:
    """Yield rules that begin and end together, from the top down."""
    across = sorted((rule for rule in rules if not rule.is_vertical), key=lambda rule: (-round(rule.y0), rule.x0))
    joined = list[Rule]()
    for rule in across if len(across) < _MOST_RULES else ():
        before = joined[-1] if joined else None
        if before is not None and abs(before.y0 - rule.y0) < _LEVEL and rule.x0 - before.x1 < NEAR:
            joined[-1] = before._replace(x1=max(before.x1, rule.x1))
        else:
            joined.append(rule)
    while joined:
        first = joined[0]
        same = [each for each in joined if abs(each.x0 - first.x0) < NEAR and abs(each.x1 - first.x1) < NEAR]
        joined = [each for each in joined if each not in same]
        if len(same) > 1:
            yield sorted(same, key=lambda rule: -rule.y0)


def _select_within(lines: Sequence[list[Run]], band: tuple[Rule, Rule]) -> list[list[Run]]:
    top, bottom = band
    inside = [line for line in lines if all(bottom.y0 < (run.y0 + run.y1) / 2 < top.y0 for run in line)]
    fits = all(top.x0 - NEAR <= run.x0 and run.x1 <= top.x1 + NEAR for line in inside for run in line)
    return inside if fits else []


def _counts(lines: Sequence[list[Run]]) -> list[int]:
    """Return how many lines each column of a band has."""
    return [
        sum(any(cell.x0 <= run.x0 and run.x1 <= cell.x1 for run in line) for line in lines)
        for cell in join_cells(lines)
    ]


def _has_single(lines: Sequence[list[Run]]) -> bool:
    counts = _counts(lines)
    return len(counts) > 1 and 1 in counts


def _wraps_one(lines: Sequence[list[Run]]) -> bool:
    counts = _counts(lines)
    return len(counts) > 2 and sum(count > 1 for count in counts) == 1
