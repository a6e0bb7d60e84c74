"""Rows of a night under way: what its passes have planned, how far that is carried out, and what it came to."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from kenobot.cognitive.store import events
from kenobot.cognitive.store.records import LIVE, SAYS, count
from kenobot.ports.frozen import dataclass
from kenobot.ports.nights import PHASES
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.times import stamp

_INSERTED = 500  # rows of a plan that are written at once

_ROOTS = (
    "SELECT id FROM event WHERE json_extract(data, '$.night') = ? AND json_extract(data, '$.night') IS NOT NULL "
    "AND json_extract(data, '$.pass') = ?"
)


@dataclass(frozen=True, slots=True)
class PassProgress:
    """Progress of a pass's plan. live: live records when it was made. trouble: why a part failed."""

    live: int
    done: int = 0
    skipped: int = 0
    trouble: str = ""


# ── plans ────────────────────────────────────────────────────────────────────────────────────────────────────────


def pass_progress(connection: Connection, run: int, name: str) -> PassProgress | None:
    """Return how far a pass has come; None when its plan is not, or not wholly, there."""
    row = connection.execute(
        "SELECT plan FROM sleep_plan WHERE run_id = ? AND name = ? AND number = 0", (run, name)
    ).fetchone()
    return PassProgress(**json.loads(row[0])) if row else None


def save_progress(connection: Connection, run: int, name: str, progress: PassProgress) -> None:
    """Write down how far a pass has come; the first time, that its plan is whole."""
    connection.execute(
        "INSERT OR REPLACE INTO sleep_plan (run_id, name, number, plan) VALUES (?, ?, 0, ?)",
        (run, name, json.dumps(asdict(progress))),
    )


def plan_chunks(plan: Sequence[str]) -> list[tuple[int, Sequence[str]]]:
    """Return a plan in pieces that can each be written in no time, with the number that each begins with."""
    return [(start + 1, plan[start : start + _INSERTED]) for start in range(0, len(plan), _INSERTED)]


def save_chunk(connection: Connection, run: int, name: str, first: int, plan: Sequence[str]) -> None:
    """Write down a piece of a plan."""
    connection.executemany(
        "INSERT OR REPLACE INTO sleep_plan (run_id, name, number, plan) VALUES (?, ?, ?, ?)",
        [(run, name, number, text) for number, text in enumerate(plan, first)],
    )


def next_steps(connection: Connection, run: int, name: str, limit: int) -> list[tuple[int, str]]:
    """Return what is to be carried out next."""
    return connection.execute(
        "SELECT number, plan FROM sleep_plan WHERE run_id = ? AND name = ? AND number > 0 ORDER BY number LIMIT ?",
        (run, name, limit),
    ).fetchall()


def delete_step(connection: Connection, run: int, name: str, number: int) -> None:
    """Take out what is carried out."""
    connection.execute("DELETE FROM sleep_plan WHERE run_id = ? AND name = ? AND number = ?", (run, name, number))


def delete_plan(connection: Connection, run: int, name: str) -> None:
    """Throw a plan away: it is carried out, or was not written to its end."""
    connection.execute("DELETE FROM sleep_plan WHERE run_id = ? AND name = ?", (run, name))


def delete_all_plans(connection: Connection) -> None:
    """Throw away every plan and answer, which may quote what is being erased: the night plans and asks again."""
    connection.execute("DELETE FROM sleep_plan")
    connection.execute("DELETE FROM sleep_answer")


# ── the ledger ───────────────────────────────────────────────────────────────────────────────────────────────────


def last_success_at(connection: Connection, run: int, name: str) -> datetime | None:
    """Return when the night began in which a pass last came to a good end, this one aside; None when there was none."""
    return _time(
        connection,
        "SELECT sleep_run.at FROM sleep_pass JOIN sleep_run ON sleep_run.id = run_id "
        "WHERE name = ? AND run_id < ? AND trouble = '' AND state != 'running' ORDER BY run_id DESC LIMIT 1",
        name,
        run,
    )


def last_full_night_at(connection: Connection) -> datetime | None:
    """Return when the last finished night with all phases began, undone or not; None when there was none."""
    sql = "SELECT at FROM sleep_run WHERE state != 'running' AND phases = ? ORDER BY id DESC LIMIT 1"
    return _time(connection, sql, json.dumps(PHASES))


def first_event_at(connection: Connection) -> datetime | None:
    """Return when something first happened to memory; None when nothing has."""
    return _time(connection, "SELECT at FROM event ORDER BY id LIMIT 1")


def _time(connection: Connection, sql: str, *values: str | int) -> datetime | None:
    row = connection.execute(sql, values).fetchone()
    return datetime.fromisoformat(row[0]) if row else None


def newest_nights(connection: Connection, limit: int) -> list[int]:
    """Return the numbers of the newest nights, newest first."""
    return [row[0] for row in connection.execute("SELECT id FROM sleep_run ORDER BY id DESC LIMIT ?", (limit,))]


def add_tokens(connection: Connection, run: int, tokens: int) -> None:
    """Count what a model has used in a night."""
    connection.execute("UPDATE sleep_run SET tokens = tokens + ? WHERE id = ?", (tokens, run))


def tokens_used(connection: Connection, run: int) -> int:
    """Return what a model has used in a night so far."""
    row = connection.execute("SELECT tokens FROM sleep_run WHERE id = ?", (run,)).fetchone()
    return int(row[0]) if row else 0


def mark_night_undone(connection: Connection, run: int, at: datetime) -> None:
    """Mark a night as undone, and what it proposed and nobody has decided as well."""
    connection.execute("UPDATE sleep_run SET state = 'undone' WHERE id = ?", (run,))
    connection.execute(
        "UPDATE proposal SET state = 'undone', decided = ?, by = 'owner' WHERE run_id = ? AND state = 'pending'",
        (stamp(at), run),
    )


def prune_nights(connection: Connection, keep: int) -> None:
    """Forget all but the newest `keep` nights. What they changed stays in the history of each memory."""
    connection.execute(
        "DELETE FROM sleep_run WHERE id <= (SELECT max(id) FROM sleep_run) - ? AND state != 'running'", (keep,)
    )


# ── what was done ────────────────────────────────────────────────────────────────────────────────────────────────


def count_live_records(connection: Connection) -> int:
    """Count the live records, boxes aside."""
    return count(connection, f"{LIVE} AND {SAYS}", (), ALL_SCOPES)


def count_touched_records(connection: Connection, run: int, name: str) -> int:
    """Return how many records a pass has changed in a night; what it made is not counted."""
    (touched,) = connection.execute(
        f"SELECT count(DISTINCT record_id) FROM (SELECT record_id, data FROM event WHERE id IN ({_ROOTS}) UNION ALL "
        f"SELECT record_id, data FROM event WHERE json_extract(data, '$.part_of') IN ({_ROOTS})) "
        "WHERE json_extract(data, '$.was') IS NOT NULL",
        (run, name, run, name),
    ).fetchone()
    return int(touched)


def pass_decisions(connection: Connection, run: int, name: str, limit: int) -> list[int]:
    """Return the events of what a pass decided in a night, the first `limit`."""
    return [row[0] for row in connection.execute(f"{_ROOTS} ORDER BY id LIMIT ?", (run, name, limit))]


def night_decisions(connection: Connection, run: int, before: int, limit: int) -> list[int]:
    """Return the events of what a night decided, those before `before`, newest first."""
    rows = connection.execute(
        "SELECT id FROM event WHERE json_extract(data, '$.night') = ? AND json_extract(data, '$.night') IS NOT NULL "
        "AND id < ? ORDER BY id DESC LIMIT ?",
        (run, before, limit),
    )
    return [row[0] for row in rows]


def was_undone(connection: Connection, record: int, name: str, kind: str) -> bool:
    """Return whether somebody undid such a decision of this pass about this record, and that still stands."""
    rows = connection.execute(
        "SELECT id FROM event WHERE record_id = ? AND type = ? AND json_extract(data, '$.pass') = ?",
        (record, kind, name),
    ).fetchall()
    return any(events.find_undo(connection, row[0]) is not None for row in rows)
