"""Render a formatted text as the HTML of a rich message: headings, lists, tables, quotations and code. Pure.

The text keeps the signs of its blocks (`- `, `1. `, `> `, `|`), so that it can be read without rich messages; here they
become the blocks themselves. Nothing but the tags of this module gets into the HTML.
"""

import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Final

from kenobot.channels.telegram.markdown import RULE
from kenobot.core import lazy
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import MessagePart, TextEntity

_MOST_BLOCKS: Final = 500
_MOST_COLUMNS: Final = 20
_DEEPEST: Final = 5  # blocks within blocks; Telegram takes 16, formatting included
_LONG_QUOTE: Final = 6  # lines, from which on a quotation is closed until it is opened
_LONGEST_SUMMARY: Final = 120  # characters
_ITEM = lazy.regex(r"([ \t]*)([-*+•]|[0-9]{1,9}[.)])[ \t]+(?=\S)")
_TASK = lazy.regex(r"\[([ xX])\][ \t]+")
_QUOTE = lazy.regex(r"[ \t]*>[ \t]?")
_DELIMITER_ROW = lazy.regex(r"[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?[ \t]*)?")
_SPACES = lazy.regex(r" (?= )|\t")
_TAGS: Final = {"bold": "b", "italic": "i", "strikethrough": "s", "code": "code"}
_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def rich_message(part: MessagePart) -> dict[str, object] | None:
    """Return `part` as an InputRichMessage; None where it has no blocks, or more than Telegram takes."""
    if part.attachments or not _may_have_blocks(part):
        return None
    page = _Page(part.text, part.entities)
    try:
        html = "".join(page.blocks(page.lines(), 0))
    except _TooMuch:
        return None
    if not page.is_structured:
        return None
    message: dict[str, object] = {"html": html}
    return message | {"is_rtl": True} if _is_right_to_left(part.text) else message


def _may_have_blocks(part: MessagePart) -> bool:
    """Return whether it is worth a closer look: most replies are plain."""
    return any(each.kind == "pre" or _is_heading(each) for each in part.entities) or any(
        line.lstrip(" \t")[:1] in _FIRST_SIGNS for line in part.text.split("\n")
    )


_FIRST_SIGNS: Final = frozenset("-*+•>|0123456789")


def _is_heading(entity: TextEntity) -> bool:
    return entity.kind == "bold" and entity.detail != ""


def _is_right_to_left(text: str) -> bool:
    for char in text:
        direction = unicodedata.bidirectional(char)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return False


class _TooMuch(Exception):
    """More blocks or columns than a rich message may have."""


@dataclass(frozen=True, slots=True)
class _Line:
    """Characters `first` up to but not including `last`. code: a code block with its language, None for a line."""

    first: int
    last: int
    code: str | None = None


@dataclass(frozen=True, slots=True)
class _Item:
    """The marker of a list item. number: None in a list without numbers. start: of what the item says."""

    indent: int
    number: int | None
    start: int


class _Page:
    """A text with its formatting by characters. is_structured: some block was met that entities cannot show."""

    def __init__(self, text: str, entities: Sequence[TextEntity]) -> None:
        self._text = text
        self._marks = sorted(_by_characters(text, entities), key=lambda mark: (mark.offset, -mark.length))
        inline = [mark for mark in self._marks if mark.kind != "pre" and not _is_heading(mark)]
        self._inline, self._starts = inline, [mark.offset for mark in inline]
        self._headings = {mark.offset: mark for mark in self._marks if _is_heading(mark)}
        self._count = 0
        self.is_structured = False

    def lines(self) -> list[_Line]:
        """Return the lines, and each code block as one."""
        lines: list[_Line] = []
        at = 0
        for mark in self._marks:
            if mark.kind != "pre" or mark.offset < at:
                continue
            lines += self._plain_lines(at, mark.offset)
            at = mark.offset + mark.length
            lines.append(_Line(mark.offset, at, mark.detail))
        return [*lines, *self._plain_lines(at, len(self._text))]

    def _plain_lines(self, first: int, last: int) -> Iterator[_Line]:
        while first < last:
            end = self._text.find("\n", first, last)
            end = last if end < 0 else end
            yield _Line(first, end)
            first = end + 1

    def blocks(self, lines: Sequence[_Line], depth: int) -> Iterator[str]:
        """Yield the blocks of some lines."""
        at = 0
        while at < len(lines):
            line = lines[at]
            end = at + 1
            if line.code is not None:
                self.is_structured = True
                yield self._block(self._code(line))
            elif (heading := self._headings.get(line.first)) is not None:
                self.is_structured = True
                tag = f"h{heading.detail}"
                yield self._block(f"<{tag}>{self._html(line)}</{tag}>")
            elif self._slice_line(line).strip() == RULE:
                yield self._block("<hr/>")
            elif depth < _DEEPEST and self._is_quoted(line):
                while end < len(lines) and self._is_quoted(lines[end]):
                    end += 1
                yield self._quote(lines[at:end], depth)
            elif self._begins_table(lines, at):
                end += 1
                while end < len(lines) and lines[end].code is None and "|" in self._slice_line(lines[end]):
                    end += 1
                yield self._table(lines[at:end])
            elif depth < _DEEPEST and self._item(line) is not None:
                end, html = self._list(lines, at, depth)
                yield html
            elif self._slice_line(line).strip():
                while end < len(lines) and self._goes_on(lines, end, depth):
                    end += 1
                yield self._block(f"<p>{self._join_lines(lines[at:end])}</p>")
            at = end

    def _goes_on(self, lines: Sequence[_Line], at: int, depth: int) -> bool:
        """Return whether a line belongs to the paragraph before it."""
        line = lines[at]
        if line.code is not None or not (text := self._slice_line(line).strip()) or text == RULE:
            return False
        if line.first in self._headings or self._begins_table(lines, at):
            return False
        return depth >= _DEEPEST or not (self._is_quoted(line) or self._item(line))

    # ── code, quotations, tables ─────────────────────────────────────────────────────────────────────────────────

    def _code(self, line: _Line) -> str:
        text = self._text[line.first : line.last].removesuffix("\n").translate(_ESCAPES)
        if not line.code:
            return f"<pre>{text}</pre>"
        return f'<pre><code class="language-{line.code.translate(_ESCAPES)}">{text}</code></pre>'

    def _is_quoted(self, line: _Line) -> bool:
        return line.code is None and _QUOTE.match(self._text, line.first, line.last) is not None

    def _quote(self, lines: Sequence[_Line], depth: int) -> str:
        """Return a quotation; of a long one its first line, and all else where it is opened."""
        self.is_structured = True
        inner = []
        for line in lines:
            sign = _QUOTE.match(self._text, line.first, line.last)
            assert sign is not None
            inner.append(replace(line, first=sign.end()))
        if len(inner) >= _LONG_QUOTE and 0 < len(self._slice_line(inner[0]).strip()) <= _LONGEST_SUMMARY:
            rest = "".join(self.blocks(inner[1:], depth + 2))
            quoted = self._block(f"<blockquote>{rest}</blockquote>")
            return self._block(f"<details><summary>{self._html(inner[0])}</summary>{quoted}</details>")
        return self._block(f"<blockquote>{''.join(self.blocks(inner, depth + 1))}</blockquote>")

    def _begins_table(self, lines: Sequence[_Line], at: int) -> bool:
        if at + 1 >= len(lines) or lines[at + 1].code is not None or "|" not in self._slice_line(lines[at]):
            return False
        if not _DELIMITER_ROW.fullmatch(self._text, lines[at + 1].first, lines[at + 1].last):
            return False
        return len(self._cells(lines[at])) == len(self._cells(lines[at + 1]))

    def _table(self, lines: Sequence[_Line]) -> str:
        self.is_structured = True
        aligns = [_align(self._slice_line(cell).strip()) for cell in self._cells(lines[1])]
        rows = []
        for number, line in enumerate([lines[0], *lines[2:]]):
            cells = self._cells(line)
            if len(cells) > _MOST_COLUMNS:
                raise _TooMuch
            tag, columns = "td" if number else "th", [*aligns, *[""] * (len(cells) - len(aligns))]
            written = (
                f"<{tag}{align}>{self._html(cell, unescape=True)}</{tag}>"
                for cell, align in zip(cells, columns, strict=False)
            )
            rows.append(self._block(f"<tr>{''.join(written)}</tr>"))
        return self._block(f"<table bordered>{''.join(rows)}</table>")

    def _cells(self, line: _Line) -> list[_Line]:
        """Return the cells of a row; a bar within code or behind a backslash separates nothing."""
        text = self._slice_line(line)
        bars = [
            at
            for at in range(line.first, line.last)
            if self._text[at] == "|" and self._text[at - 1 : at] != "\\" and not self._in_code(at)
        ]
        edges = [line.first - 1, *bars, line.last]
        cells = [_Line(before + 1, after) for before, after in pairwise(edges)]
        if text.lstrip().startswith("|"):
            cells = cells[1:]
        if bars and text.rstrip().endswith("|") and not self._slice_line(cells[-1]).strip():
            cells = cells[:-1]
        return cells

    def _in_code(self, at: int) -> bool:
        return any(mark.kind == "code" for mark in self._inline_marks(at, at + 1))

    # ── lists ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _item(self, line: _Line) -> _Item | None:
        if line.code is not None or (sign := _ITEM.match(self._text, line.first, line.last)) is None:
            return None
        number = int(sign[2][:-1]) if sign[2][0].isdigit() else None
        return _Item(len(sign[1].expandtabs(4)), number, sign.end())

    def _list(self, lines: Sequence[_Line], at: int, depth: int) -> tuple[int, str]:
        """Return a list that begins at a line, and the number of the line behind it."""
        first = self._item(lines[at])
        assert first is not None
        items: list[str] = []
        expected = first.number
        while at < len(lines) and (item := self._item(lines[at])) is not None:
            if not first.indent <= item.indent <= first.indent + 1 or (item.number is None) != (first.number is None):
                break
            end = self._item_end(lines, at, item.indent)
            value = "" if item.number == expected else f' value="{item.number}"'
            items.append(self._block(f"<li{value}>{self._item_html(lines[at:end], item, depth)}</li>"))
            expected = None if item.number is None else item.number + 1
            at = self._skip_blank(lines, end)
        self.is_structured |= len(items) > 1 or depth > 0
        if first.number is None:
            return at, self._block(f"<ul>{''.join(items)}</ul>")
        start = "" if first.number == 1 else f' start="{first.number}"'
        return at, self._block(f"<ol{start}>{''.join(items)}</ol>")

    def _item_end(self, lines: Sequence[_Line], at: int, indent: int) -> int:
        """Return the number of the line behind an item: what stands further in belongs to the item."""
        end = at + 1
        while end < len(lines):
            after = self._skip_blank(lines, end)
            if after == len(lines) or self._indent(lines[after]) < indent + 2:
                return end
            end = after + 1
        return end

    def _skip_blank(self, lines: Sequence[_Line], at: int) -> int:
        while at < len(lines) and lines[at].code is None and not self._slice_line(lines[at]).strip():
            at += 1
        return at

    def _indent(self, line: _Line) -> int:
        if line.code is not None:
            return 0
        text = self._slice_line(line).expandtabs(4)
        return len(text) - len(text.lstrip(" "))

    def _item_html(self, lines: Sequence[_Line], item: _Item, depth: int) -> str:
        task = _TASK.match(self._text, item.start, lines[0].last)
        box = ""
        if task is not None:
            self.is_structured = True
            box = f'<input type="checkbox"{"" if task[1] == " " else " checked"}>'
        said = [_Line(task.end() if task else item.start, lines[0].last)]
        rest = list(lines[1:])
        while rest and rest[0].code is None and self._slice_line(rest[0]).strip() and self._item(rest[0]) is None:
            said.append(rest.pop(0))
        return box + self._join_lines(said) + "".join(self.blocks(rest, depth + 1))

    # ── within a line ────────────────────────────────────────────────────────────────────────────────────────────

    def _slice_line(self, line: _Line) -> str:
        return self._text[line.first : line.last]

    def _block(self, html: str) -> str:
        self._count += 1
        if self._count > _MOST_BLOCKS:
            raise _TooMuch
        return html

    def _join_lines(self, lines: Sequence[_Line]) -> str:
        return "<br>".join(self._html(line) for line in lines)

    def _inline_marks(self, first: int, last: int) -> Sequence[TextEntity]:
        """Return the formatting over some of a line; none goes beyond its line."""
        begin = bisect_left(self._starts, self._text.rfind("\n", 0, first) + 1)
        candidates = self._inline[begin : bisect_left(self._starts, last)]
        return [mark for mark in candidates if mark.offset + mark.length > first]

    def _html(self, line: _Line, *, unescape: bool = False) -> str:
        text = self._slice_line(line)
        first = line.first + len(text) - len(text.lstrip())
        last = line.first + len(text.rstrip())
        out: list[str] = []
        open_marks: list[tuple[int, str]] = []  # bounded: one line; turn

        def write(until: int) -> None:
            nonlocal first
            piece = self._text[first:until]
            piece = piece.replace("\\|", "|") if unescape else piece
            out.append(_SPACES.sub("\u00a0", piece.translate(_ESCAPES)))
            first = max(first, until)

        def close(until: int) -> None:
            while open_marks and open_marks[-1][0] <= until:
                end, tag = open_marks.pop()
                write(end)
                out.append(f"</{tag}>")

        for mark in self._inline_marks(first, last):
            start, end = max(mark.offset, first), min(mark.offset + mark.length, last)
            close(start)
            end = min(end, open_marks[-1][0]) if open_marks else end
            if start >= end:
                continue
            write(start)
            tag = "a" if mark.kind == "text_link" else _TAGS[mark.kind]
            out.append(f'<a href="{mark.detail.translate(_ESCAPES)}">' if tag == "a" else f"<{tag}>")
            open_marks.append((end, tag))
        close(last)
        write(last)
        return "".join(out)


def _align(delimiter: str) -> str:
    match delimiter[:1] == ":", delimiter[-1:] == ":":
        case True, True:
            return ' align="center"'
        case False, True:
            return ' align="right"'
        case _:
            return ""


def _by_characters(text: str, entities: Sequence[TextEntity]) -> list[TextEntity]:
    """Return entities whose offsets and lengths count characters."""
    if text.isascii() or max(text) < "\U00010000":
        return list(entities)
    units = list(accumulate((1 + (char > "\uffff") for char in text), initial=0))
    moved = []
    for each in entities:
        first, last = bisect_left(units, each.offset), bisect_left(units, each.offset + each.length)
        moved.append(replace(each, offset=first, length=last - first))
    return moved
