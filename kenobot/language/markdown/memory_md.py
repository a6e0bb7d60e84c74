"""Arrange MEMORY.md with the bot's sections: what sleep consolidated, by night, and the index of ref files. Pure.

All else in the file is its owner's and stays where it stands. A section of the bot's goes when nothing is left in it,
and a pointer goes with the file that it points to.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile

from kenobot.core import lazy
from kenobot.language.markdown import list_layout
from kenobot.language.markdown.list_layout import FileBlock, ShownRecord
from kenobot.language.quoting import index_line, index_target

REFERENCE_HEADING = "## Reference"

_CONSOLIDATED = "## Consolidated — "
_OURS = lazy.regex(r"## (?:Consolidated [—–-] [0-9]{4}-[0-9]{2}-[0-9]{2}|Reference)[ \t]*\Z")
_NIGHT = lazy.regex(r"## Consolidated [—–-] ([0-9]{4}-[0-9]{2}-[0-9]{2})[ \t]*\Z")
_HEADING = lazy.regex(r"#{1,6}[ \t]")


def arrange_memory_md(
    blocks: Sequence[FileBlock],
    own_items: Sequence[ShownRecord],
    tolerated: Mapping[int, ShownRecord],
    successors: Mapping[int, int],
    nights: Mapping[int, str],
    refs: Mapping[str, int],
) -> list[FileBlock]:
    """Arrange MEMORY.md; see `list_layout.arrange`.

    nights: the day of the night in which sleep put items there; they stand below its heading. refs: the ref files, by
    name, and how many facts each has.
    """
    standing = {block.record for block in blocks} | set(successors.values())
    result = list_layout.arrange(
        "core", blocks, [item for item in own_items if item.id in standing], tolerated, successors
    )
    placed = {block.record for block in result}
    unplaced = [item for item in own_items if item.id not in placed]
    lines, missing = list_layout.adopt_items("core", _explode(result), unplaced)
    pointers = sum(index_target(line.raw) is not None for line in lines)
    lines = _index_refs(lines, refs)
    lines = _insert_plain(lines, [item for item in missing if item.id not in nights])
    for night in sorted({nights[item.id] for item in missing if item.id in nights}):
        lines = _with_night(lines, night, [item for item in missing if nights.get(item.id) == night])
    return list_layout.normalize_blocks("core", _tidy(lines, _OURS if pointers > len(refs) else _NIGHT))


def _explode(blocks: Sequence[FileBlock]) -> list[FileBlock]:
    """Return `blocks` with literal text line by line."""
    return [
        FileBlock(line, block.record)
        for block in blocks
        for line in ([block.raw] if block.record is not None else list_layout.lines_of(block.raw))
    ]


def _is_heading(line: FileBlock, pattern: re.Pattern[str] = _HEADING) -> bool:
    return line.record is None and pattern.match(line.raw.rstrip("\r\n")) is not None


def _is_blank(line: FileBlock) -> bool:
    return line.record is None and not line.raw.strip()


# ── the index ────────────────────────────────────────────────────────────────────────────────────────────────────


def _index_refs(lines: list[FileBlock], refs: Mapping[str, int]) -> list[FileBlock]:
    """Keep one pointer for each ref file, where its owner has put it, else below the heading for them."""
    kept: list[FileBlock] = []
    left = dict(refs)
    for line in lines:
        name = index_target(line.raw) if line.record is None else None
        if name is None:
            kept.append(line)
        elif name in left:
            wanted = index_line(name, left.pop(name))
            kept.append(line if line.raw.rstrip("\r\n") == wanted.rstrip("\n") else FileBlock(wanted))
    if not left:
        return kept
    new = [FileBlock(index_line(name, facts)) for name, facts in left.items()]
    at = next((at for at, line in enumerate(kept) if line.raw.rstrip() == REFERENCE_HEADING), None)
    if at is None:
        return [*kept, *_opening(kept, REFERENCE_HEADING), *new]
    return _insert(kept, _end_of(kept, at), new)


# ── facts ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _insert_plain(lines: list[FileBlock], items: Sequence[ShownRecord]) -> list[FileBlock]:
    """Insert items of no section above the bot's own sections, at the end of what is its owner's."""
    if not items:
        return lines
    first = next((at for at, line in enumerate(lines) if _is_heading(line, _OURS)), len(lines))
    end = first
    while end and _is_blank(lines[end - 1]):
        end -= 1
    rest = lines[end:]
    if first < len(lines) and end == first:
        rest = [FileBlock("\n"), *rest]
    if first == len(lines):
        return list_layout.append_items("core", lines, items)
    return [*list_layout.append_items("core", lines[:end], items), *rest]


def _with_night(lines: list[FileBlock], night: str, items: Sequence[ShownRecord]) -> list[FileBlock]:
    new = [FileBlock(list_layout.render("core", item), item.id) for item in items]
    for at, line in enumerate(lines):
        match = _NIGHT.match(line.raw.rstrip("\r\n")) if line.record is None else None
        if match and match[1] == night:
            return _insert(lines, _end_of(lines, at), new)
    heading = _CONSOLIDATED + night
    index = next((at for at, line in enumerate(lines) if line.raw.rstrip() == REFERENCE_HEADING), len(lines))
    before = lines[:index]
    after = [FileBlock("\n"), *lines[index:]] if lines[index:] else []
    return [*before, *_opening(before, heading), *new, *after]


def _end_of(lines: Sequence[FileBlock], heading: int) -> int:
    """Find where the next line of a section belongs: behind its last line that is not blank."""
    section = list(takewhile(lambda line: not _is_heading(line), lines[heading + 1 :]))
    while section and _is_blank(section[-1]):
        section.pop()
    return heading + 1 + len(section)


def _opening(before: Sequence[FileBlock], heading: str) -> list[FileBlock]:
    """Open a section below what stands `before` it."""
    text = list_layout.join_blocks(before)
    present = len(text) - len(text.rstrip("\n"))
    gap = "\n" * max(0, 2 - present) if text.strip() else ""
    return _explode([FileBlock(f"{gap}{heading}\n")])


def _insert(lines: Sequence[FileBlock], at: int, new: Sequence[FileBlock]) -> list[FileBlock]:
    before = list(lines[:at])
    if before and not before[-1].raw.endswith("\n"):
        before[-1] = FileBlock(f"{before[-1].raw}\n", before[-1].record)
    return [*before, *new, *lines[at:]]


def _tidy(lines: Sequence[FileBlock], ours: re.Pattern[str]) -> list[FileBlock]:
    """Drop the bot's sections, as their headings tell, in which nothing is left."""
    kept: list[FileBlock] = []
    at = 0
    while at < len(lines):
        end = at + 1
        if _is_heading(lines[at], ours):
            while end < len(lines) and _is_blank(lines[end]):
                end += 1
            if end == len(lines) or _is_heading(lines[end]):
                while kept and _is_blank(kept[-1]) and end == len(lines):
                    kept.pop()
                at = end
                continue
        kept.extend(lines[at:end])
        at = end
    return kept
