"""Find the places of the shapes of PowerPoint slides, their own or those of layout and master. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from xml.etree.ElementTree import Element

from kenobot.agent.media.formats.package import local
from kenobot.agent.media.formats.reading_order import Box, order_by_place


def order_shapes(shapes: Iterable[Element], inherited: Sequence[Mapping[str, Element]] = ()) -> list[Element]:
    """Return shapes in the order of reading, titles first. inherited: the placeholders of layout and master."""
    titles, others = list[Element](), list[Element]()
    for shape in shapes:
        place = _placeholder(shape)
        is_title = place is not None and place.get("type") in ("title", "ctrTitle")
        (titles if is_title else others).append(shape)
    return titles + order_by_place((_find_box(shape, inherited), shape) for shape in others)


def find_placeholders(root: Element | None) -> dict[str, Element]:
    """Return the placeholders of a layout or master by index and by kind."""
    found: dict[str, Element] = {}
    for shape in root.iter() if root is not None else ():
        if local(shape) == "sp" and (place := _placeholder(shape)) is not None:
            for key in _keys(place):
                found.setdefault(key, shape)
    return found


def _find_box(shape: Element, inherited: Sequence[Mapping[str, Element]]) -> Box | None:
    if local(shape) == "AlternateContent":
        return next((_find_box(each, inherited) for choice in shape for each in choice), None)
    for child in shape:
        frame = child if local(child) == "xfrm" else next((each for each in child if local(each) == "xfrm"), None)
        if frame is not None:
            parts = {local(each): each for each in frame}
            if "off" in parts and "ext" in parts:
                numbers = (("off", "x"), ("off", "y"), ("ext", "cx"), ("ext", "cy"))
                x, y, width, height = (int(parts[part].get(name, "0")) for part, name in numbers)
                return Box(x, y, width, height)
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
