"""Rows that the passes of sleep read, of the whole home: passes compare and change within one scope only."""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from kenobot.cognitive.policy.sleep import PruningPolicy
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import AMONG, FACTS, LIVE, SqlValue
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.records import LinkType, Record
from kenobot.storage import message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES, scope_filter
from kenobot.storage.times import stamp

TOLD_APART = "told apart by somebody who read both"
"""Why two records are linked that are near each other and say different things."""

_FORMS = ("note", "episode")
_PAGE = 500
where, _ = scope_filter(ALL_SCOPES)


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link and why it was made."""

    src: int
    dst: int
    type: LinkType
    weight: float
    why: str


@dataclass(frozen=True, slots=True)
class RecentUtterance:
    """A message of a person, or a memory in a person's words. turns: those in which it was said."""

    scope: str
    trust: str
    text: str
    at: str
    turns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtractionOutcome:
    """Count of extracted records of a category, and of the useful and the retracted ones."""

    category: str
    extracted: int
    useful: int
    retracted: int


@dataclass(frozen=True, slots=True)
class PassWatermark:
    """The newest change that a pass has judged, and of which record. last_asked: the newest record asked about."""

    event: int = -1
    record: int = 0
    last_asked: int | None = None

    def event_data(self, name: str) -> dict[str, Json]:
        """Return the data of the event that keeps it."""
        return {"by": name, "upto": self.event, "of": self.record, "asked": self.last_asked}


def _exists(connection: Connection, sql: str, *values: SqlValue) -> bool:
    return connection.execute(f"{sql} LIMIT 1", values).fetchone() is not None


def _pages(connection: Connection, condition: str, *values: SqlValue) -> Iterator[Record]:
    return store.pages(connection, f"{LIVE} AND {condition}", values, ALL_SCOPES)


def live_facts(connection: Connection, ids: Iterable[int]) -> dict[int, Record]:
    """Return live notes and episodes by id."""
    records = store.by_ids(connection, sorted(set(ids)), ALL_SCOPES)
    return {n: record for n, record in records.items() if record.status == "active" and record.form in _FORMS}


# ── links, and what was decided before ───────────────────────────────────────────────────────────────────────────


def links_of(connection: Connection, record: int) -> list[LinkRow]:
    """Return every link of a record but "supersedes", whatever the status of the other end."""
    rows = connection.execute(
        "SELECT src, dst, type, weight, why FROM link WHERE (src = ? OR dst = ?) AND type != 'supersedes' "
        "ORDER BY 1, 2, 3",
        (record, record),
    )
    return [LinkRow(*row) for row in rows]


def get_told_apart_time(connection: Connection, one: int, other: int) -> str:
    """Return when two records were last told apart; "" when they never were."""
    row = connection.execute(
        "SELECT last_at FROM link WHERE src = ? AND dst = ? AND type = 'related' AND why = ?",
        (max(one, other), min(one, other), TOLD_APART),
    ).fetchone()
    return row[0] if row else ""


def are_in_conflict(connection: Connection, one: int, other: int) -> bool:
    """Return whether two records are known to contradict each other, or one superseded the other."""
    sql = "SELECT 1 FROM link WHERE type IN ('contradicts', 'supersedes') AND src IN (?, ?) AND dst IN (?, ?)"
    return _exists(connection, sql, one, other, one, other)


def was_ever_undone(connection: Connection, record: int, since: str = "") -> bool:
    """Return whether a decision about a record was undone after a moment."""
    return _exists(connection, "SELECT 1 FROM event WHERE record_id = ? AND type = 'undone' AND at > ?", record, since)


def was_reverted(connection: Connection, record: int, column: str, value: SqlValue) -> bool:
    """Return whether a change that had set a column of a record to a value was undone: sleep does not insist."""
    sql = "SELECT 1 FROM event WHERE record_id = ? AND type = 'undone' AND json_extract(data, ?) = ?"
    return _exists(connection, sql, record, f"$.was.{column}", value)


def was_text_reverted(connection: Connection, record: Record) -> bool:
    """Return whether the last change of a record's text was an undo."""
    return _exists(
        connection,
        "SELECT 1 FROM event WHERE record_id = ? AND type = 'undone' "
        "AND id = (SELECT max(id) FROM event WHERE record_id = ? AND json_extract(data, '$.was.text') IS NOT NULL)",
        record.id,
        record.id,
    )


def select_moved_by_sleep(connection: Connection, records: Sequence[int], kind: str) -> set[int]:
    """Return those of `records` that sleep ever changed by an event of this kind."""
    rows = connection.execute(
        "SELECT DISTINCT record_id FROM event WHERE record_id IN (SELECT value FROM json_each(?)) "
        "AND type = ? AND actor = 'sleep'",
        (json.dumps(list(records)), kind),
    )
    return {row[0] for row in rows}


def list_pondered_themes(connection: Connection, limit: int) -> list[list[int]]:
    """Return the records of themes without a common principle, the newest first."""
    rows = connection.execute(
        "SELECT json_extract(data, '$.records') FROM event WHERE type = 'pondered' "
        "AND json_extract(data, '$.records') IS NOT NULL ORDER BY id DESC LIMIT ?",
        (limit,),
    )
    return [json.loads(row[0]) for row in rows]


# ── a pass's watermark: how far it has judged what was remembered, so nothing is missed or judged twice ───────────


def load_watermark(connection: Connection, name: str) -> PassWatermark:
    """Return the watermark of a pass."""
    row = connection.execute(
        "SELECT data FROM event WHERE type = 'judged' AND json_extract(data, '$.by') = ? ORDER BY id DESC LIMIT 1",
        (name,),
    ).fetchone()
    if row is None:
        return PassWatermark()
    data = json.loads(row[0])
    return PassWatermark(int(data["upto"]), int(data["of"]), data["asked"])


def iterate_changed(connection: Connection, mark: PassWatermark) -> Iterator[Record]:
    """Yield live facts that came or were reworded after `mark`, in the order of that."""
    after = (mark.event, mark.record)
    while True:
        rows = connection.execute(
            f"SELECT changed_event, id FROM record WHERE (changed_event, id) > (?, ?) AND {LIVE} AND +{where} "
            f"AND {FACTS} ORDER BY changed_event, id LIMIT ?",
            (*after, _PAGE),
        ).fetchall()
        if not rows:
            return
        after = rows[-1]
        records = store.by_ids(connection, [row[1] for row in rows], ALL_SCOPES)
        yield from (records[number] for _, number in rows if number in records)


def not_yet_asked(connection: Connection, mark: PassWatermark, limit: int) -> list[Record]:
    """Return live facts that a model was not asked about, oldest first.

    Without an earlier question they are the newest: the first night does not go through years.
    """
    order = "ASC" if mark.last_asked is not None else "DESC"
    condition = f"id > ? AND {LIVE} AND {FACTS} AND source NOT IN ('sleep', 'import')"
    records = store.select(
        connection, condition, (mark.last_asked or 0,), ALL_SCOPES, order=f"id {order}", limit=limit, scan_scope=False
    )
    return sorted(records, key=lambda record: record.id)


# ── to consolidate ───────────────────────────────────────────────────────────────────────────────────────────────


def recently_changed_notes(connection: Connection, since: str, limit: int) -> list[Record]:
    """Return live notes that were updated after `since`, the last changed first."""
    condition = f"{LIVE} AND form = 'note' AND updated > ?"
    return store.select(connection, condition, (since,), ALL_SCOPES, order="changed_event DESC", limit=limit)


def records_of_form(connection: Connection, form: str, category: str) -> list[Record]:
    """Return records of a form and a category, whatever their status."""
    return store.select(connection, "form = ? AND category = ?", (form, category), ALL_SCOPES)


def notes_of_categories(connection: Connection, scope: str, categories: Sequence[str], limit: int) -> list[Record]:
    """Return the live notes of some categories that a scope has about its own person, the most important first."""
    condition = f"subject = 'owner' AND {LIVE} AND form = 'note' AND category {AMONG}"
    order = "importance DESC, confidence DESC, mentions DESC, key"
    return store.select(connection, condition, (json.dumps(categories),), (scope,), order=order, limit=limit)


def slot_records(connection: Connection, form: str, name: str) -> list[Record]:
    """Return the live record of a slot in each scope."""
    return list(_pages(connection, "form = ? AND key = ?", form, f"slot:{name}"))


def record_versions(connection: Connection) -> dict[int, int]:
    """Number each live fact, otherwise once the record changes, within this process; its use does not count."""
    rows = connection.execute(
        "SELECT id, changed_event, updated, (SELECT max(event.id) FROM event WHERE event.record_id = record.id) "
        "FROM record "
        f"WHERE {where} AND {LIVE} AND {FACTS}"
    )
    return {row[0]: hash(row) for row in rows}


def attribute_carriers(connection: Connection) -> Iterator[tuple[int, str, str, list[str]]]:
    """Yield the id, scope, subject and names of attributes of the live notes that have any, but for who said it."""
    rows = connection.execute(
        f"SELECT id, scope, subject, attributes FROM record WHERE {where} AND status = 'active' AND form = 'note' "
        "AND attributes != '{}' ORDER BY id"
    )
    for number, scope, subject, attributes in rows:
        values = json.loads(attributes)
        yield number, scope, subject, [name for name in values if name != "by"] if isinstance(values, dict) else []


def count_by_subject(connection: Connection) -> Iterator[tuple[str, str, int]]:
    """Yield scope, subject and number of the live facts about it, the owner of the scope aside."""
    yield from connection.execute(
        f"SELECT scope, subject, count(*) FROM record WHERE {where} AND status = 'active' "
        f"AND {FACTS} AND subject NOT IN ('', 'owner') GROUP BY 1, 2 ORDER BY 1, 2"
    )


def ids_about(connection: Connection, scope: str, subject: str) -> list[int]:
    """Return the live facts of a scope about a subject."""
    rows = connection.execute(
        f"SELECT id FROM record WHERE scope = ? AND subject = ? AND {LIVE} AND {FACTS} ORDER BY id",
        (scope, subject),
    )
    return [row[0] for row in rows]


# ── to prune ─────────────────────────────────────────────────────────────────────────────────────────────────────


def iterate_expired(connection: Connection, now: datetime) -> Iterator[Record]:
    """Yield live records whose end has come."""
    return _pages(connection, "expires IS NOT NULL AND expires <= ?", stamp(now))


def stale_scratchpads(connection: Connection, before: datetime) -> Iterator[Record]:
    """Yield scratchpads that were not written since before a moment."""
    return _pages(connection, "form = 'scratchpad' AND max(updated, last_seen) < ?", stamp(before))


def commitments(connection: Connection) -> list[Record]:
    """Return live commitments."""
    return list(_pages(connection, f"category = 'commitment' AND {FACTS}"))


def archivable_records(connection: Connection, before: datetime, policy: PruningPolicy) -> Iterator[Record]:
    """Yield live facts from before a moment that matter little and were hardly used."""
    return _pages(
        connection,
        f"{FACTS} AND created < ? AND importance < ? AND use_count <= ? AND category != 'correction'",
        stamp(before),
        policy.archive_importance,
        policy.archive_uses,
    )


def fading_beliefs(connection: Connection, quiet_since: datetime, sure: float) -> Iterator[Record]:
    """Yield live notes without a sign of life since a moment, but for those that surely stay.

    sure: confidence from which the words of the person whose memory it is count as said.
    """
    return _pages(
        connection,
        "form = 'note' AND tier != 'core' AND verification != 'user_confirmed' AND policy_class != 'protected' "
        "AND (NOT (trust = 'owner' OR (trust = 'guest' AND scope LIKE 'user:%')) OR confidence < ? "
        "OR verification = 'disputed') "
        "AND max(created, last_seen, coalesce(last_used, ''), coalesce(confirmed, '')) <= ?",
        sure,
        stamp(quiet_since),
    )


def core_records(connection: Connection) -> Iterator[Record]:
    """Yield the facts in the MEMORY.md of every scope."""
    return _pages(connection, f"tier = 'core' AND {FACTS}")


def iterate_used_in_archive(connection: Connection, used_since: datetime) -> Iterator[Record]:
    """Yield notes in the archive that were used since a moment."""
    return _pages(connection, "tier = 'archive' AND form = 'note' AND last_used >= ?", stamp(used_since))


# ── what was said, and what extraction made of it ────────────────────────────────────────────────────────────────


def recent_utterances(connection: Connection, since: datetime, until: datetime, limit: int) -> list[RecentUtterance]:
    """Return people's words between two moments, in order: of the newest messages and records, `limit` each."""
    begin, end = stamp(since), stamp(until)
    messages = [
        RecentUtterance(row.scope, row.trust, row.text, row.at, () if row.inbox_id is None else (row.inbox_id,))
        for row in message_rows.people_messages(connection, begin, end, limit)
    ]
    records = connection.execute(
        "SELECT scope, trust, text, created, source_messages FROM record "
        "WHERE id > (SELECT coalesce(max(id), 0) FROM record) - ? "
        f"AND {LIVE} AND {FACTS} AND trust IN ('owner', 'guest') AND source != 'sleep' "
        f"AND category != 'commitment' AND created > ? AND created <= ? AND {where}",
        (limit, begin, end),
    )
    noted = (
        RecentUtterance(scope, trust, text, at, tuple(json.loads(turns))) for scope, trust, text, at, turns in records
    )
    return sorted([*messages, *noted], key=lambda one: (one.at, one.text))


def language_about(connection: Connection, *told: Record) -> str:
    """Return the language to speak of records in: theirs, or that of their scope's newest record that has one."""
    known = {record.lang for record in told} & {"es", "en"}
    if known:
        return max(known)  # Spanish before English
    newest = connection.execute(
        f"SELECT lang FROM record WHERE +scope = ? AND lang IN ('es', 'en') AND {FACTS} AND source != 'sleep' "
        "ORDER BY id DESC LIMIT 1",
        (told[0].scope,),
    ).fetchone()
    return "en" if newest is None else str(newest[0])


def own_facts_since(connection: Connection, since: datetime, until: datetime) -> Iterator[Record]:
    """Yield live facts in people's own words that came in between two moments."""
    return _pages(
        connection,
        f"{FACTS} AND updated > ? AND updated <= ? AND source NOT IN ('sleep', 'import') AND category != 'lesson' "
        "AND trust NOT IN ('forward', 'tool')",
        stamp(since),
        stamp(until),
    )


def extraction_outcomes(connection: Connection, since: datetime, until: datetime) -> list[ExtractionOutcome]:
    """Return what became of the records that extraction made between two moments, by category."""
    rows = connection.execute(
        "SELECT record.category, count(*), "
        "sum(record.status = 'active' AND record.verification != 'disputed' AND (record.use_count > 0 OR "
        "record.mentions > 1)), "
        "sum(record.status IN ('forgotten', 'invalidated') OR record.verification = 'disputed') "
        "FROM event CROSS JOIN record ON record.id = event.record_id WHERE event.type = 'created' "
        "AND event.actor = 'extraction' AND event.at > ? AND event.at <= ? AND record.source = 'extraction' "
        f"AND {where} GROUP BY 1 ORDER BY 1",
        (stamp(since), stamp(until)),
    )
    return [ExtractionOutcome(*row) for row in rows]


def count_extraction_decisions(connection: Connection, since: datetime, until: datetime) -> dict[str, int]:
    """Return the decisions about extraction's candidates between two moments, by the type of the event."""
    rows = connection.execute(
        "SELECT type, count(*) FROM event WHERE type IN ('created', 'reinforced', 'replaced', 'refused', 'discarded') "
        "AND actor = 'extraction' AND at > ? AND at <= ? GROUP BY 1",
        (stamp(since), stamp(until)),
    )
    return dict(rows.fetchall())
