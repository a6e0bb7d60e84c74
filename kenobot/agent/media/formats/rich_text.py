"""Read RTF, as TextEdit and WordPad write it: the text that is shown."""

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from kenobot.agent.media.formats.equations import write_equation
from kenobot.agent.media.formats.package import add_text, join_text
from kenobot.core.symbol_fonts import read_symbols
from kenobot.core.table_rows import Cell, write_cells, write_row

_TOKENS: Final = re.compile(
    rb"\\bin(?P<bin>\d+) ?|\\(?P<word>[a-zA-Z]+)(?P<number>-?\d+)? ?|\\'(?P<hex>[0-9a-fA-F]{2})|\\(?P<sign>[^a-zA-Z])"
    rb"|(?P<brace>[{}])|[\r\n]+|(?P<text>[^\\{}\r\n]+)"
)
_SKIPPED: Final = frozenset(
    "fonttbl colortbl stylesheet info pict object listtable listoverridetable filetbl revtbl bkmkstart bkmkend "
    "ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn nonshppict template sp private atnid tc xe rxe shprslt upr "
    "userprops background".split()
)
_SHOWN: Final = frozenset("shpinst shptxt annotation atnauthor fldinst footnote listtext pntext nesttableprops".split())
_ASIDE: Final = frozenset("fldinst footnote annotation atnauthor shptxt listtext pntext".split())
_MARGINS: Final = {"header": "header", "headerl": "header", "headerr": "header", "headerf": "header",
                   "footer": "footer", "footerl": "footer", "footerr": "footer", "footerf": "footer"}  # fmt: skip
_SIGNS: Final = {"emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
                 "bullet": "•", "tab": "\t", "line": "\n", "emspace": " ", "enspace": " ", "qmspace": " "}  # fmt: skip
_CHARSETS: Final = {0: 1252, 77: 10000, 128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258,
                    177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250}  # fmt: skip

_SAME: Final = 60  # twips: cells that end together


@dataclass(slots=True)
class _Group:
    """State within braces. uc: characters that old readers show in place of a Unicode one. begins: nothing was in
    it yet.
    """

    skipped: bool = False
    hidden: bool = False
    raised: bool = False
    struck: bool = False
    codec: str = "cp1252"
    font: int = 0
    lists_fonts: bool = False
    uc: int = 1
    star: bool = False
    begins: bool = True
    role: str = ""


class _Row(NamedTuple):
    """A row of a table, where its cells end, and the notes to it."""

    cells: Sequence[Cell]
    edges: Sequence[int]
    notes: Sequence[str]


@dataclass(slots=True)
class _Flow:
    """Text that is being read: the document, or something beside it.

    inner: cells of a row of a table within a cell. inside: lines of that cell so far. edges: where the cells of a row
    end. rows: those of a table so far.
    """

    text: list[str] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    inner: list[str] = field(default_factory=list)
    inside: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    in_table: bool = False
    edges: list[int] = field(default_factory=list)
    rows: list[_Row] = field(default_factory=list)


def rich_text_lines(raw: bytes) -> Iterator[str]:
    """Yield the lines of a document, the heads of its pages first and their feet last."""
    return _Reader(raw).read()


class _Reader:
    """Read one document."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._group = _Group()
        self._stack: list[tuple[_Group, _Flow]] = []
        self._flow = _Flow()
        self._fonts: dict[int, str] = {}
        self._names: dict[int, bytes] = {}
        self._font = 0  # whose name is being read
        self._pending = bytearray()  # bytes of a character that takes several
        self._pass = 0
        self._high = 0
        self._notes = 0
        self._author = ""
        self._margins: dict[str, list[str]] = {"header": [], "footer": []}

    def read(self) -> Iterator[str]:
        """Yield all lines."""
        at = 0
        while found := _TOKENS.match(self._raw, at):
            at = found.end()
            if found["bin"]:
                at += int(found["bin"])
            elif found["brace"]:
                self._flush()
                self._brace(found["brace"])
            elif found["word"]:
                self._flush()
                self._word(found["word"].decode(), int(found["number"]) if found["number"] else None)
            elif found["sign"]:
                self._sign(found["sign"])
            elif found["hex"]:
                self._take_bytes(bytes.fromhex(found["hex"].decode()))
            elif found["text"]:
                self._take_bytes(found["text"])
        self._end_paragraph()
        self._end_table()
        yield from self._margins["header"]
        yield from self._flow.lines
        yield from self._margins["footer"]

    def _brace(self, brace: bytes) -> None:
        if brace == b"{":
            self._stack.append((self._group, self._flow))
            self._group = replace(self._group, begins=True, star=False, role="")
            self._pass = 0
        elif self._stack:
            ended, flow = self._group, self._flow
            self._group, self._flow = self._stack.pop()
            if ended.role:
                self._end_role(ended.role, flow)

    def _end_role(self, role: str, flow: _Flow) -> None:
        """Put an aside, such as a note, in its place."""
        if flow.text or flow.cells:
            outer, self._flow = self._flow, flow
            flow.in_table = False
            self._end_row() if flow.cells else self._end_paragraph()
            self._end_table()
            self._flow = outer
        text = " / ".join(filter(None, map(str.strip, "\n".join(flow.lines).splitlines())))
        if not text:
            return
        if role in self._margins:
            if (line := f"[page {role}: {text}]") not in self._margins[role]:
                self._margins[role].append(line)
        elif role == "footnote":
            self._notes += 1
            self._flow.text.append(f"[note {self._notes}]")
            self._flow.after.append(f"[note {self._notes}] {text}")
        elif role == "annotation":
            by, self._author = f" by {self._author}" if self._author else "", ""
            self._flow.after.append(f"[comment{by}: {text}]")
        elif role == "fldinst":
            self._flow.text.append(write_equation(text))
        elif role == "atnauthor":
            self._author = text
        elif role in ("listtext", "pntext"):
            self._flow.text.append(f"{text if any(map(str.isalnum, text)) else '-'} ")
        else:
            self._flow.after += flow.lines

    def _word(self, word: str, number: int | None) -> None:
        group, begins = self._group, self._group.begins
        group.begins = False
        if group.skipped:
            if word == "fcharset" and number is not None:
                self._fonts[self._font] = _codec(_CHARSETS.get(number, 1252))
            elif word == "f" and number is not None:
                self._font = number
            return
        if begins and (word in _SKIPPED or word in _MARGINS or group.star or word in _SHOWN):
            self._begin_destination(group, word)
            return
        if word in _SIGNS:
            self._add(_SIGNS[word])
        elif word in ("f", "uc", "ansicpg", "mac", "u"):
            self._follow_letters(word, number)
        else:
            self._follow_layout(word, number)

    def _follow_letters(self, word: str, number: int | None) -> None:
        """Follow how letters are written."""
        group = self._group
        if word == "mac":
            group.codec = "mac-roman"
        elif word == "u" and number is not None:
            self._take_unicode(number)
        elif word == "uc":
            group.uc = number or 0
        elif word == "f":
            group.font = number or 0
            group.codec = self._fonts.get(group.font, group.codec)
        elif word == "ansicpg":
            group.codec = _codec(number or 0)

    def _follow_layout(self, word: str, number: int | None) -> None:
        """Follow paragraphs and hidden text."""
        group, flow = self._group, self._flow
        match word:
            case "par" | "sect" | "page":
                if not group.hidden:
                    self._end_paragraph()
            case "intbl" | "pard":
                flow.in_table = word == "intbl"
            case "itap" if number == 2 and not flow.inner and (text := join_text(flow.text).strip()):
                flow.inside.append(text)
                flow.text.clear()
            case "v" | "deleted":
                group.hidden = number != 0
            case "super" | "nosupersub" | "up":
                group.raised = word != "nosupersub" and number != 0
            case "strike" | "striked":
                group.struck = number != 0
            case "plain":
                group.hidden = group.raised = group.struck = False
            case _:
                self._lay_table(flow, word, number)

    def _lay_table(self, flow: _Flow, word: str, number: int | None) -> None:
        """Follow the cells of tables."""
        match word:
            case "nestcell":
                flow.inner.append(join_text(flow.text))
                flow.text.clear()
            case "nestrow":
                flow.inside.append(write_row(flow.inner))
                flow.inner.clear()
            case "cell":
                text, inside = join_text(flow.text), flow.inside
                flow.cells.append(Cell(list(filter(str.strip, [*inside, *text.splitlines()])), is_outer=bool(inside)))
                flow.text.clear()
                flow.inside = []
            case "trowd" if not flow.inner:
                flow.edges = []
            case "cellx" if number is not None and not flow.inner:
                flow.edges.append(number)
            case "row":
                self._end_row()

    def _begin_destination(self, group: _Group, word: str) -> None:
        role = _MARGINS.get(word, "")
        if role or word in _ASIDE:
            group.role = role or word
            self._flow = _Flow()
        elif word in _SKIPPED or (group.star and word not in _SHOWN):
            group.skipped = True
            group.lists_fonts = word == "fonttbl"

    def _sign(self, sign: bytes) -> None:
        if sign == b"*":
            self._group.star = self._group.begins
            return
        self._flush()
        if sign in b"\r\n":
            self._end_paragraph()
        elif sign in (b"\\", b"{", b"}"):
            self._take_bytes(sign)
        elif sign in (b"~", b"_"):
            self._add(" " if sign == b"~" else "-")

    def _take_bytes(self, raw: bytes) -> None:
        self._group.begins = False
        if self._pass:
            skipped = min(self._pass, len(raw))
            self._pass -= skipped
            raw = raw[skipped:]
        if self._group.lists_fonts and not self._group.star:
            self._names[self._font] = self._names.get(self._font, b"") + raw
        if raw and not self._group.skipped and not self._group.hidden:
            self._pending += raw

    def _take_unicode(self, number: int) -> None:
        code = number % 65536
        self._pass = self._group.uc
        if 0xD800 <= code < 0xDC00:
            self._high = code
            return
        if 0xDC00 <= code < 0xE000:
            code = 0x10000 + ((self._high - 0xD800) << 10) + code - 0xDC00 if self._high else 0xFFFD
        self._high = 0
        self._add(chr(code))

    def _flush(self) -> None:
        if self._pending:
            text = self._pending.decode(self._group.codec, "replace")
            self._pending.clear()
            self._add(text)

    def _add(self, text: str) -> None:
        group = self._group
        if not (group.skipped or group.hidden):
            text = read_symbols(text, self._names.get(group.font, b"").decode("cp1252", "replace"))
            add_text(self._flow.text, text, is_raised=group.raised, is_struck=group.struck)

    def _end_paragraph(self) -> None:
        self._flush()
        flow = self._flow
        if flow.in_table or flow.cells:  # another paragraph of a cell
            flow.text.append("\n")
            return
        self._end_table()
        text = join_text(flow.text)
        flow.text.clear()
        if text.strip():
            flow.lines.append(text)
        flow.lines += flow.after
        flow.after.clear()

    def _end_row(self) -> None:
        self._flush()
        flow = self._flow
        if rest := "".join(flow.text).strip():
            flow.cells.append(Cell([rest]))
        flow.text.clear()
        flow.rows.append(_Row([*flow.cells], [*flow.edges], [*flow.after]))
        flow.cells.clear()
        flow.after.clear()

    def _end_table(self) -> None:
        """Write the rows of a table, each cell in its column."""
        flow = self._flow
        columns = max((row.edges for row in flow.rows), key=len, default=())
        for row in flow.rows:
            flow.lines += write_cells(_place_cells(row, columns))
            flow.lines += row.notes
        flow.rows.clear()


def _place_cells(row: _Row, columns: Sequence[int]) -> list[Cell]:
    """Return the cells of a row with empty ones where some take several columns. columns: where these end."""
    ends = [next((at for at, each in enumerate(columns) if abs(each - edge) < _SAME), -1) for edge in row.edges]
    if len(row.cells) != len(ends) or ends != sorted(set(ends)) or -1 in ends:
        return list(row.cells)
    placed = [Cell([])] * len(columns)
    for cell, before in zip(row.cells, [-1, *ends], strict=False):
        placed[before + 1] = cell
    return placed


def _codec(page: int) -> str:
    name = {10000: "mac-roman", 65001: "utf-8", 0: "cp1252"}.get(page, f"cp{page}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"
