"""What the index knows of memory: records, their earlier wordings, and turns as lists of words. Pure but for reading.

A document's number tells what it is: 64 times the number of its record or message, plus 0 for the record as it
stands, 1 to 31 for what it once said or no longer holds, 32 for a turn. Newer documents have higher numbers.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from kenobot.cognitive.store.scopes import ALL_SCOPES, scope_filter
from kenobot.cognitive.text.words import fold, standalone_letters, terms
from kenobot.ports.identity import chat_scope
from kenobot.storage import conversation
from kenobot.storage.connection import Connection

DocumentKind = Literal["record", "past", "turn"]

IDS_PER_SOURCE = 64
TURN_OFFSET = 32
_WORDINGS = 20
_EVENTS = 200
_LONGEST = 2000  # terms of one document
_CHARACTERS = 40_000
_ELSEWHERE = ("scratchpad", "profile")  # shown as they stand, never looked for
_SESSION = ("summary", "session")  # form and category of the same: what it is made of is found as turns
_NAME = re.compile(r"[^\W_]+")
_ALIASES = ("name", "alias", "aliases", "nickname", "nombre", "apodo")
OWNER_SUBJECT = "owner"

SEARCHABLE_FORMS = frozenset({"note", "episode", "procedure", "summary", "question", "entity"})
"""Forms that a search may show. A scratchpad and a profile are shown as they stand, a box by its records."""


@dataclass(frozen=True, slots=True)
class Document:
    """One thing that can be found: where it belongs, and its words."""

    id: int
    scope: str
    kind: DocumentKind
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SubjectName:
    """`name`, as `name_key` writes it, is what a subject of this scope is called."""

    scope: str
    name: str
    subject: str


@dataclass(frozen=True, slots=True)
class RecordDocuments:
    """All that the index holds of one record; nothing when it is gone or forgotten."""

    record: int
    documents: tuple[Document, ...] = ()
    names: tuple[SubjectName, ...] = ()
    witnesses: tuple[int, ...] = ()


def source_of(document: int) -> tuple[DocumentKind, int]:
    """What a document's number stands for: its kind, and the number of the record or message."""
    number, rest = divmod(document, IDS_PER_SOURCE)
    return ("turn" if rest == TURN_OFFSET else "past" if rest else "record"), number


def name_key(text: str) -> str:
    """A name as it is compared: folded, only its letters and digits, one blank between words."""
    return " ".join(_NAME.findall(fold(text)))


@dataclass(frozen=True, slots=True)
class _Row:
    """What the database holds of a record, as far as finding goes."""

    id: int
    form: str
    scope: str
    subject: str
    text: str
    attributes: str
    tags: str
    status: str
    source_messages: str
    category: str


def record_documents(truth: Connection, ids: Sequence[int]) -> list[RecordDocuments]:
    """The entries of these records, in order, also of such as are gone."""
    wanted = sorted(set(ids))
    where, _ = scope_filter(ALL_SCOPES)  # it shows nothing to anybody: each word is kept as one of its scope
    rows = truth.execute(
        "SELECT id, form, scope, subject, text, attributes, tags, status, source_messages, category FROM record "
        f"WHERE id IN (SELECT value FROM json_each(?)) AND +{where}",
        (json.dumps(wanted),),
    )
    known = {row[0]: _Row(*row) for row in rows}
    return [_entry(truth, known[number]) if number in known else RecordDocuments(number) for number in wanted]


def _entry(truth: Connection, row: _Row) -> RecordDocuments:
    if (row.form, row.category) == _SESSION:
        return RecordDocuments(row.id)
    witnesses = tuple(item for item in _list(row.source_messages) if isinstance(item, int))
    if row.form in _ELSEWHERE or row.status == "forgotten":
        return RecordDocuments(row.id, witnesses=witnesses)
    attributes = _object(row.attributes)
    about = [row.subject if row.subject != OWNER_SUBJECT else "", *map(str, _list(row.tags))]
    about += [f"{name} {value}" for name, value in attributes.items() if name != "by"]
    wordings = [row.text, *_wordings(truth, row.id, row.text)]
    live = row.status == "active"
    documents = [
        Document(row.id * IDS_PER_SOURCE + at + (not live), row.scope, "record" if live and not at else "past", found)
        for at, said in enumerate(wordings)
        if (found := _terms(said, about))
    ]
    names = _names(row.scope, row.subject, attributes) if live else ()
    return RecordDocuments(row.id, tuple(documents), tuple(names), witnesses)


def _wordings(truth: Connection, number: int, text: str) -> list[str]:
    """What the record said before, newest first, each once."""
    rows = truth.execute(
        "SELECT json_extract(data, '$.was.text') FROM (SELECT data FROM event WHERE record_id = ? "
        "ORDER BY id DESC LIMIT ?)",
        (number, _EVENTS),
    )
    found = dict.fromkeys(str(row[0]) for row in rows if row[0] is not None)
    found.pop(text, None)
    return list(found)[:_WORDINGS]


def _terms(text: str, about: Iterable[str] = ()) -> tuple[str, ...]:
    said = " ".join([text[:_CHARACTERS], *about])
    found = terms(said) + standalone_letters(said)
    return tuple(term.replace("'", "’") for term in found[:_LONGEST])


def _names(scope: str, subject: str, attributes: dict[str, object]) -> list[SubjectName]:
    """What the subject of a record is called: its own name, and what its attributes say of names."""
    whose = subject or OWNER_SUBJECT
    called = [] if whose == OWNER_SUBJECT else [whose]
    for name in _ALIASES:
        value = attributes.get(name)
        called += value if isinstance(value, list) else str(value).split(",") if value else []
    keys = {name_key(str(each)) for each in called}
    return [SubjectName(scope, key, whose) for key in sorted(keys) if key]


def turn_documents(truth: Connection, ids: Sequence[int]) -> list[tuple[int, Document | None]]:
    """The documents of these messages, in order; None for such as are gone or blank."""
    wanted = sorted(set(ids))
    documents: dict[int, Document | None] = dict.fromkeys(wanted)
    for row in conversation.messages_by_id(truth, wanted):
        if words := _terms(row.text):
            number = row.id * IDS_PER_SOURCE + TURN_OFFSET
            documents[row.id] = Document(number, chat_scope(row.session), "turn", words)
    return list(documents.items())


def _list(text: str) -> list[object]:
    value = _parsed(text)
    return value if isinstance(value, list) else []


def _object(text: str) -> dict[str, object]:
    value = _parsed(text)
    return value if isinstance(value, dict) else {}


def _parsed(text: str) -> object:
    """What a column of JSON holds; None for what is none, which costs finding by it and nothing else."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return None
