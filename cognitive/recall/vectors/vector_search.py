"""What is found by its meaning: vectors of records and of turns, and those of texts that were just asked for.

It never waits for a model. Whoever has time asks one before (`kenobot.agent.embedding_worker` does), and what came of
it is at hand
here by the text itself; where nothing is, memory goes by words. The vectors of a model that was there before serve
until its successor has placed everything anew. For several threads.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
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
_Shelf = Literal["record", "past", "turn"]

_CLOSE = 0.05


@dataclass(slots=True)
class _Model:
    """The vectors of one model. scale: what its cosines mean, once that is known. common: what questions share.

    matrices: of records, of superseded records ("past"), and of turns.
    """

    scale: SimilarityCalibration | None = None
    common: Floats | None = None
    matrices: dict[_Shelf, VectorMatrix] = field(default_factory=dict)  # bounded: three; start


class VectorIndex:
    """Vectors in memory. models: their ids, the one in use first, then those that it takes the place of."""

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
        """Say what a model's cosines mean; until then nothing is found by it."""
        held = self._models[model]
        held.scale = scale
        held.common = np.frombuffer(scale.common, dtype="<f2").astype(np.float32) if scale.common else None

    def has_calibration(self, model: str) -> bool:
        return self._models[model].scale is not None

    # ── at hand ──────────────────────────────────────────────────────────────────────────────────────────────────

    def cache(
        self, model: str, kind: EmbedKind, texts: Sequence[str], rows: Sequence[Sequence[float] | Floats]
    ) -> None:
        """Have the vectors of these texts at hand for a while."""
        kept = self._queries if kind == "query" else self._passages
        with self._lock:
            for text, row in zip(texts, rows, strict=True):
                kept[model, text_hash(text)] = np.asarray(row, dtype=np.float32)
                kept.move_to_end((model, text_hash(text)))
            while len(kept) > self._policy.meaning.cached_texts:
                kept.popitem(last=False)

    def cached(self, model: str, kind: EmbedKind, text: str) -> Floats | None:
        """The vector of a text, if it was embedded lately."""
        kept, key = self._queries if kind == "query" else self._passages, (model, text_hash(text))
        with self._lock:
            row = kept.get(key)
            if row is not None:
                kept.move_to_end(key)
            return row

    def clear_cache(self) -> None:
        """Forget the vectors of texts: something was erased for good."""
        with self._lock:
            self._queries.clear()
            self._passages.clear()

    # ── in and out ───────────────────────────────────────────────────────────────────────────────────────────────

    def put(self, kind: VectorKind, model: str, keys: Sequence[VectorKey], rows: Floats) -> None:
        """Let records or messages be found by these vectors from now on, and by no other model's."""
        matrices = self._models[model].matrices
        for live in (True, False):
            if not (ats := [at for at, key in enumerate(keys) if key.live == live]):
                continue
            shelf: _Shelf = kind if live else "past"
            some = [keys[at] for at in ats]
            numbers, scopes = [key.number for key in some], [partition_key(key.scope) for key in some]
            topics = [partition_key(key.scope, key.subject) for key in some] if kind == "record" else None
            if shelf not in matrices:
                matrices[shelf] = self._matrix(rows.shape[1])
            matrices[shelf].put(numbers, rows[ats], scopes, topics)
            if kind == "record" and (other := matrices.get("past" if live else "record")) is not None:
                other.drop(numbers)
        for another in self._models.keys() - {model}:
            self.drop(kind, [key.number for key in keys], another)

    def drop(self, kind: VectorKind, numbers: Sequence[int], model: str) -> None:
        """Let records or messages be found by this model's vectors no more."""
        shelves: tuple[_Shelf, ...] = ("record", "past") if kind == "record" else ("turn",)
        for shelf in shelves:
            if (matrix := self._models[model].matrices.get(shelf)) is not None:
                matrix.drop(numbers)

    def accepts(self, model: str, dimensions: int) -> bool:
        """Whether a vector of so many numbers can stand beside what there is of this model."""
        return all(matrix.dimensions == dimensions for matrix in self._models[model].matrices.values())

    def size(self, model: str) -> int:
        """How many records and messages can be found by this model's vectors."""
        return sum(len(matrix) for shelf, matrix in self._models[model].matrices.items() if shelf != "past")

    def _matrix(self, dimensions: int) -> VectorMatrix:
        return VectorMatrix(dimensions, self._policy.meaning.exact_up_to, self._policy.meaning.shortlist)

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────

    def has_query_vector(self, text: str) -> bool:
        """Whether anything can be found for a message: by a model that has its vector at hand."""
        sought = query_text(text, self._policy.meaning)
        return any(
            held.scale and self.cached(model, "query", sought) is not None for model, held in self._models.items()
        )

    def record_similarities(
        self, text: str, scopes: Sequence[str] | None, also: Iterable[int], limit: int
    ) -> dict[int, float]:
        """The records of `scopes` (None: of all) nearest to a message; see `SimilarityCalibration.query_similarity`.

        also: records that are compared in any case.
        """
        return self._similarities(text, scopes, also, "record", limit)

    def past_similarities(self, text: str, scopes: Sequence[str] | None, limit: int) -> dict[int, float]:
        """The same of superseded records."""
        return self._similarities(text, scopes, (), "past", limit)

    def turn_similarities(
        self, text: str, scopes: Sequence[str] | None, also: Iterable[int], limit: int
    ) -> dict[int, float]:
        """The same of messages."""
        return self._similarities(text, scopes, also, "turn", limit)

    def similarity_without_names(self, text: str, names: str, number: int) -> float | None:
        """As `record_shares` of one record, without what is due to names alone: who is asked about is often known, and
        what is asked of them not. names: as they stand in the message; None where the vectors are not at hand.
        """
        sought = query_text(text, self._policy.meaning)
        for model, held in self._models.items():
            row, named = self.cached(model, "query", sought), self.cached(model, "query", names)
            matrix = held.matrices.get("record")
            if row is None or named is None or matrix is None or held.scale is None:
                continue
            row, named = _without(row, held.common), _without(named, held.common)
            named /= max(float(np.linalg.norm(named)), _CLOSE)
            rest = row - (row @ named) * named
            rest *= float(np.linalg.norm(row)) / max(float(np.linalg.norm(rest)), _CLOSE)
            cosines = matrix.cosines(rest, [number])
            if number in cosines:
                return held.scale.query_similarity(cosines[number])
        return None

    def nearest_to_statement(
        self, connection: Connection, scope: str, subject: str, text: str, limit: int
    ) -> Mapping[int, float]:
        """The records of this scope and subject nearest to a statement, by id, each with its nearness.

        On the scale of admit's bands: see `SimilarityCalibration.nearness`.
        """
        found: dict[int, float] = {}
        for row, records, scale in self._as_passage(text):
            near = records.nearest(row, limit, None, partition_key(scope, subject))
            found.update((number, scale.statement_similarity(cosine, self._policy.admit)) for number, cosine in near)
        return {number: found[number] for number in sorted(found, key=lambda each: -found[each])[:limit]}

    def nearest_to_record(self, scope: str, subject: str, record: int, limit: int) -> Mapping[int, float]:
        """The same for what a record says, by the vector that it has; itself left out."""
        for held in self._models.values():
            matrix = held.matrices.get("record")
            row = matrix.vector(record) if matrix is not None else None
            if row is None or matrix is None or held.scale is None:
                continue
            near = matrix.nearest(row, limit + 1, None, partition_key(scope, subject))
            nearness = (
                (number, held.scale.statement_similarity(cosine, self._policy.admit)) for number, cosine in near
            )
            return {number: each for number, each in nearness if number != record}
        return {}

    def similar_records(self, text: str, scopes: Sequence[str] | None, limit: int) -> list[int]:
        """The records of `scopes` that a text is nearest to, best first; none when it is not at hand."""
        found: list[tuple[float, int]] = []
        for row, records, scale in self._as_passage(text):
            near = records.nearest(row, limit, _places(scopes))
            found += [(scale.statement_similarity(cosine, self._policy.admit), number) for number, cosine in near]
        return [number for nearness, number in sorted(found, reverse=True)[:limit] if nearness > 0]

    def _similarities(
        self, text: str, scopes: Sequence[str] | None, also: Iterable[int], shelf: _Shelf, limit: int
    ) -> dict[int, float]:
        policy = self._policy.meaning
        sought, wanted, places = query_text(text, policy), list(also), _places(scopes)
        found: dict[int, float] = {}
        for model, held in self._models.items():
            matrix, row = held.matrices.get(shelf), self.cached(model, "query", sought)
            if matrix is None or held.scale is None or row is None or len(row) != matrix.dimensions:
                continue
            row = _without(row, held.common)
            cosines = matrix.cosines(row, wanted) | dict(matrix.nearest(row, limit, places) if limit else ())
            found |= {number: held.scale.query_similarity(cosine) for number, cosine in cosines.items()}
        return found

    def _as_passage(self, text: str) -> list[tuple[Floats, VectorMatrix, SimilarityCalibration]]:
        """A text as a passage, by each model by which it is at hand and records can be compared with it."""
        said = passage_text(text, self._policy.meaning)
        found: list[tuple[Floats, VectorMatrix, SimilarityCalibration]] = []
        for model, held in self._models.items():
            row, matrix = self.cached(model, "passage", said), held.matrices.get("record")
            if row is not None and matrix is not None and held.scale is not None and len(row) == matrix.dimensions:
                found.append((row, matrix, held.scale))
        return found


def _without(row: Floats, common: Floats | None) -> Floats:
    """Remove from a question's row most of what it has in common with others; see `calibration`."""
    if common is None or len(common) % len(row):
        return row
    held = common.reshape(-1, len(row))
    middle, ways = held[0], held[1:]
    out = middle + ((row - middle) @ ways.T) @ ways
    return np.asarray(row - COMMON_SHARE_REMOVED * out, np.float32)


def have_unit_length(vectors: Floats) -> list[bool]:
    """Which of these are vectors of length 1, as a model gives them; what was imported may be anything."""
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(vectors, axis=1)
    return [bool(abs(length - 1) < _CLOSE) for length in lengths]


def stack(rows: Sequence[Floats]) -> Floats:
    """Rows as one array."""
    return np.stack(rows)


def decode_vectors(embeddings: Sequence[bytes], *, half: bool = False) -> Floats:
    """Stored vectors as an array, a row each. half: they are of 16-bit floats. All must have the same size."""
    kind = np.float16 if half else np.float32
    return np.frombuffer(b"".join(embeddings), dtype=kind).reshape(len(embeddings), -1).astype(np.float32)


def encode_vector(row: Floats, *, half: bool = False) -> bytes:
    """A vector as it is kept on disk."""
    return row.astype(np.float16 if half else np.float32).tobytes()


def _places(scopes: Sequence[str] | None) -> list[int] | None:
    return None if scopes is None else [partition_key(scope) for scope in scopes]
