"""Make the documents of the side index: lists of words of records, of their past texts, and of turns.

The id of a document is 64 times the id of its record or message, plus 0 for a live record, 1 to 31 for past texts and
for records that ended, 32 for a turn. Newer documents have higher ids.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from kenobot.cognitive.store import events, records
from kenobot.cognitive.store.boxes import OPEN_KEY
from kenobot.language.fingerprint import OWNER_SUBJECT
from kenobot.language.question.search_terms import name_key
from kenobot.language.words import search_terms, standalone_letters
from kenobot.ports.frozen import dataclass
from kenobot.ports.memory import KEPT_ON_YES
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.message_rows import MessageRow
from kenobot.storage.scopes import ALL_SCOPES

DocumentKind = Literal["record", "past", "turn"]

IDS_PER_SOURCE = 64
TURN_OFFSET = 32
_PAST_TEXTS, _EVENTS = 20, 200  # of a record
_LONGEST = 2000  # terms of one document
_CHARACTERS = 40_000
_ELSEWHERE = ("scratchpad", "profile")  # shown as they stand, never searched
_SESSION = ("summary", "session")  # form and category of the same: what it is made of is found as turns
_OPEN_BOX = ("box", OPEN_KEY)  # no event tells of it before it is closed: no index has it that was made bit by bit
_ALIASES = ("name", "alias", "aliases", "nickname", "nombre", "apodo")

SEARCHABLE_FORMS = frozenset({"note", "episode", "procedure", "summary", "question", "entity"})
"""Forms of records that a search may show. A scratchpad and a profile are shown as they stand, a box by its records."""


@dataclass(frozen=True, slots=True)
class Document:
    """The terms of one thing that can be found, each as often as it stands there, in alphabetical order."""

    id: int
    scope: str
    kind: DocumentKind
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SubjectName:
    """A name, as `name_key` writes it, of a subject of this scope."""

    scope: str
    name: str
    subject: str


@dataclass(frozen=True, slots=True)
class RecordDocuments:
    """All that the index holds of one record: nothing when it is gone or forgotten. witnesses: inbox rows."""

    record: int
    documents: tuple[Document, ...] = ()
    names: tuple[SubjectName, ...] = ()
    witnesses: tuple[int, ...] = ()


def source_of(document: int) -> tuple[DocumentKind, int]:
    """Return the kind of a document, and the id of its record or message."""
    number, rest = divmod(document, IDS_PER_SOURCE)
    return ("turn" if rest == TURN_OFFSET else "past" if rest else "record"), number


def record_documents(truth: Connection, ids: Sequence[int]) -> list[RecordDocuments]:
    """Make the documents of records, in order, also of such as are gone."""
    wanted = sorted(set(ids))
    found = records.by_ids(truth, wanted, ALL_SCOPES)  # nothing is shown: each word is kept as one of its scope
    return [_of_record(truth, found[number]) if number in found else RecordDocuments(number) for number in wanted]


def _of_record(truth: Connection, record: Record) -> RecordDocuments:
    if (record.form, record.category) == _SESSION or (record.form, record.key) == _OPEN_BOX:
        return RecordDocuments(record.id)
    if record.form in _ELSEWHERE or record.status == "forgotten":
        return RecordDocuments(record.id, witnesses=record.source_message_ids)
    attributes = record.attribute_map
    record_tags = [str(tag) for tag in json.loads(record.tags) if tag != KEPT_ON_YES]
    about = [record.subject if record.subject != OWNER_SUBJECT else "", *record_tags]
    about += [f"{name} {value}" for name, value in attributes.items() if name != "by"]
    past = [text for text in events.past_texts(truth, record.id, _EVENTS) if text != record.text]
    live, first = record.status == "active", record.id * IDS_PER_SOURCE
    documents = [
        Document(first + at + (not live), record.scope, "record" if live and not at else "past", found)
        for at, text in enumerate([record.text, *past[:_PAST_TEXTS]])
        if (found := _terms(text, about))
    ]
    names = _names(record, attributes) if live else ()
    return RecordDocuments(record.id, tuple(documents), tuple(names), record.source_message_ids)


def _terms(text: str, about: Iterable[str] = ()) -> tuple[str, ...]:
    whole = " ".join([text[:_CHARACTERS], *about])
    found = search_terms(whole) + standalone_letters(whole)
    return tuple(sorted(term.replace("'", "’") for term in found[:_LONGEST]))  # nothing asks for their order


def _names(record: Record, attributes: Mapping[str, str]) -> list[SubjectName]:
    """List the names of a record's subject: its own, and those among its attributes."""
    subject = record.subject or OWNER_SUBJECT
    names = [] if subject == OWNER_SUBJECT else [subject]
    names += [name for alias in _ALIASES for name in attributes.get(alias, "").split(",")]
    return [SubjectName(record.scope, key, subject) for key in sorted(set(map(name_key, names))) if key]


def turn_documents(ids: Iterable[int], messages: Sequence[MessageRow]) -> list[tuple[int, Document | None]]:
    """Make the documents of messages, in order; None for such as are gone or blank."""
    rows = {row.id: row for row in messages}
    return [(number, _of_turn(rows[number]) if number in rows else None) for number in sorted(set(ids))]


def _of_turn(row: MessageRow) -> Document | None:
    said = row.line
    found = _terms(f"{said.name} {said.text}" if said.id else row.text)  # a role is no word of the conversation
    return Document(row.id * IDS_PER_SOURCE + TURN_OFFSET, row.effective_scope, "turn", found) if found else None
