"""What is placed and what is not: between the tables of vectors and what is held of them in memory.

All of it blocking, on a snapshot of the database: for a reader's thread, or the writer's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from kenobot.cognitive.policy import Policy
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.vectors import turn_vectors, vector_rows
from kenobot.cognitive.recall.vectors.calibration import SimilarityCalibration, parse_calibration, shipped_calibrations
from kenobot.cognitive.recall.vectors.matrix import Floats
from kenobot.cognitive.recall.vectors.texts import PendingText, StoredVector, passage_text, text_hash
from kenobot.cognitive.recall.vectors.vector_search import (
    VectorIndex,
    VectorKind,
    decode_vectors,
    encode_vector,
    have_unit_length,
    stack,
)
from kenobot.cognitive.store import events
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state, write_state

_SCALE = "meaning:"  # a key of `state` begins so, the model's id follows
_BYTES, _HALF = 4, 2  # of a number in a record's vector, in a message's


@dataclass(frozen=True, slots=True)
class SyncPosition:
    """How far somebody has looked: the newest event and the newest message."""

    event: int
    message: int


@dataclass(frozen=True, slots=True)
class SyncChanges:
    """What came since: what is to be placed, newest first. rescan: so much that everything has to be looked through."""

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
        self._policy = policy

    def begin(self, connection: Connection) -> SyncPosition:
        """Where things stand now, and what is known of the models."""
        self._index.catch_up(connection)
        for model in self._models:
            scale = shipped_calibrations().get(model) or parse_calibration(read_state(connection, _SCALE + model) or "")
            if scale is not None:
                self._vectors.set_calibration(model, scale)
        return SyncPosition(events.last_event(connection), self.newest_turn())

    def newest_turn(self) -> int:
        """The newest message that the index knows."""
        return self._index.read(turn_vectors.newest, 0)

    def save_calibration(self, connection: Connection, model: str, scale: SimilarityCalibration) -> None:
        """Remember what the cosines of a model mean."""
        write_state(connection, _SCALE + model, scale.to_json())

    # ── loading ──────────────────────────────────────────────────────────────────────────────────────────────────

    def load(self, connection: Connection, kind: VectorKind, high: int) -> None:
        """Hold the vectors of a page of records or messages, up to the number `high`."""
        low = high - self._policy.meaning.page_rows
        if kind == "turn":
            stored = self._index.read(partial(turn_vectors.between, low=low, high=high), list[StoredVector]())
        else:
            stored = vector_rows.between(connection, low, high)
        for model in self._models:
            self._put(kind, model, [each for each in stored if each.model == model])

    def _put(self, kind: VectorKind, model: str, stored: Sequence[StoredVector]) -> None:
        """Hold those vectors that can be read: all of one size, and beside what there is."""
        width = _HALF if kind == "turn" else _BYTES
        for size in {len(each.embedding) for each in stored if each.embedding and not len(each.embedding) % width}:
            if self._vectors.accepts(model, size // width):
                some = [each for each in stored if len(each.embedding) == size]
                rows = decode_vectors([each.embedding for each in some], half=width == _HALF)
                fit = have_unit_length(rows)
                keys = [each.key for each, good in zip(some, fit, strict=True) if good]
                self._vectors.put(kind, model, keys, rows[fit])

    # ── what is to be placed ─────────────────────────────────────────────────────────────────────────────────────

    def changes_since(self, connection: Connection, before: SyncPosition) -> SyncChanges:
        """What came since `before`, also from other processes. What is gone leaves, what was placed elsewhere comes."""
        self._index.catch_up(connection)
        now = SyncPosition(max(before.event, events.last_event(connection)), max(before.message, self.newest_turn()))
        if now == before:
            return SyncChanges(now)
        if events.has_purge(connection, before.event, now.event):
            self._vectors.clear_cache()
            for model in self._models:
                self._vectors.drop("turn", events.purged_messages(connection, before.event, now.event), model)
        far = self._policy.meaning.resync_from_rows
        if now.event - before.event > far or now.message - before.message > far:
            return SyncChanges(now, rescan=True)
        touched = events.record_ids_touched_since(connection, before.event)
        standing = vector_rows.vectors_of(connection, touched)
        for model in self._models:
            mine = [each for each in standing if each.model == model]
            here = {each.key.number for each in mine}
            self._vectors.drop("record", [number for number in touched if number not in here], model)
            self._put("record", model, mine)
        done = {each.key.number for each in standing if each.model == self._model}
        missing = {each.key.number: each for each in standing if each.key.number not in done}
        records = [PendingText(each.key, each.text, is_turn=False, is_new=True) for each in missing.values()]
        return SyncChanges(now, (*records, *self.missing_turns(connection, before.message, now.message, new=True)))

    def missing_records(self, connection: Connection, high: int, dimensions: int) -> list[PendingText]:
        """What has no vector of the model in use in a page of records, up to the number `high`.

        dimensions: how many numbers such a vector has; 0 when that is not known yet.
        """
        page, size = self._policy.meaning.page_rows, dimensions * _BYTES
        missing = vector_rows.missing(connection, self._model, high, page, size)
        return [PendingText(each.key, each.text, is_turn=False) for each in missing]

    def missing_turns(self, connection: Connection, low: int, high: int, *, new: bool = False) -> list[PendingText]:
        """The same of the messages above `low` up to `high`."""
        rows = partial(turn_vectors.missing, model=self._model, low=low, high=high)
        keys = [each.key for each in self._index.read(rows, list[StoredVector]())]
        texts = turn_vectors.texts(connection, [key.number for key in keys])
        return [PendingText(key, texts[key.number], is_turn=True, is_new=new) for key in keys if key.number in texts]

    # ── placing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def passages(self, items: Sequence[PendingText]) -> list[str]:
        """What of each is looked through."""
        return [passage_text(item.text, self._policy.meaning) for item in items]

    def cache_by_hash(self, connection: Connection, texts: Sequence[str]) -> None:
        """Have at hand what was placed before under another number: people repeat themselves."""
        digests = {text_hash(text): text for text in texts}
        lookup = partial(vector_rows.vectors_by_hash, model=self._model, hashes=list(digests))
        whole = lookup(connection, table="vector")
        half = self._index.read(partial(lookup, table="turn_vector"), dict[bytes, bytes]())
        found = {key: decode_vectors([half[key]], half=True)[0] for key in half}
        found |= {key: decode_vectors([whole[key]])[0] for key in whole}
        fit = {key: row for key, row in found.items() if self._vectors.accepts(self._model, len(row))}
        self._vectors.cache(self._model, "passage", [digests[key] for key in fit], list(fit.values()))

    def add_vectors(self, items: Sequence[PendingText], rows: Mapping[str, Floats]) -> "PendingVectors":
        """Let items be found by their vectors from now on. rows: of each passage. Returns what is to be written."""
        placed = PendingVectors(self._model)
        for turn in (False, True):
            some = [
                (item, rows[text], text_hash(text))
                for item, text in zip(items, self.passages(items), strict=True)
                if item.is_turn == turn and text in rows and self._vectors.accepts(self._model, len(rows[text]))
            ]
            if not some:
                continue
            kind: VectorKind = "turn" if turn else "record"
            self._vectors.put(kind, self._model, [item.key for item, _, _ in some], stack([row for _, row, _ in some]))
            if turn:
                placed.turns = [(item.key.number, key, encode_vector(row, half=True)) for item, row, key in some]
            else:
                placed.records = [(e.key.number, e.key.scope, e.text, key, encode_vector(row)) for e, row, key in some]
        return placed

    def write_turns(self, connection: Connection, placed: "PendingVectors") -> None:
        """Keep the vectors of messages, in the side index."""
        if placed.turns:
            self._index.write_derived(
                connection, partial(turn_vectors.write_vectors, model=placed.model, rows=placed.turns)
            )


class PendingVectors:
    """Vectors to be written: of records with their scope, text, hash and bytes, of messages with hash and bytes."""

    def __init__(self, model: str) -> None:
        self.model = model
        # bounded: a batch of 32; test_far_more_news_than_usual_is_looked_through_as_a_whole
        self.records: list[tuple[int, str, str, bytes, bytes]] = []
        # bounded: a batch of 32; test_far_more_news_than_usual_is_looked_through_as_a_whole
        self.turns: list[tuple[int, bytes, bytes]] = []

    def write_records(self, connection: Connection) -> None:
        """Keep the vectors of records, inside a transaction."""
        vector_rows.write_vectors(connection, self.model, self.records)
