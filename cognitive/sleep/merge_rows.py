"""Rows that joining looks at: links whatever their far end is, what was told apart or taken back, and whole columns."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kenobot.cognitive.policy.graph import LinkType
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.store.scopes import ALL_SCOPES, Scopes, scope_filter
from kenobot.storage.connection import Connection

TOLD_APART = "told apart by somebody who read both"
"""Why two records are linked that are near each other and say different things."""


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link as it stands, and why it was made."""

    src: int
    dst: int
    type: LinkType
    weight: float
    why: str


def links_of(connection: Connection, record: int) -> list[LinkRow]:
    """Every link of a record but those that tell what took the place of what, whatever became of the other end."""
    rows = connection.execute(
        "SELECT src, dst, type, weight, why FROM link WHERE (src = ? OR dst = ?) AND type != 'supersedes' "
        "ORDER BY 1, 2, 3",
        (record, record),
    )
    return [LinkRow(*row) for row in rows]


def told_apart_at(connection: Connection, one: int, other: int) -> str:
    """When two records were last told apart; "" when they never were."""
    row = connection.execute(
        "SELECT last_at FROM link WHERE src = ? AND dst = ? AND type = 'related' AND why = ?",
        (max(one, other), min(one, other), TOLD_APART),
    ).fetchone()
    return row[0] if row else ""


def are_in_conflict(connection: Connection, one: int, other: int) -> bool:
    """Whether it is known of two records that they contradict each other, or one took the other's place."""
    row = connection.execute(
        "SELECT 1 FROM link WHERE type IN ('contradicts', 'supersedes') AND src IN (?, ?) AND dst IN (?, ?) LIMIT 1",
        (one, other, one, other),
    ).fetchone()
    return row is not None


def was_ever_undone(connection: Connection, record: int) -> bool:
    """Whether somebody ever undid a decision about a record."""
    row = connection.execute(
        "SELECT 1 FROM event WHERE record_id = ? AND type = 'undone' LIMIT 1", (record,)
    ).fetchone()
    return row is not None


def recently_changed_notes(connection: Connection, reach: Scopes, since: str, limit: int) -> list[Record]:
    """The live notes that changed after `since`, those that changed last first, at most `limit`."""
    where, scopes = scope_filter(reach)
    rows = connection.execute(
        f"SELECT id FROM record WHERE {where} AND status = 'active' AND form = 'note' AND updated > ? "
        "ORDER BY changed DESC LIMIT ?",
        (*scopes, since, limit),
    ).fetchall()
    found = store.by_ids(connection, [row[0] for row in rows], reach)
    return [found[row[0]] for row in rows]


def record_versions(connection: Connection, reach: Scopes) -> dict[int, int]:
    """Of each live note and episode a number that differs, within this process, as soon as anything about it does.

    What was shown when, and so how often it was used, is no part of it.
    """
    where, scopes = scope_filter(reach)
    rows = connection.execute(
        "SELECT id, changed, updated, (SELECT max(event.id) FROM event WHERE event.record_id = record.id) FROM record "
        f"WHERE {where} AND status = 'active' AND form IN ('note', 'episode')",
        scopes,
    )
    return {row[0]: hash(row) for row in rows}


def notes_with_attributes(connection: Connection, reach: Scopes) -> Iterator[tuple[int, str, str, str]]:
    """Id, scope, subject and attributes of the live notes that say something by name."""
    where, scopes = scope_filter(reach)
    yield from connection.execute(
        f"SELECT id, scope, subject, attrs FROM record WHERE {where} AND status = 'active' AND form = 'note' "
        "AND attrs != '{}' ORDER BY id",
        scopes,
    )


def attribute_names(attributes: str) -> list[str]:
    """The names in a column of attributes, but for who said it."""
    found = json.loads(attributes)
    return [name for name in found if name != "by"] if isinstance(found, dict) else []


def count_by_subject(connection: Connection, reach: Scopes) -> Iterator[tuple[str, str, int]]:
    """Scope, subject and number of live notes and episodes about it; the owner of the scope is left out."""
    where, scopes = scope_filter(reach)
    yield from connection.execute(
        f"SELECT scope, subject, count(*) FROM record WHERE {where} AND status = 'active' "
        "AND form IN ('note', 'episode') AND subject NOT IN ('', 'owner') GROUP BY 1, 2 ORDER BY 1, 2",
        scopes,
    )


def ids_about(connection: Connection, scope: str, subject: str) -> list[int]:
    """The live notes and episodes of a scope about a subject, in the order they came."""
    rows = connection.execute(
        "SELECT id FROM record WHERE scope = ? AND subject = ? AND status = 'active' AND form IN ('note', 'episode') "
        "ORDER BY id",
        (scope, subject),
    )
    return [row[0] for row in rows]


def records_of_form(connection: Connection, reach: Scopes, form: str, category: str) -> list[Record]:
    """Records of any status of a form and a category, in the order they came."""
    where, scopes = scope_filter(reach)
    rows = connection.execute(
        f"SELECT id FROM record WHERE {where} AND form = ? AND category = ? ORDER BY id", (*scopes, form, category)
    ).fetchall()
    found = store.by_ids(connection, [row[0] for row in rows], reach)
    return [found[number] for number in sorted(found)]


def notes_of_categories(connection: Connection, scope: str, categories: Sequence[str], limit: int) -> list[Record]:
    """The live notes of some categories that a scope has about its own person, what matters most first."""
    marks = ", ".join("?" * len(categories))
    rows = connection.execute(
        f"SELECT id FROM record WHERE scope = ? AND subject = 'owner' AND status = 'active' AND form = 'note' "
        f"AND category IN ({marks}) ORDER BY importance DESC, confidence DESC, seen DESC, key LIMIT ?",
        (scope, *categories, limit),
    ).fetchall()
    found = store.by_ids(connection, [row[0] for row in rows], (scope,))
    return [found[row[0]] for row in rows]


def derived_from(connection: Connection, record: int) -> list[int]:
    """The records that a record was made of, whatever became of them."""
    rows = connection.execute("SELECT dst FROM link WHERE src = ? AND type = 'derived' ORDER BY dst", (record,))
    return [row[0] for row in rows]


def pondered_themes(connection: Connection, limit: int) -> list[list[int]]:
    """The records of themes that a model found nothing in common in, the last ones first."""
    rows = connection.execute(
        "SELECT json_extract(data, '$.records') FROM event WHERE type = 'pondered' "
        "AND json_extract(data, '$.records') IS NOT NULL ORDER BY id DESC LIMIT ?",
        (limit,),
    )
    return [json.loads(row[0]) for row in rows]


def live_facts(connection: Connection, ids: Iterable[int]) -> dict[int, Record]:
    """Live notes and episodes by id, of any scope."""
    found = store.by_ids(connection, sorted(set(ids)), ALL_SCOPES)
    return {
        number: record
        for number, record in found.items()
        if record.status == "active" and record.form in ("note", "episode")
    }
