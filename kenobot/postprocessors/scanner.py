"""Scan a reply for tags: the elements that act, and the clean text for the person.

Pairs: a closer belongs to the last open opener of the same written name. So `<m>a <m>b</m> c</m>` nests, and in
`<m>a <m>b</m>` the first opener is unclosed. Names are independent: `<m>a<c>b</m>d</c>` is two elements that overlap.
An empty tag, like `<m/>`, is one element, however often it is written.

Ownership: text belongs to the innermost element around it, never to two. An element within one of the same name is
none: its markup is dropped, its text belongs to where it stands.

Clean text: everything outside elements. Unclosed openers, stray closers and a tag cut by the end of the reply are
dropped; the text after an unclosed opener stays, also within an element of another name, up to that element's end.
`<user>` alone is a placeholder and stays. Code, block quotes and look-alikes (full-width brackets, HTML entities) are
text. Markup that comes about by removing other markup gets `‹` for its `<`, so that scanning a clean text changes
nothing.

Cost: linear in the text. Tags of one spelling in an unbroken row, like `<m><m><m>`, are handled as one. A reply with
more than some ten thousand pairs or five thousand spans of code is a flood: nothing in it acts, and every `<` is `‹`.
"""

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Literal, NamedTuple

from kenobot.core import lazy
from kenobot.ports.frozen import dataclass
from kenobot.ports.postprocessor import Element
from kenobot.postprocessors.code_ranges import Range, code_ranges, find_fenced_ranges, find_quoted_ranges

# People and models write `<user>@host`; a tag of this name acts only when it is closed.
_PLACEHOLDERS = frozenset({"user"})
_DEFUSED = "‹"
_SIGN = lazy.regex(r"[^\n]")
_FLOOD = 21_000
_THREE_BREAKS = lazy.regex(r"(?:\r\n?+|\n)(?:\r\n?+|\n)(?:\r\n?+|\n)[\r\n]*+")
_CUT = lazy.regex(
    r"<(/?)([a-z][a-z0-9-]{0,63})(\s{0,8}/|\s{1,8}[\w-]{0,32}(?:=[^\s`>]{0,64})?)?", re.ASCII | re.IGNORECASE
)
_MARK = lazy.regex(r"<([ \t]*)(/?)([ \t]*)([^\s/>]+)([^>]*)>")
_BEGUN = lazy.regex(r"([ \t]*+/?[ \t]*+)((?ai:[a-z][a-z0-9-]*+)|)((?:[\s/][^<>]*+)?)")
_LONGEST_CUT = 180
_SHORTEST_CUT = 4
_ROUNDS = 20

IsQuoted = Callable[[str, Sequence[str]], bool]
"""Tells from an element's canonical name and the pieces of its content whether it is a quotation."""


@dataclass(frozen=True, slots=True)
class ScanResult:
    """The clean text, and the elements in the order of their openers; the content of ignored ones is in the text."""

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
    """A split text: the first of `texts`, the first of `rows`, the second of `texts` and so on.

    tags: of each row; None for a row that is text: code, quotes, or unpaired placeholders. pairs: the index of a row of
    openers to that of the row with its last closers. unclosed: unpaired tags of each row. stays: what the person sees
    of a row.
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
    """Split `text` into its elements and the clean text, which is trimmed, with two line breaks in a row at most.

    names: every accepted name and alias, in lower case, to the canonical name; a key that ends in `/` has no content.
    is_quoted: called once for each element, in order.
    """
    return _scanner(tuple(sorted(names.items()))).scan(text, is_quoted)


def whole_length(text: str, names: Mapping[str, str]) -> int:
    """Measure how much of a text that was cut off stands before the element or the tag that the cut went through."""
    return _scanner(tuple(sorted(names.items()))).whole_length(text)


def measure_settled(text: str, names: Mapping[str, str]) -> int:
    """Measure how much of a text that goes on stands before the first tag of which it depends how it is read.

    That is one that is not complete, an opener without its closer, and any behind the first sign of code, because that
    may become code once the text goes on.
    """
    return _scanner(tuple(sorted(names.items()))).measure_settled(text)


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
            return ScanResult(self._blunt_cut_tag(text), ())
        drafts, texts, owners = _distribute(parts)
        if echoed is not None:
            for draft in drafts:
                draft.inert = echoed(draft.tag.name, draft.pieces)
        visible = "".join([text for text, owner in zip(texts, owners, strict=True) if owner is None or owner.inert])
        return ScanResult(
            clean=self._defuse_tags(_tidy(visible)),
            elements=tuple(self._element(draft) for draft in drafts if not draft.inert),
            ignored=tuple(self._element(draft) for draft in drafts if draft.inert),
        )

    def whole_length(self, text: str) -> int:
        end = len(text)
        # What is dropped may have held the end of code, in which a tag was none. Each round is linear.
        for _ in range(_ROUNDS):
            before, end = end, self._first_open(text[: self._find_begun_tag(text, end)])
            if end == before:
                break
        return end

    def measure_settled(self, text: str) -> int:
        end = self._find_begun_tag(text, len(text))
        parts = self._apart(text[:end], at_most=_FLOOD)
        if parts is None:
            return 0
        code = min((at for sign in ("`", "~~~") if (at := text.find(sign)) >= 0), default=end)
        places: list[int] = []
        at, first = 0, -1
        for index, (row, tag) in enumerate(zip(parts.rows, parts.tags, strict=True)):
            at += len(parts.texts[index])
            places.append(at)
            at += len(row)
            is_placeholder = index in parts.stays and not parts.unclosed[index]
            is_open = tag is not None and tag.kind == "opener" and parts.unclosed[index] > 0
            if is_placeholder or is_open or code < at:
                first = index
                break
        for index in range(first, -1, -1):  # an element around it is not complete either
            if parts.pairs.get(index, -1) >= first:
                first = index
        return places[first] if first >= 0 else end

    def _find_begun_tag(self, text: str, end: int) -> int:
        """Find the first of the tags that may have begun at the end of `text[:end]`; where none has, `end`."""
        while (start := text.rfind("<", 0, end)) >= 0 and self._may_begin(text[start + 1 : end]):
            end = start
        return end

    def _first_open(self, text: str) -> int:
        """Find the first opener that nothing closes, not even the end of an element around it; else the end."""
        parts = self._apart(text, at_most=_FLOOD)
        if parts is None:
            return len(text)
        at, closed = 0, -1
        for index, (row, tag) in enumerate(zip(parts.rows, parts.tags, strict=True)):
            at += len(parts.texts[index])
            if tag is not None and tag.kind == "opener":
                if parts.unclosed[index] and index > closed:
                    return at
                closed = max(closed, parts.pairs.get(index, -1))
            at += len(row)
        return len(text)

    def _may_begin(self, rest: str) -> bool:
        """Return whether `rest`, up to the end of a cut text, may follow the bracket of a tag."""
        match = _BEGUN.fullmatch(rest)
        if match is None:
            return False
        before, word, more = match[1], match[2].lower(), match[3]
        if not more:
            return any(name.startswith(word) for name in self._names)
        # As in `_read`: after a blank there are no attributes.
        return word in self._names and not (before.strip("/") and more.strip().strip("/"))

    def _apart(self, text: str, at_most: int) -> _Parts | None:
        """Split `text` into its parts; None for a flood."""
        pieces = self._row.split(text, at_most + 1)
        texts, rows, marks = pieces[::4], pieces[1::4], pieces[2::4]
        spellings = set(marks)
        # Two for each backtick, because code is searched in the reply and again in the clean text.
        if marks and len(marks) + len(spellings) + 2 * (text.count("`") + text.count("~")) > at_most:
            return None
        known = {mark: self._read(mark) for mark in spellings}
        tags = [known[mark] for mark in marks]
        if tags:
            _spare(tags, texts, rows, code_ranges(text))
            if any(">" in text for text in texts):
                _spare(tags, texts, rows, find_quoted_ranges(_without_markup(texts, rows)))
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
        content = self._defuse_tags("".join(pieces)) if len(pieces) > 1 else pieces[0] if pieces else ""
        return Element(draft.tag.name, content, draft.tag.attributes)

    def _defuse_tags(self, text: str) -> str:
        """Replace the bracket of every tag, whole or cut, that is not code or a placeholder."""
        parts = self._apart(text, at_most=4 * len(text))
        assert parts is not None, "nothing is a flood of what it has"
        rows = [row.replace("<", _DEFUSED) for row in parts.rows]
        for index, stays in parts.stays.items():
            rest = rows[index][len(stays) :]
            tag = parts.tags[index]
            rows[index] = rest + stays if tag is not None and tag.kind == "closer" else stays + rest
        pieces = [""] * (2 * len(rows) + 1)
        pieces[::2], pieces[1::2] = parts.texts, rows
        return self._blunt_cut_tag("".join(pieces))

    def _blunt_cut_tag(self, text: str) -> str:
        cut = self._cut_tag(text)
        return text if cut is None else text[:cut] + _DEFUSED + text[cut + 1 :]

    def _cut_tag(self, text: str) -> int | None:
        """Find the start of a cut tag at the end of `text`."""
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
    """Compile the pattern of a row: a tag and the same tags that follow it without a break.

    Its groups: the row, its first tag, and the rest of that tag after a backtick or a tilde. A tag with one of those
    is a row of its own, because code may begin or end in it.
    """
    if not names:
        return lazy.regex("(?!)")
    # The first letters sort out nearly every bracket. Attributes stop at the next bracket and nothing backtracks. A
    # defused bracket stops them too: otherwise defusing one tag could complete the one before it.
    letters = ("".join(sorted(set(column))) for column in itertools.islice(zip(*names, strict=False), 3))
    begins = rf"(?=[ \t/]*+(?ai:{''.join(f'[{re.escape(each)}]' for each in letters)}))"
    name = rf"[ \t]*+/?[ \t]*+(?ai:{'|'.join(map(re.escape, names))})"
    other = f"[^<>{_DEFUSED}"
    return lazy.regex(rf"((<{begins}{name}(?:[\s/]{other}`~]*+([`~]{other}]*+)?+)?+>)(?(3)|\2*+))")


def _without_markup(texts: Sequence[str], rows: Sequence[str]) -> str:
    """Join the parts to a text of the same length, in which no bracket of a tag opens a line."""
    return "".join(text + _SIGN.sub("\0", row) for text, row in zip(texts, (*rows, ""), strict=True))


def _spare(tags: list[_Tag | None], texts: list[str], rows: list[str], ranges: Sequence[Range]) -> None:
    """Turn the rows that begin in one of `ranges`, which are in order, into text."""
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
    """Pair the rows. unclosed: the number of tags in each row, reduced to those without a pair."""
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
    """Collect the elements, the pieces of text, and the element that each piece belongs to; None for clean text."""
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
    for start, end in find_fenced_ranges(text):
        tidied += _THREE_BREAKS.sub("\n\n", text[at:start]), text[start:end]
        at = end
    tidied.append(_THREE_BREAKS.sub("\n\n", text[at:]))
    return "".join(tidied).strip()
