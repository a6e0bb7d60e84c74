"""Tokenize for multilingual-e5: cut a text into the pieces whose scores add up to most.

A unigram model by Viterbi's algorithm (Kudo 2018, "Subword regularization"). Pieces are found by sorted 64-bit hashes,
which take far less memory than a dict.
"""

import re

import numpy as np
from numpy.typing import NDArray

from kenobot.providers.embedders.e5_file import Vocabulary

_GAP = "\N{LOWER ONE EIGHTH BLOCK}"  # stands for a space, and before the first word
_SPACES = re.compile("  +")
_BASIS, _PRIME = 0xCBF29CE484222325, 0x100000001B3  # of FNV-1a with 64 bits, here over whole characters
_LESS_LIKELY = np.float32(10)  # an unknown character than the rarest piece
_FAR_BELOW = np.float32(-1e30)


class UnigramTokenizer:
    """Raises ValueError for another form of vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._replaced = vocabulary.replacements
        self._unknown = vocabulary.unknown_id
        self._unknown_score = vocabulary.scores.min() - _LESS_LIKELY
        characters = _characters(vocabulary.text.decode())
        lead = (np.frombuffer(vocabulary.text, np.uint8) & 0xC0) != 0x80  # a character's first byte
        lengths = np.add.reduceat(lead, vocabulary.offsets[:-1], dtype=np.int32)
        begins = np.cumsum(lengths) - lengths
        self._longest = int(lengths.max())
        hashes = np.full(len(lengths), _BASIS, np.uint64)
        for at in range(self._longest):
            longer = np.flatnonzero(lengths > at)
            hashes[longer] = _with(hashes[longer], characters[begins[longer] + at])
        order = np.argsort(hashes)
        self._hashes = hashes[order]
        if (self._hashes[1:] == self._hashes[:-1]).any():
            raise ValueError("a piece that is there twice")
        self._numbers = order.astype(np.int32)
        self._scores = vocabulary.scores[order]

    def encode(self, text: str) -> list[int]:
        """Cut a text into the numbers of its pieces, without marks of its beginning and end."""
        text = _SPACES.sub(" ", text.translate(self._replaced))
        return self._best((text if text.startswith(" ") else f" {text}").replace(" ", _GAP))

    def _best(self, text: str) -> list[int]:
        """Choose the best pieces, in 32-bit steps from the left, the first of equals, as the model was trained."""
        starts, ends, numbers, scores = self._found(_characters(text))
        best = [_FAR_BELOW] * (len(text) + 1)
        best[0] = np.float32(0)
        came = [(0, self._unknown)] * (len(text) + 1)
        at = 0
        for start in range(len(text)):
            so_far = best[start]
            while at < len(starts) and starts[at] == start:
                end, score = ends[at], so_far + scores[at]
                if score > best[end]:
                    best[end], came[end] = score, (start, numbers[at])
                at += 1
            score = so_far + self._unknown_score
            if score > best[start + 1]:
                best[start + 1], came[start + 1] = score, (start, self._unknown)
        found: list[int] = []
        end = len(text)
        while end:
            end, number = came[end]
            found.append(number)
        return found[::-1]

    def _found(self, text: "NDArray[np.uint32]") -> tuple[list[int], list[int], list[int], list[np.float32]]:
        """Find all pieces in a text: start, end, number and score of each, by start, shorter ones first."""
        longest = min(self._longest, len(text))
        hashes = np.zeros((len(text), longest), np.uint64)
        grown = np.full(len(text), _BASIS, np.uint64)
        for at in range(longest):
            grown = _with(grown[: len(text) - at], text[at:])
            hashes[: len(text) - at, at] = grown
        places = np.searchsorted(self._hashes, hashes)
        places[places == len(self._hashes)] = 0
        known = (self._hashes[places] == hashes) & (self._numbers[places] != self._unknown)
        starts, more = np.nonzero(known)
        places = places[known]
        return starts.tolist(), (starts + more + 1).tolist(), self._numbers[places].tolist(), list(self._scores[places])


def _with(hashes: "NDArray[np.uint64]", characters: "NDArray[np.uint32]") -> "NDArray[np.uint64]":
    """Extend the hashes by a character each."""
    return (hashes ^ characters) * np.uint64(_PRIME)


def _characters(text: str) -> "NDArray[np.uint32]":
    return np.frombuffer(text.encode("utf-32-le"), "<u4")
