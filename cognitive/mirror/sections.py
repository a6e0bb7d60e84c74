"""The sections that the bot keeps in MEMORY.md: what sleep consolidated, by night, and the index of ref files. Pure.

All else in the file is its owner's and stays where it stands. A section of the bot's goes when nothing is left in it,
and a pointer goes with the file that it points to.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile

from kenobot.cognitive.mirror import layout
from kenobot.cognitive.mirror.layout import Block, Item
from kenobot.cognitive.text.memory_md import index_line, index_target

REFERENCE = "## Reference"

_CONSOLIDATED = "## Consolidated — "
_OURS = re.compile(r"## (?:Consolidated [—–-] [0-9]{4}-[0-9]{2}-[0-9]{2}|Reference)[ \t]*\Z")
_NIGHT = re.compile(r"## Consolidated [—–-] ([0-9]{4}-[0-9]{2}-[0-9]{2})[ \t]*\Z")
_HEADING = re.compile(r"#{1,6}[ \t]")


def arrange(
    blocks: Sequence[Block],
    home: Sequence[Item],
    guests: Mapping[int, Item],
    heirs: Mapping[int, int],
    nights: Mapping[int, str],
    refs: Mapping[str, int],
) -> list[Block]:
    """MEMORY.md as it should be; see `layout.arrange`.

    nights: the day of the night in which sleep put items there; they stand below its heading. refs: the ref files, by
    name, and how many facts each has.
    """
    standing = {block.record for block in blocks} | set(heirs.values())
    result = layout.arrange("core", blocks, [item for item in home if item.id in standing], guests, heirs)
    placed = {block.record for block in result}
    lines, missing = _adopted(_exploded(result), [item for item in home if item.id not in placed])
    pointers = sum(index_target(line.raw) is not None for line in lines)
    lines = _indexed(lines, refs)
    lines = _with_plain(lines, [item for item in missing if item.id not in nights])
    for night in sorted({nights[item.id] for item in missing if item.id in nights}):
        lines = _with_night(lines, night, [item for item in missing if nights.get(item.id) == night])
    return layout.normal("core", _tidy(lines, _OURS if pointers > len(refs) else _NIGHT))


def _exploded(blocks: Sequence[Block]) -> list[Block]:
    """`blocks` with literal text line by line."""
    found: list[Block] = []
    for block in blocks:
        if block.record is not None:
            found.append(block)
        else:
            found.extend(Block(line) for line in re.split(r"(?<=\n)", block.raw) if line)
    return found


def _adopted(lines: list[Block], items: Sequence[Item]) -> tuple[list[Block], list[Item]]:
    """Items that stand there already, as literal text, and those that do not."""
    missing: list[Item] = []
    strays = {layout.fact("core", line.raw): at for at, line in enumerate(lines) if line.record is None}
    for item in items:
        at = strays.pop(item.text.strip(), None)
        if at is None:
            missing.append(item)
        else:
            lines[at] = Block(lines[at].raw, item.id)
    return lines, missing


def _is_heading(line: Block, pattern: re.Pattern[str] = _HEADING) -> bool:
    return line.record is None and pattern.match(line.raw.rstrip("\r\n")) is not None


def _is_blank(line: Block) -> bool:
    return line.record is None and not line.raw.strip()


# ── the index ────────────────────────────────────────────────────────────────────────────────────────────────────


def _indexed(lines: list[Block], refs: Mapping[str, int]) -> list[Block]:
    """One pointer for each ref file, where its owner has put it, else below the heading for them."""
    kept: list[Block] = []
    left = dict(refs)
    for line in lines:
        name = index_target(line.raw) if line.record is None else None
        if name is None:
            kept.append(line)
        elif name in left:
            wanted = index_line(name, left.pop(name))
            kept.append(line if line.raw.rstrip("\r\n") == wanted.rstrip("\n") else Block(wanted))
    if not left:
        return kept
    new = [Block(index_line(name, facts)) for name, facts in left.items()]
    at = next((at for at, line in enumerate(kept) if line.raw.rstrip() == REFERENCE), None)
    if at is None:
        return [*kept, *_opening(kept, REFERENCE), *new]
    return _inserted(kept, _end_of(kept, at), new)


# ── facts ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _with_plain(lines: list[Block], items: Sequence[Item]) -> list[Block]:
    """What nobody put into a section stands above the bot's own, at the end of what is its owner's."""
    if not items:
        return lines
    first = next((at for at, line in enumerate(lines) if _is_heading(line, _OURS)), len(lines))
    end = first
    while end and _is_blank(lines[end - 1]):
        end -= 1
    rest = lines[end:]
    if first < len(lines) and end == first:
        rest = [Block("\n"), *rest]
    if first == len(lines):
        return layout.appended("core", lines, items)
    return [*layout.appended("core", lines[:end], items), *rest]


def _with_night(lines: list[Block], night: str, items: Sequence[Item]) -> list[Block]:
    new = [Block(layout.render("core", item), item.id) for item in items]
    for at, line in enumerate(lines):
        match = _NIGHT.match(line.raw.rstrip("\r\n")) if line.record is None else None
        if match and match[1] == night:
            return _inserted(lines, _end_of(lines, at), new)
    heading = _CONSOLIDATED + night
    index = next((at for at, line in enumerate(lines) if line.raw.rstrip() == REFERENCE), len(lines))
    before = lines[:index]
    after = [Block("\n"), *lines[index:]] if lines[index:] else []
    return [*before, *_opening(before, heading), *new, *after]


def _end_of(lines: Sequence[Block], heading: int) -> int:
    """Where the next line of a section belongs: behind its last line that is not blank."""
    section = list(takewhile(lambda line: not _is_heading(line), lines[heading + 1 :]))
    while section and _is_blank(section[-1]):
        section.pop()
    return heading + 1 + len(section)


def _opening(before: Sequence[Block], heading: str) -> list[Block]:
    """A heading below what stands `before` it."""
    text = layout.compose(before)
    present = len(text) - len(text.rstrip("\n"))
    gap = "\n" * max(0, 2 - present) if text.strip() else ""
    return _exploded([Block(f"{gap}{heading}\n")])


def _inserted(lines: Sequence[Block], at: int, new: Sequence[Block]) -> list[Block]:
    before = list(lines[:at])
    if before and not before[-1].raw.endswith("\n"):
        before[-1] = Block(f"{before[-1].raw}\n", before[-1].record)
    return [*before, *new, *lines[at:]]


def _tidy(lines: Sequence[Block], ours: re.Pattern[str]) -> list[Block]:
    """Without sections of the bot's, as their headings tell, in which nothing is left."""
    kept: list[Block] = []
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
