"""Search the vectors of records and turns in memory, and cache the vectors of texts.

No search waits for a model: `kenobot.cognitive.recall.embedding_worker` embeds texts beforehand, and where a text is
not cached, memory is searched by words. The vectors of a previous model serve until its successor has embedded
everything anew.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.recall.vectors.calibration import COMMON_SHARE_REMOVED, SimilarityCalibration
from kenobot.cognitive.recall.vectors.matrix import Floats, VectorMatrix, partition_key
from kenobot.cognitive.recall.vectors.texts import VectorKey, passage_text, query_text, text_hash
from kenobot.ports.embedder import EmbedKind
from kenobot.storage.connection import Connection

VectorKind = Literal["record", "turn"]
Shelf = Literal["record", "past", "turn"]

_CLOSE = 0.05
_MOST_GENERAL = 1.5
_TINY = 1e-9


@dataclass(slots=True)
class _Model:
    """The vectors of one model. common: what questions share, as `scale` has it.

    general: the direction from them to questions of general knowledge, and the product with it halfway.
    """

    scale: SimilarityCalibration | None = None
    common: Floats | None = None
    general: tuple[Floats, float] | None = None
    matrices: dict[Shelf, VectorMatrix] = field(default_factory=dict)  # bounded: three; start


class VectorIndex:
    """Vectors in memory, for several threads. models: their ids, the one in use first, then previous ones."""

    def __init__(self, models: Sequence[str], policy: Policy = DEFAULT) -> None:
        self._policy = policy
        self._models = {model: _Model() for model in models}
        # bounded: 512 vectors of queries; test_what_is_at_hand_is_bounded
        self._queries: OrderedDict[tuple[str, bytes], Floats] = OrderedDict()
        # bounded: 512 vectors of passages; test_what_is_at_hand_is_bounded
        self._passages: OrderedDict[tuple[str, bytes], Floats] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def models(self) -> tuple[str, ...]:
        """The model in use, then those whose vectors still serve."""
        return tuple(model for at, model in enumerate(self._models) if not at or self.size(model))

    def set_calibration(self, model: str, scale: SimilarityCalibration) -> None:
        """Set the calibration of a model, without which it compares nothing."""
        held = self._models[model]
        held.scale = scale
        held.common = np.frombuffer(scale.common, dtype="<f2").astype(np.float32) if scale.common else None
        held.general = _general_direction(held.common, np.frombuffer(scale.general, dtype="<f2").astype(np.float32))

    def has_calibration(self, model: str) -> bool:
        """Return whether a model is calibrated in full; one calibrated by an earlier release is so anew."""
        scale = self._models[model].scale
        return scale is not None and bool(scale.general)

    # ── cache ────────────────────────────────────────────────────────────────────────────────────────────────────

    def cache(
        self, model: str, kind: EmbedKind, texts: Sequence[str], rows: Sequence[Sequence[float] | Floats]
    ) -> None:
        """Cache the vectors of texts."""
        kept = self._queries if kind == "query" else self._passages
        with self._lock:
            for text, row in zip(texts, rows, strict=True):
                kept[model, text_hash(text)] = np.asarray(row, dtype=np.float32)
                kept.move_to_end((model, text_hash(text)))
            while len(kept) > self._policy.meaning.cached_texts:
                kept.popitem(last=False)

    def get_cached(self, model: str, kind: EmbedKind, text: str) -> Floats | None:
        """Return the cached vector of a text."""
        kept, key = self._queries if kind == "query" else self._passages, (model, text_hash(text))
        with self._lock:
            row = kept.get(key)
            if row is not None:
                kept.move_to_end(key)
            return row

    def clear_cache(self) -> None:
        """Drop the cached vectors of texts: something was erased for good."""
        with self._lock:
            self._queries.clear()
            self._passages.clear()

    # ── content ──────────────────────────────────────────────────────────────────────────────────────────────────

    def put(self, kind: VectorKind, model: str, keys: Sequence[VectorKey], rows: Floats) -> None:
        """Replace the vectors of records or turns, of whatever model, by these."""
        matrices = self._models[model].matrices
        for live in (True, False):
            if not (ats := [at for at, key in enumerate(keys) if key.live == live]):
                continue
            shelf: Shelf = kind if live else "past"
            some = [keys[at] for at in ats]
            numbers, scopes = [key.number for key in some], [partition_key(key.scope) for key in some]
            topics = [partition_key(key.scope, key.subject) for key in some] if kind == "record" else None
            if shelf not in matrices:
                policy = self._policy.meaning
                matrices[shelf] = VectorMatrix(rows.shape[1], policy.exact_up_to, policy.shortlist)
            matrices[shelf].put(numbers, rows[ats], scopes, topics)
            if kind == "record" and (other := matrices.get("past" if live else "record")) is not None:
                other.drop(numbers)
        for another in self._models.keys() - {model}:
            self.drop(kind, [key.number for key in keys], another)

    def drop(self, kind: VectorKind, numbers: Sequence[int], model: str) -> None:
        """Drop this model's vectors of records or turns."""
        shelves: tuple[Shelf, ...] = ("record", "past") if kind == "record" else ("turn",)
        for shelf in shelves:
            if (matrix := self._models[model].matrices.get(shelf)) is not None:
                matrix.drop(numbers)

    def accepts(self, model: str, dimensions: int) -> bool:
        """Return whether a vector has as many dimensions as the others of this model."""
        return all(matrix.dimensions == dimensions for matrix in self._models[model].matrices.values())

    def size(self, model: str) -> int:
        """Count the live records and turns with a vector of this model."""
        return sum(len(matrix) for shelf, matrix in self._models[model].matrices.items() if shelf != "past")

    # ── search ───────────────────────────────────────────────────────────────────────────────────────────────────

    def has_query_vector(self, text: str) -> bool:
        """Return whether a calibrated model has the vector of a message cached."""
        query = query_text(text, self._policy.meaning)
        return any(
            held.scale and self.get_cached(model, "query", query) is not None for model, held in self._models.items()
        )

    def similarities(
        self, shelf: Shelf, text: str, scopes: Sequence[str] | None, limit: int, also: Iterable[int] = ()
    ) -> dict[int, float]:
        """Search the records or turns of `scopes` (None: of all) nearest to a message, at most `limit`.

        also: numbers that are compared in any case. Values: see `SimilarityCalibration.query_similarity`.
        """
        query, wanted, partitions = query_text(text, self._policy.meaning), list(also), _partitions(scopes)
        found: dict[int, float] = {}
        for _, row, matrix, scale in self._list_comparable("query", query, shelf):
            cosines = matrix.cosines(row, wanted) | dict(matrix.find_nearest(row, limit, partitions) if limit else ())
            found |= scale.query_similarities(cosines)
        return found

    def get_beside(self, model: str, text: str, numbers: Sequence[int]) -> tuple[Floats, Floats] | None:
        """Return the vector of a passage, and a row for each record; None where one of them is not at hand."""
        held = self._models.get(model)
        matrix = held.matrices.get("record") if held is not None else None
        row = self.get_cached(model, "passage", passage_text(text, self._policy.meaning))
        rows = [matrix.vector(number) for number in numbers] if matrix is not None and row is not None else []
        if row is None or not rows:
            return None
        found = [each for each in rows if each is not None]
        return (row, stack(found)) if len(found) == len(rows) else None

    def query_row(self, text: str) -> list[float] | None:
        """Return the vector of a message by the model in use, where it is cached."""
        row = self.get_cached(next(iter(self._models)), "query", query_text(text, self._policy.meaning))
        return None if row is None else [float(number) for number in row]

    def generality(self, text: str) -> float:
        """Measure how far a message is a question of general knowledge: 1 as those of the calibration, -1 as questions
        about a person's own affairs; 0 where that is not known.
        """
        query = query_text(text, self._policy.meaning)
        for model, held in self._models.items():
            row = self.get_cached(model, "query", query)
            if row is not None and held.general is not None and len(row) == len(held.general[0]):
                return max(-_MOST_GENERAL, min(_MOST_GENERAL, float(row @ held.general[0]) - held.general[1]))
        return 0.0

    def nearest_to_statement(
        self, connection: Connection, scope: str, subject: str, text: str, limit: int
    ) -> Mapping[int, float]:
        """Search the records of a scope and subject nearest to a statement; see `statement_similarity`."""
        return self._nearest_statements(text, limit, None, partition_key(scope, subject))

    def similar_records(self, text: str, scopes: Sequence[str] | None, limit: int) -> list[int]:
        """Search the records of `scopes` (None: of all) nearest to a text, best first."""
        found = self._nearest_statements(text, limit, _partitions(scopes), None)
        best = sorted(((similarity, number) for number, similarity in found.items()), reverse=True)[:limit]
        return [number for similarity, number in best if similarity > 0]

    def nearest_to_record(self, scope: str, subject: str, record: int, limit: int) -> Mapping[int, float]:
        """Search the other records of a scope and subject nearest to a record; see `statement_similarity`."""
        for held in self._models.values():
            matrix = held.matrices.get("record")
            row = matrix.vector(record) if matrix is not None else None
            if row is None or matrix is None or held.scale is None:
                continue
            near = matrix.find_nearest(row, limit + 1, None, partition_key(scope, subject))
            return {number: self._statement(held.scale, cosine) for number, cosine in near if number != record}
        return {}

    def _nearest_statements(
        self, text: str, limit: int, partitions: Sequence[int] | None, topic: int | None
    ) -> dict[int, float]:
        found: dict[int, float] = {}
        for _, row, matrix, scale in self._list_comparable("passage", passage_text(text, self._policy.meaning)):
            near = matrix.find_nearest(row, limit, partitions, topic)
            found |= {number: self._statement(scale, cosine) for number, cosine in near}
        return found

    def _statement(self, scale: SimilarityCalibration, cosine: float) -> float:
        return scale.statement_similarity(cosine, self._policy.admit)

    def _list_comparable(
        self, kind: EmbedKind, text: str, shelf: Shelf = "record"
    ) -> Iterator[tuple[str, Floats, VectorMatrix, SimilarityCalibration]]:
        """Yield each model that can compare a text with a shelf, with the cached vector of the text."""
        for model, held in self._models.items():
            row, matrix = self.get_cached(model, kind, text), held.matrices.get(shelf)
            if row is not None and matrix is not None and held.scale is not None and len(row) == matrix.dimensions:
                yield model, _remove_common(row, held.common) if kind == "query" else row, matrix, held.scale


def _remove_common(row: Floats, common: Floats | None) -> Floats:
    """Remove from a question's row most of what it has in common with others; see `calibration`."""
    if common is None or len(common) % len(row):
        return row
    held = common.reshape(-1, len(row))
    middle, ways = held[0], held[1:]
    out = middle + ((row - middle) @ ways.T) @ ways
    return np.asarray(row - COMMON_SHARE_REMOVED * out, np.float32)


def _general_direction(common: Floats | None, general: Floats) -> tuple[Floats, float] | None:
    """Compute the direction of general questions, 2 long from the personal ones, without what languages differ in."""
    if common is None or not len(general) or len(common) % len(general):
        return None
    held = common.reshape(-1, len(general))
    middle, ways = held[0], held[1:]
    direction = general - middle
    direction = direction - (direction @ ways.T) @ ways
    direction = 2 * direction / max(float(direction @ direction), _TINY)
    return np.asarray(direction, np.float32), float((middle + general) @ direction) / 2


def have_unit_length(vectors: Floats) -> list[bool]:
    """Tell which of these vectors have length 1, as models give them; imported ones may be anything."""
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(vectors, axis=1)
    return [bool(abs(length - 1) < _CLOSE) for length in lengths]


def stack(rows: Sequence[Floats]) -> Floats:
    """Stack rows to one array."""
    return np.stack(rows)


def decode_vectors(embeddings: Sequence[bytes], *, half: bool = False) -> Floats:
    """Decode stored vectors of one size to an array, a row each. half: of 16-bit floats."""
    kind = np.float16 if half else np.float32
    return np.frombuffer(b"".join(embeddings), dtype=kind).reshape(len(embeddings), -1).astype(np.float32)


def encode_vector(row: Floats, *, half: bool = False) -> bytes:
    """Encode a vector for storage."""
    return row.astype(np.float16 if half else np.float32).tobytes()


def _partitions(scopes: Sequence[str] | None) -> list[int] | None:
    return None if scopes is None else [partition_key(scope) for scope in scopes]
