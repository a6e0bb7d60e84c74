"""What is placed and what is not: between the tables of vectors and what is held of them in memory.

All of it blocking, on a snapshot of the database: for a reader's thread, or the writer's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from kenobot.cognitive.policy import Policy
from kenobot.cognitive.recall.index import turn_vectors
from kenobot.cognitive.recall.index.index import Index
from kenobot.cognitive.recall.index.turn_vectors import PlacedTurn
from kenobot.cognitive.recall.vectors import vector_rows
from kenobot.cognitive.recall.vectors.calibration import Scale, known, read
from kenobot.cognitive.recall.vectors.matrix import Floats
from kenobot.cognitive.recall.vectors.texts import Item, Spot, digest, passage_of
from kenobot.cognitive.recall.vectors.vector_search import Meaning, rows_of, sound, stacked, stored
from kenobot.cognitive.store import records as store
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state, write_state

_SCALE = "meaning:"  # a key of `state` begins so, the model's id follows
_BYTES, _HALF = 4, 2  # of a number in a record's vector, in a message's

Loaded = Sequence[tuple[Spot, bytes]]


@dataclass(frozen=True, slots=True)
class Seen:
    """How far somebody has looked: the newest event and the newest message."""

    event: int
    message: int


@dataclass(frozen=True, slots=True)
class News:
    """What came since: what is to be placed, newest first. far: so much that everything has to be looked through."""

    seen: Seen
    items: tuple[Item, ...] = ()
    far: bool = False


class Shelves:
    """Reads and writes vectors of `models`, the one in use first."""

    def __init__(self, index: Index, meaning: Meaning, models: Sequence[str], policy: Policy) -> None:
        self._index = index
        self._meaning = meaning
        self._models = tuple(models)
        self._model = self._models[0]
        self._policy = policy

    def begin(self, connection: Connection) -> Seen:
        """Where things stand now, and what is known of the models."""
        self._index.catch_up(connection)
        for model in self._models:
            scale = known().get(model) or read(read_state(connection, _SCALE + model) or "")
            if scale is not None:
                self._meaning.settle_scale(model, scale)
        return Seen(store.last_event(connection), self.newest_turn())

    def newest_turn(self) -> int:
        """The newest message that the index knows."""
        return self._index.read(turn_vectors.newest, 0)

    def keep_scale(self, connection: Connection, model: str, scale: Scale) -> None:
        """Remember what the cosines of a model mean."""
        write_state(connection, _SCALE + model, scale.told())

    # ── loading ──────────────────────────────────────────────────────────────────────────────────────────────────

    def load_records(self, connection: Connection, high: int) -> None:
        """Hold the vectors of a page of records, up to the number `high`."""
        placed = vector_rows.between(connection, high - self._policy.meaning.page, high)
        for model in self._models:
            rows = [(_spot(e), e.embedding) for e in placed if e.model == model]
            self._put(model, rows, self._meaning.put_records, _BYTES)

    def load_turns(self, _: Connection, high: int) -> None:
        """Hold the vectors of a page of messages, up to the number `high`."""
        none: list[PlacedTurn] = []
        low = high - self._policy.meaning.page
        placed = self._index.read(partial(turn_vectors.between, low=low, high=high), none)
        for model in self._models:
            rows = [(Spot(each.message, each.scope), each.embedding) for each in placed if each.model == model]
            self._put(model, rows, self._meaning.put_turns, _HALF)

    def _put(self, model: str, rows: Loaded, put: Callable[..., None], width: int) -> None:
        """Hold those vectors that can be read: all of one size, and beside what there is."""
        sizes = {len(embedding) for _, embedding in rows if embedding and not len(embedding) % width}
        for size in sizes:
            if self._meaning.fits(model, size // width):
                some = [(spot, embedding) for spot, embedding in rows if len(embedding) == size]
                vectors = rows_of([embedding for _, embedding in some], half=width == _HALF)
                fit = sound(vectors)
                put(model, [spot for (spot, _), good in zip(some, fit, strict=True) if good], vectors[fit])

    # ── what is to be placed ─────────────────────────────────────────────────────────────────────────────────────

    def news(self, connection: Connection, before: Seen) -> News:
        """What came since `before`, also from other processes. What is gone leaves, what was placed elsewhere comes."""
        self._index.catch_up(connection)
        now = Seen(max(before.event, store.last_event(connection)), max(before.message, self.newest_turn()))
        if now == before:
            return News(now)
        if vector_rows.purged(connection, before.event, now.event):
            self._meaning.forget_texts()
            for model in self._models:
                self._meaning.drop_turns(vector_rows.erased(connection, before.event, now.event), model)
        far = self._policy.meaning.far
        if now.event - before.event > far or now.message - before.message > far:
            return News(now, far=True)
        touched = store.touched_since(connection, before.event)
        standing = vector_rows.standing(connection, touched)
        for model in self._models:
            mine = [(_spot(e), e.embedding) for e in standing if e.model == model]
            here = {spot.number for spot, _ in mine}
            self._meaning.drop_records([number for number in touched if number not in here], model)
            self._put(model, mine, self._meaning.put_records, _BYTES)
        placed = {each.id for each in standing if each.model == self._model}
        missing = {each.id: each for each in standing if each.id not in placed}
        records = [Item(_spot(e), e.text, turn=False, new=True) for e in missing.values()]
        return News(now, (*records, *self.missing_turns(connection, before.message, now.message, new=True)))

    def missing_records(self, connection: Connection, high: int, dimensions: int) -> list[Item]:
        """What has no vector of the model in use in a page of records, up to the number `high`.

        dimensions: how many numbers such a vector has; 0 when that is not known yet.
        """
        page, size = self._policy.meaning.page, dimensions * _BYTES
        missing = vector_rows.missing(connection, self._model, high, page, size)
        return [Item(_spot(each), each.text, turn=False) for each in missing]

    def missing_turns(self, connection: Connection, low: int, high: int, *, new: bool = False) -> list[Item]:
        """The same of the messages above `low` up to `high`."""
        none: list[PlacedTurn] = []
        found = self._index.read(partial(turn_vectors.missing, model=self._model, low=low, high=high), none)
        texts = turn_vectors.texts(connection, [each.message for each in found])
        known = [each for each in found if each.message in texts]
        return [Item(Spot(each.message, each.scope), texts[each.message], turn=True, new=new) for each in known]

    # ── placing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def passages(self, items: Sequence[Item]) -> list[str]:
        """What of each is looked through."""
        return [passage_of(item.text, self._policy.meaning) for item in items]

    def find_content(self, connection: Connection, texts: Sequence[str]) -> None:
        """Have at hand what was placed before under another number: people repeat themselves."""
        digests = {digest(text): text for text in texts}
        whole = vector_rows.of_content(connection, self._model, list(digests))
        none: dict[bytes, bytes] = {}
        half = self._index.read(partial(turn_vectors.of_content, model=self._model, hashes=list(digests)), none)
        found = {key: rows_of([half[key]], half=True)[0] for key in half}
        found |= {key: rows_of([whole[key]])[0] for key in whole}
        fit = {key: row for key, row in found.items() if self._meaning.fits(self._model, len(row))}
        self._meaning.keep(self._model, "passage", [digests[key] for key in fit], list(fit.values()))

    def hold(self, items: Sequence[Item], rows: Mapping[str, Floats]) -> "Placed":
        """Let items be found by their vectors from now on. rows: of each passage. Returns what is to be written."""
        placed = Placed(self._model)
        for turn, put in ((False, self._meaning.put_records), (True, self._meaning.put_turns)):
            some = [
                (item, rows[text], digest(text))
                for item, text in zip(items, self.passages(items), strict=True)
                if item.turn == turn and text in rows and self._meaning.fits(self._model, len(rows[text]))
            ]
            if not some:
                continue
            put(self._model, [item.spot for item, _, _ in some], stacked([row for _, row, _ in some]))
            if turn:
                placed.turns = [(item.spot.number, key, stored(row, half=True)) for item, row, key in some]
            else:
                placed.records = [(e.spot.number, e.spot.scope, e.text, key, stored(row)) for e, row, key in some]
        return placed

    def write_turns(self, connection: Connection, placed: "Placed") -> None:
        """Keep the vectors of messages, in the side index."""
        if placed.turns:
            self._index.keep(connection, partial(turn_vectors.put, model=placed.model, rows=placed.turns))


def _spot(placed: vector_rows.Placed) -> Spot:
    return Spot(placed.id, placed.scope, placed.subject, placed.live)


class Placed:
    """Vectors to be written: of records with their scope, text, hash and bytes, of messages with hash and bytes."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.records: list[tuple[int, str, str, bytes, bytes]] = []
        self.turns: list[tuple[int, bytes, bytes]] = []

    def write_records(self, connection: Connection) -> None:
        """Keep the vectors of records, inside a transaction."""
        vector_rows.put(connection, self.model, self.records)
