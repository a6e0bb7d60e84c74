"""Number the paragraphs of lists and headings as Word does."""

from typing import Final
from xml.etree.ElementTree import Element

from kenobot.core.list_numbers import write_number

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_VAL: Final = _W + "val"


class _Level:
    """One level of a list."""

    def __init__(self, element: Element) -> None:
        self.start = _number(element, "start", 1)
        form, text, restart = (element.find(_W + name) for name in ("numFmt", "lvlText", "lvlRestart"))
        self.form = "decimal" if form is None else form.get(_VAL, "decimal")
        self.text = "" if text is None else text.get(_VAL, "")
        self.restarts = restart is None or restart.get(_VAL) != "0"
        self.has_bullet = bool(self.text.strip()) or element.find(_W + "lvlPicBulletId") is not None
        self.legal = element.find(_W + "isLgl") is not None


class ListNumbers:
    """Count the paragraphs of each list."""

    def __init__(self, numbering: Element | None, styles: Element | None) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._abstract: dict[str, str] = {}
        self._starts: dict[str, dict[int, int]] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[tuple[str, int]] = set()
        self._styles = {style.get(_W + "styleId", ""): style for style in (styles if styles is not None else ())}
        self._default = next((name for name, style in self._styles.items() if _is_default(style)), "")
        for each in numbering if numbering is not None else ():
            if each.tag == _W + "abstractNum":
                found = {_level(level): _Level(level) for level in each.findall(_W + "lvl")}
                self._levels[each.get(_W + "abstractNumId", "")] = found
                if (link := each.find(_W + "numStyleLink")) is not None:
                    self._abstract["link " + each.get(_W + "abstractNumId", "")] = link.get(_VAL, "")
            elif each.tag == _W + "num":
                self._add(each)

    def mark(self, properties: Element | None) -> str:
        """Return the number or bullet of the next paragraph, with a blank behind it; "" where it has none."""
        numbered, depth = self._find(properties)
        abstract = self._resolve(numbered)
        level = self._levels.get(abstract, {}).get(depth)
        if numbered in ("", "0") or level is None:
            return ""
        if level.form == "bullet":
            return "- " if level.has_bullet else ""
        return f"{written} " if (written := self._count(numbered, abstract, depth)).strip() else ""

    def _add(self, element: Element) -> None:
        number, abstract = element.get(_W + "numId", ""), element.find(_W + "abstractNumId")
        self._abstract[number] = "" if abstract is None else abstract.get(_VAL, "")
        for override in element.findall(_W + "lvlOverride"):
            if override.find(_W + "startOverride") is not None:
                self._starts.setdefault(number, {})[_level(override)] = _number(override, "startOverride", 1)
            if (own := override.find(_W + "lvl")) is not None:
                copied = dict(self._levels.get(self._abstract[number], {}))
                copied[_level(override)] = _Level(own)
                self._abstract[number] = own_id = f"{self._abstract[number]} of {number}"
                self._levels[own_id] = copied

    def _resolve(self, numbered: str) -> str:
        """Return the list of a number, also by way of a style."""
        abstract = self._abstract.get(numbered, "")
        style = self._styles.get(self._abstract.get("link " + abstract, ""))
        linked = None if style is None else style.find(f"{_W}pPr/{_W}numPr/{_W}numId")
        return abstract if linked is None else self._abstract.get(linked.get(_VAL, ""), abstract)

    def _find(self, properties: Element | None) -> tuple[str, int]:
        """Return the number of a paragraph's list and its level, its own or its style's."""
        numbered, depth, seen = "", -1, set[str]()
        style = self._default
        if properties is not None and (named := properties.find(_W + "pStyle")) is not None:
            style = named.get(_VAL, "")
        while True:
            numbering = None if properties is None else properties.find(_W + "numPr")
            if numbering is not None:
                numbered = numbered or _text(numbering, "numId")
                depth = _number(numbering, "ilvl", -1) if depth < 0 else depth
            element = self._styles.get(style)
            if numbered or element is None or style in seen:
                return numbered, max(depth, 0)
            seen.add(style)
            properties, style = element.find(_W + "pPr"), _text(element, "basedOn")

    def _count(self, numbered: str, abstract: str, depth: int) -> str:
        counts, levels = self._counts.setdefault(abstract.partition(" of ")[0], {}), self._levels[abstract]
        for above in range(depth):
            counts.setdefault(above, levels[above].start if above in levels else 1)
        override = self._starts.get(numbered, {}).get(depth)
        if override is not None and (numbered, depth) not in self._begun:
            counts[depth] = override
        else:
            counts[depth] = counts[depth] + 1 if depth in counts else levels[depth].start
        self._begun.add((numbered, depth))
        for below in [each for each in counts if each > depth and (each not in levels or levels[each].restarts)]:
            del counts[below]
        written = levels[depth].text
        for each in range(9):
            if f"%{each + 1}" in written:
                form = "decimal" if levels[depth].legal or each not in levels else levels[each].form
                written = written.replace(f"%{each + 1}", write_number(counts.get(each, 1), form))
        return written


def _is_default(style: Element) -> bool:
    return style.get(_W + "type") == "paragraph" and style.get(_W + "default") in ("1", "true")


def _level(element: Element) -> int:
    value = element.get(_W + "ilvl", "0")
    return int(value) if value.isdigit() else 0


def _text(element: Element, name: str) -> str:
    found = element.find(_W + name)
    return "" if found is None else found.get(_VAL, "")


def _number(element: Element, name: str, otherwise: int) -> int:
    value = _text(element, name)
    return int(value) if value.isdigit() else otherwise
