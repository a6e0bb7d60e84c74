"""Read the visible text of Word documents, with tables, lists, notes, text boxes and tracked changes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from kenobot.agent.media.formats.equations import write_equation
from kenobot.agent.media.formats.package import Package, add_text, chart_lines, is_on, join_text, local
from kenobot.agent.media.formats.word_formulas import write_formula
from kenobot.agent.media.formats.word_lists import ListNumbers
from kenobot.core.symbol_fonts import read_symbols
from kenobot.core.table_rows import Cell, write_cells

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_R: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_VAL: Final = _W + "val"
_MATH: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"

_GONE: Final = ("del", "moveFrom")
_AROUND: Final = frozenset(
    "sdt sdtContent customXml smartTag ins moveTo hyperlink fldSimple dir bdo rt rubyBase".split()
)


def read_word(path: Path) -> Iterator[str]:
    """Yield the lines of a document, the heads of its pages first and their feet last."""
    package = Package(path)
    main = package.main_part()
    document = package.load(main)
    body = None if document is None else document.find(_W + "body")
    if body is None:
        raise ValueError("no document")
    story = _Story(package, main)
    heads, feet = story.margins(body)
    yield from heads
    yield from story.blocks(body)
    yield from story.endnotes
    yield from feet


@dataclass(slots=True)
class _Line:
    """A paragraph under way. after: lines of notes, comments and boxes that belong to it."""

    text: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)

    def lines(self, mark: str = "") -> Iterator[str]:
        """Yield its text and the lines after it."""
        text = join_text(self.text)
        if text.strip():
            yield mark + text
        elif mark.strip() and mark.strip() != "-":
            yield mark.rstrip()
        yield from self.after


class _Story:
    """Read the parts of one document."""

    def __init__(self, package: Package, main: str) -> None:
        self._package = package
        self._main = main
        self._part = main
        styles = self._first("styles")
        self._hidden = _find_hidden_styles(styles)
        self._lists = ListNumbers(self._first("numbering"), styles)
        self._notes = {kind: self._by_id(kind + "s") for kind in ("footnote", "endnote", "comment")}
        self._count = {"footnote": 0, "endnote": 0}
        self.endnotes: list[str] = []
        self._codes: list[bool] = []  # of the fields under way: whether their code is being read
        self._code: list[str] = []  # of the innermost of them
        self._carried: _Line | None = None  # a paragraph whose end is deleted

    def blocks(self, container: Element) -> Iterator[str]:
        """Yield the lines of paragraphs and tables."""
        for child in container:
            name = local(child)
            if name == "p":
                yield from self._paragraph(child)
            elif name == "tbl":
                yield from self._table(child)
            elif name == "AlternateContent":
                yield from self.blocks(_choice(child))
            elif name in _AROUND:
                yield from self.blocks(child)
        if local(container) == "body":
            yield from self._flush_carried()

    def _flush_carried(self) -> Iterator[str]:
        line, self._carried = self._carried, None
        yield from line.lines() if line is not None else ()

    def margins(self, body: Element) -> tuple[list[str], list[str]]:
        """Return the heads and the feet of the pages, each once."""
        settings = self._first("settings")
        is_even = settings is not None and is_on(settings.find(_W + "evenAndOddHeaders"), _VAL)
        relations = self._package.relations(self._main)
        found: dict[str, list[str]] = {"header": [], "footer": []}
        references: dict[tuple[str, str], Element] = {}  # a section goes on with those of the one before
        for section in body.iter(_W + "sectPr"):
            shown = {"default", *(["even"] if is_even else [])}
            shown |= {"first"} if is_on(section.find(_W + "titlePg"), _VAL) else set()
            own = [each for each in section if local(each) in ("headerReference", "footerReference")]
            references |= {(local(each), each.get(_W + "type", "default")): each for each in own}
            for (name, place), reference in references.items():
                kind = name.removesuffix("Reference")
                relation = relations.get(reference.get(_R + "id", ""))
                if relation is None or place not in shown:
                    continue
                self._part = relation.part
                text = " / ".join(self._block_lines(self._package.load(relation.part)))
                self._part = self._main
                if text and (line := f"[page {kind}: {text}]") not in found[kind]:
                    found[kind].append(line)
        return found["header"], found["footer"]

    def _block_lines(self, container: Element | None) -> list[str]:
        if container is None:
            return []
        kept, self._carried = self._carried, None
        lines = [*self.blocks(container), *self._flush_carried()]
        self._carried = kept
        return lines

    def _first(self, kind: str) -> Element | None:
        for part in self._package.find_related(self._main, kind):
            return self._package.load(part)
        return None

    def _by_id(self, kind: str) -> dict[str, Element]:
        root = self._first(kind)
        return {} if root is None else {each.get(_W + "id", ""): each for each in root}

    # ── paragraphs ───────────────────────────────────────────────────────────────────────────────────────────────

    def _paragraph(self, paragraph: Element) -> Iterator[str]:
        properties = paragraph.find(_W + "pPr")
        line, self._carried = self._carried or _Line(), None
        self._codes.clear()
        hidden = self._is_hidden(properties, "pStyle")
        marked = None if properties is None else properties.find(_W + "rPr")
        if not hidden:
            self._read_inline(paragraph, line)
        gone = marked is not None and any(marked.find(_W + name) is not None for name in _GONE)
        if gone:  # the paragraph goes on in the next
            self._carried = line
            return
        hidden = hidden or (not line.text and marked is not None and is_on(marked.find(_W + "vanish"), _VAL))
        yield from line.lines("" if hidden else self._lists.mark(properties))

    def _read_inline(self, container: Iterable[Element], line: _Line) -> None:
        for child in container:
            name = local(child)
            if name == "r":
                self._run(child, line)
            elif name == "AlternateContent":
                self._read_inline(_choice(child), line)
            elif name == "ruby":
                base, above = (("".join(self._read_plain(child.find(_W + each)))) for each in ("rubyBase", "rt"))
                line.text.append(f"{base} ({above})" if above else base)
            elif child.tag.startswith(_MATH):
                line.text.append(write_formula(child))
            elif name in _AROUND:
                self._read_inline(child, line)

    def _read_plain(self, container: Element | None) -> list[str]:
        line = _Line()
        if container is not None:
            self._read_inline(container, line)
        return line.text

    def _run(self, run: Element, line: _Line) -> None:
        properties = run.find(_W + "rPr")
        hidden = self._is_hidden(properties, "rStyle", vanish_here=True)
        raised, struck = _look(properties)
        font = _font(properties)
        for child in run:
            name = local(child)
            if name == "fldChar":
                self._follow_field(child, line)
            elif name == "instrText" and self._codes[-1:] == [True]:
                self._code.append(child.text or "")
            elif not hidden and not any(self._codes):
                if name == "t":
                    add_text(line.text, read_symbols(child.text or "", font), is_raised=raised, is_struck=struck)
                else:
                    self._run_part(name, child, line)

    def _follow_field(self, mark: Element, line: _Line) -> None:
        """Follow where the code of a field ends, which is not shown, and its result begins."""
        kind = mark.get(_W + "fldCharType")
        if kind == "begin":
            if not any(self._codes):
                line.text.append(_field_value(mark))
            self._codes.append(True)
            self._code.clear()
        elif self._codes:
            if self._codes[-1]:
                line.text.append(write_equation("".join(self._code)))
                self._code.clear()
            self._codes[-1] = False
            if kind == "end":
                self._codes.pop()

    def _run_part(self, name: str, child: Element, line: _Line) -> None:
        match name:
            case "tab" | "ptab":
                line.text.append("\t")
            case "br" | "cr":
                line.text.append("\n")
            case "noBreakHyphen":
                line.text.append("-")
            case "sym":
                line.text.append(read_symbols(chr(int(child.get(_W + "char", "20"), 16)), child.get(_W + "font", "")))
            case "ruby":
                self._read_inline([child], line)
            case "footnoteReference" | "endnoteReference" | "commentReference":
                self._note(name.removesuffix("Reference"), child.get(_W + "id", ""), line)
            case "drawing" | "pict" | "object":
                line.after += self._read_drawing(child)
            case "AlternateContent":
                self._read_alternative(_choice(child), line)

    def _read_alternative(self, chosen: Iterable[Element], line: _Line) -> None:
        for child in chosen:
            if local(child) == "t":
                line.text.append(child.text or "")
            else:
                line.after += self._read_drawing(child)

    def _is_hidden(self, properties: Element | None, style: str, *, vanish_here: bool = False) -> bool:
        if properties is None:
            return False
        if vanish_here and (vanish := properties.find(_W + "vanish")) is not None:
            return is_on(vanish, _VAL)
        named = properties.find(_W + style)
        return named is not None and named.get(_VAL) in self._hidden

    def _note(self, kind: str, number: str, line: _Line) -> None:
        note = self._notes[kind].pop(number, None)
        if note is None:
            return
        text = " / ".join(self._block_lines(note)).strip()
        if kind == "comment":
            author = note.get(_W + "author", "").strip()
            line.after.append(f"[comment{' by ' if author else ''}{author}: {text}]")
            return
        self._count[kind] += 1
        mark = f"[{'note' if kind == 'footnote' else 'endnote'} {self._count[kind]}]"
        line.text.append(mark)
        (line.after if kind == "footnote" else self.endnotes).append(f"{mark} {text}")

    # ── drawings ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _read_drawing(self, drawing: Element) -> list[str]:
        """Return the lines of text boxes, charts and diagrams within."""
        name, lines = local(drawing), list[str]()
        if name == "AlternateContent":
            for child in _choice(drawing):
                lines += self._read_drawing(child)
            return lines
        if name == "docPr" and is_on(drawing if drawing.get("hidden") else None, "hidden"):
            return []
        if name == "txbxContent":
            return self._block_lines(drawing)
        if name == "textpath":
            return [drawing.get("string", "")]
        if name == "chart" and (reference := drawing.get(_R + "id")):
            return self._read_related(reference)
        if name == "relIds" and (reference := drawing.get(_R + "dm")):
            return self._read_related(reference)
        for child in drawing:
            lines += self._read_drawing(child)
        return lines

    def _read_related(self, reference: str) -> list[str]:
        relation = self._package.relations(self._part).get(reference)
        part = None if relation is None else self._package.load(relation.part)
        if part is None:
            return []
        return list(chart_lines(part) if local(part) == "chartSpace" else diagram_lines(part))

    # ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _table(self, table: Element) -> Iterator[str]:
        for row in _iterate_within(table, "tr"):
            properties = row.find(_W + "trPr")
            if properties is not None and any(properties.find(_W + name) is not None for name in (*_GONE, "hidden")):
                continue
            cells = [Cell(()) for _ in range(_grid(properties, "gridBefore"))]
            for cell in _iterate_within(row, "tc"):
                lines, wide = self._cell(cell)
                cells += [Cell(lines, cell.find(f".//{_W}tbl") is not None), *[Cell(())] * wide]
            yield from write_cells(cells)

    def _cell(self, cell: Element) -> tuple[list[str], int]:
        """Return the lines of a cell and how many more columns it takes."""
        properties = cell.find(_W + "tcPr")
        wide = max(0, min(100, _grid(properties, "gridSpan")) - 1)
        merged = None if properties is None else properties.find(_W + "vMerge")
        gone = properties is not None and properties.find(_W + "cellDel") is not None
        if gone or (merged is not None and merged.get(_VAL, "continue") == "continue"):
            return [], wide
        return self._block_lines(cell), wide


def diagram_lines(diagram: Element) -> Iterator[str]:
    """Yield the lines of a SmartArt diagram."""
    for point in diagram.iter():
        if local(point) == "pt" and point.get("type", "node") in ("node", "asst"):
            text = "".join(each.text or "" for each in point.iter() if local(each) == "t")
            if text.strip():
                yield text


def _find_hidden_styles(styles: Element | None) -> frozenset[str]:
    """Return the styles whose text is hidden, by themselves or by a style they are based on."""
    based, hidden = dict[str, str](), dict[str, bool]()
    for style in styles if styles is not None else ():
        name, base = style.get(_W + "styleId", ""), style.find(_W + "basedOn")
        based[name] = "" if base is None else base.get(_VAL, "")
        if (vanish := style.find(f"{_W}rPr/{_W}vanish")) is not None:
            hidden[name] = is_on(vanish, _VAL)

    def is_hidden(name: str) -> bool:
        seen = set[str]()
        while name and name not in seen:
            if name in hidden:
                return hidden[name]
            seen.add(name)
            name = based.get(name, "")
        return False

    return frozenset(name for name in based if is_hidden(name))


def _iterate_within(container: Element, wanted: str) -> Iterator[Element]:
    """Yield the rows of a table or the cells of a row, also those in content controls."""
    for child in container:
        if local(child) == wanted:
            yield child
        elif local(child) in _AROUND:
            yield from _iterate_within(child, wanted)


def _grid(properties: Element | None, name: str) -> int:
    found = None if properties is None else properties.find(_W + name)
    value = "0" if found is None else found.get(_VAL, "0")
    return int(value) if value.isdigit() else 0


def _choice(alternative: Element) -> Element:
    """Return the first form of something that is there in several."""
    return next(iter(alternative), alternative)


def _field_value(mark: Element) -> str:
    """Return the value of a legacy form field: a tick, or the chosen entry of a list."""
    for box in mark.iter(_W + "checkBox"):
        state = box.find(_W + "checked")
        state = box.find(_W + "default") if state is None else state
        return "☒" if is_on(state, _VAL) else "☐"
    for chosen in mark.iter(_W + "ddList"):
        entries = [entry.get(_VAL, "") for entry in chosen.iter(_W + "listEntry")]
        at = _grid(chosen, "result") or _grid(chosen, "default")
        return entries[at] if at < len(entries) else ""
    return ""


def _look(properties: Element | None) -> tuple[bool, bool]:
    """Return whether a run is raised, and whether it is struck out."""
    if properties is None:
        return False, False
    raised, higher = properties.find(_W + "vertAlign"), properties.find(_W + "position")
    struck = any(is_on(properties.find(_W + name), _VAL) for name in ("strike", "dstrike"))
    if raised is None and higher is not None and not higher.get(_VAL, "-").startswith(("-", "0")):
        return properties.find(_W + "sz") is not None, struck
    return raised is not None and raised.get(_VAL) == "superscript", struck


def _font(properties: Element | None) -> str:
    fonts = None if properties is None else properties.find(_W + "rFonts")
    return "" if fonts is None else fonts.get(_W + "ascii", fonts.get(_W + "hAnsi", ""))
