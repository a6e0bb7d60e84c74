"""Bound JSON that comes from outside before anything walks through it: that takes a call a level."""

import math
from collections.abc import Iterator
from typing import Final

DEEPEST: Final = 32
"""Levels of lists and objects within one another."""
MOST_CHARS: Final = 200_000
"""Characters of texts and keys, with one for each value."""

_LARGEST_BITS = 1024  # of a whole number: as a float holds it


def find_excess(value: object) -> str:
    """Return in words what of a JSON value is beyond the bounds; "" where nothing is."""
    chars, level, waiting = 0, 0, [value]
    while waiting:
        inner: list[object] = []
        for each in waiting:
            chars += 1 + (len(each) if isinstance(each, str) else 0)
            if isinstance(each, float) and not math.isfinite(each):
                return "they hold a number that is too large"
            if isinstance(each, int) and each.bit_length() > _LARGEST_BITS:
                return "they hold a number that is too large"
            inner += _parts(each)
        if chars + len(inner) > MOST_CHARS:
            return f"they are longer than {MOST_CHARS} characters"
        level += bool(inner)
        if level > DEEPEST:
            return f"they are nested more than {DEEPEST} levels deep"
        waiting = inner
    return ""


def _parts(value: object) -> Iterator[object]:
    """Iterate over the keys and values of an object, or the values of a list."""
    if isinstance(value, dict):
        yield from value
        yield from value.values()
    elif isinstance(value, list | tuple):
        yield from value
