"""Rows of the table of turn vectors, which stands in the side index: they can be made again at any time."""

from collections.abc import Sequence

from kenobot.cognitive.recall.index.documents import IDS_PER_SOURCE, TURN_OFFSET
from kenobot.cognitive.recall.vectors.texts import StoredVector, VectorKey
from kenobot.storage import conversation
from kenobot.storage.connection import Connection


def newest(index: Connection) -> int:
    """The number of the newest message that the index knows, 0 when there is none."""
    row = index.execute("SELECT max(id) FROM doc WHERE id % ? = ?", (IDS_PER_SOURCE, TURN_OFFSET)).fetchone()
    return int(row[0] or 0) // IDS_PER_SOURCE


def between(index: Connection, low: int, high: int) -> list[StoredVector]:
    """The messages above `low` up to `high` that have vectors."""
    rows = index.execute(
        "SELECT message, scope, model, embedding FROM turn_vector JOIN doc ON doc.id = message * ? + ? "
        "JOIN room ON room.id = doc.room WHERE message > ? AND message <= ?",
        (IDS_PER_SOURCE, TURN_OFFSET, low, high),
    )
    return [StoredVector(VectorKey(row[0], row[1]), "", row[2], row[3]) for row in rows]


def missing(index: Connection, model: str, low: int, high: int) -> list[StoredVector]:
    """The messages above `low` up to `high` without a vector of `model`, newest first."""
    rows = index.execute(
        "SELECT (doc.id - ?2) / ?1, scope FROM doc JOIN room ON room.id = doc.room "
        "WHERE doc.id > ?3 * ?1 + ?2 AND doc.id <= ?4 * ?1 + ?2 AND doc.id % ?1 = ?2 AND NOT EXISTS "
        "(SELECT 1 FROM turn_vector WHERE message = (doc.id - ?2) / ?1 AND model = ?5) ORDER BY doc.id DESC",
        (IDS_PER_SOURCE, TURN_OFFSET, low, high, model),
    )
    return [StoredVector(VectorKey(*row)) for row in rows]


def texts(truth: Connection, messages: Sequence[int]) -> dict[int, str]:
    """What these messages say; those that are gone or blank are left out."""
    return {row.id: row.text for row in conversation.messages_by_id(truth, messages) if row.text.strip()}


def write_vectors(index: Connection, model: str, rows: Sequence[tuple[int, bytes, bytes]]) -> None:
    """Keep vectors of messages, each with the hash of its text. Those of other models have served."""
    index.executemany(
        "INSERT OR REPLACE INTO turn_vector (message, model, embedding, hash) VALUES (?, ?, ?, ?)",
        [(message, model, embedding, digest) for message, digest, embedding in rows],
    )
    index.executemany(
        "DELETE FROM turn_vector WHERE message = ? AND model != ?", [(message, model) for message, _, _ in rows]
    )


def count(index: Connection, model: str) -> tuple[int, int]:
    """How many messages the index knows, and how many of them have a vector of `model`."""
    known = index.execute("SELECT coalesce(sum(docs), 0) FROM room WHERE kind = 'turn'").fetchone()[0]
    placed = index.execute("SELECT count(*) FROM turn_vector WHERE model = ?", (model,)).fetchone()[0]
    return int(known), int(placed)
