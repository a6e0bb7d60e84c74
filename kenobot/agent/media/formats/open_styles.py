"""Look up hidden elements, and the numbers of lists and headings, in the styles of an OpenDocument."""

from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element

from kenobot.agent.media.formats.reading_order import Box
from kenobot.core.list_numbers import NUMBER_FORMS, write_number

_SPACE: Final = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
OFFICE: Final = _SPACE % "office"
TEXT: Final = _SPACE % "text"
TABLE: Final = _SPACE % "table"
DRAW: Final = _SPACE % "drawing"
STYLE: Final = _SPACE % "style"
FORM: Final = _SPACE % "form"
_SVG: Final = "{urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0}"
_UNITS: Final = {"cm": 1.0, "mm": 0.1, "in": 2.54, "pt": 2.54 / 72, "pc": 2.54 / 6, "px": 2.54 / 96}
CHART: Final = _SPACE % "chart"
PRESENTATION: Final = _SPACE % "presentation"
_FAMILIES: Final = {
    TEXT + "span": "text",
    TEXT + "a": "text",
    TEXT + "p": "paragraph",
    TEXT + "h": "paragraph",
    TABLE + "table-cell": "table-cell",
}
_DISPLAYS: Final = (DRAW + "display", "{http://openoffice.org/2010/draw}display")  # LibreOffice writes the second


class OpenStyles:
    """The styles of one document. roots: of its content and styles."""

    def __init__(self, roots: list[Element]) -> None:
        self._styles: dict[tuple[str, str], Element] = {}  # by family and name
        self._fonts: dict[str, str] = {}
        self._lists: dict[str, dict[int, Element]] = {}
        self._outline: dict[int, Element] = {}
        self._counts: dict[str, dict[int, int]] = {}
        for root in roots:
            for each in root.iter():
                if each.tag == STYLE + "style":
                    self._styles.setdefault((each.get(STYLE + "family", ""), each.get(STYLE + "name", "")), each)
                elif each.tag == STYLE + "font-face":
                    self._fonts[each.get(STYLE + "name", "")] = each.get(_SVG + "font-family", "").strip("'\"")
                elif each.tag == TEXT + "list-style":
                    self._lists[each.get(STYLE + "name", "")] = _levels(each)
                elif each.tag == TEXT + "outline-style":
                    self._outline = _levels(each)

    def is_hidden(self, element: Element) -> bool:
        """Return whether an element is not shown, as a section, a sheet or a shape may be."""
        if element.tag == TEXT + "section":
            display = element.get(TEXT + "display", "true")
            return display == "none" or (display == "condition" and element.get(TEXT + "is-hidden") == "true")
        if any(element.get(name) in ("none", "printer") for name in _DISPLAYS):
            return True
        kind = element.tag.rpartition("}")[2]
        families = ("table", "drawing-page") if kind in ("table", "page") else ("graphic", "presentation")
        names = (element.get(space + "style-name", "") for space in (TABLE, DRAW, PRESENTATION))
        return any(self._hides(family, name) for name in names if name for family in families)

    def shows_text(self, element: Element) -> bool | None:
        """Return whether the style of a paragraph or span shows its text; None where it says nothing of that."""
        for properties in self._properties(_FAMILIES.get(element.tag, ""), element.get(TEXT + "style-name", "")):
            if (display := properties.get(TEXT + "display")) is not None:
                return display == "true"
        return None

    def font(self, element: Element) -> str:
        """Return the font of a paragraph, span or cell; "" where its style names none."""
        space = TABLE if element.tag.startswith(TABLE) else TEXT
        for properties in self._properties(_FAMILIES.get(element.tag, ""), element.get(space + "style-name", "")):
            if name := properties.get(STYLE + "font-name", ""):
                return self._fonts.get(name, name)
        return ""

    def is_collapsed(self, element: Element) -> bool:
        """Return whether a row or column is hidden or filtered away."""
        return element.get(TABLE + "visibility", "visible") != "visible"

    def look(self, element: Element) -> tuple[bool, bool]:
        """Return whether a span is raised, and whether it is struck out."""
        style = (
            self._styles.get(("text", element.get(TEXT + "style-name", ""))) if element.tag == TEXT + "span" else None
        )
        found = None if style is None else style.find(STYLE + "text-properties")
        if found is None:
            return False, False
        raised = found.get(STYLE + "text-position", "0").startswith(("super", *"123456789"))
        struck = found.get(STYLE + "text-line-through-style", "none") != "none"
        return raised, struck or found.get(STYLE + "text-line-through-type", "none") != "none"

    def _hides(self, family: str, name: str) -> bool:
        for properties in self._properties(family, name):
            if display := properties.get(TABLE + "display"):
                return display == "false"
            if properties.get(PRESENTATION + "visibility") == "hidden":
                return True
        return False

    def _properties(self, family: str, name: str) -> Iterator[Element]:
        """Yield the properties of a style and of those that it is based on."""
        seen = set[str]()
        while name and name not in seen:
            seen.add(name)
            style = self._styles.get((family, name))
            if style is None:
                return
            yield from style
            name = style.get(STYLE + "parent-style-name", "")

    # ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────

    def begin_list(self, element: Element, style: str, depth: int) -> None:
        """Begin to count a list anew, unless it goes on with an earlier one."""
        goes_on = element.get(TEXT + "continue-numbering") == "true" or element.get(TEXT + "continue-list") is not None
        if not goes_on:
            self._counts.setdefault(style, {}).pop(depth, None)

    def next_mark(self, item: Element, style: str, depth: int) -> str:
        """Return the number or bullet of an item, with a blank behind it."""
        if not any(child.tag in (TEXT + "p", TEXT + "h") for child in item):
            return ""  # it only holds a list of the next level
        return self._mark(style, self._lists.get(style, {}), depth, item.get(TEXT + "start-value"))

    def heading_mark(self, heading: Element) -> str:
        """Return the number of a heading, with a blank behind it."""
        return self._mark(
            "", self._outline, int(heading.get(TEXT + "outline-level", "1")), heading.get(TEXT + "start-value")
        )

    def _mark(self, style: str, levels: dict[int, Element], depth: int, start: str | None) -> str:
        level = levels.get(depth)
        if level is None:
            return ""
        if level.tag == TEXT + "list-level-style-bullet":
            return "- "
        if level.tag == TEXT + "list-level-style-image":
            return ""
        counts = self._counts.setdefault(style, {})
        begin = int(start) if start else int(level.get(TEXT + "start-value", "1"))
        counts[depth] = begin if start or depth not in counts else counts[depth] + 1
        for below in [each for each in counts if each > depth]:
            del counts[below]
        if not level.get(STYLE + "num-format"):
            return ""
        shown = range(max(1, depth - int(level.get(TEXT + "display-levels", "1")) + 1), depth + 1)
        numbers = [_write(levels[each], counts.get(each, 1)) for each in shown if each in levels]
        written = ".".join(filter(None, numbers))
        return f"{level.get(STYLE + 'num-prefix', '')}{written}{level.get(STYLE + 'num-suffix', '')} ".lstrip()


def cell_value(cell: Element) -> str:
    """Return the value of a cell of which no text is stored."""
    value, kind, formula = (cell.get(name, "") for name in (OFFICE + "value", OFFICE + "value-type", TABLE + "formula"))
    if formula and not kind:
        return f"[{formula.partition(':')[2] or formula}, not calculated]"
    match kind:
        case "percentage":
            return f"{float(value or 0) * 100:.10g}%"
        case "currency":
            return f"{value} {cell.get(OFFICE + 'currency', '')}".strip()
        case "date":
            return cell.get(OFFICE + "date-value", "").removesuffix("T00:00:00").replace("T", " ")
        case "time":
            hours, _, rest = cell.get(OFFICE + "time-value", "").removeprefix("PT").partition("H")
            minutes, _, seconds = rest.partition("M")
            return f"{hours}:{minutes.zfill(2)}" + (
                f":{seconds.rstrip('S')}" if float(seconds.rstrip("S") or 0) else ""
            )
        case "boolean":
            return cell.get(OFFICE + "boolean-value", "").upper()
        case "string":
            return cell.get(OFFICE + "string-value", "")
    return f"{float(value):.15g}" if value and value != "NaN" else ""


def find_box(shape: Element) -> Box | None:
    """Return where a shape is, a group where its first one is."""
    sides = [_measure(shape.get(_SVG + name, "")) for name in ("x", "y", "width", "height")]
    if None not in sides:
        return Box(*(side or 0.0 for side in sides))
    return (
        next((box for each in shape if (box := find_box(each)) is not None), None) if shape.tag == DRAW + "g" else None
    )


def _measure(written: str) -> float | None:
    """Return a length in centimetres."""
    number, unit = written[:-2], written[-2:]
    try:
        return float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        return None


def _levels(style: Element) -> dict[int, Element]:
    return {int(each.get(TEXT + "level", "1")): each for each in style}


def _write(level: Element, number: int) -> str:
    form = level.get(STYLE + "num-format", "")
    return write_number(number, NUMBER_FORMS.get(form, "decimal")) if form else ""
