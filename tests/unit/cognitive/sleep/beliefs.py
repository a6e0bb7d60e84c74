"""Notes put into memory as an import leaves them: past the door, but filed, so that sleep finds them."""

import hashlib
import json
from datetime import datetime

from kenobot.cognitive.sleep.consolidate.pairs.near_pairs import near_pairs
from kenobot.cognitive.sleep.plan.changes import Change
from kenobot.cognitive.sleep.plan.passes import Pass
from kenobot.cognitive.store import term_index
from kenobot.cognitive.store.records import by_ids
from kenobot.language.words import detect_language
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from kenobot_testing.clock import START
from tests.memory_rows import put_record
from tests.unit.cognitive.sleep.nights import THEN, sleep, view_of


def put(connection: Connection, text: str, *, at: datetime = START, **columns: str | float | None) -> Record:
    """A note that the owner is on record for, unless the columns say otherwise. Marks count in its key."""
    key = hashlib.sha256(text.encode()).hexdigest()
    given: dict[str, str | float | None] = {
        "trust": "owner",
        "source": "import",
        "confidence": 0.9,
        "key": key,
        "lang": detect_language(text),
    }
    record = put_record(connection, text, at=at, columns=None, **{**given, **columns})
    term_index.index_record(connection, record.id, record.scope)
    return record


def relation_json(*relations: str) -> str:
    """An answer about the pairs of a question, in their order."""
    return json.dumps({"pairs": [{"pair": at, "relation": told} for at, told in enumerate(relations, 1)]})


def sleep_judged(connection: Connection, one: Pass, relation: str, now: datetime = THEN) -> list[Change]:
    """Run one pass, in which a model says the same of every pair that it is asked about."""
    asked = one.questions(view_of(connection, now, asked=True))
    return sleep(
        connection, one, now, {question.key: relation_json(*[relation] * 20) for question in asked}, asked=True
    )


def live(connection: Connection) -> list[str]:
    """What is remembered, sorted by its words."""
    rows = connection.execute("SELECT id FROM record WHERE status = 'active' AND form != 'box'").fetchall()
    return sorted(record.text for record in by_ids(connection, [row[0] for row in rows], ALL_SCOPES).values())


def links(connection: Connection, kind: str) -> set[tuple[int, int]]:
    return set(connection.execute("SELECT src, dst FROM link WHERE type = ?", (kind,)).fetchall())


def nearness(connection: Connection, least: float) -> list[tuple[str, str]]:
    """The texts of near pairs."""
    return [(pair.one.text, pair.other.text) for pair in near_pairs(view_of(connection), least, "test")]
