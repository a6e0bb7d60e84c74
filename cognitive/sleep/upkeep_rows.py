"""Rows that pruning and the lessons of sleep look at: in pages through the whole home, or bounded.

What is found is told apart by scope by whoever asks; nothing here is shown to anybody.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from kenobot.cognitive.policy.pruning import PruningPolicy
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.change import ColumnValue
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.store.scopes import ALL_SCOPES, scope_filter
from kenobot.storage.connection import Connection

_PAGE = 500
_FACTS = "form IN ('note', 'episode')"


@dataclass(frozen=True, slots=True)
class RecentUtterance:
    """What somebody said in a turn of their own, or had written down as a memory."""

    scope: str
    trust: str
    text: str
    at: str


@dataclass(frozen=True, slots=True)
class ExtractionOutcome:
    """What became of what extraction noted of one kind: how often, and how much of it served or was taken back."""

    category: str
    extracted: int
    useful: int
    retracted: int


def _pages(connection: Connection, condition: str, values: tuple[str | float, ...]) -> Iterator[Record]:
    """Live records that meet a condition, in the order they came."""
    where, scopes = scope_filter(ALL_SCOPES)
    after = 0
    while True:
        rows = connection.execute(
            f"SELECT id FROM record WHERE id > ? AND status = 'active' AND {condition} AND {where} ORDER BY id LIMIT ?",
            (after, *values, *scopes, _PAGE),
        ).fetchall()
        if not rows:
            return
        found = store.by_ids(connection, [row[0] for row in rows], ALL_SCOPES)
        yield from (found[number] for number in sorted(found))
        after = rows[-1][0]


# ── what may leave ───────────────────────────────────────────────────────────────────────────────────────────────


def expired_records(connection: Connection, now: datetime) -> Iterator[Record]:
    """Live records of which it is written that they end, and whose end has come."""
    return _pages(connection, "expires IS NOT NULL AND expires <= ?", (store.stamp(now),))


def stale_scratchpads(connection: Connection, before: datetime) -> Iterator[Record]:
    """Scratchpads that nobody has written since before a moment."""
    return _pages(connection, "form = 'scratchpad' AND max(updated, last_seen) < ?", (store.stamp(before),))


def commitments(connection: Connection) -> Iterator[Record]:
    """Live commitments."""
    return _pages(connection, f"category = 'commitment' AND {_FACTS}", ())


def archivable_records(connection: Connection, before: datetime, policy: PruningPolicy) -> Iterator[Record]:
    """Live facts from before a moment that matter little and were hardly used."""
    return _pages(
        connection,
        f"{_FACTS} AND created < ? AND importance < ? AND uses <= ? AND category != 'correction'",
        (store.stamp(before), policy.archive_importance, policy.archive_uses),
    )


def fading_beliefs(connection: Connection, quiet_since: datetime, sure: float) -> Iterator[Record]:
    """Live notes of which nothing was heard since a moment, but for those that surely stay.

    sure: confidence from which the words of the person whose memory it is count as said, wherever they were read.
    """
    return _pages(
        connection,
        "form = 'note' AND tier != 'core' AND verification != 'user_confirmed' AND policy_class != 'protected' "
        "AND (NOT (trust = 'owner' OR (trust = 'guest' AND scope LIKE 'user:%')) OR confidence < ? "
        "OR verification = 'disputed') "
        "AND max(created, last_seen, coalesce(last_used, ''), coalesce(confirmed, '')) <= ?",
        (sure, store.stamp(quiet_since)),
    )


def core_records(connection: Connection) -> Iterator[Record]:
    """What stands in the MEMORY.md of any scope."""
    return _pages(connection, f"tier = 'core' AND {_FACTS}", ())


def archived_and_used(connection: Connection, used_since: datetime) -> Iterator[Record]:
    """Notes that have left the hot tree and were used since a moment."""
    return _pages(connection, "tier = 'archive' AND form = 'note' AND last_used >= ?", (store.stamp(used_since),))


def was_reverted(connection: Connection, record: int, column: str, value: ColumnValue) -> bool:
    """Whether somebody undid a change that had set a column of a record to a value: sleep does not insist."""
    row = connection.execute(
        "SELECT 1 FROM event WHERE record_id = ? AND type = 'undone' AND json_extract(data, ?) = ? LIMIT 1",
        (record, f"$.was.{column}", value),
    ).fetchone()
    return row is not None


# ── what was said ────────────────────────────────────────────────────────────────────────────────────────────────


def recent_utterances(connection: Connection, since: datetime, until: datetime, limit: int) -> list[RecentUtterance]:
    """What people said or wrote between two moments, in order: of the newest messages and records, `limit` each."""
    where, scopes = scope_filter(ALL_SCOPES)
    span = (store.stamp(since), store.stamp(until))
    turns = connection.execute(
        "SELECT scope, trust, text, at FROM message WHERE id > (SELECT coalesce(max(id), 0) FROM message) - ? "
        "AND role = 'user' AND scope != '' AND trust IN ('owner', 'guest') AND at > ? AND at <= ? "
        f"AND NOT EXISTS (SELECT 1 FROM hidden_turn WHERE hidden_turn.inbox_id = message.inbox_id) AND {where}",
        (limit, *span, *scopes),
    ).fetchall()
    records = connection.execute(
        "SELECT scope, trust, text, created FROM record WHERE id > (SELECT coalesce(max(id), 0) FROM record) - ? "
        f"AND status = 'active' AND {_FACTS} AND trust IN ('owner', 'guest') AND source != 'sleep' "
        f"AND category != 'commitment' AND created > ? AND created <= ? AND {where}",
        (limit, *span, *scopes),
    ).fetchall()
    return sorted((RecentUtterance(*row) for row in (*turns, *records)), key=lambda one: (one.at, one.text))


def was_reopened(connection: Connection, record: int, since: str) -> bool:
    """Whether something that was done to a record was undone after a moment."""
    row = connection.execute(
        "SELECT 1 FROM event WHERE record_id = ? AND type = 'undone' AND at > ? LIMIT 1", (record, since)
    ).fetchone()
    return row is not None


def own_facts_since(connection: Connection, since: datetime, until: datetime) -> Iterator[Record]:
    """Live facts that came in between two moments, other than by sleep, and that are somebody's own words."""
    return _pages(
        connection,
        f"{_FACTS} AND updated > ? AND updated <= ? AND source NOT IN ('sleep', 'import') AND category != 'lesson' "
        "AND trust NOT IN ('forward', 'tool')",
        (store.stamp(since), store.stamp(until)),
    )


# ── what became of what was noted ────────────────────────────────────────────────────────────────────────────────


def extraction_outcomes(connection: Connection, since: datetime, until: datetime) -> list[ExtractionOutcome]:
    """What became of what extraction noted between two moments, by category."""
    where, scopes = scope_filter(ALL_SCOPES)
    rows = connection.execute(
        "SELECT record.category, count(*), "
        "sum(record.status = 'active' AND record.verification != 'disputed' AND (record.uses > 0 OR record.seen > 1)), "
        "sum(record.status IN ('forgotten', 'invalidated') OR record.verification = 'disputed') "
        "FROM event CROSS JOIN record ON record.id = event.record_id WHERE event.type = 'created' "
        "AND event.actor = 'extraction' AND event.at > ? AND event.at <= ? AND record.source = 'extraction' "
        f"AND {where} GROUP BY 1 ORDER BY 1",
        (store.stamp(since), store.stamp(until), *scopes),
    )
    return [ExtractionOutcome(*row) for row in rows]


def count_extraction_decisions(connection: Connection, since: datetime, until: datetime) -> dict[str, int]:
    """How often extraction's proposals ended how, between two moments: by the type of the event."""
    rows = connection.execute(
        "SELECT type, count(*) FROM event WHERE type IN ('created', 'reinforced', 'replaced', 'refused', 'discarded') "
        "AND actor = 'extraction' AND at > ? AND at <= ? GROUP BY 1",
        (store.stamp(since), store.stamp(until)),
    )
    return dict(rows.fetchall())


# ── slots ────────────────────────────────────────────────────────────────────────────────────────────────────────


def slot_records(connection: Connection, form: str, name: str) -> list[Record]:
    """The live record of a slot, of each scope that has one."""
    return list(_pages(connection, "form = ? AND key = ?", (form, f"slot:{name}")))


def was_text_reverted(connection: Connection, record: Record) -> bool:
    """Whether what a record says now is what it said before sleep changed it, because somebody undid that."""
    row = connection.execute(
        "SELECT json_extract(data, '$.was.text') FROM event WHERE record_id = ? AND type = 'undone' "
        "AND id = (SELECT max(id) FROM event WHERE record_id = ? AND json_extract(data, '$.was.text') IS NOT NULL)",
        (record.id, record.id),
    ).fetchone()
    return row is not None
