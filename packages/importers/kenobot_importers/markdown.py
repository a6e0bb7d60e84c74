"""The memories in a Markdown file that a person or a bot wrote: one a list item, a paragraph or a row of a table.

Headings say what kind of thing stands below them, in Spanish and English; template text that nobody filled in, rules,
comments and front matter say nothing. Pure.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, time
from importlib import resources

from kenobot.core import lazy
from kenobot.language.words import fold, words

_HEADING = lazy.regex(r"(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_BULLET = lazy.regex(r"(?:[-*+]|\d{1,4}[.)])[ \t]+(?=\S)")
_BOX = lazy.regex(r"\[([ xX/<>!?*-])\][ \t]+")  # some themes of Obsidian know more than open and done
_OVER = frozenset("xX-")
_RULE = lazy.regex(r"(?:[-*_=][ \t]*){3,}")
_FENCE = lazy.regex(r"(`{3,}|~{3,})")
_FRONT = lazy.regex(r"\A---[ \t]*\n(?:[^\n]*\n){0,200}?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_COMMENT = lazy.regex(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_BOLD = lazy.regex(r"\*\*(?=\S)([^*\n]{1,300})\*\*|(?<!\w)__(?=\S)([^_\n]{1,300})__(?!\w)")
_ITALIC_LINE = lazy.regex(r"(?:_(?!_).+(?<!_)_|\*(?!\*).+(?<!\*)\*)")
_LABEL = lazy.regex(r"([^:\n]{1,60}):(?:[ \t]+(.*))?", re.DOTALL)
_UNFILLED = lazy.regex(
    r"[_*]?\((?!\d)[^()\n]*\)[_*]?|_[^_\n]*_|\*[^*\n]*\*|tbd|todo|n/?a|\.{3}|…|-|pending|pendiente|por definir|unknown",
    re.IGNORECASE,
)
_ROW = lazy.regex(r"\|(.*)\|[ \t]*$")
_TABLE_RULE = lazy.regex(r"[|:\- \t]+")
_TIME = lazy.regex(r"\[?(\d{1,2}):(\d{2})(?::\d{2})?[ \t]*([ap]\.?m\.?)?\]?(?:[ \t]*[—–:-]+)?[ \t]*", re.IGNORECASE)
_DATE = lazy.regex(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")
_WORDS = tomllib.loads(resources.files(__package__).joinpath("headings.toml").read_text("utf-8"))
_GENERAL = frozenset(_WORDS["general"].split())
_CATEGORIES = {word: category for category, row in _WORDS["categories"].items() for word in row.split()}
_KINDS = ("commitment", "decision", "principle")
_SHORT = 3  # words: what is no longer says little without its heading


@dataclass(frozen=True, slots=True)
class MarkdownFact:
    """Something that a file says. at, day: when it says that it was so, where it does. heading: what it is under."""

    text: str
    category: str
    at: time | None = None
    day: date | None = None
    heading: str = ""


def read(text: str, *, choices: bool = False, bare: bool = False) -> tuple[list[MarkdownFact], int]:
    """Return the facts of a file, and how much of it is template text that nobody filled in.

    choices: its tick boxes are answers, of which only the ticked ones count. bare: no heading is put before a fact.
    """
    found = list(_facts(text, choices=choices, bare=bare))
    facts = [fact for fact in found if fact is not None]
    return facts, len(found) - len(facts)


def _facts(text: str, *, choices: bool, bare: bool) -> Iterator[MarkdownFact | None]:
    """Yield the facts of a file; None for each place that nobody filled in."""
    text = _COMMENT.sub("", _FRONT.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    for _, facts in read_blocks(text.split("\n"), choices=choices, bare=bare):
        yield from facts


def read_blocks(
    lines: Sequence[str], *, choices: bool = False, bare: bool = False
) -> Iterator[tuple[list[str], list[MarkdownFact | None]]]:
    """Split lines into blocks, each with its facts: None for a place that nobody filled in; none for a heading."""
    heading, at, day = "", None, None
    for block in _blocks(lines):
        found = _HEADING.fullmatch(block[0])
        if found is None:
            under = "" if bare else heading
            yield block, [fact for item in _items(block) for fact in _fact(item, under, at, day, choices)]
            continue
        heading = strip_bold(found[2])
        day = _date_in(heading) or day
        clock = _TIME.match(heading)
        at = _clock(clock) if clock else at
        if clock and at is not None:
            heading = heading[clock.end() :]
        yield block, []


def _date_in(text: str) -> date | None:
    """Return the first calendar day written in `text` as YYYY-MM-DD; None when there is none."""
    for found in _DATE.finditer(text):
        try:
            return date.fromisoformat(found[1])
        except ValueError:
            continue
    return None


# ── what a fact is ───────────────────────────────────────────────────────────────────────────────────────────────────


def _fact(item: str, heading: str, at: time | None, day: date | None, choices: bool) -> Iterator[MarkdownFact | None]:
    """Yield the fact of an item, None when nobody filled it in, nothing when it is blank.

    at, day: of the heading above.
    """
    ticked = _BOX.match(item)
    if ticked and choices and ticked[1] == " ":
        yield None
        return
    item = strip_bold(item[ticked.end() :] if ticked and ticked[1] != "-" else item)
    stamp = _TIME.match(item)
    if stamp and _clock(stamp) is not None and stamp[0].rstrip() != stamp[0]:
        at, item = _clock(stamp), item[stamp.end() :]
    if _is_empty(item):
        if item:
            yield None
        return
    category = next((_CATEGORIES[word] for word in words(heading) if word in _CATEGORIES), "fact")
    if ticked and not choices:
        category = "commitment" if ticked[1] not in _OVER else "fact" if category == "commitment" else category
    short = 1 if tells_kind(heading) else _SHORT
    terse = (len(words(item)) <= short and ":" not in item) or (ticked and choices)
    if heading and terse and not is_general(heading):
        item = f"{heading}: {item}"
    yield MarkdownFact(item, category, at, day, heading)


def _is_empty(said: str) -> bool:
    """Return whether this is a form's field without an answer, or a hint in italics."""
    if not any(char.isalnum() for char in said) and said.isascii():
        return True
    label = _LABEL.fullmatch(said)
    value = (label[2] or "").strip() if label else said
    return not value or _UNFILLED.fullmatch(value) is not None or _ITALIC_LINE.fullmatch(said) is not None


def is_general(heading: str) -> bool:
    """Return whether a heading only says that there are notes below it."""
    said = words(heading)
    return not said or all(word in _GENERAL or word.isdigit() or _DATE.fullmatch(word) for word in said)


def tells_kind(heading: str) -> bool:
    """Return whether a heading only tells the kind of what is below it, such as "Decisions"; "Dislikes" says more."""
    said = words(heading)
    return bool(said) and all(_CATEGORIES.get(word) in _KINDS or word in _GENERAL for word in said)


def strip_bold(text: str) -> str:
    """Return a text without the marks of bold words."""
    return _BOLD.sub(lambda found: found[1] or found[2], text).strip()


def _clock(found: re.Match[str]) -> time | None:
    hour, minute, half = int(found[1]), int(found[2]), fold(found[3] or "")[:1]
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return time(hour, minute) if hour < 24 and minute < 60 else None


# ── cutting a file up ────────────────────────────────────────────────────────────────────────────────────────────


def _blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    """Split into headings; list items with what belongs to them; tables; paragraphs with a code block after them."""
    block: list[str] = []
    following = _following(lines)
    at = 0
    while at < len(lines):
        line = lines[at]
        if _FENCE.match(line):
            end = _fence_end(lines, at)
            block += lines[at:end]
            at = end
            continue
        starts = line[:1] not in " \t" and (_BULLET.match(line) or _HEADING.fullmatch(line))
        if starts or not line.strip() or _RULE.fullmatch(line.strip()):
            if block and not (line.strip() == "" and _goes_on(following[at], block)):
                yield block
                block = []
            if _HEADING.fullmatch(line):
                yield [line]
            elif starts:
                block = [line]
        else:
            block.append(line)
        at += 1
    if block:
        yield block


def _following(lines: Sequence[str]) -> list[str]:
    """Find for each line the first one from there on that is not blank; "" when there is none."""
    found: list[str] = []
    following = ""
    for line in reversed(lines):
        following = line if line.strip() else following
        found.append(following)
    return found[::-1]


def _goes_on(following: str, block: Sequence[str]) -> bool:
    """Return whether what comes after a blank line belongs to the list item or the paragraph above it."""
    return bool(_FENCE.match(following)) or (following[:1] in (" ", "\t") and bool(_BULLET.match(block[0])))


def _fence_end(lines: Sequence[str], start: int) -> int:
    mark = _FENCE.match(lines[start])
    assert mark is not None
    for at in range(start + 1, len(lines)):
        if lines[at].startswith(mark[1]) and not lines[at].strip(mark[1][0]).strip():
            return at + 1
    return start + 1  # never closed: just a line


def _items(block: Sequence[str]) -> Iterator[str]:
    if all(_ROW.fullmatch(line.strip()) for line in block) and len(block) > 1:
        yield from _rows(block)
        return
    bullet = _BULLET.match(block[0])
    if bullet is None:
        yield "\n".join(line.rstrip() for line in block).strip()
        return
    first = block[0][bullet.end() :].rstrip()
    rest = [line for line in block[1:] if line.strip()]
    label = strip_bold(first)
    if label.endswith(":") and rest and all(line[:1] in " \t" for line in rest):
        children = list(_children(rest))
        if children:
            yield from (f"{label} {child}" for child in children)
            return
    yield "\n".join([first, *(line.rstrip() for line in _outdent(rest))])


def _children(lines: Sequence[str]) -> Iterator[str]:
    """Return the items of a list below a label, each with what stands below it; nothing when it is no list."""
    plain = _outdent(lines)
    if not _BULLET.match(plain[0]):
        return
    child: list[str] = []
    for line in plain:
        bullet = _BULLET.match(line)
        if bullet and child:
            yield "\n".join(child)
            child = []
        child.append(strip_bold(line[bullet.end() :]) if bullet else line)
    yield "\n".join(child)


def _outdent(lines: Sequence[str]) -> list[str]:
    wide = [line.expandtabs(4) for line in lines]
    least = min((len(line) - len(line.lstrip()) for line in wide), default=0)
    return [line[least:].rstrip() for line in wide]


def _rows(block: Sequence[str]) -> Iterator[str]:
    """Yield each row of a table under its heads; a table without a rule has none."""
    cells = [[strip_bold(cell) for cell in line.strip().strip("|").split("|")] for line in block]
    ruled = _TABLE_RULE.fullmatch(block[1].strip()) is not None
    heads = cells[0] if ruled else []
    for row in cells[2:] if ruled else cells:
        named = [
            f"{heads[at]}: {cell}" if at < len(heads) and heads[at] else cell for at, cell in enumerate(row) if cell
        ]
        if named:
            yield "; ".join(named)
