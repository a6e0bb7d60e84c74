"""Rows of proposals: what sleep lays before the owner, what they decided, and what that overwrote."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from kenobot.cognitive.store import events
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.change import ERASED_TEXT
from kenobot.cognitive.store.records import AMONG
from kenobot.ports.json_value import Json
from kenobot.ports.memory_changes import Proposal, ProposalState
from kenobot.storage.connection import Connection
from kenobot.storage.times import stamp

RULE_BROKEN, APPROVED = "rule_broken", "approved"


_SHORTEST = 4  # characters of a text that can be looked for in others
_ROW = "SELECT id, key, run_id, at, kind, title, text, payload, evidence, state, decided, by, undo FROM proposal"


def get(connection: Connection, number: int) -> Proposal | None:
    """Return a proposal by its number."""
    row = connection.execute(f"{_ROW} WHERE id = ?", (number,)).fetchone()
    return _proposal(row) if row else None


def list_proposals(
    connection: Connection, states: Sequence[ProposalState] = ("pending",), limit: int = 100
) -> list[Proposal]:
    """Return proposals in these states, the oldest first, at most `limit`, the newest ones."""
    rows = connection.execute(
        f"{_ROW} WHERE state IN (SELECT value FROM json_each(?)) ORDER BY id DESC LIMIT ?",
        (json.dumps(list(states)), limit),
    ).fetchall()
    return [_proposal(row) for row in reversed(rows)]


def count_pending(connection: Connection) -> int:
    """Return how many proposals wait for the owner."""
    return int(connection.execute("SELECT count(*) FROM proposal WHERE state = 'pending'").fetchone()[0])


def newer_pending(connection: Connection, number: int) -> tuple[int, int]:
    """Return how many proposals that wait came after one of that number, and the highest number of any."""
    row = connection.execute(
        "SELECT count(*) FILTER (WHERE state = 'pending' AND id > ?), max(id) FROM proposal", (number,)
    ).fetchone()
    return int(row[0]), int(row[1] or 0)


def approvals(connection: Connection, event: int, limit: int = 100) -> list[tuple[int, int, str]]:
    """Return approvals after an event, oldest first: the event of each, the proposal's number and kind."""
    rows = connection.execute(
        "SELECT id, data FROM event WHERE type = ? AND id > ? ORDER BY id LIMIT ?", (APPROVED, event, limit)
    ).fetchall()
    told = [(row[0], json.loads(row[1])) for row in rows]
    return [(number, int(data.get("proposal", 0)), str(data.get("kind", ""))) for number, data in told]


def was_proposed(connection: Connection, key: str) -> bool:
    """Return whether this was proposed before, whatever became of it."""
    return connection.execute("SELECT 1 FROM proposal WHERE key = ?", (key,)).fetchone() is not None


def is_pending_or_rejected(connection: Connection, prefix: str) -> bool:
    """Return whether something whose key begins so waits, or was turned down: it is not proposed another time."""
    row = connection.execute(
        "SELECT 1 FROM proposal WHERE key >= ? AND key < ? AND state IN ('pending', 'rejected') LIMIT 1",
        (prefix, f"{prefix}\U0010ffff"),
    ).fetchone()
    return row is not None


def set_state(
    connection: Connection,
    number: int,
    before: ProposalState,
    state: ProposalState,
    at: datetime,
    by: str,
    undo: Mapping[str, Json],
) -> bool:
    """Put a proposal into another state, inside a transaction; False when it is not in the state `before`."""
    cursor = connection.execute(
        "UPDATE proposal SET state = ?, decided = ?, by = ?, undo = ? WHERE id = ? AND state = ?",
        (state, stamp(at), by, json.dumps(dict(undo), ensure_ascii=False), number, before),
    )
    return cursor.rowcount == 1


def drop_pending_about(connection: Connection, records: Iterable[int], texts: Iterable[str]) -> None:
    """Drop proposals that wait and speak of what is to be forgotten: these records, or these words."""
    for proposal in list_proposals(connection, ("pending",), 10_000):
        if _tells(proposal, set(records), list(texts)):
            connection.execute("DELETE FROM proposal WHERE id = ?", (proposal.id,))


def redact_proposals(connection: Connection, records: Iterable[int], texts: Iterable[str]) -> None:
    """Take what is erased for good out of every proposal: what waits goes, of what was decided the words do."""
    numbers, words = set(records), list(texts)
    drop_pending_about(connection, numbers, words)
    for proposal in list_proposals(connection, ("approved", "rejected", "undone"), 100_000):
        if _tells(proposal, numbers, words):
            connection.execute(
                "UPDATE proposal SET title = ?, text = ?, payload = '{}', undo = '{}' WHERE id = ?",
                (ERASED_TEXT, ERASED_TEXT, proposal.id),
            )


def _tells(proposal: Proposal, records: set[int], texts: Sequence[str]) -> bool:
    named = proposal.evidence.get("records")
    if isinstance(named, list) and records.intersection(each for each in named if isinstance(each, int)):
        return True
    held = "\n".join([proposal.title, proposal.text, json.dumps(dict(proposal.payload), ensure_ascii=False)])
    return any(
        len(text) >= _SHORTEST and (text in held or json.dumps(text, ensure_ascii=False)[1:-1] in held)
        for text in texts
    )


def _proposal(
    row: tuple[int, str, int | None, str, str, str, str, str, str, ProposalState, str | None, str, str],
) -> Proposal:
    head, payload, evidence, state, decided, by, undo = row[:7], row[7], row[8], row[9], row[10], row[11], row[12]
    return Proposal(*head, json.loads(payload), json.loads(evidence), state, decided, by, json.loads(undo))


# ── what proposals are made of ───────────────────────────────────────────────────────────────────────────────────


def log_broken_rules(connection: Connection, patterns: Sequence[str], inbox: int, session: str, at: datetime) -> None:
    """Note, inside a turn's transaction, that its reply holds what rules.json forbids; nothing without `patterns`."""
    if patterns:
        data: dict[str, Json] = {"inbox": inbox, "patterns": [*patterns]}
        events.add_event(connection, at, "model", RULE_BROKEN, session=session, data=data)


def events_since(
    connection: Connection, kind: str, since: datetime, limit: int = 5000
) -> list[tuple[int, dict[str, Json]]]:
    """Number and data of the newest events of a kind since a moment, at most `limit`."""
    rows = connection.execute(
        "SELECT id, data FROM (SELECT id, at, data FROM event WHERE type = ? ORDER BY id DESC LIMIT ?) WHERE at >= ?",
        (kind, limit, stamp(since)),
    ).fetchall()
    return [(row[0], json.loads(row[1] or "{}")) for row in rows]


def search_counts(connection: Connection, since: datetime, limit: int = 5000) -> tuple[int, int]:
    """Return how often memory was searched for a reply since a moment, and in how many of these cases not all had room.

    Looks at no more than the newest `limit` replies that memory was shown for.
    """
    row = connection.execute(
        "SELECT count(*), coalesce(sum(coalesce(json_extract(data, '$.dropped.\"no room\"'), 0) > 0), 0) FROM "
        "(SELECT at, data FROM event WHERE type = 'recalled' ORDER BY id DESC LIMIT ?) "
        "WHERE at >= ? AND json_type(data, '$.dropped') IS NOT NULL",
        (limit, stamp(since)),
    ).fetchone()
    return int(row[0]), int(row[1])


def count_changes(connection: Connection, run: int, kind: str) -> int:
    """Return how many changes of a kind a night made."""
    row = connection.execute(
        "SELECT count(*) FROM event WHERE json_extract(data, '$.night') IS NOT NULL "
        "AND json_extract(data, '$.night') = ? AND type = ?",
        (run, kind),
    ).fetchone()
    return int(row[0])


def list_corrected_since(
    connection: Connection, scope: str, since: datetime, limit: int = 2000
) -> list[tuple[int, str]]:
    """List number and attributes, as JSON, of records of a scope that a person corrected since a moment."""
    return connection.execute(
        "SELECT DISTINCT record.id, record.attributes FROM event JOIN record ON record.id = event.record_id "
        "WHERE event.type IN ('superseded', 'invalidated') AND event.actor NOT IN ('sleep', 'memory') "
        "AND event.at >= ? AND record.scope = ? AND record.status IN ('superseded', 'invalidated') "
        "ORDER BY record.id DESC LIMIT ?",
        (stamp(since), scope, limit),
    ).fetchall()


def language_counts(connection: Connection, scope: str) -> dict[str, int]:
    """Count the newest memories of a scope by language."""
    rows = connection.execute(
        "SELECT lang, count(*) FROM (SELECT lang FROM record WHERE scope = ? ORDER BY changed_event DESC LIMIT 200) "
        "GROUP BY 1",
        (scope,),
    ).fetchall()
    return dict(rows)


def newest_lesson_from(connection: Connection, scope: str, errors: Sequence[int], since: datetime) -> int | None:
    """Query the newest live lesson of a scope since a moment that is derived from one of `errors`."""
    where = (
        f"{store.LIVE} AND form = 'note' AND category = 'lesson' AND created >= ? AND trust IN ('owner', 'model') "
        f"AND id IN (SELECT src FROM link WHERE type = 'derived' AND dst {AMONG})"
    )
    values = (stamp(since), json.dumps(list(errors)))
    return next(iter(store.select_ids(connection, where, values, (scope,), order="id DESC", limit=1)), None)
