"""Parse a reply's Markdown into text and entities.

Understood: fenced code, `code`, **bold**, *italic*, _italic_, ***both***, ~~struck~~, [links](https://…), # headings,
--- rules, and a backslash before a sign, but that of a bar, which cells of tables need. Everything else stays as it was
written. Emphasis and links end with their line. Spans come well nested, the outer one first. Time is linear in the
text, whatever is in it.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, Literal

from kenobot.core import lazy
from kenobot.ports.messages import EntityKind, TextEntity

RULE: Final = "———"  # stands for ---
# Far more lines and marks than a reply has. What comes after them stays as written, so hostile text costs little.
_MOST_PIECES: Final = 100_000
_DROPPED: Final = dict.fromkeys([*(c for c in range(32) if chr(c) not in "\n\t"), 127])
_SURROGATE = lazy.regex("[\ud800-\udfff]")
_HEADING = lazy.regex(r"#{1,6}[ \t]+(?=\S)")
_HORIZONTAL_RULE = lazy.regex(r"-{3,}[ \t]*")
# Fences of more than eight backticks do not occur, and the limit bounds the search for their end.
_FENCE_OPEN = lazy.regex(r"(?<!`)(`{3,8})(?!`)([^`]*)$")
_FENCE_CLOSE = lazy.regex(r"(?<!`)(`{3,8})[ \t]*$")
_LANGUAGE = lazy.regex(r"[^\s`]{1,64}")
_BACKTICKS = lazy.regex(r"`+")
_LINK = lazy.regex(
    r"\[([^\[\]]{1,1024})\]"
    r"\(((?:https?|tg|mailto):[^\s()\[]*+(?:\([^\s()\[]*+\)[^\s()\[]*+)*+)\)",
    re.IGNORECASE,
)
# A lone asterisk between word characters is arithmetic or a file pattern: 2*3*4.
# An underscore within a word is part of it: snake_case. Addresses, paths of Windows and ¯\_(ツ)_/¯ stay as they are.
_TOKEN = lazy.regex(
    r"https?://[^\s*`~<>\[\]\\]*[^\s*`~<>\[\]\\_]|(?:(?:\b[A-Za-z]:|%\w+%)\\[\w.]|\\\\\w)[^\s*`]*"
    r"|\\(?!_\()[!-/:-@\[-`{}~]|`+|\*{2,}|(?<![^\W_])\*|\*(?![^\W_])|(?<![\w\\])_(?=[^\s_])|(?<=[^\s_\\])_(?!\w)|~~+|\["
)
_WORD = lazy.regex(r"[^\W_]")


def parse_markdown(markdown: str) -> tuple[str, tuple[TextEntity, ...]]:
    """Parse Markdown into text and entities. Control characters are dropped, lone surrogates replaced."""
    out = _Output()
    text = markdown.replace("\r\n", "\n").replace("\r", "\n").translate(_DROPPED)
    lines = _SURROGATE.sub("\ufffd", text).split("\n")
    blocks = _code_blocks(lines)
    number = 0
    while number < len(lines):
        if number:
            out.write("\n")
        if out.is_full:
            out.write("\n".join(lines[number:]))
            break
        last = blocks.get(number, number)
        if number in blocks:
            _write_code_block(lines[number : last + 1], out)
        else:
            _block_line(lines[number], out)
        number = last + 1
    return out.finish()


def utf16_length(text: str) -> int:
    """Count the UTF-16 code units of `text`."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


@dataclass(slots=True)
class _Output:
    """Text pieces in order, and spans between them; a delimiter's piece is emptied when it finds its partner."""

    pieces: list[str] = field(default_factory=list)  # bounded: one reply; turn
    ranges: list[tuple[int, int, EntityKind, str]] = field(default_factory=list)  # bounded: one reply; turn

    def write(self, text: str) -> int:
        """Append a piece and return its number. What encloses others starts with an empty one, so as to sort first."""
        self.pieces.append(text)
        return len(self.pieces) - 1

    @property
    def is_full(self) -> bool:
        return len(self.pieces) >= _MOST_PIECES

    def mark(self, kind: EntityKind, first: int, last: int, detail: str = "") -> None:
        """Format the pieces from `first` up to but not including `last`."""
        self.ranges.append((first, last, kind, detail))

    def finish(self) -> tuple[str, tuple[TextEntity, ...]]:
        text = "".join(self.pieces)
        length = len if text.isascii() else utf16_length
        offsets = list(accumulate(map(length, self.pieces), initial=0))
        self.ranges.sort(key=lambda item: (item[0], -item[1]))
        spans: list[TextEntity] = []  # bounded: one reply; turn
        slanted = 0  # up to where a text is italic: *one within _another_* adds nothing
        for first, last, kind, detail in self.ranges:
            start, end = offsets[first], offsets[last]
            if start < end and not (kind == "italic" and start < slanted):
                slanted = end if kind == "italic" else slanted
                spans.append(TextEntity(kind, start, end - start, detail))
        return text, tuple(spans)


# ── lines ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _code_blocks(lines: list[str]) -> dict[int, int]:
    """Find the code blocks: the number of the last line by that of the first."""
    fenced = [(number, line) for number, line in enumerate(lines) if "```" in line]
    closers = [(number, len(match[1])) for number, line in fenced if (match := _FENCE_CLOSE.search(line))]
    blocks: dict[int, int] = {}
    following, end, endless = 0, -1, 9  # endless: backticks of a fence that nothing closes from here on
    for number, line in fenced:
        opening = _FENCE_OPEN.search(line) if number > end else None
        if opening is None or "```" in line[: opening.start()] or (ticks := len(opening[1])) >= endless:
            continue
        while following < len(closers) and closers[following][0] <= number:
            following += 1
        candidates = (closers[at] for at in range(following, len(closers)))
        last = next((closer for closer, length in candidates if length >= ticks), None)
        if last is None:
            endless = ticks
        else:
            blocks[number] = end = last
    return blocks


def _write_code_block(lines: list[str], out: _Output) -> None:
    opening = _FENCE_OPEN.search(lines[0])
    closing = _FENCE_CLOSE.search(lines[-1])
    assert opening is not None and closing is not None
    info = opening[2].strip()
    language = info if _LANGUAGE.fullmatch(info) else ""
    rest = lines[-1][: closing.start()]
    body = [*([info] if info and not language else []), *lines[1:-1], rest if rest.strip() else ""]
    if not any(body):
        out.write("\n".join(lines))
        return
    prefix = lines[0][: opening.start()]
    if prefix.strip():
        _block_line(prefix, out)
    first = out.write("\n".join(body))
    out.mark("pre", first, first + 1, language)


def _block_line(line: str, out: _Output) -> None:
    if _HORIZONTAL_RULE.fullmatch(line):
        out.write(RULE)
        return
    heading = _HEADING.match(line)
    if heading is None:
        _Line(line, out).write()
        return
    first = out.write("")
    _Line(line[heading.end() :], out, bold=True).write()
    out.mark("bold", first, len(out.pieces), str(heading[0].count("#")))


# ── within a line ────────────────────────────────────────────────────────────────────────────────────────────────

_Emphasis = Literal["bold", "italic", "underscored", "strikethrough"]
_DELIMITER: Final[dict[_Emphasis, str]] = {"bold": "**", "italic": "*", "underscored": "_", "strikethrough": "~~"}
_RUNS: Final[dict[str, tuple[_Emphasis, ...]]] = {
    "*": ("italic",),
    "_": ("underscored",),
    "**": ("bold",),
    "***": ("bold", "italic"),
    "~~": ("strikethrough",),
}


class _Line:
    """Writes one line, formatting what is closed within it.

    At most one emphasis of each kind is open at a time: a later opener takes the place of an earlier one, and whatever
    was opened inside an emphasis and is still open when that one closes stays literal. So spans nest by construction.
    """

    def __init__(self, line: str, out: _Output, *, bold: bool = False) -> None:
        self._line = line
        self._out = out
        self._bold = bold
        self._open: list[tuple[_Emphasis, int]] = []  # bounded: one line of a reply; turn
        self._backticks: dict[int, list[int]] | None = None

    def write(self) -> None:
        line, at = self._line, 0
        while not self._out.is_full and (token := _TOKEN.search(line, at)):
            if at < token.start():
                self._out.write(line[at : token.start()])
            match token[0][0]:
                case "`":
                    at = self._code(token)
                case "[":
                    at = self._link(token)
                case "*" | "_" | "~":
                    at = self._emphasis(token)
                case _:
                    is_escape = len(token[0]) == 2 and token[0][0] == "\\"
                    self._out.write(token[0][is_escape:])
                    at = token.end()
        if at < len(line):
            self._out.write(line[at:])

    def _code(self, token: re.Match[str]) -> int:
        start, ticks = token.end(), len(token[0])
        end = self._closing_backticks(ticks, start)
        if end is None:
            self._out.write(token[0])
            return start
        content = self._line[start:end]
        if content[0] == content[-1] == " " and content.strip():
            content = content[1:-1]
        piece = self._out.write(content)
        self._out.mark("code", piece, piece + 1)
        return end + ticks

    def _closing_backticks(self, ticks: int, after: int) -> int | None:
        if self._backticks is None:
            runs: defaultdict[int, list[int]] = defaultdict(list)
            for run in _BACKTICKS.finditer(self._line):
                runs[len(run[0])].append(run.start())
            self._backticks = {length: starts[::-1] for length, starts in runs.items()}
        waiting = self._backticks.get(ticks, [])
        while waiting and waiting[-1] < after:
            waiting.pop()
        return waiting[-1] if waiting else None

    def _link(self, token: re.Match[str]) -> int:
        link = _LINK.match(self._line, token.start())
        if link is None or not link[1].strip():
            self._out.write("[")
            return token.end()
        first = self._out.write("")
        _Line(link[1], self._out, bold=self._bold).write()
        self._out.mark("text_link", first, len(self._out.pieces), link[2])
        return link.end()

    def _emphasis(self, token: re.Match[str]) -> int:
        run, start, end = token[0], token.start(), token.end()
        kinds = _RUNS.get(run)
        if kinds is None:
            self._out.write(run)
            return end
        before = self._line[start - 1] if start else " "
        after = self._line[end] if end < len(self._line) else " "
        alone = run in ("*", "_")
        if self._open and not before.isspace() and not (alone and _WORD.match(after)):
            kinds = self._close(kinds)
        opens = not after.isspace() and not (alone and _WORD.match(before))
        for kind in kinds:
            piece = self._out.write(_DELIMITER[kind])
            if opens:
                self._open = [*(item for item in self._open if item[0] != kind), (kind, piece)]
        return end

    def _close(self, kinds: tuple[_Emphasis, ...]) -> tuple[_Emphasis, ...]:
        """Close those of `kinds` that are open, the innermost first, and return the rest."""
        rest = list(kinds)
        for kind, opening in self._open[::-1]:
            if kind in rest:
                rest.remove(kind)
                while self._open.pop()[0] != kind:
                    pass
                closing = self._out.write("")
                self._out.pieces[opening] = ""
                if not (kind == "bold" and self._bold):
                    self._out.mark("italic" if kind == "underscored" else kind, opening, closing)
        return tuple(rest)
