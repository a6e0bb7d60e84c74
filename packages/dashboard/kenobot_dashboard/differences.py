"""Tell two versions of a text apart word by word, with what is the same between them cut short."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

_TOKEN: Final = re.compile(r"\n|[^\s]+[^\S\n]*")
_AROUND: Final = 8  # words of what is the same that are shown beside a change
_MOST: Final = 1500  # words that are compared one by one


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of both versions, or of one of them."""

    kind: Literal["same", "removed", "added"]
    text: str


def compare_texts(before: str, after: str) -> tuple[Piece, ...]:
    """Tell two versions apart; none where they are the same."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    if old == new:
        return ()
    if max(len(old), len(new)) > _MOST:
        return Piece("removed", before), Piece("added", after)
    return tuple(_list_pieces(old, new))


def _list_pieces(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    bare_old, bare_new = ([token.strip(" \t") for token in each] for each in (old, new))
    steps = SequenceMatcher(None, bare_old, bare_new, autojunk=False).get_opcodes()
    for number, (kind, begin, end, first, last) in enumerate(steps):
        if kind == "equal":
            yield Piece("same", _cut(new[first:last], is_first=number == 0, is_last=number == len(steps) - 1))
            continue
        yield from _mark("removed", "".join(old[begin:end]))
        yield from _mark("added", "".join(new[first:last]))


def _mark(kind: Literal["removed", "added"], text: str) -> Iterator[Piece]:
    """Yield a stretch with the line breaks at its ends outside of the mark."""
    body = text.strip("\n")
    if not body:
        return
    begin = len(text) - len(text.lstrip("\n"))
    if begin:
        yield Piece("same", text[:begin])
    yield Piece(kind, body)
    if text.endswith("\n"):
        yield Piece("same", "\n")


def _cut(words: Sequence[str], *, is_first: bool, is_last: bool) -> str:
    """Join words, without those far from a change."""
    head, tail = 0 if is_first else _AROUND, 0 if is_last else _AROUND
    if len(words) <= head + tail + 1:
        return "".join(words)
    return f"{''.join(words[:head])} … {''.join(words[len(words) - tail :])}"
