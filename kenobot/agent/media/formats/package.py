"""Open office documents, which are archives of XML, and write rows of tables as lines."""

import posixpath
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import IO, Final, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from kenobot.core.table_rows import write_row

_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_STRICT: Final = "http://purl.oclc.org/ooxml/officeDocument/relationships"
_RENAMED: Final[Mapping[str, str]] = MappingProxyType(
    {  # the strict form of the standard, which Excel and Word write at one's choice
        "http://purl.oclc.org/ooxml/wordprocessingml/main": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "http://purl.oclc.org/ooxml/spreadsheetml/main": "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
        "http://purl.oclc.org/ooxml/presentationml/main": "http://schemas.openxmlformats.org/presentationml/2006/main",
        "http://purl.oclc.org/ooxml/drawingml/main": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "http://purl.oclc.org/ooxml/drawingml/chart": "http://schemas.openxmlformats.org/drawingml/2006/chart",
        "http://purl.oclc.org/ooxml/drawingml/diagram": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
        _STRICT: _OFFICE,
    }
)
SIGNS: Final = ("-", "+", "\u2212", "\u2013")  # before a figure


class Relation(NamedTuple):
    """A relationship of a part: its kind, the last word of its type, and the part that it leads to."""

    kind: str
    part: str


class Package:
    """The parts of an office document."""

    def __init__(self, path: Path) -> None:
        self._archive = zipfile.ZipFile(path)
        self._names = {name.replace("\\", "/").lstrip("/").lower(): name for name in self._archive.namelist()}

    def load(self, part: str) -> Element | None:
        """Load a part; None where there is none."""
        name = self._names.get(part.lower())
        return None if name is None else parse(self._archive.read(name))

    def children(self, part: str) -> list[Element]:
        """Return the elements of a part; none where there is no part."""
        root = self.load(part)
        return [] if root is None else list(root)

    def open(self, part: str) -> IO[bytes] | None:
        """Open a part to be read by pieces; None where there is none."""
        name = self._names.get(part.lower())
        return None if name is None else self._archive.open(name)

    def relations(self, part: str) -> Mapping[str, Relation]:
        """Load the relationships of a part by their ids. part: "" for those of the package."""
        folder, name = posixpath.split(part)
        found: dict[str, Relation] = {}
        for each in self.children(posixpath.join(folder, "_rels", f"{name}.rels")):
            if each.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, each.get("Target", ""))).lstrip("/")
                found[each.get("Id", "")] = Relation(each.get("Type", "").rpartition("/")[2], target)
        return found

    def find_related(self, part: str, kind: str) -> list[str]:
        """Return the parts that a part leads to by a kind of relationship."""
        return [each.part for each in self.relations(part).values() if each.kind == kind]

    def main_part(self) -> str:
        """Return the part that the document begins with. Raises ValueError."""
        for part in self.find_related("", "officeDocument"):
            return part
        raise ValueError("no office document")


def parse(content: bytes) -> Element:
    """Parse XML, with the names of its usual form. Raises ParseError."""
    root = ElementTree.fromstring(content)
    if _is_strict(root):
        for each in root.iter():
            each.tag = rename(each.tag)
            for name in [name for name in each.attrib if name.startswith("{http://purl.oclc.org/")]:
                each.attrib[rename(name)] = each.attrib.pop(name)
    return root


def rename(tag: str) -> str:
    """Return the usual form of a name that may be of the strict one."""
    if not tag.startswith("{http://purl.oclc.org/"):
        return tag
    space, _, name = tag[1:].partition("}")
    return f"{{{_RENAMED.get(space, space)}}}{name}"


def _is_strict(root: Element) -> bool:
    return root.tag.startswith("{http://purl.oclc.org/") or any("purl.oclc.org" in each for each in root.attrib)


def local(element: Element) -> str:
    """Return the name of an element without its namespace; "" for a comment."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def is_on(element: Element | None, name: str) -> bool:
    """Return whether a switch is on, as it is without a value."""
    return element is not None and element.get(name, "1") not in ("0", "false", "off")


def add_text(line: list[str], text: str, *, is_raised: bool = False, is_struck: bool = False) -> None:
    """Add letters to a line. A figure that is raised behind another would else read as one number with it."""
    if not text:
        return
    figure = text[1:2] if text[:1] in SIGNS else text[:1]
    if is_raised and (figure.isdigit() or text in SIGNS) and line and line[-1][-1:].isalnum():
        text = f"^{text}"
    line.append(f"~~{text}~~" if is_struck and text.strip() else text)


def join_text(line: Iterable[str]) -> str:
    """Join the letters of a line."""
    return "".join(line).replace("~~~~", "").strip("\n").rstrip()


def chart_lines(chart: Element) -> Iterator[str]:
    """Yield the title of a chart of DrawingML, those of its axes, and its figures as a table."""
    for title in chart.iter():
        words = (each.text or "" for each in title.iter() if local(each) in ("t", "v"))
        if local(title) == "title" and (text := "".join(words).strip()):
            yield text
    rows: dict[str, list[str]] = {}
    names: list[str] = []
    for series in (each for each in chart.iter() if local(each) == "ser"):
        column = len(names)
        names.append(" ".join(_points(series, ("tx",)).values()))
        labels, values = _points(series, ("cat", "xVal")), _points(series, ("val", "yVal"))
        for index, value in values.items():
            row = rows.setdefault(labels.get(index, str(int(index) + 1)), [])
            row += [""] * (column - len(row))
            row.append(value)
    if names:
        yield write_row(["", *names])
    for label, row in rows.items():
        yield write_row([label, *row])


def _points(series: Element, kinds: tuple[str, ...]) -> dict[str, str]:
    """Return the points of a part of a series by their index."""
    found: dict[str, str] = {}
    for part in (each for each in series if local(each) in kinds):
        for point in part.iter():
            if local(point) in ("pt", "tx"):
                value = next((each.text or "" for each in point.iter() if local(each) == "v"), "")
                found.setdefault(point.get("idx", "0"), value)
    return found
