"""Read the displayed values of Excel workbooks, without hidden sheets, rows and columns."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from kenobot.agent.media.formats.number_format import BUILT_IN, format_number, format_text
from kenobot.agent.media.formats.package import Package, is_on, local, rename
from kenobot.core.symbol_fonts import read_symbols
from kenobot.core.table_rows import write_row
from kenobot.ports.frozen import dataclass

_S: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_R: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"

_MERGED: Final = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=\"([A-Z]+)(\d+):([A-Z]+)(\d+)\"")
_REFERENCE: Final = re.compile(r"([A-Z]+)(\d+)")
_ESCAPED: Final = re.compile(r"_x([0-9A-Fa-f]{4})_")
_MOST_MERGED: Final = 2000  # ranges of a sheet
_CHUNK: Final = 1_000_000


def read_sheets(path: Path) -> Iterator[str]:
    """Yield the rows of each sheet under its name."""
    package = Package(path)
    main = package.main_part()
    root = package.load(main)
    if root is None:
        raise ValueError("no workbook")
    book = _Book.load(package, main, root)
    relations = package.relations(main)
    for sheet in root.iterfind(f"{_S}sheets/{_S}sheet"):
        relation = relations.get(sheet.get(_R + "id", ""))
        if sheet.get("state", "visible") != "visible":
            yield f"# {sheet.get('name', '')} [a hidden sheet, which is left out]"
            continue
        yield f"# {sheet.get('name', '')}"
        if relation is not None:
            yield from _Sheet(package, relation.part, book).lines()


@dataclass(frozen=True, slots=True)
class _Book:
    """Hold what the sheets of a workbook share. recalculates: the values of formulas are made when it is opened."""

    texts: list[str]
    formats: list[str]
    fonts: list[str]
    from_1904: bool
    recalculates: bool

    @classmethod
    def load(cls, package: Package, main: str, root: Element) -> "_Book":
        """Load it."""
        properties, calculation = root.find(_S + "workbookPr"), root.find(_S + "calcPr")
        from_1904 = properties is not None and is_on(
            properties if "date1904" in properties.attrib else None, "date1904"
        )
        again = calculation is not None and calculation.get("fullCalcOnLoad") in ("1", "true")
        texts = [
            text for part in package.find_related(main, "sharedStrings") for text in _read_shared_texts(package, part)
        ]
        styles = next((package.load(part) for part in package.find_related(main, "styles")), None)
        return cls(texts, _formats(styles), _fonts(styles), from_1904, again)


class _Sheet:
    """Read one sheet, by pieces."""

    def __init__(self, package: Package, part: str, book: _Book) -> None:
        self._package = package
        self._part = part
        self._book = book
        self._comments = _comments(package, part)
        self._merged = list(_read_merged_ranges(package, part))
        self._hidden: list[tuple[int, int]] = []  # the first and last of columns
        self._left_out = 0
        self._columns_left_out = set[int]()
        self._row = 0

    def lines(self) -> Iterator[str]:
        """Yield its rows, the comments on them, and the texts of its drawings."""
        opened = self._package.open(self._part)
        if opened is None:
            return
        for _, element in ElementTree.iterparse(opened):
            element.tag = rename(element.tag)
            if element.tag == _S + "col" and is_on(element if "hidden" in element.attrib else None, "hidden"):
                self._hidden.append((int(element.get("min", "1")), int(element.get("max", "1"))))
            elif element.tag == _S + "row":
                yield from self._row_lines(element)
                element.clear()
        if self._left_out:
            yield f"[rows of it that are hidden and left out: {self._left_out}]"
        if self._columns_left_out:
            yield f"[columns of it that are hidden and left out: {len(self._columns_left_out)}]"
        for comment in self._comments.values():
            yield from comment
        for drawing in self._package.find_related(self._part, "drawing"):
            yield from self._read_drawing(drawing)

    def _row_lines(self, row: Element) -> Iterator[str]:
        self._row = int(row.get("r", self._row + 1))
        is_hidden = is_on(row if "hidden" in row.attrib else None, "hidden")
        cells, after, column = list[str](), list[str](), 0
        for cell in row:
            if rename(cell.tag) != _S + "c":
                continue
            found = _REFERENCE.fullmatch(cell.get("r", ""))
            column = _column(found[1]) if found else column + 1
            comment = self._comments.pop(f"{_letters(column)}{self._row}", [])
            if any(first <= column <= last for first, last in self._hidden):
                self._columns_left_out |= {column} if "v" in map(local, cell) or "is" in map(local, cell) else set()
                continue
            if self._is_covered(column):
                continue
            after += comment
            before = sum(max(0, min(last, column) - first + 1) for first, last in self._hidden)
            cells += [""] * (column - 1 - before - len(cells))
            cells.append(self._render_value(cell))
        line = write_row(cells)
        if is_hidden:
            self._left_out += bool(line)
            return
        if line:
            yield line
        yield from after

    def _is_covered(self, column: int) -> bool:
        """Return whether a cell lies beneath one that is merged over it."""
        return any(
            left <= column <= right and top <= self._row <= bottom and (column, self._row) != (left, top)
            for left, top, right, bottom in self._merged
        )

    def _render_value(self, cell: Element) -> str:
        style, fonts = int(cell.get("s", "0")), self._book.fonts
        return read_symbols(self._value(cell), fonts[style] if style < len(fonts) else "")

    def _value(self, cell: Element) -> str:
        kind, style = cell.get("t", "n"), cell.get("s", "0")
        parts = {local(each): each for each in cell}
        value = (parts["v"].text or "") if "v" in parts else ""
        form = self._book.formats[int(style)] if int(style) < len(self._book.formats) else "General"
        if "f" in parts and (not value or (self._book.recalculates and value == "0")):
            formula = (parts["f"].text or "").removeprefix("=")
            return (
                ""
                if kind == "str" and "v" in parts
                else f"[={formula}, not calculated]"
                if formula
                else "[a formula, not calculated]"
            )
        match kind:
            case "s":
                return format_text(self._book.texts[int(value)], form) if value else ""
            case "inlineStr":
                return format_text(_rich_text(parts["is"]), form) if "is" in parts else ""
            case "str":
                return format_text(_unescape(value), form)
            case "b":
                return "TRUE" if value in ("1", "true") else "FALSE" if value else ""
            case "e":
                return value
            case "d":
                return value.removesuffix("Z").removesuffix("T00:00:00").replace("T", " ")
        return format_number(float(value), form, from_1904=self._book.from_1904) if value.strip() else ""

    def _read_drawing(self, part: str) -> Iterator[str]:
        """Yield the texts of shapes and the titles of charts, whose figures are those of cells."""
        root, relations = self._package.load(part), self._package.relations(part)
        for each in root.iter() if root is not None else ():
            if local(each) == "txBody":
                for paragraph in each:
                    if text := "".join(piece.text or "" for piece in paragraph.iter() if local(piece) == "t"):
                        yield text
            elif local(each) == "chart" and (relation := relations.get(each.get(_R + "id", ""))) is not None:
                yield from filter(None, _chart_names(self._package.load(relation.part)))


def _chart_names(chart: Element | None) -> Iterator[str]:
    """Yield the titles of a chart and its axes, and the names of series that are in no cell."""
    for each in chart.iter() if chart is not None else ():
        if local(each) == "title":
            yield "".join(piece.text or "" for piece in each.iter() if local(piece) in ("t", "v"))
        elif local(each) == "tx":
            yield "".join(piece.text or "" for piece in each if local(piece) == "v")


def _read_shared_texts(package: Package, part: str) -> Iterator[str]:
    opened = package.open(part)
    for _, element in ElementTree.iterparse(opened) if opened is not None else ():
        if local(element) == "si":
            yield _rich_text(element)
            element.clear()


def _rich_text(element: Element) -> str:
    """Return a text that may be of several runs, without the way it is pronounced."""
    runs = [each for each in element if local(each) in ("t", "r")]
    return "".join(_read_run(run) for run in runs)


def _read_run(run: Element) -> str:
    if local(run) == "t":
        return _unescape(run.text or "")
    font = next((each.get("val", "") for each in run.iter() if local(each) == "rFont"), "")
    return read_symbols(_unescape("".join(each.text or "" for each in run if local(each) == "t")), font)


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _formats(styles: Element | None) -> list[str]:
    """Return the number format of each style of cells."""
    if styles is None:
        return []
    own = {each.get("numFmtId", ""): each.get("formatCode", "") for each in styles.iter(_S + "numFmt")}
    known: Mapping[str, str] = {**BUILT_IN, **own}
    return [known.get(each.get("numFmtId", "0"), "General") for each in styles.iterfind(f"{_S}cellXfs/{_S}xf")]


def _fonts(styles: Element | None) -> list[str]:
    """Return the font of each style of cells."""
    if styles is None:
        return []
    names = [
        next((each.get("val", "") for each in font if local(each) == "name"), "")
        for font in styles.iterfind(f"{_S}fonts/{_S}font")
    ]
    used = [int(each.get("fontId", "0")) for each in styles.iterfind(f"{_S}cellXfs/{_S}xf")]
    return [names[each] if each < len(names) else "" for each in used]


def _comments(package: Package, part: str) -> dict[str, list[str]]:
    """Return the comments on cells by their reference: conversations, or else notes."""
    people = {
        each.get("id", ""): each.get("displayName", "")
        for book in ("xl/persons/person.xml",)
        for each in package.children(book)
    }
    found: dict[str, list[str]] = {}
    for related in package.find_related(part, "threadedComment"):
        for each in package.children(related):
            text = "".join(piece.text or "" for piece in each if local(piece) == "text")
            _add(found, each.get("ref", ""), people.get(each.get("personId", ""), ""), text)
    for related in package.find_related(part, "comments") if not found else ():
        root = package.load(related)
        authors = [each.text or "" for each in root.iter(_S + "author")] if root is not None else []
        for each in root.iter(_S + "comment") if root is not None else ():
            text = next((_rich_text(piece) for piece in each if local(piece) == "text"), "")
            author = int(each.get("authorId", "0"))
            _add(found, each.get("ref", ""), authors[author] if author < len(authors) else "", text)
    return found


def _add(found: dict[str, list[str]], reference: str, author: str, text: str) -> None:
    text, author = " / ".join(filter(None, text.removeprefix(f"{author}:").strip().splitlines())), author.strip()
    by = f" by {author}" if author else ""
    found.setdefault(reference, []).append(f"[comment on {reference}{by}: {text}]")


def _read_merged_ranges(package: Package, part: str) -> Iterator[tuple[int, int, int, int]]:
    """Yield the first and last column and row of merged cells. They come behind the rows, so the file is searched."""
    opened, rest, count = package.open(part), b"", 0
    while opened is not None and (chunk := opened.read(_CHUNK)):
        text = rest + chunk
        for found in _MERGED.finditer(text):
            left, top, right, bottom = (each.decode() for each in found.groups())
            yield _column(left), int(top), _column(right), int(bottom)
            if (count := count + 1) == _MOST_MERGED:
                return
        rest = text[text.rfind(b"<") :]
        rest = rest if len(rest) < 1000 else b""


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def _letters(column: int) -> str:
    written = ""
    while column:
        column, rest = divmod(column - 1, 26)
        written = chr(65 + rest) + written
    return written
