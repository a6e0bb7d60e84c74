"""Finds the tags in a reply: what stands in them, and what is left for the person to read.

How openers and closers find each other
    A closer belongs to the last opener of the same written name that is still open. So `<m>a <m>b</m> c</m>` nests,
    and in `<m>a <m>b</m>` the first opener is the unclosed one. Names do not wait for each other: `<m>a<c>b</m>d</c>`
    is two elements that overlap.

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
again finds nothing and changes nothing. Time is linear in the text, whatever the text.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from kenobot.ports import Element
from kenobot.postprocessors.code import Range, code, fences

# People and models write `<user>@host`; a tag of this name acts only when it is closed.
_PLACEHOLDERS = frozenset({"user"})
_DEFUSED = "‹"
_THREE_BREAKS = re.compile(r"(?>\r\n|\r|\n){3,}+")
_CUT = re.compile(
    r"<(/?)([a-z][a-z0-9-]{0,63})(\s{0,8}/|\s{1,8}[\w-]{0,32}(?:=[^\s`]{0,64})?)?", re.ASCII | re.IGNORECASE
)
_LONGEST_CUT = 180
_SHORTEST_CUT = 4

Echoed = Callable[[str, Sequence[str]], bool]
"""Whether an element is an echo: its canonical name, and the unbroken pieces of text that are its content."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What a reply holds: the text for the person, the elements that act, and those that only echo something.

    Both are in the order of their openers; the content of an inert element is part of the clean text.
    """

    clean: str
    elements: tuple[Element, ...]
    inert: tuple[Element, ...] = ()


_Kind = Literal["opener", "closer", "empty"]


@dataclass(frozen=True, slots=True)
class _Tag:
    kind: _Kind
    name: str
    written: str
    attributes: str


@dataclass(slots=True, eq=False)
class _Draft:
    tag: _Tag
    pieces: list[str] = field(default_factory=list)
    inert: bool = False


_Tags = list[_Tag | None]
_Pairs = dict[int, int]
_Flow = list[tuple[_Draft | None, str]]


def scan(text: str, names: Mapping[str, str], echoed: Echoed | None = None) -> Scan:
    """Take `text` apart.

    names: every accepted name and alias, in lower case, to the canonical name; a key that ends in `/` has no content.
    echoed: says which elements must not act; asked once for each, in order.
    The clean text is trimmed; if tags were removed, three and more line breaks outside fenced code become two.
    """
    return _scanner(tuple(sorted(names.items()))).scan(text, echoed)


@lru_cache(maxsize=16)
def _scanner(names: tuple[tuple[str, str], ...]) -> "_Scanner":
    return _Scanner(names)


class _Scanner:
    def __init__(self, names: Sequence[tuple[str, str]]) -> None:
        self._names = {name.removesuffix("/"): canonical.removesuffix("/") for name, canonical in names}
        self._void = {name.removesuffix("/") for name, _ in names if name.endswith("/")}
        name = "|".join(re.escape(name) for name in sorted(self._names, key=len, reverse=True)) or "(?!)"
        # Attributes stop at the next bracket and nothing backtracks, so each character is looked at a bounded number
        # of times. A defused bracket stops them too: otherwise defusing one tag could complete the one before it.
        # After a blank there are no attributes: `heap < memory and swap > 0` is a comparison.
        self._tag = re.compile(
            rf"(<(?!<)(?:/?(?ai:{name})(?:[\s/][^<>{_DEFUSED}]*+)?|[ \t]*+/?[ \t]*+(?ai:{name})[\s/]*+)>)"
        )

    def scan(self, text: str, echoed: Echoed | None) -> Scan:
        text = text.strip()
        text = text[: self._cut_tag(text)].rstrip()
        pieces = self._tag.split(text)
        tags, pairs = self._tags(text, pieces)
        if not any(tags):
            return Scan(self._blunted(text), ())
        drafts, flow = _distribute(pieces, tags, pairs)
        if echoed is not None:
            for draft in drafts:
                draft.inert = echoed(draft.tag.name, draft.pieces)
        visible = "".join(piece for owner, piece in flow if owner is None or owner.inert)
        return Scan(
            clean=self._defused(_tidy(visible)),
            elements=tuple(self._element(draft) for draft in drafts if not draft.inert),
            inert=tuple(self._element(draft) for draft in drafts if draft.inert),
        )

    def _tags(self, text: str, pieces: list[str]) -> tuple[_Tags, _Pairs]:
        """The tags at the odd places of `pieces`, and which belong together.

        None stands for what is only text: in code, or a placeholder without its other half.
        """
        written = pieces[1::2]
        known = {markup: self._read(markup) for markup in set(written)}
        tags: _Tags = [known[markup] for markup in written]
        if tags:
            _spare_code(tags, pieces, code(text))
        pairs = _pair(tags)
        if any(tag.written in _PLACEHOLDERS for tag in known.values()):
            paired = pairs.keys() | pairs.values()
            for index, tag in enumerate(tags):
                if tag and tag.written in _PLACEHOLDERS and tag.kind != "empty" and index not in paired:
                    tags[index] = None
        return tags, pairs

    def _read(self, markup: str) -> _Tag:
        body = markup[1:-1].lstrip()
        closer = body.startswith("/")
        body = body.lstrip("/ \t")
        written = re.split(r"[\s/]", body, maxsplit=1)[0].lower()
        attributes = body[len(written) :].strip()
        empty = attributes.endswith("/") or written in self._void
        kind: _Kind = "closer" if closer else "empty" if empty else "opener"
        return _Tag(kind, self._names[written], written, attributes.removesuffix("/").rstrip())

    def _element(self, draft: _Draft) -> Element:
        content = "".join(draft.pieces)
        if len(draft.pieces) > 1:
            content = self._defused(content)
        return Element(draft.tag.name, content, draft.tag.attributes)

    def _defused(self, text: str) -> str:
        """`text` with the bracket replaced of every tag, whole or cut, that is not code or a placeholder."""
        pieces = self._tag.split(text)
        tags, _ = self._tags(text, pieces)
        for index, tag in enumerate(tags):
            if tag is not None:
                pieces[2 * index + 1] = _DEFUSED + pieces[2 * index + 1][1:]
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


def _spare_code(tags: _Tags, pieces: list[str], ranges: Sequence[Range]) -> None:
    """Make plain text of the tags that begin in one of `ranges`, which are in order."""
    if not ranges:
        return
    at = current = 0
    for index in range(len(tags)):
        at += len(pieces[2 * index])
        while current < len(ranges) and ranges[current][1] <= at:
            current += 1
        if current == len(ranges):
            return
        if ranges[current][0] <= at:
            tags[index] = None
        at += len(pieces[2 * index + 1])


def _pair(tags: _Tags) -> _Pairs:
    """The places of the openers that are closed, each with the place of its closer."""
    pairs: _Pairs = {}
    waiting: defaultdict[str, list[int]] = defaultdict(list)
    for index, tag in enumerate(tags):
        if tag is None or tag.kind == "empty":
            continue
        openers = waiting[tag.written]
        if tag.kind == "opener":
            openers.append(index)
        elif openers:
            pairs[openers.pop()] = index
    return pairs


def _distribute(pieces: list[str], tags: _Tags, pairs: _Pairs) -> tuple[list[_Draft], _Flow]:
    """The elements in order, and every piece of text in order with the element it belongs to, None for the person."""
    drafts: list[_Draft] = []
    flow: _Flow = [(None, pieces[0])]
    regions: list[tuple[_Draft | None, int]] = []
    ends: dict[str, int] = {}
    for index, tag in enumerate(tags):
        while regions and regions[-1][1] <= index:
            regions.pop()
        text = pieces[2 * index + 2]
        if tag is None:
            text = pieces[2 * index + 1] + text
        elif tag.kind != "closer" and ends.get(tag.name, -1) <= index:
            if tag.kind == "empty":
                drafts.append(_Draft(tag))
            elif index in pairs:
                drafts.append(_Draft(tag))
                regions.append((drafts[-1], pairs[index]))
                ends[tag.name] = pairs[index]
            elif regions:
                regions.append((None, regions[-1][1]))
        if text:
            owner = regions[-1][0] if regions else None
            flow.append((owner, text))
            if owner is not None:
                owner.pieces.append(text)
    return drafts, flow


def _tidy(text: str) -> str:
    if not _THREE_BREAKS.search(text):
        return text.strip()
    tidied: list[str] = []
    at = 0
    for start, end in fences(text):
        tidied += _THREE_BREAKS.sub("\n\n", text[at:start]), text[start:end]
        at = end
    tidied.append(_THREE_BREAKS.sub("\n\n", text[at:]))
    return "".join(tidied).strip()
