"""Rows of the table of vectors: which records have one, by which model, and which are still to be placed."""

import json
from collections.abc import Iterable, Sequence
from typing import Literal

from kenobot.cognitive.recall.index.documents import SEARCHABLE_FORMS
from kenobot.cognitive.recall.vectors.texts import StoredVector, VectorKey
from kenobot.cognitive.store.scopes import ALL_SCOPES, Scopes, scope_filter
from kenobot.storage.connection import Connection

VectorTable = Literal["vector", "turn_vector"]

_FORMS = json.dumps(sorted(SEARCHABLE_FORMS))
# The note of a conversation is found as the turns that it is made of.
_KIND = (
    "record.form IN (SELECT value FROM json_each(?)) AND NOT (record.form = 'summary' AND record.category = 'session')"
)
_LIVE = f"record.status = 'active' AND {_KIND}"
_LEADING = (
    "(record.status = 'active' OR record.status IN ('superseded', 'invalidated') AND EXISTS "
    f"(SELECT 1 FROM link WHERE dst = record.id AND type = 'supersedes')) AND {_KIND}"
)
"""Also what another took the place of: a question for what it said is a question for that other."""


def between(connection: Connection, low: int, high: int) -> list[StoredVector]:
    """The findable records above `low` up to `high` that have vectors, a row for each vector, without their texts."""
    where, _ = scope_filter(ALL_SCOPES)  # they are kept by scope, and found within one
    rows = connection.execute(
        "SELECT record.id, scope, subject, '', record.status = 'active', model, embedding FROM record "
        f"JOIN vector ON record_id = record.id WHERE record.id > ? AND record.id <= ? AND {_LEADING} AND +{where}",
        (low, high, _FORMS),
    )
    return [_stored(*row) for row in rows]


def vectors_of(connection: Connection, records: Iterable[int]) -> list[StoredVector]:
    """Those of `records` that can be found, newest first, a row for each vector, and one for each without any."""
    where, _ = scope_filter(ALL_SCOPES)
    rows = connection.execute(
        "SELECT record.id, scope, subject, text, record.status = 'active', coalesce(model, ''), "
        "coalesce(embedding, x'') FROM record LEFT JOIN vector ON record_id = record.id "
        f"WHERE record.id IN (SELECT value FROM json_each(?)) AND {_LEADING} AND +{where} ORDER BY record.id DESC",
        (json.dumps(list(records)), _FORMS),
    )
    return [_stored(*row) for row in rows]


def missing(connection: Connection, model: str, high: int, width: int, size: int) -> list[StoredVector]:
    """The records that can be found among the `width` numbers up to `high` without a vector of `model`, newest first.

    size: the bytes that a vector has; one of another size is none. 0: of any.
    """
    where, _ = scope_filter(ALL_SCOPES)
    rows = connection.execute(
        "SELECT record.id, scope, subject, text, record.status = 'active' FROM record "
        f"WHERE record.id > ? AND record.id <= ? AND {_LEADING} AND +{where} AND NOT EXISTS "
        "(SELECT 1 FROM vector WHERE record_id = record.id AND model = ? AND (? = 0 OR length(embedding) = ?)) "
        "ORDER BY record.id DESC",
        (high - width, high, _FORMS, model, size, size),
    )
    return [_stored(*row) for row in rows]


def vectors_by_hash(
    connection: Connection, table: VectorTable, model: str, hashes: Sequence[bytes]
) -> dict[bytes, bytes]:
    """Vectors of `model` that were made of texts with these hashes, wherever they stand."""
    found: dict[bytes, bytes] = {}
    for digest in hashes:
        row = connection.execute(
            f"SELECT embedding FROM {table} WHERE hash = ? AND model = ? AND hash != x'' LIMIT 1", (digest, model)
        ).fetchone()
        if row is not None:
            found[digest] = bytes(row[0])
    return found


def write_vectors(connection: Connection, model: str, rows: Sequence[tuple[int, str, str, bytes, bytes]]) -> None:
    """Keep vectors of records, each with its scope, the text it was made of, that text's hash, and its bytes.

    Only of a record that still says so: what was changed, forgotten or erased meanwhile gets none. The vectors of other
    models have served.
    """
    for record, scope, text, digest, embedding in rows:
        cursor = connection.execute(
            "INSERT INTO vector (record_id, model, embedding, hash) SELECT id, ?, ?, ? FROM record "
            "WHERE id = ? AND scope = ? AND text = ? AND status IN ('active', 'superseded', 'invalidated') "
            "ON CONFLICT (record_id, model) DO UPDATE SET embedding = excluded.embedding, hash = excluded.hash",
            (model, embedding, digest, record, scope, text),
        )
        if cursor.rowcount:
            connection.execute("DELETE FROM vector WHERE record_id = ? AND model != ?", (record, model))


def _stored(
    number: int, scope: str, subject: str, text: str, live: int, model: str = "", embedding: bytes = b""
) -> StoredVector:
    return StoredVector(VectorKey(number, scope, subject, bool(live)), text, model, embedding)


def models(connection: Connection, table: VectorTable = "vector") -> list[str]:
    """The models that there are vectors of."""
    return [row[0] for row in connection.execute(f"SELECT DISTINCT model FROM {table}")]


def count(connection: Connection, reach: Scopes, model: str) -> tuple[int, int]:
    """How many live records within `reach` can be found by meaning, and how many of them have a vector of `model`."""
    where, scopes = scope_filter(reach)
    row = connection.execute(
        "SELECT count(*), count(model) FROM record LEFT JOIN vector ON record_id = record.id AND model = ? "
        f"WHERE {_LIVE} AND {where}",
        (model, _FORMS, *scopes),
    ).fetchone()
    return int(row[0]), int(row[1])
