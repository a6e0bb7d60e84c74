"""Put the shapes of a slide in the order of reading: from the top down, and from left to right. Pure."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

_Shape = TypeVar("_Shape")


class Box(NamedTuple):
    """Bound a shape, in any unit."""

    x: float
    y: float
    width: float
    height: float


def order_by_place(shapes: Iterable[tuple[Box | None, _Shape]]) -> list[_Shape]:
    """Return shapes in the order in which they are drawn, unless one of them goes back up or left.

    One without a place stays behind the one before it.
    """
    placed, before = list[tuple[Box, _Shape]](), Box(0, 0, 0, 0)
    for box, shape in shapes:
        before = box or before
        placed.append((before, shape))
    if not all(_goes_on(one, other) for (one, _), (other, _) in pairwise(placed)):
        placed = _sort(placed)
    return [shape for _, shape in placed]


def _goes_on(one: Box, other: Box) -> bool:
    return other == one or other.y >= one.y + one.height / 2 or other.x >= one.x + one.width / 2


def _sort(placed: Sequence[tuple[Box, _Shape]]) -> list[tuple[Box, _Shape]]:
    rows: list[list[tuple[Box, _Shape]]] = []
    for box, shape in sorted(placed, key=lambda each: each[0].y):
        first = rows[-1][0][0] if rows else None
        if first is not None and box.y < first.y + min(box.height, first.height) / 2:
            rows[-1].append((box, shape))
        else:
            rows.append([(box, shape)])
    return [each for row in rows for each in sorted(row, key=lambda each: each[0].x)]
