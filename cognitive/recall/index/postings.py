"""The tables of the side index: which documents hold which word. SQLite's FTS5 keeps the lists, ours are the counts.

Words of different scopes and kinds are different tokens (`7·dog` is a dog of room 7), so that no list has to be
sifted for what a reader may see, and how rare a word is says nothing about other people's memory.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kenobot.cognitive.recall.index.documents import (
    IDS_PER_SOURCE,
    TURN_OFFSET,
    Document,
    DocumentKind,
    RecordDocuments,
)
from kenobot.storage.connection import Connection

VERSION = 3
"""Counts up when the tables or the way words are found change: an index of another version is made anew."""

SCHEMA = """
CREATE TABLE room (id INTEGER PRIMARY KEY, scope TEXT NOT NULL, kind TEXT NOT NULL, docs INTEGER NOT NULL DEFAULT 0,
                   words INTEGER NOT NULL DEFAULT 0, UNIQUE (scope, kind));
CREATE TABLE doc (id INTEGER PRIMARY KEY, room INTEGER NOT NULL, terms TEXT NOT NULL);
CREATE TABLE term (token TEXT PRIMARY KEY, docs INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE name (scope TEXT NOT NULL, name TEXT NOT NULL, subject TEXT NOT NULL, record INTEGER NOT NULL,
                   PRIMARY KEY (scope, name, subject, record)) WITHOUT ROWID;
CREATE INDEX name_record ON name (record);
CREATE TABLE told (inbox INTEGER NOT NULL, record INTEGER NOT NULL, PRIMARY KEY (inbox, record)) WITHOUT ROWID;
CREATE INDEX told_record ON told (record);
CREATE TABLE turn_vector (message INTEGER NOT NULL, model TEXT NOT NULL, embedding BLOB NOT NULL, hash BLOB NOT NULL,
                          PRIMARY KEY (message, model)) WITHOUT ROWID;
CREATE INDEX turn_vector_content ON turn_vector (hash, model);
CREATE TABLE gap (kind TEXT NOT NULL, low INTEGER NOT NULL, high INTEGER NOT NULL);
CREATE TABLE cursor (name TEXT PRIMARY KEY, at INTEGER NOT NULL, mark TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
CREATE VIRTUAL TABLE list USING fts5 (terms, content = '', detail = none, tokenize = "ascii tokenchars '.&/_-+#'");
"""


@dataclass(frozen=True, slots=True)
class Partition:
    """The documents of one kind in one scope. words: of all of them together."""

    id: int
    scope: str
    kind: DocumentKind
    docs: int
    words: int

    def token(self, term: str) -> str:
        """`term` as a word of this room."""
        return f"{self.id}·{term}"


def partitions(connection: Connection, scopes: Sequence[str] | None, kinds: Sequence[DocumentKind]) -> list[Partition]:
    """The rooms of these kinds that hold anything; `scopes` None means all of them."""
    rows = connection.execute(
        "SELECT id, scope, kind, docs, words FROM room WHERE docs > 0 AND kind IN (SELECT value FROM json_each(?)) "
        "AND (? IS NULL OR scope IN (SELECT value FROM json_each(?)))",
        (json.dumps(kinds), None if scopes is None else 1, json.dumps(scopes)),
    )
    return [Partition(*row) for row in rows]


def document_counts(connection: Connection, tokens: Sequence[str]) -> dict[str, int]:
    """In how many documents each of `tokens` stands; those in none are left out."""
    rows = connection.execute(
        "SELECT token, docs FROM term WHERE docs > 0 AND token IN (SELECT value FROM json_each(?))",
        (json.dumps(tokens),),
    )
    return dict(rows.fetchall())


def documents_with(connection: Connection, groups: Sequence[Sequence[str]], limit: int) -> list[int]:
    """The newest documents that hold a token of each of `groups`, at most `limit`."""
    match = " AND ".join(f"({' OR '.join(map(_quoted, tokens))})" for tokens in groups)
    row = connection.execute(  # as one text: a row of its own for each would cost as much as finding them
        "SELECT json_group_array(rowid) FROM (SELECT rowid FROM list WHERE list MATCH ? ORDER BY rowid DESC LIMIT ?)",
        (match, limit),
    ).fetchone()
    return sorted(json.loads(row[0]), reverse=True)


def document_terms(connection: Connection, documents: Sequence[int]) -> list[tuple[int, int, list[str]]]:
    """The room and the words of each of these documents."""
    rows = connection.execute(
        "SELECT id, room, terms FROM doc WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(documents),)
    )
    return [(row[0], row[1], row[2].split(" ")) for row in rows]


def record_terms(connection: Connection, records: Sequence[int]) -> dict[int, frozenset[str]]:
    """The words of each of these records as it stands, where the index knows it."""
    found = document_terms(connection, [record * IDS_PER_SOURCE for record in records])
    return {document // IDS_PER_SOURCE: frozenset(said) for document, _, said in found}


def subjects_named(connection: Connection, scopes: Sequence[str] | None, names: Sequence[str]) -> list[tuple[str, str]]:
    """Who is called one of `names`: the name, and the subject as records write it."""
    if scopes is None:
        scopes = [row[0] for row in connection.execute("SELECT DISTINCT scope FROM room")]
    found: dict[tuple[str, str], None] = {}
    for scope in scopes:
        rows = connection.execute(
            "SELECT name, min(subject), max(subject) FROM name "
            "WHERE scope = ? AND name IN (SELECT value FROM json_each(?)) GROUP BY name",
            (scope, json.dumps(names)),
        )
        for name, first, last in rows:
            found.update({(name, first): None, (name, last): None})
    return list(found)


def records_by_turn(connection: Connection, inboxes: Sequence[int]) -> dict[int, list[int]]:
    """The records that were learned from each of these turns."""
    found: dict[int, list[int]] = {}
    rows = connection.execute(
        "SELECT inbox, record FROM told WHERE inbox IN (SELECT value FROM json_each(?))", (json.dumps(inboxes),)
    )
    for inbox, record in rows:
        found.setdefault(inbox, []).append(record)
    return found


def write_documents(
    connection: Connection, entries: Sequence[RecordDocuments], turns: Sequence[tuple[int, Document | None]]
) -> None:
    """Make the index say of these records and messages what `entries` and `turns` say; nothing, for what is gone."""
    wanted = {document.id: document for entry in entries for document in entry.documents}
    wanted |= {document.id: document for _, document in turns if document is not None}
    held = _held(connection, [entry.record for entry in entries], [number for number, _ in turns])
    known = {room.id: room for room in all_partitions(connection)}
    same = {
        number
        for number, (room, terms) in held.items()
        if number in wanted
        and terms == " ".join(wanted[number].terms)
        and (known[room].scope, known[room].kind) == (wanted[number].scope, wanted[number].kind)
    }
    gone = {number: row for number, row in held.items() if number not in same}
    _remove(connection, gone)
    outdated = json.dumps([number // IDS_PER_SOURCE for number in gone if number % IDS_PER_SOURCE == TURN_OFFSET])
    connection.execute("DELETE FROM turn_vector WHERE message IN (SELECT value FROM json_each(?))", (outdated,))
    _add(connection, [wanted[number] for number in sorted(wanted.keys() - same)])
    ids = json.dumps([entry.record for entry in entries])
    for table in ("name", "told"):
        connection.execute(f"DELETE FROM {table} WHERE record IN (SELECT value FROM json_each(?))", (ids,))
    connection.executemany(
        "INSERT OR IGNORE INTO name (scope, name, subject, record) VALUES (?, ?, ?, ?)",
        [(name.scope, name.name, name.subject, entry.record) for entry in entries for name in entry.names],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO told (inbox, record) VALUES (?, ?)",
        [(inbox, entry.record) for entry in entries for inbox in entry.witnesses],
    )


def all_partitions(connection: Connection) -> list[Partition]:
    """Every room, also such as are empty."""
    return [Partition(*row) for row in connection.execute("SELECT id, scope, kind, docs, words FROM room")]


def _held(connection: Connection, records: Iterable[int], messages: Iterable[int]) -> dict[int, tuple[int, str]]:
    found: dict[int, tuple[int, str]] = {}
    for record in records:
        first = record * IDS_PER_SOURCE
        rows = connection.execute(
            "SELECT id, room, terms FROM doc WHERE id >= ? AND id < ?", (first, first + TURN_OFFSET)
        )
        found.update((row[0], (row[1], row[2])) for row in rows)
    numbers = [message * IDS_PER_SOURCE + TURN_OFFSET for message in messages]
    found.update((number, (room, " ".join(said))) for number, room, said in document_terms(connection, numbers))
    return found


def _remove(connection: Connection, held: Mapping[int, tuple[int, str]]) -> None:
    for number, (room, terms) in sorted(held.items()):
        connection.execute(
            "INSERT INTO list (list, rowid, terms) VALUES ('delete', ?, ?)", (number, _tokens(room, terms.split(" ")))
        )
        connection.execute("DELETE FROM doc WHERE id = ?", (number,))
    _count(connection, [(room, terms.split(" ")) for room, terms in held.values()], -1)


def _add(connection: Connection, documents: Sequence[Document]) -> None:
    """Add documents, lowest number first: FTS5 writes a segment each time that numbers go back."""
    placed = [(document, _room(connection, document)) for document in documents]
    connection.executemany(
        "INSERT INTO list (rowid, terms) VALUES (?, ?)",
        [(document.id, _tokens(room, document.terms)) for document, room in placed],
    )
    connection.executemany(
        "INSERT INTO doc (id, room, terms) VALUES (?, ?, ?)",
        [(document.id, room, " ".join(document.terms)) for document, room in placed],
    )
    _count(connection, [(room, document.terms) for document, room in placed], 1)


def _room(connection: Connection, document: Document) -> int:
    row = connection.execute(
        "SELECT id FROM room WHERE scope = ? AND kind = ?", (document.scope, document.kind)
    ).fetchone()
    if row is None:
        cursor = connection.execute("INSERT INTO room (scope, kind) VALUES (?, ?)", (document.scope, document.kind))
        assert cursor.lastrowid is not None
        return cursor.lastrowid
    return int(row[0])


def _count(connection: Connection, placed: Sequence[tuple[int, Sequence[str]]], sign: int) -> None:
    """Note that these documents came (1) or went (-1)."""
    standing: Counter[str] = Counter()
    docs: Counter[int] = Counter()
    words: Counter[int] = Counter()
    for room, terms in placed:
        standing.update({f"{room}·{term}" for term in terms})
        docs[room] += sign
        words[room] += sign * len(terms)
    connection.executemany(
        "INSERT INTO term (token, docs) VALUES (?, ?) ON CONFLICT (token) DO UPDATE SET docs = docs + excluded.docs",
        [(token, sign * count) for token, count in standing.items()],
    )
    if sign < 0:
        gone = json.dumps(list(standing))
        connection.execute("DELETE FROM term WHERE docs <= 0 AND token IN (SELECT value FROM json_each(?))", (gone,))
    connection.executemany(
        "UPDATE room SET docs = docs + ?, words = words + ? WHERE id = ?",
        [(docs[room], words[room], room) for room in docs],
    )


def _tokens(room: int, terms: Sequence[str]) -> str:
    return " ".join(f"{room}·{term}" for term in terms)


def _quoted(token: str) -> str:
    return f'"{token}"'
