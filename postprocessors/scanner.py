"""Finds the tags in a reply: what stands in them, and what is left for the person to read.

How openers and closers find each other
    A closer belongs to the last opener of the same written name that is still open. So `<m>a <m>b</m> c</m>` nests,
    and in `<m>a <m>b</m>` the first opener is the unclosed one. Names do not wait for each other: `<m>a<c>b</m>d</c>`
    is two elements that overlap. An empty tag, like `<m/>`, is one element, however often it is written.

Whose a piece of text is
    It belongs to the element around it that was opened last. An element within one of the same name is not one of its
    own: its markup goes, its text belongs to where it stands. Text is therefore never in two elements, and what stands
    in a narrow tag is never part of a wider one around it.

What stays for the person
    Everything outside elements. The markup of an unclosed opener, a stray closer and a tag that the end of the reply
    cut off is dropped; what follows an unclosed opener stays readable, also within an element of another name, up to
    that element's end: nobody said where it was to be kept. `<user>` alone means a placeholder more often than a tag
    and stays as it is. Code is text. Look-alikes (full-width brackets, HTML entities) are text.

The clean text never holds markup that came about by removing other markup: its `<` becomes `‹`. Scanning a clean text
again finds nothing and changes nothing.

What it costs
    Time is linear in the text, whatever the text. Tags of one spelling in an unbroken row, like `<m><m><m>`, are
    handled as one, so that depth costs nothing. A reply with tags that has more than some ten thousand pairs of them,
    or five thousand spans of code, is not an answer anybody wrote, but a flood: nothing in it acts and all its words
    are shown, each `<` of it, in code too, as `‹`.
"""

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from kenobot.ports.postprocessor import Element
from kenobot.postprocessors.code_ranges import Range, code_ranges, fenced_ranges

# People and models write `<user>@host`; a tag of this name acts only when it is closed.
_PLACEHOLDERS = frozenset({"user"})
_DEFUSED = "‹"
_FLOOD = 21_000
_THREE_BREAKS = re.compile(r"(?:\r\n?+|\n)(?:\r\n?+|\n)(?:\r\n?+|\n)[\r\n]*+")
_CUT = re.compile(
    r"<(/?)([a-z][a-z0-9-]{0,63})(\s{0,8}/|\s{1,8}[\w-]{0,32}(?:=[^\s`]{0,64})?)?", re.ASCII | re.IGNORECASE
)
_MARK = re.compile(r"<([ \t]*)(/?)([ \t]*)([^\s/>]+)([^>]*)>")
_LONGEST_CUT = 180
_SHORTEST_CUT = 4

IsQuoted = Callable[[str, Sequence[str]], bool]
"""Whether an element is an echo: its canonical name, and the unbroken pieces of text that are its content."""


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What a reply holds: the text for the person, the elements that act, and those that only echo something.

    Both are in the order of their openers; the content of an inert element is part of the clean text.
    """

    clean: str
    elements: tuple[Element, ...]
    ignored: tuple[Element, ...] = ()


_Kind = Literal["opener", "closer", "empty"]


class _Tag(NamedTuple):
    kind: _Kind
    name: str
    written: str
    attributes: str


@dataclass(slots=True)
class _Parts:
    """A text taken apart: the first of `texts`, the first of `rows`, the second of `texts` and so on.

    tags: what a row is made of; None for a row that is only text: in code, or placeholders without their other half.
    pairs: the places of the rows of openers, each with the place of the row whose closers are the last to close some.
    unclosed: how many of a row have no other half.
    stays: what of a row stays for the person, where that is anything.
    """

    texts: list[str]
    rows: list[str]
    tags: list[_Tag | None]
    pairs: dict[int, int]
    unclosed: list[int]
    stays: dict[int, str]


@dataclass(slots=True, eq=False)
class _Draft:
    tag: _Tag
    pieces: list[str] = field(default_factory=list)  # bounded: one reply; turn
    inert: bool = False


def scan_tags(text: str, names: Mapping[str, str], is_quoted: IsQuoted | None = None) -> ScanResult:
    """Take `text` apart.

    names: every accepted name and alias, in lower case, to the canonical name; a key that ends in `/` has no content.
    is_quoted: says which elements must not act; asked once for each, in order.
    The clean text is trimmed; if tags were removed, three and more line breaks outside fenced code become two.
    """
    return _scanner(tuple(sorted(names.items()))).scan(text, is_quoted)


@lru_cache(maxsize=16)
def _scanner(names: tuple[tuple[str, str], ...]) -> "_Scanner":
    return _Scanner(names)


class _Scanner:
    def __init__(self, names: Sequence[tuple[str, str]]) -> None:
        self._names = {name.removesuffix("/"): canonical.removesuffix("/") for name, canonical in names}
        self._void = {name.removesuffix("/") for name, _ in names if name.endswith("/")}
        self._row = _row(sorted(self._names, key=len, reverse=True))

    def scan(self, text: str, echoed: IsQuoted | None) -> ScanResult:
        text = text.strip()
        text = text[: self._cut_tag(text)].rstrip()
        parts = self._apart(text, at_most=_FLOOD)
        if parts is None:
            return ScanResult(text.replace("<", _DEFUSED), ())
        if not any(parts.tags):
            return ScanResult(self._blunted(text), ())
        drafts, texts, owners = _distribute(parts)
        if echoed is not None:
            for draft in drafts:
                draft.inert = echoed(draft.tag.name, draft.pieces)
        visible = "".join([text for text, owner in zip(texts, owners, strict=True) if owner is None or owner.inert])
        return ScanResult(
            clean=self._defused(_tidy(visible)),
            elements=tuple(self._element(draft) for draft in drafts if not draft.inert),
            ignored=tuple(self._element(draft) for draft in drafts if draft.inert),
        )

    def _apart(self, text: str, at_most: int) -> _Parts | None:
        """`text` in its parts; None for a flood."""
        pieces = self._row.split(text, at_most + 1)
        texts, rows, marks = pieces[::4], pieces[1::4], pieces[2::4]
        spellings = set(marks)
        # Two for each backtick, because code is looked for in the reply and again in what is left of it.
        if marks and len(marks) + len(spellings) + 2 * (text.count("`") + text.count("~")) > at_most:
            return None
        known = {mark: self._read(mark) for mark in spellings}
        tags = [known[mark] for mark in marks]
        if tags:
            _spare_code(tags, texts, rows, code_ranges(text))
        unclosed = [len(row) // len(mark) for row, mark in zip(rows, marks, strict=True)]
        pairs = _pair(tags, unclosed)
        stays = {index: row for index, row in enumerate(rows) if tags[index] is None}
        if any(tag and tag.written in _PLACEHOLDERS for tag in known.values()):
            for index, tag in enumerate(tags):
                if tag and tag.written in _PLACEHOLDERS and tag.kind != "empty" and unclosed[index]:
                    stays[index] = marks[index] * unclosed[index]
                    unclosed[index] = 0
                    tags[index] = tag if len(stays[index]) < len(rows[index]) else None
        return _Parts(texts, rows, tags, pairs, unclosed, stays)

    def _read(self, mark: str) -> _Tag | None:
        match = _MARK.fullmatch(mark)
        assert match is not None, "the pattern of a row finds nothing else"
        before, slash, between, written, attributes = match.groups()
        attributes = attributes.strip()
        empty = attributes.endswith("/")
        attributes = attributes.removesuffix("/").rstrip()
        # After a blank there are no attributes: `heap < memory and swap > 0` is a comparison.
        if (before or between) and attributes.replace("/", "").strip():
            return None
        written = written.lower()
        kind: _Kind = "closer" if slash else "empty" if empty or written in self._void else "opener"
        return _Tag(kind, self._names[written], written, attributes)

    def _element(self, draft: _Draft) -> Element:
        pieces = draft.pieces
        content = self._defused("".join(pieces)) if len(pieces) > 1 else pieces[0] if pieces else ""
        return Element(draft.tag.name, content, draft.tag.attributes)

    def _defused(self, text: str) -> str:
        """`text` with the bracket replaced of every tag, whole or cut, that is not code or a placeholder."""
        parts = self._apart(text, at_most=4 * len(text))
        assert parts is not None, "nothing is a flood of what it has"
        rows = [row.replace("<", _DEFUSED) for row in parts.rows]
        for index, stays in parts.stays.items():
            rest = rows[index][len(stays) :]
            tag = parts.tags[index]
            rows[index] = rest + stays if tag is not None and tag.kind == "closer" else stays + rest
        pieces = [""] * (2 * len(rows) + 1)
        pieces[::2], pieces[1::2] = parts.texts, rows
        return self._blunted("".join(pieces))

    def _blunted(self, text: str) -> str:
        cut = self._cut_tag(text)
        return text if cut is None else text[:cut] + _DEFUSED + text[cut + 1 :]

    def _cut_tag(self, text: str) -> int | None:
        """Where the beginning of a tag starts that `text` ends with; None when it ends with none."""
        start = text.rfind("<", max(0, len(text) - _LONGEST_CUT))
        match = _CUT.fullmatch(text, start) if start >= 0 else None
        if match is None:
            return None
        slash, word, attributes = match[1], match[2].lower(), match[3]
        if word in _PLACEHOLDERS:
            return None
        if attributes is not None:
            return start if word in self._names else None
        begun = len(slash + word) >= _SHORTEST_CUT and any(name.startswith(word) for name in self._names)
        return start if begun else None


def _row(names: Sequence[str]) -> re.Pattern[str]:
    """What finds a tag and all that follow it without a break and look the same.

    Its groups: the row, its first tag, and what of that tag comes after a backtick or a tilde. A tag with one of those
    is a row of its own, because code may begin or end in it.
    """
    if not names:
        return re.compile("(?!)")
    # Nearly every bracket is sorted out by the first letters after it. Attributes stop at the next bracket and nothing
    # backtracks, so each character is looked at a bounded number of times. A defused bracket stops them too: otherwise
    # defusing one tag could complete the one before it.
    letters = ("".join(sorted(set(column))) for column in itertools.islice(zip(*names, strict=False), 3))
    begins = rf"(?=[ \t/]*+(?ai:{''.join(f'[{re.escape(each)}]' for each in letters)}))"
    name = rf"[ \t]*+/?[ \t]*+(?ai:{'|'.join(map(re.escape, names))})"
    other = f"[^<>{_DEFUSED}"
    return re.compile(rf"((<{begins}{name}(?:[\s/]{other}`~]*+([`~]{other}]*+)?+)?+>)(?(3)|\2*+))")


def _spare_code(tags: list[_Tag | None], texts: list[str], rows: list[str], ranges: Sequence[Range]) -> None:
    """Make plain text of the rows that begin in one of `ranges`, which are in order."""
    if not ranges:
        return
    at = current = 0
    for index, row in enumerate(rows):
        at += len(texts[index])
        while current < len(ranges) and ranges[current][1] <= at:
            current += 1
        if current == len(ranges):
            return
        if ranges[current][0] <= at:
            tags[index] = None
        at += len(row)


def _pair(tags: Sequence[_Tag | None], unclosed: list[int]) -> dict[int, int]:
    """The pairs of rows; `unclosed` is how many tags each row has, and afterwards how many are left without a pair."""
    pairs: dict[int, int] = {}
    waiting: defaultdict[str, list[int]] = defaultdict(list)
    for index, tag in enumerate(tags):
        if tag is None or tag.kind == "empty":
            continue
        openers = waiting[tag.written]
        if tag.kind == "opener":
            openers.append(index)
            continue
        while openers and unclosed[index]:
            opener = openers[-1]
            pairs[opener] = index
            more = unclosed[opener] - unclosed[index]
            unclosed[opener], unclosed[index] = (more, 0) if more > 0 else (0, -more)
            if more <= 0:
                openers.pop()
    return pairs


def _distribute(parts: _Parts) -> tuple[list[_Draft], list[str], list[_Draft | None]]:
    """The elements in order; every piece of text in order, and the element it belongs to, None for the person."""
    drafts: list[_Draft] = []
    texts = [parts.texts[0]]
    owners: list[_Draft | None] = [None]
    regions: list[tuple[_Draft | None, int]] = []
    owner: _Draft | None = None
    ends: dict[str, int] = {}
    empty: set[_Tag] = set()
    for index, tag in enumerate(parts.tags):
        text = parts.texts[index + 1]
        while regions and regions[-1][1] <= index:
            regions.pop()
            owner = regions[-1][0] if regions else None
        if tag is None:
            text = parts.rows[index] + text
        elif index in parts.stays:
            # Of openers the first ones stay, before the element; of closers the last ones, behind it.
            texts.append(parts.stays[index])
            owners.append(owner)
        if tag is not None and tag.kind != "closer" and ends.get(tag.name, -1) <= index:
            end = parts.pairs.get(index)
            if regions and tag.kind == "opener" and parts.unclosed[index]:
                owner = None
                regions.append((owner, regions[-1][1]))
            if tag.kind == "empty" and tag not in empty:
                empty.add(tag)
                drafts.append(_Draft(tag))
            if end is not None:
                owner = _Draft(tag)
                drafts.append(owner)
                regions.append((owner, end))
                ends[tag.name] = end
        if text:
            texts.append(text)
            owners.append(owner)
    for text, owner in zip(texts, owners, strict=True):
        if owner is not None:
            owner.pieces.append(text)
    return drafts, texts, owners


def _tidy(text: str) -> str:
    if "\n\n\n" not in text and "\r" not in text:
        return text.strip()
    tidied: list[str] = []
    at = 0
    for start, end in fenced_ranges(text):
        tidied += _THREE_BREAKS.sub("\n\n", text[at:start]), text[start:end]
        at = end
    tidied.append(_THREE_BREAKS.sub("\n\n", text[at:]))
    return "".join(tidied).strip()
