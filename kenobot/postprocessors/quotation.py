"""Detect tags that quote other texts, such as web pages and forwarded messages, and must not act.

Once such a text holds a known tag in any disguise, every element whose content also stands in it counts as quoted.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from functools import cached_property

from kenobot.core import lazy
from kenobot.core.lookalikes import INVISIBLE, count_dropped, fold, markup_pattern, may_hold_markup, readings

_VISIBLE = lazy.regex(rf"[^\s{INVISIBLE}]")
_AMPERSANDS = "&＆﹠"
_MOST_AMPERSANDS = 10_000
_MOST_DROPPED = 100_000
_EDGES = " .,:;!¡?¿…'\"`´*_~()[]{}«»“”‘’-–—"
# Python's search in fewer than 30,000 characters can take as many steps as the product of both lengths.
_SHORTEST_SEARCHED = 30_000
_EFFORT = 20_000_000
_LEAST_EFFORT = 100_000
_SEPARATOR = "\0"


def is_blank(text: str) -> bool:
    """Return whether a person sees nothing of `text`."""
    return _VISIBLE.search(text) is None


class QuotationCheck:
    """Compares elements with the untrusted texts of a turn.

    Where that would take too long, with hundreds of elements, ten thousand HTML entities or a hundred thousand
    invisible characters, everything counts as quoted.
    """

    def __init__(self, names: Mapping[str, str], untrusted: Sequence[str]) -> None:
        self._names = {name.removesuffix("/"): canonical for name, canonical in names.items()}
        self._untrusted = untrusted
        self._effort = 0

    def __call__(self, name: str, pieces: Sequence[str]) -> bool:
        """Return whether an element, by its name and the pieces of its content, is a quotation."""
        if self._is_flood:
            return True
        if not self._mentioned:
            return False
        self._effort += len(pieces) * max(len(self._haystack), _LEAST_EFFORT)
        self._effort += _ampersands(pieces) * (_EFFORT // _MOST_AMPERSANDS)
        if self._effort > _EFFORT:
            return True
        sought = [text for piece in pieces if (text := _fold_comparable(piece).strip(_EDGES))]
        return all(text in self._haystack for text in sought) if sought else name in self._mentioned

    @cached_property
    def _is_flood(self) -> bool:
        length = sum(map(len, self._untrusted))
        return (length > _MOST_AMPERSANDS and _ampersands(self._untrusted) > _MOST_AMPERSANDS) or (
            length > _MOST_DROPPED and sum(map(count_dropped, self._untrusted)) > _MOST_DROPPED
        )

    @cached_property
    def _haystack(self) -> str:
        folded = (_fold_comparable(reading) for text in self._untrusted for reading in readings(text))
        return _SEPARATOR.join(folded).ljust(_SHORTEST_SEARCHED, _SEPARATOR)

    @cached_property
    def _mentioned(self) -> frozenset[str]:
        if not any(map(may_hold_markup, self._untrusted)):  # saves folding all that a prompt shows of memory
            return frozenset()
        if "<" not in self._haystack:
            return frozenset()
        found = {match.lastindex for match in markup_pattern(self._names).finditer(self._haystack)}
        return frozenset(name for number, name in enumerate(self._names.values(), 1) if number in found)


def _fold_comparable(text: str) -> str:
    """Fold `text`; Korean letters written in parts become syllables again."""
    return unicodedata.normalize("NFC", fold(text))


def _ampersands(texts: Sequence[str]) -> int:
    return sum(text.count(sign) for text in texts for sign in _AMPERSANDS)
