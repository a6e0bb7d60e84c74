"""Rows of the tables of vectors: `vector` of records, in the database, and `turn_vector`, in the side index."""

import json
from collections.abc import Iterable, Sequence
from typing import Literal

from kenobot.cognitive.recall.index.documents import IDS_PER_SOURCE, SEARCHABLE_FORMS, TURN_OFFSET
from kenobot.cognitive.recall.vectors.texts import EmbeddedText, PendingText, StoredVector, VectorKey
from kenobot.cognitive.store.records import AMONG
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES, Scopes, scope_filter

VectorTable = Literal["vector", "turn_vector"]

_FORMS = json.dumps(sorted(SEARCHABLE_FORMS))
# The note of a conversation is found as the turns that it is made of.
_KIND = f"record.form {AMONG} AND NOT (record.form = 'summary' AND record.category = 'session')"
_LIVE = f"record.status = 'active' AND {_KIND}"
_LEADING = (
    "(record.status = 'active' OR record.status IN ('superseded', 'invalidated') AND EXISTS "
    f"(SELECT 1 FROM link WHERE dst = record.id AND type = 'supersedes')) AND {_KIND}"
)
"""Also superseded records: a question for one of them is a question for its successor."""
_KEY = "record.id, scope, subject, record.status = 'active'"


# ── of both ──────────────────────────────────────────────────────────────────────────────────────────────────────


def vectors_by_hash(
    connection: Connection, table: VectorTable, model: str, hashes: Sequence[bytes]
) -> dict[bytes, bytes]:
    """Read a vector of `model` for each of these hashes of texts, wherever one stands."""
    found: dict[bytes, bytes] = {}
    for digest in hashes:
        row = connection.execute(
            f"SELECT embedding FROM {table} WHERE hash = ? AND model = ? AND hash != x'' LIMIT 1", (digest, model)
        ).fetchone()
        if row is not None:
            found[digest] = bytes(row[0])
    return found


def models(connection: Connection, table: VectorTable = "vector") -> list[str]:
    """List the models with stored vectors."""
    return [row[0] for row in connection.execute(f"SELECT DISTINCT model FROM {table}")]


# ── of records ───────────────────────────────────────────────────────────────────────────────────────────────────


def record_vectors(connection: Connection, low: int, high: int) -> list[StoredVector]:
    """Read the vectors of searchable records above `low` up to `high`, without texts."""
    where, _ = scope_filter(ALL_SCOPES)  # they are kept by scope, and searched within one
    rows = connection.execute(
        f"SELECT {_KEY}, model, embedding FROM record JOIN vector ON record_id = record.id "
        f"WHERE record.id > ? AND record.id <= ? AND {_LEADING} AND +{where}",
        (low, high, _FORMS),
    )
    return [StoredVector(_key(*row[:4]), "", *row[4:]) for row in rows]


def vectors_of(connection: Connection, records: Iterable[int]) -> list[StoredVector]:
    """Read the vectors of the searchable among `records`, newest first, and a row for each without any."""
    where, _ = scope_filter(ALL_SCOPES)
    rows = connection.execute(
        f"SELECT {_KEY}, text, coalesce(model, ''), coalesce(embedding, x'') FROM record "
        f"LEFT JOIN vector ON record_id = record.id WHERE record.id {AMONG} AND {_LEADING} AND +{where} "
        "ORDER BY record.id DESC",
        (json.dumps(list(records)), _FORMS),
    )
    return [StoredVector(_key(*row[:4]), *row[4:]) for row in rows]


def missing_records(connection: Connection, model: str, high: int, width: int, size: int) -> list[PendingText]:
    """Read the searchable records among the `width` ids up to `high` without a vector of `model`, newest first.

    size: of a vector, in bytes; one of another size is none. 0: of any.
    """
    where, _ = scope_filter(ALL_SCOPES)
    rows = connection.execute(
        f"SELECT {_KEY}, text FROM record WHERE record.id > ? AND record.id <= ? AND {_LEADING} AND +{where} "
        "AND NOT EXISTS (SELECT 1 FROM vector WHERE record_id = record.id AND model = ? "
        "AND (? = 0 OR length(embedding) = ?)) ORDER BY record.id DESC",
        (high - width, high, _FORMS, model, size, size),
    )
    return [PendingText(_key(*row[:4]), row[4], is_turn=False) for row in rows]


def write_records(connection: Connection, model: str, rows: Iterable[EmbeddedText]) -> None:
    """Write the vectors of records that still have this text, inside a transaction; drop those of other models."""
    for row in rows:
        key = row.item.key
        cursor = connection.execute(
            "INSERT INTO vector (record_id, model, embedding, hash) SELECT id, ?, ?, ? FROM record "
            "WHERE id = ? AND scope = ? AND text = ? AND status IN ('active', 'superseded', 'invalidated') "
            "ON CONFLICT (record_id, model) DO UPDATE SET embedding = excluded.embedding, hash = excluded.hash",
            (model, row.embedding, row.hash, key.number, key.scope, row.item.text),
        )
        if cursor.rowcount:
            connection.execute("DELETE FROM vector WHERE record_id = ? AND model != ?", (key.number, model))


def count_records(connection: Connection, reach: Scopes, model: str) -> tuple[int, int]:
    """Count the live searchable records within `reach`, and those of them with a vector of `model`."""
    where, scopes = scope_filter(reach)
    row = connection.execute(
        "SELECT count(*), count(model) FROM record LEFT JOIN vector ON record_id = record.id AND model = ? "
        f"WHERE {_LIVE} AND {where}",
        (model, _FORMS, *scopes),
    ).fetchone()
    return int(row[0]), int(row[1])


def _key(number: int, scope: str, subject: str, live: int) -> VectorKey:
    return VectorKey(number, scope, subject, bool(live))


# ── of turns, in the side index ──────────────────────────────────────────────────────────────────────────────────


def newest_turn(index: Connection) -> int:
    """Return the id of the newest indexed message, 0 when there is none.

    Records may have higher ids than all messages: the search begins at the newest message that was read.
    """
    row = index.execute(
        "SELECT max(id) FROM doc WHERE id % :ids = :turn "
        "AND id <= (SELECT at FROM cursor WHERE name = 'message') * :ids + :turn",
        {"ids": IDS_PER_SOURCE, "turn": TURN_OFFSET},
    ).fetchone()
    return int(row[0] or 0) // IDS_PER_SOURCE


def turn_vectors(index: Connection, low: int, high: int) -> list[StoredVector]:
    """Read the vectors of messages above `low` up to `high`."""
    rows = index.execute(
        "SELECT message, scope, model, embedding FROM turn_vector JOIN doc ON doc.id = message * ? + ? "
        "JOIN room ON room.id = doc.room WHERE message > ? AND message <= ?",
        (IDS_PER_SOURCE, TURN_OFFSET, low, high),
    )
    return [StoredVector(VectorKey(*row[:2]), "", *row[2:]) for row in rows]


def missing_turns(index: Connection, model: str, low: int, high: int) -> list[VectorKey]:
    """Read the indexed messages above `low` up to `high` without a vector of `model`, newest first."""
    rows = index.execute(
        "SELECT (doc.id - :turn) / :ids, scope FROM doc JOIN room ON room.id = doc.room "
        "WHERE doc.id > :low * :ids + :turn AND doc.id <= :high * :ids + :turn AND doc.id % :ids = :turn "
        "AND NOT EXISTS (SELECT 1 FROM turn_vector WHERE message = (doc.id - :turn) / :ids AND model = :model) "
        "ORDER BY doc.id DESC",
        {"ids": IDS_PER_SOURCE, "turn": TURN_OFFSET, "low": low, "high": high, "model": model},
    )
    return [VectorKey(*row) for row in rows]


def write_turns(index: Connection, model: str, rows: Sequence[tuple[int, bytes, bytes]]) -> None:
    """Write vectors of messages, each with the hash of its text; drop those of other models."""
    index.execute("INSERT OR IGNORE INTO vector_model (name) VALUES (?)", (model,))
    (number,) = index.execute("SELECT id FROM vector_model WHERE name = ?", (model,)).fetchone()
    index.executemany(
        "INSERT OR REPLACE INTO turn_embedding (message, model, embedding, hash) VALUES (?, ?, ?, ?)",
        [(message, number, embedding, digest) for message, digest, embedding in rows],
    )
    index.executemany(
        "DELETE FROM turn_embedding WHERE message = ? AND model != ?", [(message, number) for message, _, _ in rows]
    )


def count_turns(index: Connection, model: str) -> tuple[int, int]:
    """Count the indexed messages, and those of them with a vector of `model`."""
    turns = index.execute("SELECT coalesce(sum(docs), 0) FROM room WHERE kind = 'turn'").fetchone()[0]
    embedded = index.execute("SELECT count(*) FROM turn_vector WHERE model = ?", (model,)).fetchone()[0]
    return int(turns), int(embedded)
