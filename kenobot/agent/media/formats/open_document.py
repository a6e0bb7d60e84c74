"""Read the visible text of OpenDocument texts, sheets and presentations."""

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from kenobot.agent.media.formats.open_styles import (
    CHART,
    DRAW,
    FORM,
    OFFICE,
    PRESENTATION,
    STYLE,
    TABLE,
    TEXT,
    OpenStyles,
    cell_value,
    find_box,
)
from kenobot.agent.media.formats.package import add_text, join_text, local, parse
from kenobot.agent.media.formats.reading_order import order_by_place
from kenobot.core.mathml import write_mathml
from kenobot.core.symbol_fonts import read_symbols
from kenobot.core.table_rows import Cell, write_cells

_DC: Final = "{http://purl.org/dc/elements/1.1/}"
_MOST_COLUMNS: Final = 20_000
_MOST_REPEATED: Final = 100  # times that a cell or row which repeats is told

_LEFT_OUT: Final = frozenset(
    (TEXT + "tracked-changes", TABLE + "tracked-changes", OFFICE + "forms", DRAW + "image", TABLE + "named-expressions",
     TABLE + "content-validations", TEXT + "sequence-decls", TEXT + "variable-decls", TEXT + "user-field-decls",
     OFFICE + "event-listeners", TABLE + "database-ranges", TEXT + "ruby-text", TABLE + "desc", TABLE + "title",
     PRESENTATION + "settings", PRESENTATION + "footer-decl", PRESENTATION + "date-time-decl",
     PRESENTATION + "header-decl", TABLE + "data-pilot-tables", TABLE + "label-ranges", TABLE + "calculation-settings")
)  # fmt: skip


def read_open_document(path: Path) -> Iterator[str]:
    """Yield the lines of a document, the heads of its pages first and their feet last."""
    if zipfile.is_zipfile(path):
        archive = zipfile.ZipFile(path)
        parts = {name: archive.read(name) for name in archive.namelist() if name.endswith((".xml", "manifest.xml"))}
        if b"encryption-data" in parts.get("META-INF/manifest.xml", b""):
            raise PermissionError("locked")
        roots = [parse(parts[name]) for name in ("content.xml", "styles.xml") if name in parts]
        yield from _Document(roots, parts).lines()
    else:  # the flat form, one file of XML
        yield from _Document([parse(path.read_bytes())], {}).lines()


@dataclass(slots=True)
class _Line:
    """A paragraph under way. after: lines of notes, comments and boxes that belong to it."""

    text: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    shown: bool = True
    font: str = ""

    def lines(self, mark: str = "") -> Iterator[str]:
        """Yield its text and the lines after it."""
        if (text := join_text(self.text)).strip():
            yield mark + text
        yield from self.after


class _Document:
    """Read one document. roots: its content, and its styles where they are apart. parts: of its archive."""

    def __init__(self, roots: list[Element], parts: dict[str, bytes]) -> None:
        self._roots = roots
        self._parts = parts
        self._styles = OpenStyles(roots)
        self._controls = {
            name: each
            for root in roots
            for each in root.iter()
            if (name := each.get(FORM + "id", "")) and each.tag.startswith(FORM)
        }
        self._notes = 0
        self._slides = 0
        self._endnotes: list[str] = []
        self._lists: list[str] = []

    def lines(self) -> Iterator[str]:
        """Yield all lines."""
        body = next((found for root in self._roots if (found := root.find(OFFICE + "body")) is not None), None)
        if body is None:
            raise ValueError("no document")
        masters = self._masters()
        is_text = body.find(OFFICE + "text") is not None
        if is_text:
            for master in masters:
                yield from self._margin(master, "header")
        else:
            for master in masters:
                for shape in master:
                    if shape.get(PRESENTATION + "class") is None and shape.tag.startswith(DRAW):
                        yield from (f"[on the slides of this layout] {line}" for line in self._blocks([shape]))
        yield from self._blocks(body)
        yield from self._endnotes
        if is_text:
            for master in masters:
                yield from self._margin(master, "footer")

    def _masters(self) -> list[Element]:
        """Return the master pages in use."""
        found = {
            each.get(STYLE + "name", ""): each for root in self._roots for each in root.iter(STYLE + "master-page")
        }
        used = {each.get(DRAW + "master-page-name", "") for root in self._roots for each in root.iter(DRAW + "page")}
        used |= {
            each.get(STYLE + "master-page-name", "") for root in self._roots for each in root.iter(STYLE + "style")
        }
        used |= (
            {next(iter(found), "")}
            if not any(root.find(f"{OFFICE}body/{OFFICE}presentation") is not None for root in self._roots)
            else set()
        )
        return [page for name, page in found.items() if name in used]

    def _margin(self, master: Element, kind: str) -> Iterator[str]:
        seen = set[str]()
        for suffix in ("", "-left", "-first"):
            area = master.find(f"{STYLE}{kind}{suffix}")
            if area is not None and area.get(STYLE + "display") != "false":
                text = " / ".join(self._blocks(area))
                if text and text not in seen:
                    seen.add(text)
                    yield f"[page {kind}: {text}]"

    # ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _blocks(self, container: "Element | list[Element]") -> Iterator[str]:
        for child in container:
            tag = child.tag
            if tag in _LEFT_OUT:
                continue
            if self._styles.is_hidden(child):
                yield from self._note_hidden(child)
                continue
            if tag in (TEXT + "p", TEXT + "h"):
                yield from self._paragraph(child, self._styles.heading_mark(child) if tag == TEXT + "h" else "")
            elif tag == TEXT + "list":
                yield from self._list(child)
            elif tag == TABLE + "table":
                yield from self._table(child)
            elif tag == DRAW + "page":
                self._slides += 1
                yield f"# {self._slides}"
                yield from self._blocks(_order_shapes(child))
            elif tag == PRESENTATION + "notes":
                own = [each for each in child if each.get(PRESENTATION + "class", "notes") == "notes"]
                yield from (f"[speaker's notes] {line}" for line in self._blocks(own))
            elif tag == OFFICE + "annotation":
                yield self._annotation(child)
            elif tag == DRAW + "object":
                yield from self._object(child)
            elif tag == DRAW + "control":
                yield from filter(None, [self._control(child)])
            elif not tag.startswith(("{http://www.w3.org/", "{urn:oasis:names:tc:opendocument:xmlns:svg", FORM)):
                yield from self._blocks(_order_shapes(child) if tag == DRAW + "g" else child)

    def _note_hidden(self, element: Element) -> Iterator[str]:
        """Note that a sheet or slide is left out."""
        if element.tag == DRAW + "page":
            self._slides += 1
            yield f"# {self._slides} [a hidden slide, which is left out]"
        elif element in self._sheets():
            yield f"# {element.get(TABLE + 'name', '')} [a hidden sheet, which is left out]"

    def _paragraph(self, paragraph: Element, mark: str = "") -> Iterator[str]:
        line = _Line()
        if any(each.get(TEXT + "is-hidden") == "true" for each in paragraph.iter(TEXT + "hidden-paragraph")):
            return
        self._read_inline(paragraph, line)
        yield from line.lines(mark)

    def _read_inline(self, container: Element, line: _Line) -> None:
        raised, struck = self._styles.look(container)
        shows, named = self._styles.shows_text(container), self._styles.font(container)
        outer = line.shown, line.font
        line.shown, line.font = line.shown if shows is None else shows, named or line.font

        def add(text: str | None) -> None:
            if line.shown:
                letters = read_symbols(_collapse_blanks(text), line.font)
                add_text(line.text, letters, is_raised=raised, is_struck=struck)

        add(container.text)
        for child in container:
            if not self._styles.is_hidden(child) and (line.shown or child.tag in (TEXT + "span", TEXT + "a")):
                self._read_inline_child(child, line)
            add(child.tail)
        line.shown, line.font = outer

    def _read_inline_child(self, child: Element, line: _Line) -> None:
        match child.tag.removeprefix(TEXT):
            case "s":
                line.text.append(" " * min(1000, int(child.get(TEXT + "c", "1"))))
            case "tab":
                line.text.append("\t")
            case "line-break":
                line.text.append("\n")
            case "note":
                self._note(child, line)
            case "ruby":
                self._read_ruby(child, line)
            case "hidden-text" | "hidden-paragraph" if child.get(TEXT + "is-hidden", "true") == "true":
                return
            case _ if child.tag in _LEFT_OUT:
                return
            case _ if child.tag == OFFICE + "annotation":
                line.after.append(self._annotation(child))
            case _ if child.tag == DRAW + "control":
                line.text.append(self._control(child))
            case _ if formula := self._formula(child.find(DRAW + "object") if child.tag == DRAW + "frame" else None):
                line.text.append(formula)
            case _ if child.tag.startswith(DRAW) and child.tag != DRAW + "a":
                line.after += self._blocks([child])
            case _:
                self._read_inline(child, line)

    def _read_ruby(self, element: Element, line: _Line) -> None:
        base, above = element.find(TEXT + "ruby-base"), element.find(TEXT + "ruby-text")
        if base is not None:
            self._read_inline(base, line)
        if above is not None and (shown := "".join(above.itertext()).strip()):
            line.text.append(f" ({shown})")

    def _note(self, note: Element, line: _Line) -> None:
        self._notes += 1
        kind = note.get(TEXT + "note-class", "footnote")
        citation, body = note.find(TEXT + "note-citation"), note.find(TEXT + "note-body")
        number = "".join(citation.itertext()).strip() if citation is not None else str(self._notes)
        mark = f"[{'note' if kind == 'footnote' else 'endnote'} {number}]"
        line.text.append(mark)
        text = f"{mark} {' / '.join(self._blocks(body)) if body is not None else ''}"
        (line.after if kind == "footnote" else self._endnotes).append(text)

    def _annotation(self, annotation: Element) -> str:
        author = (annotation.findtext(_DC + "creator") or "").strip()
        lines = self._blocks([each for each in annotation if each.tag.startswith(TEXT)])
        return f"[comment{' by ' if author else ''}{author}: {' / '.join(lines)}]"

    def _list(self, element: Element) -> Iterator[str]:
        style = element.get(TEXT + "style-name", "") or (self._lists[-1] if self._lists else "")
        self._lists.append(style)
        depth = len(self._lists)
        self._styles.begin_list(element, style, depth)
        for item in element:
            mark = self._styles.next_mark(item, style, depth) if item.tag == TEXT + "list-item" else ""
            for child in item:
                if child.tag in (TEXT + "p", TEXT + "h"):
                    lines = list(self._paragraph(child, mark))
                    yield from lines
                    mark = "" if lines else mark
                else:
                    yield from self._blocks([child])
        self._lists.pop()

    # ── objects ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _find_embedded(self, element: Element) -> Element | None:
        """Return the content of an object that is embedded."""
        reference = element.get("{http://www.w3.org/1999/xlink}href", "").removeprefix("./").strip("/")
        content = self._parts.get(f"{reference}/content.xml")
        return parse(content) if content else next(iter(element), None)

    def _formula(self, element: Element | None) -> str:
        root = None if element is None else self._find_embedded(element)
        return "" if root is None or local(root) != "math" else write_mathml(root)

    def _object(self, element: Element) -> Iterator[str]:
        """Yield the text of a chart or a formula that is embedded."""
        root = self._find_embedded(element)
        if root is None:
            return
        if local(root) == "math":
            yield write_mathml(root)
            return
        for each in root.iter():
            if each.tag in (CHART + "title", CHART + "subtitle"):
                yield " ".join("".join(each.itertext()).split())
        if not self._sheets():  # whose charts show what is in cells
            yield from _Document([root], {}).figures()

    def figures(self) -> Iterator[str]:
        """Yield the rows of the tables of a chart."""
        for root in self._roots:
            for table in root.iter(TABLE + "table"):
                yield from self._rows(table, [])

    def _control(self, element: Element) -> str:
        """Return the label or value of a form control."""
        control = self._controls.get(element.get(DRAW + "control", ""))
        if control is None or local(control) in ("hidden", "password"):
            return ""
        state = control.get(FORM + "current-state")
        if local(control) in ("checkbox", "radio"):
            return f"{'☒' if state in ('checked', 'true') else '☐'} {control.get(FORM + 'label', '')}"
        chosen = [each.get(FORM + "label", "") for each in control if each.get(FORM + "current-selected") == "true"]
        values = (control.get(FORM + name, "") for name in ("current-value", "value", "label"))
        return next(filter(None, values), " / ".join(chosen))

    # ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _table(self, table: Element) -> Iterator[str]:
        is_sheet = table in self._sheets()
        if is_sheet:
            yield f"# {table.get(TABLE + 'name', '')}"
        hidden = [self._styles.is_collapsed(column) for column in _repeat(table, TABLE + "table-column")]
        yield from self._rows(table, hidden)
        if left_out := sum(
            bool("".join(row.itertext()).strip())
            for row in table.iter(TABLE + "table-row")
            if self._styles.is_collapsed(row)
        ):
            yield f"[rows of it that are hidden and left out: {left_out}]"
        if left_out := self._count_columns(table, hidden):
            yield f"[columns of it that are hidden and left out: {left_out}]"
        for shapes in table.iterfind(TABLE + "shapes"):
            yield from self._blocks(shapes)

    def _count_columns(self, table: Element, hidden: list[bool]) -> int:
        """Return how many columns of a table are hidden and hold a text."""
        found = set[int]()
        for row in table.iter(TABLE + "table-row") if any(hidden) else ():
            at = 0
            for cell in (each for each in row if each.tag in (TABLE + "table-cell", TABLE + "covered-table-cell")):
                times = min(int(cell.get(TABLE + "number-columns-repeated", "1")), _MOST_COLUMNS)
                if any(hidden[at : at + times]) and "".join(cell.itertext()).strip():
                    found |= {each for each in range(at, at + times) if hidden[each : each + 1] == [True]}
                at += times
        return len(found)

    def _sheets(self) -> list[Element]:
        return [
            each for root in self._roots for each in root.iterfind(f"{OFFICE}body/{OFFICE}spreadsheet/{TABLE}table")
        ]

    def _rows(self, container: Element, hidden: list[bool]) -> Iterator[str]:
        for row in container:
            if row.tag == TABLE + "table-row":
                if self._styles.is_collapsed(row):
                    continue
                lines = list(self._row(row, hidden))
                times = int(row.get(TABLE + "number-rows-repeated", "1"))
                yield from lines * min(times, _MOST_REPEATED)
                if lines and times > _MOST_REPEATED:
                    yield f"[… the same in {times - _MOST_REPEATED} rows more]"
            elif local(row) in ("table-header-rows", "table-rows", "table-row-group"):
                yield from self._rows(row, hidden)

    def _row(self, row: Element, hidden: list[bool]) -> Iterator[str]:
        cells, after, at = list[Cell](), list[str](), 0
        for cell in row:
            if cell.tag not in (TABLE + "table-cell", TABLE + "covered-table-cell"):
                continue
            times = min(int(cell.get(TABLE + "number-columns-repeated", "1")), _MOST_COLUMNS)
            seen = times - sum(hidden[at : at + times])
            lines, beside = self._cell(cell) if seen else ([], [])
            if lines or beside:
                cells += [Cell(())] * (at - sum(hidden[:at]) - len(cells))
                cells += [Cell(lines, cell.find(f".//{TABLE}table") is not None)] * seen
            after += beside
            at += times
        yield from write_cells(cells)
        yield from after

    def _cell(self, cell: Element) -> tuple[list[str], list[str]]:
        """Return the lines of a cell, and those of its comments and drawings."""
        if cell.tag == TABLE + "covered-table-cell":
            return [], []
        beside = [each for each in cell if each.tag.startswith(DRAW) or each.tag == OFFICE + "annotation"]
        blocks = self._blocks([each for each in cell if each not in beside])
        lines = [read_symbols(line, self._styles.font(cell)) for line in blocks if line != "NaN"]
        value = "" if lines or _is_blank(cell) else cell_value(cell)
        return lines or ([value] if value else []), list(self._blocks(beside))


def _order_shapes(container: Element) -> list[Element]:
    """Return the shapes of a slide or group in the order of reading, its title first."""
    titles = [each for each in container if each.get(PRESENTATION + "class") == "title"]
    behind = [each for each in container if each.tag in (PRESENTATION + "notes", OFFICE + "annotation")]
    shapes = (each for each in container if each not in titles and each not in behind)
    return titles + order_by_place((find_box(each), each) for each in shapes) + behind


def _is_blank(cell: Element) -> bool:
    """Return whether a cell shows nothing, by its number format, for all that it has a value."""
    shown = cell.find(TEXT + "p")
    return shown is not None and not "".join(shown.itertext()) and OFFICE + "value-type" in cell.attrib


def _repeat(table: Element, tag: str) -> Iterator[Element]:
    """Yield the columns of a table, each as often as it repeats."""
    for column in table.iter(tag):
        yield from [column] * min(int(column.get(TABLE + "number-columns-repeated", "1")), _MOST_COLUMNS)


def _collapse_blanks(text: str | None) -> str:
    """Collapse each run of blanks to one, as the standard says."""
    if not text:
        return ""
    words = " ".join(text.split())
    start = " " if text[0].isspace() else ""
    return f"{start}{words}{' ' if words and text[-1].isspace() else ''}"
