"""Lay records out in a file, and read a person's edit of it. Pure: text in, text out.

A file is a row of blocks that give its text when put one after the other. A block is either literal, the person's own
words, headings and blank lines, or a fact: the stretch in which one record stands. A fact keeps the very characters a
person typed for as long as they still say what the record says.

Nothing inside a record can pass for another fact: in a log a line that looks like an entry gets a backslash, and in a
list every further line is indented. Reading undoes both.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Literal

from kenobot.core import lazy
from kenobot.language.fingerprint import key_of
from kenobot.language.quoting import INDEX_LINK, QuoteMark, add_mark, split_mark
from kenobot.language.sanitize import MAX_RECORD_CHARS, sanitize
from kenobot.ports.frozen import dataclass

FileKind = Literal["core", "daily", "preferences", "slot", "entity", "ref", "topic"]

PREFERENCES_HEADER = "# User Preferences\n\n"

_DASH = "[—–-]"  # people type the dash their keyboard has
_ENTRY = lazy.regex(rf"^## [0-9]{{1,2}}:[0-9]{{2}} {_DASH}(?!\S)", re.MULTILINE)
_LIKE_ENTRY = lazy.regex(rf"^(?=\\*## [0-9]{{1,2}}:[0-9]{{2}} {_DASH}(?!\S))", re.MULTILINE)
_ESCAPED_ENTRY = lazy.regex(rf"^\\(?=\\*## [0-9]{{1,2}}:[0-9]{{2}} {_DASH}(?!\S))", re.MULTILINE)
_BULLET = lazy.regex(r"(?:[-*+]|\d{1,2}[.)])[ \t]+(?=\S)")
_RULE = lazy.regex(r"[-*+ \t]*")
_ESCAPED_RULE = lazy.regex(r"\\+[-*+ \t]*")
_FENCE = lazy.regex(r"(`{3,}|~{3,})(.*)", re.DOTALL)
_SILENT = lazy.regex(r"\s*(?:#|```|~~~|<!--|---|\Z)")  # headings, code, comments and rules say nothing by themselves
_ESCAPED_INDEX = lazy.regex(rf"\\+{INDEX_LINK.pattern}")
_LIKE_INDEX = lazy.regex(rf"\\*{INDEX_LINK.pattern}")
_LEARNED = "learned: "
_INDENTED = lazy.regex(r"(?<=\n)(?:\t| {1,2})")
_CONTINUED = lazy.regex(r"(?<=\n)(?=[^\n])")


@dataclass(frozen=True, slots=True)
class FileBlock:
    """A stretch of a file, and the record that stands in it; None for what is literal."""

    raw: str
    record: int | None = None


@dataclass(frozen=True, slots=True)
class ShownRecord:
    """A record as a file shows it. time: HH:MM, needed in daily logs only. mark: of what others wrote."""

    id: int
    text: str
    time: str = ""
    mark: QuoteMark | None = None


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


def split(kind: FileKind, text: str) -> list[str]:
    """Return `text` in chunks that may hold one fact each, and the stretches between them.

    Joined they are `text` again.
    """
    match kind:
        case "slot":
            return [text] if text else []
        case "daily":
            starts = [found.start() for found in _ENTRY.finditer(text)]
            return _join_parts(text, [0, *starts, len(text)])
        case "topic":
            return [part for chunk in _bullets(text) for part in _paragraphs(chunk)]
        case _:
            return _bullets(text)


def fact_text(kind: FileKind, chunk: str) -> str | None:
    """Extract the fact in `chunk`, fit to be stored and without its mark; None when the chunk is literal."""
    body = _fact_body(kind, chunk)
    if body is None:
        return None
    said = body if kind == "slot" else split_mark(body)[1]
    return sanitize(said, MAX_RECORD_CHARS).strip() or None


def fact_mark(kind: FileKind, chunk: str) -> QuoteMark | None:
    """Extract the mark of the fact in `chunk`, which others wrote; None without one."""
    body = None if kind == "slot" else _fact_body(kind, chunk)
    return split_mark(body)[0] if body is not None else None


def _fact_body(kind: FileKind, chunk: str) -> str | None:
    """Extract what a chunk says, with its mark; None when it is literal."""
    text = chunk.replace("\r\n", "\n").replace("\r", "\n")
    match kind:
        case "slot":
            body = text
        case "daily":
            header = _ENTRY.match(text)
            if header is None:
                return None
            first, newline, rest = text[header.end() :].partition("\n")
            body = first + newline + _ESCAPED_ENTRY.sub("", rest)
        case "topic" if _BULLET.match(text) is None:
            header = _ENTRY.match(text)
            if header is None and _SILENT.match(text):
                return None
            body = text[header.end() :] if header else text
        case _:
            marker = _BULLET.match(text)
            if marker is None:
                return None
            body = _INDENTED.sub("", text[marker.end() :])
            if kind == "preferences":
                if not body.startswith(_LEARNED):
                    return None
                body = body.removeprefix(_LEARNED)
            elif _RULE.fullmatch(body.partition("\n")[0]) or (kind == "core" and INDEX_LINK.match(body)):
                return None
            elif _ESCAPED_RULE.fullmatch(body.partition("\n")[0]) or (kind == "core" and _ESCAPED_INDEX.match(body)):
                body = body[1:]
    return body


def fact_lines(kind: FileKind, chunks: Sequence[str]) -> list[tuple[int, str]]:
    """Extract the facts of `chunks`, each with the position of its chunk."""
    return [(at, text) for at, chunk in enumerate(chunks) if (text := fact_text(kind, chunk)) is not None]


def entry_time(chunk: str) -> str | None:
    """Extract the H:MM at the head of an entry of a daily log; None for anything else."""
    header = _ENTRY.match(chunk)
    return header[0].split()[1] if header else None


def _bullets(text: str) -> list[str]:
    """Return each bullet with its continuation, and what stands between bullets. Fenced code is never a bullet."""
    lines = lines_of(text)
    fenced = _mark_fenced(lines)
    cuts = {0, len(lines)}
    at = 0
    while at < len(lines):
        if fenced[at] or not _BULLET.match(lines[at]):
            at += 1
            continue
        end = _end_of_bullet(lines, at)
        cuts |= {at, end}
        at = end
    return _join_parts(lines, sorted(cuts))


def _paragraphs(chunk: str) -> list[str]:
    """Split a stretch between bullets: headings, code and blank lines stand by themselves."""
    if _BULLET.match(chunk):
        return [chunk]
    lines = lines_of(chunk)
    sorts = [
        "code" if code else "blank" if not line.strip() else "heading" if line.startswith("#") else "prose"
        for line, code in zip(lines, _mark_fenced(lines), strict=True)
    ]
    cuts = [at for at in range(1, len(lines)) if sorts[at] != sorts[at - 1] or sorts[at] == "heading"]
    return _join_parts(lines, [0, *cuts, len(lines)])


def lines_of(text: str) -> list[str]:
    """Split a text into lines, each with its end."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _join_parts(parts: Sequence[str], cuts: Sequence[int]) -> list[str]:
    return ["".join(parts[start:end]) for start, end in pairwise(cuts) if start < end]


def _end_of_bullet(lines: Sequence[str], start: int) -> int:
    """Find the end of a bullet: indented lines belong to the one above them, also across blank lines."""
    end = probe = start + 1
    while probe < len(lines):
        if lines[probe].strip():
            if lines[probe][0] not in " \t":
                break
            end = probe + 1
        probe += 1
    return end


def _mark_fenced(lines: Sequence[str]) -> list[bool]:
    """Mark the lines in code blocks. A fence that is never closed is just a line: it must not swallow the rest."""
    inside = [False] * len(lines)
    opened: tuple[int, str] | None = None
    for at, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence is None:
            continue
        marks, rest = fence.groups()
        if opened is None:
            opened = None if "`" in rest else (at, marks)
        elif marks.startswith(opened[1]) and not rest.strip():
            inside[opened[0] : at + 1] = [True] * (at + 1 - opened[0])
            opened = None
    return inside


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def render(kind: FileKind, item: ShownRecord) -> str:
    """Render `item` as a new chunk."""
    text = item.text if kind == "slot" else add_mark(item.text, item.mark)
    match kind:
        case "slot":
            return text
        case "daily":
            first, newline, rest = text.partition("\n")
            escaped = _LIKE_ENTRY.sub(r"\\", rest)
            return f"## {item.time} — {first}{newline}{escaped}\n\n"
        case "preferences":
            return f"- {_LEARNED}{_indent(text)}"
        case "core" | "entity" | "ref" | "topic":
            first = text.partition("\n")[0]
            marks = _RULE.fullmatch(first) or _ESCAPED_RULE.fullmatch(first)
            escape = "\\" if marks or (kind == "core" and _LIKE_INDEX.match(first)) else ""
            return f"- {escape}{_indent(text)}\n"


def _indent(text: str) -> str:
    return _CONTINUED.sub("  ", text)


def join_blocks(blocks: Sequence[FileBlock]) -> str:
    return "".join(block.raw for block in blocks)


def arrange(
    kind: FileKind,
    blocks: Sequence[FileBlock],
    own_items: Sequence[ShownRecord],
    tolerated: Mapping[int, ShownRecord],
    successors: Mapping[int, int],
    header: str = "",
) -> list[FileBlock]:
    """Arrange a file: `blocks` with what has changed since, and what is new at the end.

    own_items: live items that belong here, in order. tolerated: other live items that may stand here because a person
    put them here. successors: for superseded records, the live item in their place. header: how a new file begins. Dead
    facts go; literal text stays, but for a page's header below which nothing is left.
    """
    live = {**tolerated, **{item.id: item for item in own_items}}
    if kind == "slot":
        literal = [block for block in blocks if block.record is None]
        return [_spell_item(kind, blocks[0].raw if blocks else "", own_items[0])] if own_items else literal
    placed = {block.record for block in blocks if block.record in live}
    result: list[FileBlock] = []
    for block in blocks:
        if block.record is None:
            result.append(block)
        elif block.record in live:
            result.append(_spell_item(kind, block.raw, live[block.record]))
        elif (heir := successors.get(block.record)) in live and heir not in placed:
            placed.add(heir)
            result.append(FileBlock(_in_place_of(kind, block.raw, live[heir]), heir))
    missing = [item for item in own_items if item.id not in placed]
    if kind in ("entity", "ref") and not live and join_blocks(result).strip() == header.strip():
        return []
    if not result and missing and (header or kind == "preferences"):
        result.append(FileBlock(header or PREFERENCES_HEADER))
    return normalize_blocks(kind, append_items(kind, result, missing) if missing else result)


def _spell_item(kind: FileKind, raw: str, item: ShownRecord) -> FileBlock:
    """Return `item` in the person's own spelling if that still says the same, with the mark that it has to have."""
    said = fact_text(kind, raw)
    same = said == item.text.strip() or (said is not None and kind != "slot" and key_of(said) == key_of(item.text))
    same = same and (kind == "slot" or fact_mark(kind, raw) == item.mark)
    return FileBlock(raw if same else _in_place_of(kind, raw, item), item.id)


def _in_place_of(kind: FileKind, raw: str, item: ShownRecord) -> str:
    """Render `item` where another chunk stood; a line of preferences has the line breaks that were there."""
    return render(kind, item) + (raw[len(raw.rstrip("\r\n")) :] if kind == "preferences" else "")


def append_items(kind: FileKind, blocks: Sequence[FileBlock], items: Sequence[ShownRecord]) -> list[FileBlock]:
    """Return `blocks` with `items` at the end, except where a line that says the same stands there already."""
    result, missing = adopt_items(kind, blocks, items)
    for item in missing:
        result += [FileBlock(_gap(kind, result)), FileBlock(render(kind, item), item.id)]
    return result


def adopt_items(
    kind: FileKind, blocks: Sequence[FileBlock], items: Sequence[ShownRecord]
) -> tuple[list[FileBlock], list[ShownRecord]]:
    """Mark the items that stand in `blocks` already, as literal text, and return those that do not."""
    result, missing = list(blocks), list[ShownRecord]()
    strays = (
        {fact_text(kind, block.raw): at for at, block in enumerate(result) if block.record is None} if items else {}
    )
    for item in items:
        at = strays.pop(item.text.strip(), None)
        if at is None:
            missing.append(item)
        else:
            result[at] = _spell_item(kind, result[at].raw, item)
    return result, missing


def _gap(kind: FileKind, blocks: Sequence[FileBlock]) -> str:
    """Choose the line breaks before an appended fact. A list goes on; after prose it needs a blank line."""
    end = ""
    for block in reversed(blocks):
        end = block.raw + end
        if block.raw.strip():
            break
    lists = kind in ("core", "entity", "ref", "topic") or (kind == "preferences" and _BULLET.match(end))
    present = len(end) - len(end.rstrip("\n"))
    return "\n" * max(0, (1 if lists else 2) - present) if end else ""


def normalize_blocks(kind: FileKind, blocks: Sequence[FileBlock]) -> list[FileBlock]:
    """Cut blocks as `split` does, so that text and records can be told apart again after a restart."""
    starts = accumulate((len(block.raw) for block in blocks), initial=0)
    standing = {at: block.record for at, block in zip(starts, blocks, strict=False) if block.record is not None}
    chunks = split(kind, join_blocks(blocks))
    starts = accumulate(map(len, chunks), initial=0)
    return [FileBlock(chunk, standing.get(at)) for at, chunk in zip(starts, chunks, strict=False)]


# ── what is kept of a file between two looks at it ───────────────────────────────────────────────────────────────


def encode_blocks(blocks: Sequence[FileBlock]) -> list[str | int]:
    """Return `blocks` for the mirror table: literal text as it is, a record as its number."""
    return [block.raw if block.record is None else block.record for block in blocks]


def decode_blocks(kind: FileKind, text: str, frozen: Sequence[str | int]) -> list[FileBlock]:
    """Undo `encode_blocks`. If the two do not fit, all is literal and `arrange` finds the records."""
    chunks = split(kind, text)
    if len(chunks) != len(frozen):
        return [FileBlock(chunk) for chunk in chunks]
    return [
        FileBlock(chunk, seal if isinstance(seal, int) else None) for chunk, seal in zip(chunks, frozen, strict=True)
    ]
