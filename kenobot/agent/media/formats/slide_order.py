"""Put the shapes of a slide in the order of reading: from the top down, and from left to right. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple
from xml.etree.ElementTree import Element

from kenobot.agent.media.formats.package import local


class _Box(NamedTuple):
    x: int
    y: int
    width: int
    height: int


def order_shapes(shapes: Iterable[Element], inherited: Sequence[Mapping[str, Element]] = ()) -> list[Element]:
    """Return shapes in the order of reading, which is that in which they are drawn unless one goes back up or left.

    inherited: the placeholders of layout and master, by index and kind.
    """
    titles, placed, before = list[Element](), list[tuple[_Box, Element]](), _Box(0, 0, 0, 0)
    for shape in shapes:
        place = _placeholder(shape)
        if place is not None and place.get("type") in ("title", "ctrTitle"):
            titles.append(shape)
            continue
        before = _find_box(shape, inherited) or before
        placed.append((before, shape))
    if not all(_goes_on(one, other) for (one, _), (other, _) in pairwise(placed)):
        placed = _sort(placed)
    return [*titles, *(shape for _, shape in placed)]


def _goes_on(one: _Box, other: _Box) -> bool:
    return other == one or other.y >= one.y + one.height / 2 or other.x >= one.x + one.width / 2


def _sort(placed: Sequence[tuple[_Box, Element]]) -> list[tuple[_Box, Element]]:
    rows: list[list[tuple[_Box, Element]]] = []
    for box, shape in sorted(placed, key=lambda each: each[0].y):
        first = rows[-1][0][0] if rows else None
        if first is not None and box.y < first.y + min(box.height, first.height) / 2:
            rows[-1].append((box, shape))
        else:
            rows.append([(box, shape)])
    return [each for row in rows for each in sorted(row, key=lambda each: each[0].x)]


def find_placeholders(root: Element | None) -> dict[str, Element]:
    """Return the placeholders of a layout or master by index and by kind."""
    found: dict[str, Element] = {}
    for shape in root.iter() if root is not None else ():
        if local(shape) == "sp" and (place := _placeholder(shape)) is not None:
            for key in _keys(place):
                found.setdefault(key, shape)
    return found


def _find_box(shape: Element, inherited: Sequence[Mapping[str, Element]]) -> _Box | None:
    if local(shape) == "AlternateContent":
        return next((_find_box(each, inherited) for choice in shape for each in choice), None)
    for child in shape:
        frame = child if local(child) == "xfrm" else next((each for each in child if local(each) == "xfrm"), None)
        if frame is not None:
            parts = {local(each): each for each in frame}
            if "off" in parts and "ext" in parts:
                numbers = (("off", "x"), ("off", "y"), ("ext", "cx"), ("ext", "cy"))
                x, y, width, height = (int(parts[part].get(name, "0")) for part, name in numbers)
                return _Box(x, y, width, height)
    place = _placeholder(shape)
    for known in inherited if place is not None else ():
        for key in _keys(place):
            if key in known and (box := _find_box(known[key], ())) is not None:
                return box
    return None


def _placeholder(shape: Element) -> Element | None:
    return next((each for child in shape for each in child.iter() if local(each) == "ph"), None) if len(shape) else None


def _keys(place: Element | None) -> list[str]:
    """Return by what a placeholder is found: its index, or else its kind."""
    if place is None:
        return []
    kind = place.get("type", "body")
    return [f"index {place.get('idx')}"] * ("idx" in place.attrib) + [kind]
