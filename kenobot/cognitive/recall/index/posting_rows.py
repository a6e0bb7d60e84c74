"""Rows of the side index: postings lists of words, in FTS5, and counts of documents.

Words of different scopes and kinds are different tokens (`7·dog` is a dog of partition 7), so that no list has to be
filtered by scope, and how rare a word is says nothing about other people's memory.
"""

import json
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kenobot.cognitive.recall.index.documents import (
    IDS_PER_SOURCE,
    TURN_OFFSET,
    Document,
    DocumentKind,
    RecordDocuments,
)
from kenobot.cognitive.store.records import AMONG
from kenobot.storage.connection import Connection

VERSION = 8
"""Version of tables and terms: an index of another one is made anew."""

UNREADABLE = "the words of a document cannot be read"
"""Message of the error of a damaged index."""

_ERASED, _MERGED = "erased", "merged"  # names of cursors; the second is of as many documents as there were then
_STEP = 200  # pages that are merged at a time: some hundredths of a second
_WORKED = 2  # FTS5 counts two changes for a merge that found something to do
_MANY = 8  # segments of FTS5
_LONG = 512  # characters: shorter texts gain little by compression
_GROWN, _WORTH_IT = 1.25, 1000  # growth of an index, and documents

SCHEMA = """
CREATE TABLE room (id INTEGER PRIMARY KEY, scope TEXT NOT NULL, kind TEXT NOT NULL, docs INTEGER NOT NULL DEFAULT 0,
                   words INTEGER NOT NULL DEFAULT 0, UNIQUE (scope, kind));
CREATE TABLE doc (id INTEGER PRIMARY KEY, room INTEGER NOT NULL, terms NOT NULL);
CREATE TABLE term (token TEXT PRIMARY KEY, docs INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE name (scope TEXT NOT NULL, name TEXT NOT NULL, subject TEXT NOT NULL, record INTEGER NOT NULL,
                   PRIMARY KEY (scope, name, subject, record)) WITHOUT ROWID;
CREATE INDEX name_record ON name (record);
CREATE TABLE told (inbox INTEGER NOT NULL, record INTEGER NOT NULL, PRIMARY KEY (inbox, record)) WITHOUT ROWID;
CREATE INDEX told_record ON told (record);
CREATE TABLE vector_model (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE turn_embedding (message INTEGER NOT NULL, model INTEGER NOT NULL, embedding BLOB NOT NULL,
                             hash BLOB NOT NULL, PRIMARY KEY (message, model));
CREATE INDEX turn_embedding_content ON turn_embedding (hash, model);
CREATE VIEW turn_vector AS SELECT message, name AS model, embedding, hash FROM turn_embedding
  JOIN vector_model ON vector_model.id = turn_embedding.model;
CREATE VIRTUAL TABLE list USING fts5 (terms, content = '', detail = none, tokenize = "ascii tokenchars '.&/_-+#'");
"""

_PARTITION = "id, scope, kind, docs, words"


class Partition(NamedTuple):
    """The documents of one kind in one scope, counted, and their words."""

    id: int
    scope: str
    kind: DocumentKind
    docs: int
    words: int

    def token(self, term: str) -> str:
        """Return a term as a token of this partition."""
        return f"{self.id}·{term}"


# ── search ───────────────────────────────────────────────────────────────────────────────────────────────────────


def partitions(connection: Connection, scopes: Sequence[str] | None, kinds: Sequence[DocumentKind]) -> list[Partition]:
    """Read the partitions of these kinds in `scopes` (None: in all) that hold anything."""
    rows = connection.execute(
        f"SELECT {_PARTITION} FROM room WHERE docs > 0 AND kind {AMONG} AND (? IS NULL OR scope {AMONG})",
        (json.dumps(kinds), None if scopes is None else 1, json.dumps(scopes)),
    )
    return list(map(Partition._make, rows))


def all_partitions(connection: Connection) -> list[Partition]:
    """Read every partition, also empty ones."""
    return list(map(Partition._make, connection.execute(f"SELECT {_PARTITION} FROM room")))


def document_counts(connection: Connection, tokens: Sequence[str]) -> dict[str, int]:
    """Count the documents with each of `tokens`; those in none are left out."""
    rows = connection.execute(f"SELECT token, docs FROM term WHERE docs > 0 AND token {AMONG}", (json.dumps(tokens),))
    return dict(rows.fetchall())


def documents_with(connection: Connection, groups: Sequence[Sequence[str]], limit: int) -> list[int]:
    """Search the newest documents with a token of each of `groups`, at most `limit`."""
    match = " AND ".join(f"({' OR '.join(map(_quote, tokens))})" for tokens in groups)
    row = connection.execute(  # as one text: a row of its own for each would cost as much as finding them
        "SELECT json_group_array(rowid) FROM (SELECT rowid FROM list WHERE list MATCH ? ORDER BY rowid DESC LIMIT ?)",
        (match, limit),
    ).fetchone()
    return sorted(json.loads(row[0]), reverse=True)


def document_terms(connection: Connection, documents: Sequence[int]) -> list[tuple[int, int, list[str]]]:
    """Read the id, the partition and the terms of each of these documents."""
    return [(document, room, text.split(" ")) for document, room, text in document_texts(connection, documents)]


def document_texts(connection: Connection, documents: Sequence[int]) -> list[tuple[int, int, str]]:
    """Read the id, the partition and the terms of each of these documents, the terms as one text with blanks."""
    rows = connection.execute(f"SELECT id, room, terms FROM doc WHERE id {AMONG}", (json.dumps(documents),))
    return [(row[0], row[1], _unpack(row[2])) for row in rows]


def rare_term_counts(connection: Connection, messages: Sequence[int], up_to: int) -> dict[int, int]:
    """Count the terms of each of these turns that no more than `up_to` turns of its scope have."""
    found = {
        document // IDS_PER_SOURCE: {f"{partition}·{term}" for term in terms}
        for document, partition, terms in _turn_terms(connection, messages)
    }
    docs = document_counts(connection, list(set[str]().union(*found.values())))
    rare = {token for token, count in docs.items() if count <= up_to}
    return {message: len(tokens & rare) for message, tokens in found.items()}


def _turn_terms(connection: Connection, messages: Iterable[int]) -> list[tuple[int, int, list[str]]]:
    return document_terms(connection, [message * IDS_PER_SOURCE + TURN_OFFSET for message in messages])


def record_terms(connection: Connection, records: Sequence[int]) -> dict[int, frozenset[str]]:
    """Read the terms of each of these live records."""
    rows = document_terms(connection, [record * IDS_PER_SOURCE for record in records])
    return {document // IDS_PER_SOURCE: frozenset(terms) for document, _, terms in rows}


def subjects_named(connection: Connection, scopes: Sequence[str] | None, names: Sequence[str]) -> set[str]:
    """Search the subjects with one of these names, as records write them."""
    if scopes is None:
        scopes = [row[0] for row in connection.execute("SELECT DISTINCT scope FROM room")]
    found: set[str] = set()
    for scope in scopes:
        rows = connection.execute(
            f"SELECT min(subject), max(subject) FROM name WHERE scope = ? AND name {AMONG} GROUP BY name",
            (scope, json.dumps(names)),
        )
        found.update(*rows)
    return found


def records_by_turn(connection: Connection, inboxes: Sequence[int]) -> dict[int, list[int]]:
    """Read the records that were learned from each of these turns."""
    found: dict[int, list[int]] = {}
    for inbox, record in connection.execute(
        f"SELECT inbox, record FROM told WHERE inbox {AMONG}", (json.dumps(inboxes),)
    ):
        found.setdefault(inbox, []).append(record)
    return found


# ── indexing ─────────────────────────────────────────────────────────────────────────────────────────────────────


def write_documents(
    connection: Connection, entries: Sequence[RecordDocuments], turns: Sequence[tuple[int, Document | None]]
) -> None:
    """Replace the documents of these records and messages; those that did not change stay as they are."""
    wanted = {document.id: document for entry in entries for document in entry.documents}
    wanted |= {document.id: document for _, document in turns if document is not None}
    stored = _read_stored(connection, [entry.record for entry in entries], [number for number, _ in turns])
    known = {partition.id: partition for partition in all_partitions(connection)} if stored else {}
    same = {
        number
        for number, (partition, terms) in stored.items()
        if (document := wanted.get(number)) is not None
        and terms == list(document.terms)
        and (known[partition].scope, known[partition].kind) == (document.scope, document.kind)
    }
    gone = {number: row for number, row in stored.items() if number not in same}
    if gone:
        _remove(connection, gone)
        outdated = json.dumps([number // IDS_PER_SOURCE for number in gone if number % IDS_PER_SOURCE == TURN_OFFSET])
        connection.execute(f"DELETE FROM turn_embedding WHERE message {AMONG}", (outdated,))
    _add(connection, [wanted[number] for number in sorted(wanted.keys() - same)])
    if not entries:  # as after most turns
        return
    ids = json.dumps([entry.record for entry in entries])
    for table in ("name", "told"):
        connection.execute(f"DELETE FROM {table} WHERE record {AMONG}", (ids,))
    connection.executemany(
        "INSERT OR IGNORE INTO name (scope, name, subject, record) VALUES (?, ?, ?, ?)",
        [(name.scope, name.name, name.subject, entry.record) for entry in entries for name in entry.names],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO told (inbox, record) VALUES (?, ?)",
        [(inbox, entry.record) for entry in entries for inbox in entry.witnesses],
    )


def _read_stored(
    connection: Connection, records: Iterable[int], messages: Iterable[int]
) -> dict[int, tuple[int, list[str]]]:
    """Return the partition and the terms of each stored document of these records and messages."""
    rows = connection.execute(
        "SELECT doc.id, room, terms FROM json_each(?) AS first CROSS JOIN doc "
        "ON doc.id >= first.value AND doc.id < first.value + ?",
        (json.dumps([record * IDS_PER_SOURCE for record in records]), TURN_OFFSET),
    )
    found = {row[0]: (row[1], _unpack(row[2]).split(" ")) for row in rows}
    turns = _turn_terms(connection, messages)
    return found | {document: (partition, terms) for document, partition, terms in turns}


def _remove(connection: Connection, stored: Mapping[int, tuple[int, list[str]]]) -> None:
    for number, (partition, terms) in sorted(stored.items()):
        connection.execute(
            "INSERT INTO list (list, rowid, terms) VALUES ('delete', ?, ?)", (number, _tokens(partition, terms))
        )
        connection.execute("DELETE FROM doc WHERE id = ?", (number,))
    _count(connection, list(stored.values()), -1)


def _add(connection: Connection, documents: Sequence[Document]) -> None:
    """Add documents, lowest id first: FTS5 writes a segment each time that ids go back."""
    added = [(document, _partition(connection, document)) for document in documents]
    connection.executemany(
        "INSERT INTO list (rowid, terms) VALUES (?, ?)",
        [(document.id, _tokens(partition, document.terms)) for document, partition in added],
    )
    connection.executemany(
        "INSERT INTO doc (id, room, terms) VALUES (?, ?, ?)",
        [(document.id, partition, _pack(document.terms)) for document, partition in added],
    )
    _count(connection, [(partition, document.terms) for document, partition in added], 1)


def _partition(connection: Connection, document: Document) -> int:
    row = connection.execute(
        "SELECT id FROM room WHERE scope = ? AND kind = ?", (document.scope, document.kind)
    ).fetchone()
    if row is None:
        cursor = connection.execute("INSERT INTO room (scope, kind) VALUES (?, ?)", (document.scope, document.kind))
        assert cursor.lastrowid is not None
        return cursor.lastrowid
    return int(row[0])


def _count(connection: Connection, documents: Sequence[tuple[int, Sequence[str]]], sign: int) -> None:
    """Count documents, each with its partition and terms, that came (1) or went (-1)."""
    tokens: Counter[str] = Counter()
    docs: Counter[int] = Counter()
    words: Counter[int] = Counter()
    for partition, terms in documents:
        tokens.update({f"{partition}·{term}" for term in terms})
        docs[partition] += sign
        words[partition] += sign * len(terms)
    connection.executemany(
        "INSERT INTO term (token, docs) VALUES (?, ?) ON CONFLICT (token) DO UPDATE SET docs = docs + excluded.docs",
        [(token, sign * count) for token, count in tokens.items()],
    )
    if sign < 0:
        connection.execute(f"DELETE FROM term WHERE docs <= 0 AND token {AMONG}", (json.dumps(list(tokens)),))
    connection.executemany(
        "UPDATE room SET docs = docs + ?, words = words + ? WHERE id = ?",
        [(docs[partition], words[partition], partition) for partition in docs],
    )


def _tokens(partition: int, terms: Sequence[str]) -> str:
    return " ".join(f"{partition}·{term}" for term in terms)


def _pack(terms: Sequence[str]) -> str | bytes:
    """Encode the terms of a document; those of a long one are compressed, or they take the room of its text."""
    text = " ".join(terms)
    return text if len(text) < _LONG else zlib.compress(text.encode())


def _unpack(stored: str | bytes) -> str:
    """Decompress the terms of a document to one text with blanks. Raises DatabaseError when they are damaged."""
    try:
        return stored if isinstance(stored, str) else zlib.decompress(stored).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise sqlite3.DatabaseError(UNREADABLE) from error


def _quote(token: str) -> str:
    return f'"{token}"'


# ── merging ──────────────────────────────────────────────────────────────────────────────────────────────────────
#
# Each write leaves a segment of its own, and each search reads every segment. FTS5 merges some of them as it writes;
# the rest is merged in the background: all of them when the index has grown, or when words were erased, which stay
# until their segment is written anew.


def request_full_merge(index: Connection) -> None:
    """Mark that words were erased."""
    index.execute("INSERT OR REPLACE INTO cursor (name, at) VALUES (?, 1)", (_ERASED,))


def is_full_merge_due(index: Connection) -> bool:
    """Return whether all of the segments are to be merged."""
    docs = _documents(index)
    return bool(_place(index, _ERASED)) or (docs >= _WORTH_IT and docs >= _GROWN * _place(index, _MERGED))


def segment_count(index: Connection) -> int:
    """Count the segments of FTS5."""
    return int(index.execute("SELECT count(DISTINCT segid) FROM list_idx").fetchone()[0])


def merge_step(index: Connection) -> bool:
    """Merge a little; return whether there is more to do."""
    if is_full_merge_due(index):
        if _merge(index, -_STEP):
            return True
        index.execute("INSERT OR REPLACE INTO cursor (name, at) VALUES (?, ?)", (_MERGED, _documents(index)))
        if _place(index, _ERASED):
            index.execute("DELETE FROM cursor WHERE name = ?", (_ERASED,))
            index.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return False
    return segment_count(index) > _MANY and _merge(index, _STEP)


def _merge(index: Connection, pages: int) -> bool:
    """Write so many pages, below 0 of a full merge; return whether there was anything to merge."""
    before = index.total_changes
    index.execute("INSERT INTO list (list, rank) VALUES ('merge', ?)", (pages,))
    return index.total_changes - before >= _WORKED


def _documents(index: Connection) -> int:
    return int(index.execute("SELECT coalesce(sum(docs), 0) FROM room").fetchone()[0])


def _place(index: Connection, name: str) -> int:
    row = index.execute("SELECT at FROM cursor WHERE name = ?", (name,)).fetchone()
    return int(row[0]) if row else 0
