"""Load stored vectors into memory, list what has none yet, and write new ones.

All of it blocks, on a snapshot of the database: for a reader's thread, or the writer's.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from kenobot.cognitive.policy import Policy
from kenobot.cognitive.recall.index import backlog_rows, vector_rows
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.vectors.calibration import SimilarityCalibration, load_calibrations, parse_calibration
from kenobot.cognitive.recall.vectors.matrix import Floats
from kenobot.cognitive.recall.vectors.texts import (
    EmbeddedText,
    PendingText,
    StoredVector,
    VectorKey,
    passage_text,
    text_hash,
)
from kenobot.cognitive.recall.vectors.vector_search import (
    VectorIndex,
    VectorKind,
    decode_vectors,
    encode_vector,
    have_unit_length,
    stack,
)
from kenobot.cognitive.store import events
from kenobot.ports.frozen import dataclass
from kenobot.storage import message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state, write_state

_CALIBRATION = "meaning:"  # a key of `state` begins so, the model's id follows
_BYTES, _HALF = 4, 2  # of a number in a record's vector, in a message's


@dataclass(frozen=True, slots=True)
class SyncPosition:
    """The newest event and message that were read. unindexed: rows that the index had still to read then."""

    event: int
    message: int
    unindexed: int


@dataclass(frozen=True, slots=True)
class SyncChanges:
    """Texts to embed since the last look, newest first.

    rescan: so much that everything has to be searched.
    """

    position: SyncPosition
    items: tuple[PendingText, ...] = ()
    rescan: bool = False


class VectorSync:
    """Reads and writes vectors of `models`, the one in use first."""

    def __init__(self, index: SideIndex, vectors: VectorIndex, models: Sequence[str], policy: Policy) -> None:
        self._index = index
        self._vectors = vectors
        self._models = tuple(models)
        self._model = self._models[0]
        self._policy = policy.meaning

    def begin(self, connection: Connection) -> SyncPosition:
        """Load the calibrations of the models, and return the current position."""
        self._index.catch_up(connection)
        for model in self._models:
            stored = read_state(connection, _CALIBRATION + model) or ""
            if (scale := load_calibrations().get(model) or parse_calibration(stored)) is not None:
                self._vectors.set_calibration(model, scale)
        return SyncPosition(events.last_event(connection), self._newest_turn(), self._list_unindexed())

    def save_calibration(self, connection: Connection, model: str, scale: SimilarityCalibration) -> None:
        """Store the calibration of a model."""
        write_state(connection, _CALIBRATION + model, scale.to_json())

    def _newest_turn(self) -> int:
        return self._index.read(vector_rows.newest_turn, 0)

    def _list_unindexed(self) -> int:
        return self._index.read(lambda index: backlog_rows.gap_size(backlog_rows.gaps(index)), 0)

    # ── loading ──────────────────────────────────────────────────────────────────────────────────────────────────

    def load(self, connection: Connection, kind: VectorKind, high: int) -> None:
        """Load the vectors of a page of records or messages, up to the id `high`."""
        low = high - self._policy.page_rows
        if kind == "turn":
            stored = self._index.read(partial(vector_rows.turn_vectors, low=low, high=high), list[StoredVector]())
        else:
            stored = vector_rows.record_vectors(connection, low, high)
        for model in self._models:
            self._put(kind, model, [each for each in stored if each.model == model])

    def _put(self, kind: VectorKind, model: str, stored: Sequence[StoredVector]) -> None:
        """Put the readable of these vectors into memory: those of the size of what is there."""
        width = _HALF if kind == "turn" else _BYTES
        for size in {len(each.embedding) for each in stored if each.embedding and not len(each.embedding) % width}:
            if self._vectors.accepts(model, size // width):
                some = [each for each in stored if len(each.embedding) == size]
                rows = decode_vectors([each.embedding for each in some], half=width == _HALF)
                fit = have_unit_length(rows)
                keys = [each.key for each, good in zip(some, fit, strict=True) if good]
                self._vectors.put(kind, model, keys, rows[fit])

    # ── texts without vectors ────────────────────────────────────────────────────────────────────────────────────

    def changes_since(self, connection: Connection, before: SyncPosition) -> SyncChanges:
        """Apply what changed since `before`, also by other processes, to the vectors in memory; list new texts."""
        self._index.catch_up(connection)
        event, message = max(before.event, events.last_event(connection)), max(before.message, self._newest_turn())
        now = SyncPosition(event, message, self._list_unindexed())
        if now == before:
            return SyncChanges(now)
        if events.has_purge(connection, before.event, now.event):
            self._vectors.clear_cache()
            for model in self._models:
                self._vectors.drop("turn", events.list_purged_messages(connection, before.event, now.event), model)
        far = self._policy.resync_from_rows
        grown = now.unindexed < before.unindexed  # older turns came into the index, behind those that were looked at
        if grown or now.event - before.event > far or now.message - before.message > far:
            return SyncChanges(now, rescan=True)
        touched = events.record_ids_touched_since(connection, before.event)
        stored = vector_rows.vectors_of(connection, touched)
        for model in self._models:
            mine = [each for each in stored if each.model == model]
            here = {each.key.number for each in mine}
            self._vectors.drop("record", [number for number in touched if number not in here], model)
            self._put("record", model, mine)
        done = {each.key.number for each in stored if each.model == self._model}
        missing = {each.key.number: each for each in stored if each.key.number not in done}
        records = [PendingText(each.key, each.text, is_turn=False, is_new=True) for each in missing.values()]
        return SyncChanges(now, (*records, *self.missing_turns(connection, before.message, now.message, new=True)))

    def missing_records(self, connection: Connection, high: int, dimensions: int) -> list[PendingText]:
        """List the records of a page up to the id `high` without a vector of the model in use.

        dimensions: 0 if unknown.
        """
        return vector_rows.missing_records(connection, self._model, high, self._policy.page_rows, dimensions * _BYTES)

    def missing_turns(self, connection: Connection, low: int, high: int, *, new: bool = False) -> list[PendingText]:
        """List the messages above `low` up to `high` without such a vector."""
        lookup = partial(vector_rows.missing_turns, model=self._model, low=low, high=high)
        keys = self._index.read(lookup, list[VectorKey]())
        texts = {row.id: row.text for row in message_rows.messages_by_id(connection, [key.number for key in keys])}
        return [
            PendingText(key, text, is_turn=True, is_new=new)
            for key in keys
            if (text := texts.get(key.number, "")).strip()
        ]

    # ── new vectors ──────────────────────────────────────────────────────────────────────────────────────────────

    def cache_by_hash(self, connection: Connection, texts: Sequence[str]) -> None:
        """Cache the stored vectors of the same texts: people repeat themselves."""
        digests = {text_hash(text): text for text in texts}
        lookup = partial(vector_rows.vectors_by_hash, model=self._model, hashes=list(digests))
        whole = lookup(connection, table="vector")
        half = self._index.read(partial(lookup, table="turn_vector"), dict[bytes, bytes]())
        found = {key: decode_vectors([half[key]], half=True)[0] for key in half}
        found |= {key: decode_vectors([whole[key]])[0] for key in whole}
        fit = {key: row for key, row in found.items() if self._vectors.accepts(self._model, len(row))}
        self._vectors.cache(self._model, "passage", [digests[key] for key in fit], list(fit.values()))

    def add_vectors(self, items: Sequence[PendingText], rows: Mapping[str, Floats]) -> list[EmbeddedText]:
        """Put the vectors of items into memory; return what is to be written. rows: by passage."""
        embedded: list[EmbeddedText] = []
        kinds: tuple[VectorKind, ...] = ("record", "turn")
        for kind in kinds:
            some = [
                (item, text, rows[text])
                for item in items
                if item.is_turn == (kind == "turn")
                and (text := passage_text(item.text, self._policy)) in rows
                and self._vectors.accepts(self._model, len(rows[text]))
            ]
            if some:
                self._vectors.put(
                    kind, self._model, [item.key for item, _, _ in some], stack([row for *_, row in some])
                )
            embedded += [
                EmbeddedText(item, text_hash(text), encode_vector(row, half=item.is_turn)) for item, text, row in some
            ]
        return embedded

    def write_records(self, connection: Connection, rows: Sequence[EmbeddedText]) -> None:
        """Write the vectors of records, inside a transaction."""
        vector_rows.write_records(connection, self._model, rows)

    def write_turns(self, connection: Connection, rows: Sequence[EmbeddedText]) -> None:
        """Write the vectors of messages."""
        stored = [(row.item.key.number, row.hash, row.embedding) for row in rows]
        self._index.write_derived(connection, partial(vector_rows.write_turns, model=self._model, rows=stored))
