"""Read web pages: the words that a browser shows, with the rows of tables and the marks of lists."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kenobot.core import lazy
from kenobot.core.html_tokens import Token, read_tokens
from kenobot.core.list_numbers import NUMBER_FORMS, write_number
from kenobot.core.mathml import MathBuilder
from kenobot.core.page_styles import find_hidden, hides, is_struck, keeps_lines, read_style, text_size
from kenobot.core.symbol_fonts import read_symbols
from kenobot.core.table_rows import write_row

_UNSEEN: Final = frozenset(
    "script style template noscript datalist object iframe audio video canvas map rp colgroup frameset annotation "
    "annotation-xml progress meter".split()
)
_BLOCKS: Final = frozenset(
    "address article aside blockquote body button caption center dd details dialog dir div dl dt fieldset figcaption "
    "figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol optgroup option p pre "
    "search section select summary table tbody textarea tfoot thead tr title ul".split()
)
_VOID: Final = frozenset(
    "area base br col embed hr img input link meta param source track wbr basefont frame keygen".split()
)
_SECTIONS: Final = ("thead", "tbody", "tfoot")
_CLOSES: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {  # what a tag ends, and within what
    "li": (("li",), ("ul", "ol", "menu")),
    "dt": (("dt", "dd"), ("dl",)),
    "dd": (("dt", "dd"), ("dl",)),
    "tr": (("tr", "td", "th", "caption"), ("table",)),
    "td": (("td", "th"), ("table", "tr")),
    "th": (("td", "th"), ("table", "tr")),
    **dict.fromkeys(_SECTIONS, (("tr", "td", "th", "caption", *_SECTIONS), ("table",))),
    "option": (("option",), ("select", "datalist", "optgroup")),
    "optgroup": (("option", "optgroup"), ("select",)),
    "body": (("head",), ()),
}
_LINES: Final = frozenset(("pre", "textarea", "listing", "xmp"))
_BLANKS = lazy.regex(r"[ \t\n\r\f]+")
_SPACES = lazy.regex(r" {2,}")
_CHARSET: Final = re.compile(rb"charset\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)
_MOST_DEPTH: Final = 300


def page_lines(text: str, *, is_mail: bool = False) -> Iterator[str]:
    """Yield the lines of a page, in a time that is linear in its length.

    is_mail: without its title, which no mail shows, and with quotations marked as in a plain mail.
    """
    yield from _Page(is_mail=is_mail).read(text)


@dataclass(slots=True)
class _Open:
    """An element that has begun. tiny: its letters have no size. mark: the number of the next item of a list."""

    tag: str
    hidden: bool
    tiny: bool = False
    struck: bool = False
    keeps_lines: bool = False
    font: str = ""
    mark: int | None = None
    form: str = "decimal"


@dataclass(slots=True)
class _Table:
    """A table that has begun. spans: rows that a cell above still takes, by column. cells: of the row under way.

    foot: the rows that come last.
    """

    spans: dict[int, int] = field(default_factory=dict)  # bounded: one page; turn
    cells: list[str] | None = None
    lines: list[str] | None = None  # of the cell under way
    outer: bool = False  # its row holds another table
    wide: int = 1
    deep: int = 1
    quoted: int = 0  # quotations around it
    top: int = 0  # where its body begins among the lines around it
    begun: int = 0  # where its head or foot does
    foot: list[str] = field(default_factory=list)  # bounded: one page; turn


class _Page:
    """The words of a page, line by line."""

    def __init__(self, *, is_mail: bool) -> None:
        self._is_mail = is_mail
        self._quoted = 0  # quotations under way
        self._counts = Counter[str]()  # of the elements that are open, by tag
        self._lines: list[str] = []  # bounded: one page; turn
        self._text: list[str] = []  # bounded: one page; turn
        self._open: list[_Open] = []  # bounded: one page; turn
        self._tables: list[_Table] = []  # bounded: one page; turn
        self._rules: set[str] = set()  # bounded: one page; turn
        self._titled = False  # the first line is the title
        self._style: list[str] = []  # bounded: one page; turn
        self._mark = ""  # of an item whose text has not begun
        self._formula: MathBuilder | None = None  # one under way

    def read(self, text: str) -> list[str]:
        """Return the lines of a page."""
        for token in read_tokens(text):
            tag = token.tag
            if self._formula is not None:
                if not tag.endswith("math") and tag.lstrip("/") not in _BLOCKS:
                    self._read_formula(self._formula, token)
                    continue
                self._end_formula()
            if not tag:
                self._add(token.text)
            elif tag.startswith("/"):
                self._end(tag[1:])
            else:
                self._start(tag, token.given)
        self._end_formula()
        self._break()
        while self._open:
            self._pop()
        while self._lines and not self._lines[-1]:
            self._lines.pop()
        title = self._lines[0] if self._titled else ""
        return self._lines[1:] if title and title in self._lines[1:] else self._lines

    # ── tags and texts ───────────────────────────────────────────────────────────────────────────────────────────

    def _start(self, tag: str, given: Mapping[str, str]) -> None:
        self._close_implied(tag)
        outer = self._open[-1] if self._open else _Open("", False)
        style = read_style(given.get("style", ""))
        hidden = outer.hidden or self._hides(tag, given, style)
        if tag == "p":
            self._skip_line()
        elif tag in _BLOCKS:
            self._break()
        if tag in _VOID:
            if not hidden:
                self._show_void(tag, given)
            return
        size = text_size(style)
        element = _Open(tag, hidden, outer.tiny if size is None else size == 0)
        element.keeps_lines = keeps_lines(style, tag in _LINES or outer.keeps_lines)
        element.font = style.get("font-family", given.get("face", outer.font) if tag == "font" else outer.font)
        element.struck = tag in ("s", "strike", "del") or is_struck(style)
        if len(self._open) == _MOST_DEPTH:
            return
        if not hidden:
            self._begin(element, given)
        self._open.append(element)
        self._counts[tag] += 1
        self._quoted += self._is_mail and tag == "blockquote"

    def _pop(self) -> str:
        """Close the last element, and return its tag."""
        element = self._open.pop()
        self._counts[element.tag] -= 1
        self._close(element)
        self._quoted -= self._is_mail and element.tag == "blockquote"
        return element.tag

    def _end(self, tag: str) -> None:
        if tag in ("p", "br") and not self._counts[tag]:
            self._break()
        while self._counts[tag] and self._pop() != tag:
            pass

    def _add(self, words: str) -> None:
        inside = self._open[-1] if self._open else _Open("", False)
        if inside.tag == "style":
            self._style.append(words)
        elif not (inside.hidden or inside.tiny):
            words = read_symbols(words, inside.font.strip(" '\"")).replace("\u00ad", "")
            self._text.append(words if inside.keeps_lines else _BLANKS.sub(" ", words))

    def _read_formula(self, formula: MathBuilder, token: Token) -> None:
        if token.tag.startswith("/"):
            formula.end(token.tag[1:])
        elif token.tag:
            formula.start(token.tag, token.given, is_closed=token.is_closed)
        else:
            formula.add(token.text)

    def _end_formula(self) -> None:
        formula, self._formula = self._formula, None
        if formula is not None:
            self._text.append(formula.write())

    # ── elements ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _hides(self, tag: str, given: Mapping[str, str], style: Mapping[str, str]) -> bool:
        if tag in ("title", "body", "html"):
            return tag == "title" and (self._is_mail or bool(self._counts["svg"]))
        if not given and not self._rules:
            return tag in _UNSEEN or tag == "dialog"
        names = [tag, *(f".{each}" for each in given.get("class", "").split()), f"#{given.get('id', '')}"]
        return (
            tag in _UNSEEN
            or ".katex-html" in names  # which says once more what is there as MathML
            or ("hidden" in given and given["hidden"].lower() != "until-found")
            or (tag == "dialog" and "open" not in given)
            or (tag == "input" and given.get("type", "").lower() in ("hidden", "password"))
            or hides(style)
            or any(name in self._rules or tag + name in self._rules for name in names)
        )

    def _begin(self, element: _Open, given: Mapping[str, str]) -> None:
        match element.tag:
            case "ol":
                start = given.get("start", "1")
                element.mark = int(start) if start.lstrip("-").isdigit() else 1
                element.form = NUMBER_FORMS.get(given.get("type", ""), "decimal")
            case "li":
                self._mark = self._item_mark(given)
            case "table":
                for outer in self._tables[-1:]:
                    outer.outer = True
                into, _ = self._find_place(self._tables)
                self._tables.append(_Table(quoted=self._quoted, top=len(into)))
            case "tr" if self._tables:
                self._tables[-1].cells = []
            case "td" | "th" if self._tables:
                self._begin_cell(self._tables[-1], given)
            case "caption" | "tfoot" | "thead" if self._tables:
                self._tables[-1].begun = len(self._find_place(self._tables[:-1])[0])
            case _:
                self._begin_words(element.tag, given)
        if element.struck:
            self._text.append("~~")

    def _begin_words(self, tag: str, given: Mapping[str, str]) -> None:
        """Add the sign that a browser shows before the words of an element, or one in its place."""
        match tag:
            case "math" | "m:math" | "mml:math":
                self._formula = MathBuilder()
            case "q":
                self._text.append("“")
            case "rt":
                self._text.append(" (")
            case "sup" if self._text and self._text[-1][-1:].isalnum():
                self._text.append("^")
            case "option" if "selected" in given:
                self._text.append("☒ ")

    def _close(self, element: _Open) -> None:
        if element.tag == "style":
            find_hidden("".join(self._style), self._rules)
            self._style.clear()
        if element.hidden:
            return
        if element.struck:
            self._text.append("~~")
        if element.tag in ("q", "rt"):
            self._text.append("”" if element.tag == "q" else ")")
        if element.tag == "p":
            self._skip_line()
        elif element.tag in _BLOCKS or element.tag in ("td", "th"):
            self._break()
        if element.tag == "li":
            self._mark = ""
        self._titled |= element.tag == "title" and len(self._lines) == 1
        if not self._tables:
            return
        table = self._tables[-1]
        if element.tag in ("td", "th"):
            self._end_cell(table)
        elif element.tag == "tr":
            self._end_row(table)
        elif element.tag in ("caption", "thead", "tfoot"):
            self._move_rows(table, element.tag)
        elif element.tag == "table":
            self._end_row(table)
            self._tables.pop()
            self._find_place(self._tables)[0].extend(table.foot)

    def _close_implied(self, tag: str) -> None:
        """Close the elements that a tag ends implicitly."""
        if (
            tag in _BLOCKS
            and tag not in ("option", "optgroup", "select", "button", "textarea")
            and self._open
            and self._open[-1].tag == "p"
        ):
            self._pop()
        ended, within = _CLOSES.get(tag, ((), ()))
        if not any(self._counts[each] for each in ended):
            return
        for at in range(len(self._open) - 1, -1, -1):
            if self._open[at].tag in within:
                break
            if self._open[at].tag in ended:
                while len(self._open) > at:
                    self._pop()

    def _show_void(self, tag: str, given: Mapping[str, str]) -> None:
        if tag == "br":
            has_text = bool("".join(self._text).strip())
            self._break() if has_text else self._skip_line()
        elif tag == "wbr":
            return
        elif tag == "input":
            kind = given.get("type", "text").lower()
            if kind in ("checkbox", "radio"):
                self._text.append("☒ " if "checked" in given else "☐ ")
            elif kind not in ("image", "file", "color", "range"):
                self._text.append(f" {given.get('value', '')} ")

    def _item_mark(self, given: Mapping[str, str]) -> str:
        items = next((each for each in reversed(self._open) if each.tag in ("ol", "ul", "menu")), None)
        if items is None or items.mark is None:
            return "- "
        value = given.get("value", "")
        number = int(value) if value.lstrip("-").isdigit() else items.mark
        items.mark = number + 1
        return f"{write_number(number, items.form)}. "

    # ── lines and rows ───────────────────────────────────────────────────────────────────────────────────────────

    def _break(self) -> None:
        """End a line."""
        text = "".join(self._text)
        self._text.clear()
        into, around = self._find_place(self._tables)
        quotes = "> " if self._quoted > around else ""
        for line in text.split("\n"):
            kept = _SPACES.sub(" ", line).strip() if "\t" not in line and "  " not in line.strip() else line.rstrip()
            if kept.strip():
                kept, self._mark = quotes + self._mark + kept, ""
                into.append(kept)

    def _find_place(self, tables: Sequence[_Table]) -> tuple[list[str], int]:
        """Return where lines go, a cell or the page, and how many quotations are around it."""
        return next(
            ((each.lines, each.quoted) for each in reversed(tables) if each.lines is not None), (self._lines, 0)
        )

    def _skip_line(self) -> None:
        """Leave a line blank in a mail, whose paragraphs a reader tells apart by it."""
        self._break()
        into, _ = self._find_place(self._tables)
        if self._is_mail and into and into[-1]:
            into.append("")

    def _begin_cell(self, table: _Table, given: Mapping[str, str]) -> None:
        self._break()
        self._end_cell(table)
        cells = table.cells = [] if table.cells is None else table.cells
        while table.spans.get(len(cells), 0) > 0:
            table.spans[len(cells)] -= 1
            cells.append("")
        wide, deep = given.get("colspan", "1"), given.get("rowspan", "1")
        table.wide = min(int(wide), 100) if wide.isdigit() and int(wide) else 1
        table.deep = min(int(deep), 1000) if deep.isdigit() and int(deep) else 1
        table.lines = []

    def _end_cell(self, table: _Table) -> None:
        if table.lines is None or table.cells is None:
            return
        for column in range(len(table.cells), len(table.cells) + table.wide):
            if table.deep > 1:
                table.spans[column] = table.deep - 1
        table.cells += ["\n".join(table.lines), *[""] * (table.wide - 1)]
        table.lines = None

    def _end_row(self, table: _Table) -> None:
        self._end_cell(table)
        into, around = self._find_place(self._tables[:-1])
        quotes = "> " if table.quoted > around else ""
        cells, table.cells = table.cells or [], None
        if table.outer or len(cells) == 1:  # a table for the look of the page: each cell stands for itself
            lines = [line for cell in cells for line in cell.split("\n")]
        else:
            lines = list(filter(None, [write_row(cells)]))
        into += [quotes + line if line else "" for line in lines]
        table.outer = False

    def _move_rows(self, table: _Table, section: str) -> None:
        """Move a caption, or the rows of a head or foot, to where a browser shows them."""
        into, _ = self._find_place(self._tables[:-1])
        rows = into[table.begun :]
        del into[table.begun :]
        if section == "tfoot":
            table.foot += rows
        else:
            into[table.top : table.top] = rows
            table.top += len(rows)


def decode_page(raw: bytes) -> str:
    """Decode a page as UTF-8, or else in its declared charset, or Windows-1252."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace")
    found = _CHARSET.search(raw[:2048])
    for name in ("utf-8-sig", found[1].decode() if found else "cp1252"):
        try:
            return raw.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    return raw.decode("cp1252", "replace")
