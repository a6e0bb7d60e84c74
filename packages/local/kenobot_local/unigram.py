"""Cut a text into the pieces of a vocabulary whose scores add up to most.

A unigram model by Viterbi's algorithm (Kudo 2018, "Subword regularization"). Pieces are found by sorted 64-bit hashes,
which take far less memory than a dict.
"""

import numpy as np
from numpy.typing import NDArray

_BASIS, _PRIME = 0xCBF29CE484222325, 0x100000001B3  # of FNV-1a with 64 bits, here over whole characters
_LESS_LIKELY = 10  # an unknown character than the rarest piece
_FAR_BELOW = -1e30


class UnigramPieces:
    """Raise ValueError for another form of vocabulary.

    text: of all pieces, in UTF-8. offsets: of each piece, and of the end. unknown: the number of what is no piece.
    literal_unknown: whether the text of that number is a piece, too. single: scores are added in 32-bit steps, not in
    64-bit ones, as the model's own tokenizer does; it decides between equals.
    """

    def __init__(
        self,
        text: bytes,
        offsets: "NDArray[np.uint32]",
        scores: "NDArray[np.float32]",
        *,
        unknown: int,
        literal_unknown: bool,
        single: bool,
    ) -> None:
        characters = _characters(text.decode())
        lead = (np.frombuffer(text, np.uint8) & 0xC0) != 0x80  # a character's first byte
        lengths = np.add.reduceat(lead, offsets[:-1], dtype=np.int32)
        begins = np.cumsum(lengths) - lengths
        self._longest = int(lengths.max())
        hashes = np.full(len(lengths), _BASIS, np.uint64)
        for at in range(self._longest):
            longer = np.flatnonzero(lengths > at)
            hashes[longer] = _extend_hashes(hashes[longer], characters[begins[longer] + at])
        order = np.argsort(hashes)
        if not literal_unknown:
            order = order[order != unknown]
        self._hashes = hashes[order]
        if (self._hashes[1:] == self._hashes[:-1]).any():
            raise ValueError("a piece that is there twice")
        self._numbers = order.astype(np.int32)
        self._scores = scores[order]
        self._unknown = unknown
        self._single = single
        rarest = scores.min() - np.float32(_LESS_LIKELY) if single else float(scores.min()) - _LESS_LIKELY
        self._unknown_score: np.float32 | float = rarest

    def choose_pieces(self, text: str) -> list[int]:
        """Choose the best pieces of a text, from the left, the first of equals, as models are trained."""
        starts, ends, numbers, scores = self._find_pieces(_characters(text))
        best: list[np.float32 | float] = [_FAR_BELOW] * (len(text) + 1)
        best[0] = np.float32(0) if self._single else 0.0
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

    def _find_pieces(
        self, text: "NDArray[np.uint32]"
    ) -> tuple[list[int], list[int], list[int], list[np.float32 | float]]:
        """Find all pieces in a text: start, end, number and score of each, by start, shorter ones first."""
        longest = min(self._longest, len(text))
        hashes = np.zeros((len(text), longest), np.uint64)
        grown = np.full(len(text), _BASIS, np.uint64)
        for at in range(longest):
            grown = _extend_hashes(grown[: len(text) - at], text[at:])
            hashes[: len(text) - at, at] = grown
        places = np.searchsorted(self._hashes, hashes)
        places[places == len(self._hashes)] = 0
        known = self._hashes[places] == hashes
        starts, more = np.nonzero(known)
        places = places[known]
        scores = self._scores[places]
        listed: list[np.float32 | float] = list(scores) if self._single else scores.tolist()
        return starts.tolist(), (starts + more + 1).tolist(), self._numbers[places].tolist(), listed


def _extend_hashes(hashes: "NDArray[np.uint64]", characters: "NDArray[np.uint32]") -> "NDArray[np.uint64]":
    """Extend the hashes by a character each."""
    return (hashes ^ characters) * np.uint64(_PRIME)


def _characters(text: str) -> "NDArray[np.uint32]":
    return np.frombuffer(text.encode("utf-32-le"), "<u4")
