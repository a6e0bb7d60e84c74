"""Search vectors in memory by cosine, within scopes.

A vector is stored as 8-bit integers and a scale. Where there are many, those whose signs differ least from the query's
are shortlisted, and compared exactly. Signs are taken about the mean, since the vectors of a model lie in a narrow cone
and would otherwise have nearly the same ones.
"""

import os
import threading
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read once, when numpy is loaded: its threads would spin

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]

_LEAST_ROOM = 256  # rows
_BLOCK = 8192  # rows that are turned into floats at a time
_WORD = 64  # signs in one number
_NOWHERE = np.int32(-1)
_SHORT = 1e-6
_FEW = 4  # one row in so many
_HIGHEST = 20_000_000  # 80 MB to say where each number is

ScalarT = TypeVar("ScalarT", bound=np.generic)


def partition_key(*parts: str) -> int:
    """Hash a scope, or a scope and subject, so that no name is stored."""
    digest = blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


class VectorMatrix:
    """Vectors of one model by id, each of a scope and a topic, for several threads. Ids above 20 million are left out.

    exact, shortlist: see `MeaningPolicy`.
    """

    def __init__(self, dimensions: int, exact: int, shortlist: int) -> None:
        self._dimensions = dimensions
        self._exact = exact
        self._shortlist = shortlist
        self._lock = threading.Lock()
        self._count = 0
        self._codes: NDArray[np.int8] = np.empty((0, self._dimensions), np.int8)
        self._scales: Floats = np.empty(0, np.float32)
        self._ids: Numbers = np.empty(0, np.int64)
        self._scopes: Numbers = np.empty(0, np.int64)
        self._topics: Numbers = np.empty(0, np.int64)
        self._rows: NDArray[np.int32] = np.empty(0, np.int32)  # by number: its row, or -1
        # bounded: the scopes that have vectors; test_scopes_are_counted_as_vectors_come_change_scope_and_go
        self._rows_of: Counter[int] = Counter()  # how many rows each scope has
        # One line for each 64 dimensions, and a column for each row.
        self._signs: NDArray[np.uint64] = np.empty((0, 0), np.uint64)
        self._mean: Floats | None = None
        self._signed = 0  # rows that the mean was taken from

    def __len__(self) -> int:
        return self._count

    @property
    def dimensions(self) -> int:
        """The dimensions of a vector."""
        return self._dimensions

    # ── content ──────────────────────────────────────────────────────────────────────────────────────────────────

    def put(
        self, numbers: Sequence[int], vectors: Floats, scopes: Sequence[int], topics: Sequence[int] | None = None
    ) -> None:
        """Add vectors of length 1, a row each, in place of those with the same ids."""
        ids = np.asarray(numbers, np.int64)
        fit = (ids >= 0) & (ids < _HIGHEST)
        if not fit.all():
            topics = None if topics is None else np.asarray(topics)[fit].tolist()
            ids, vectors, scopes = ids[fit], vectors[fit], np.asarray(scopes)[fit].tolist()
        if not len(ids):
            return
        scales = np.abs(vectors).max(axis=1).astype(np.float32) / 127
        scales[scales == 0] = 1
        codes = np.rint(vectors / scales[:, None]).astype(np.int8)
        with self._lock:
            self._extend_map(int(ids.max()))
            rows = self._rows[ids]
            fresh = rows < 0
            self._rows_of.update(scopes)
            self._leave(self._scopes[rows[~fresh]].tolist())
            self._make_room(self._count + int(fresh.sum()))
            rows[fresh] = np.arange(self._count, self._count + int(fresh.sum()), dtype=np.int32)
            self._count += int(fresh.sum())
            self._rows[ids] = rows
            self._codes[rows], self._scales[rows], self._ids[rows] = codes, scales, ids
            self._scopes[rows] = scopes
            self._topics[rows] = 0 if topics is None else topics
            self._sign(rows)

    def drop(self, numbers: Sequence[int]) -> None:
        """Drop vectors by id, where they are there."""
        with self._lock:
            for number in numbers:
                row = self._row(number)
                if row < 0:
                    continue
                last = self._count - 1
                self._rows[number] = _NOWHERE
                self._leave([int(self._scopes[row])])
                if row != last:  # the last one takes its place
                    for column in (self._codes, self._scales, self._ids, self._scopes, self._topics):
                        column[row] = column[last]
                    if self._mean is not None:
                        self._signs[:, row] = self._signs[:, last]
                    self._rows[self._ids[row]] = row
                self._codes[last] = 0
                self._count = last

    # ── search ───────────────────────────────────────────────────────────────────────────────────────────────────

    def find_nearest(
        self, vector: Floats, limit: int, scopes: Sequence[int] | None, topic: int | None = None
    ) -> list[tuple[int, float]]:
        """Search the ids of `scopes` (None: of all) and `topic` nearest to a vector, each with its cosine."""
        with self._lock:
            rows = self._candidates(vector, self._select_rows(scopes, topic))
            if not len(rows):
                return []
            cosines = self._cosines(rows, vector)
            best = _highest(cosines, limit)
            found = zip(self._ids[rows[best]].tolist(), cosines[best].tolist(), strict=True)
            return list(found)

    def vector(self, number: int) -> Floats | None:
        """Decode the vector of an id."""
        with self._lock:
            row = self._row(number)
            return self._codes[row].astype(np.float32) * self._scales[row] if row >= 0 else None

    def cosines(self, vector: Floats, numbers: Sequence[int]) -> dict[int, float]:
        """Compute the cosine of each of these ids; those without a vector are left out."""
        with self._lock:
            known = np.fromiter((number for number in numbers if 0 <= number < len(self._rows)), np.int64)
            rows = self._rows[known].astype(np.int64)
            known, rows = known[rows >= 0], rows[rows >= 0]
            return dict(zip(known.tolist(), self._cosines(rows, vector).tolist(), strict=True))

    def _select_rows(self, scopes: Sequence[int] | None, topic: int | None) -> NDArray[np.bool_] | None:
        """Select the rows within scopes and topic, as a mask; None for all."""
        held: NDArray[np.bool_] | None = None
        if scopes is not None and sum(self._rows_of[scope] for scope in set(scopes)) < self._count:
            column = self._scopes[: self._count]
            held = np.zeros(self._count, np.bool_)
            for scope in scopes:
                held |= column == scope
        if topic is not None:
            same = self._topics[: self._count] == topic
            held = same if held is None else held & same
        return held

    def _candidates(self, vector: Floats, held: NDArray[np.bool_] | None) -> Numbers:
        """Select the rows to compare exactly."""
        count = self._count if held is None else int(np.count_nonzero(held))
        if count <= max(self._exact, self._shortlist) or self._mean is None:
            return np.arange(self._count) if held is None else np.flatnonzero(held)
        # Signs say nothing of lengths: what the question shares with the mean, which is the same for all, is taken out.
        way = self._mean / max(float(np.linalg.norm(self._mean)), _SHORT)
        sought = self._signs_of((vector - (vector @ way) * way)[None])[:, 0]
        # Reading on is faster than picking out, unless few are picked.
        picked = np.flatnonzero(held) if held is not None and count * _FEW < self._count else None
        looked_at = self._count if picked is None else count
        differing = np.zeros(looked_at, np.uint16)
        other, bits = np.empty(looked_at, np.uint64), np.empty(looked_at, np.uint8)
        for line, signs in zip(self._signs, sought, strict=True):
            np.bitwise_xor(line[: self._count] if picked is None else line[picked], signs, out=other)
            differing += np.bitwise_count(other, out=bits)
        if held is not None and picked is None:
            differing[~held] = np.iinfo(np.uint16).max
        near = np.flatnonzero(differing <= np.partition(differing, self._shortlist - 1)[self._shortlist - 1])
        return near if picked is None else picked[near]

    def _cosines(self, rows: Numbers, vector: Floats) -> Floats:
        found = np.empty(len(rows), np.float32)
        for at in range(0, len(rows), _BLOCK):
            block = rows[at : at + _BLOCK]
            found[at : at + len(block)] = self._codes[block].astype(np.float32) @ vector
        return found * self._scales[rows]

    def _leave(self, scopes: Sequence[int]) -> None:
        """Count rows that leave these scopes, one of each."""
        for scope in scopes:
            self._rows_of[scope] -= 1
            if not self._rows_of[scope]:
                del self._rows_of[scope]

    # ── room ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _row(self, number: int) -> int:
        return int(self._rows[number]) if 0 <= number < len(self._rows) else -1

    def _extend_map(self, highest: int) -> None:
        """Grow the map from ids to rows up to `highest`."""
        if highest >= len(self._rows):
            more = np.full(max(_LEAST_ROOM, highest + 1 + highest // 4) - len(self._rows), _NOWHERE, np.int32)
            self._rows = np.concatenate([self._rows, more])

    def _make_room(self, count: int) -> None:
        held = len(self._ids)
        if count <= held:
            return
        room = max(_LEAST_ROOM, count + count // 8)
        self._codes = _grow(self._codes, room)
        self._scales, self._ids = _grow(self._scales, room), _grow(self._ids, room)
        self._scopes, self._topics = _grow(self._scopes, room), _grow(self._topics, room)
        if self._mean is not None:
            self._signs = np.ascontiguousarray(_grow(self._signs.T, room).T)

    def _sign(self, rows: NDArray[np.int32]) -> None:
        """Update the signs of rows, once there are many; about a new mean when their number has doubled."""
        if self._count <= self._exact:
            return
        if self._mean is None or self._count > 2 * self._signed:
            step = max(1, self._count // self._exact)
            sample = np.arange(0, self._count, step)
            self._mean = (self._codes[sample] * self._scales[sample, None]).mean(axis=0, dtype=np.float32)
            self._signed = self._count
            lines = -(-self._dimensions // _WORD)
            self._signs = np.zeros((lines, len(self._ids)), np.uint64)
            rows = np.arange(self._count, dtype=np.int32)
        for at in range(0, len(rows), _BLOCK):
            block = rows[at : at + _BLOCK]
            self._signs[:, block] = self._signs_of(self._codes[block] * self._scales[block, None] - self._mean)

    def _signs_of(self, vectors: Floats) -> NDArray[np.uint64]:
        bits = np.zeros((len(vectors), -(-self._dimensions // _WORD) * _WORD), np.bool_)
        bits[:, : self._dimensions] = vectors > 0
        return np.packbits(bits, axis=1).view(np.uint64).T


def _highest(values: Floats, limit: int) -> Numbers:
    """Select the positions of the highest values, at most `limit`, highest first."""
    rows = np.arange(len(values)) if len(values) <= limit else np.sort(np.argpartition(-values, limit)[:limit])
    return rows[np.argsort(-values[rows], kind="stable")]


def _grow(column: NDArray[ScalarT], room: int) -> NDArray[ScalarT]:
    more = np.zeros((room, *column.shape[1:]), column.dtype)
    more[: len(column)] = column
    return more
