"""Rows of jobs and of their occurrences. Times are stored in UTC to the second, so that they sort as texts."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from kenobot.agenda.job import Job, JobState, Occurrence, OccurrenceState
from kenobot.storage.connection import Connection, make_storable
from kenobot.storage.database import Database
from kenobot.storage.scopes import ALL_SCOPES, Scopes, scope_filter

_JOB = (
    "id, kind, text, person, scope, channel, chat, thread, private, language, name, rule, start_local, zone, "
    "exact, has_time, cursor, planned, planned_due, next_due, state, missed, trust, origin, created, ended, "
    "source_record, undo, account"
)
_OCCURRENCE = "id, job, due, state, planned, covers, outbox, told_at"
_KEEP_DAYS = 90
_KEEP_ENDED_DAYS = 365
_IS_DUE = "state = 'active' AND next_due != '' AND next_due <= ?"

Reach = Scopes | Collection[str]


def stamp(moment: datetime | None) -> str:
    """Write a moment as it is stored; "" for None."""
    return "" if moment is None else moment.astimezone(UTC).replace(microsecond=0).isoformat()


def stamp_local(local: datetime) -> str:
    """Write a naive local time as it is stored."""
    return local.isoformat(timespec="minutes" if not local.second else "seconds")


def insert_job(connection: Connection, values: Mapping[str, object]) -> int:
    """Insert a job by its columns; return its id."""
    names = ", ".join(values)
    marks = ", ".join("?" * len(values))
    held = [make_storable(each) if isinstance(each, str) else each for each in values.values()]
    cursor = connection.execute(f"INSERT INTO job ({names}) VALUES ({marks})", held)
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def update_job(connection: Connection, job: int, values: Mapping[str, object]) -> None:
    """Change columns of a job."""
    names = ", ".join(f"{name} = ?" for name in values)
    connection.execute(f"UPDATE job SET {names} WHERE id = ?", (*values.values(), job))


def get_job(connection: Connection, job: int) -> Job | None:
    """Return a job by its id, whosever it is."""
    row = connection.execute(f"SELECT {_JOB} FROM job WHERE id = ?", (job,)).fetchone()
    return _job(row) if row else None


def select_jobs(
    connection: Connection, reach: Reach, states: Collection[JobState], until: datetime | None = None
) -> list[Job]:
    """Return jobs within a reach, those that come first at the front, those that nothing is planned of at the end."""
    where, values = _filter_reach(reach)
    marks = ", ".join("?" * len(states))
    limit, last = ("AND next_due != '' AND next_due <= ? ", [stamp(until)]) if until is not None else ("", [])
    rows = connection.execute(
        f"SELECT {_JOB} FROM job WHERE {where} AND state IN ({marks}) {limit}ORDER BY next_due = '', next_due, id",
        [*values, *states, *last],
    )
    return [_job(row) for row in rows]


def page_of_jobs(
    connection: Connection, reach: Reach, states: Collection[JobState], before: int, most: int
) -> list[Job]:
    """Return jobs within a reach with ids below `before`, the newest first."""
    where, values = _filter_reach(reach)
    marks = ", ".join("?" * len(states))
    rows = connection.execute(
        f"SELECT {_JOB} FROM job WHERE {where} AND state IN ({marks}) AND id < ? ORDER BY id DESC LIMIT ?",
        (*values, *states, before, most),
    )
    return [_job(row) for row in rows]


def list_asked_by(connection: Connection, message: int, reach: Reach) -> list[Job]:
    """Return the jobs within a reach that an inbox row asked for, in order."""
    where, values = _filter_reach(reach)
    rows = connection.execute(f"SELECT {_JOB} FROM job WHERE origin = ? AND {where} ORDER BY id", [message, *values])
    return [_job(row) for row in rows]


def count_open(connection: Connection, scope: str) -> int:
    """Count the jobs of a scope that are not over."""
    row = connection.execute(
        "SELECT count(*) FROM job WHERE scope = ? AND state IN ('active', 'paused', 'proposed')", (scope,)
    ).fetchone()
    return int(row[0])


def is_any_due(connection: Connection, now: datetime, channels: Sequence[str]) -> bool:
    """Return whether a job of these channels is due."""
    return bool(due_jobs(connection, now, channels, 1))


def due_jobs(connection: Connection, now: datetime, channels: Sequence[str], most: int) -> list[Job]:
    """Return the jobs of these channels that are due, the earliest first."""
    marks = ", ".join("?" * len(channels))
    rows = connection.execute(
        f"SELECT {_JOB} FROM job WHERE {_IS_DUE} AND channel IN ({marks}) ORDER BY next_due, id LIMIT ?",
        (stamp(now), *channels, most),
    )
    return [_job(row) for row in rows]


def find_next_due(connection: Connection, channel: str) -> datetime | None:
    """Return when the next job of a channel is due, whosever it is; None where none waits."""
    (due,) = connection.execute(
        "SELECT min(next_due) FROM job WHERE state = 'active' AND next_due != '' AND channel = ?", (channel,)
    ).fetchone()
    return _moment(due)


def newest_moment(connection: Connection) -> datetime | None:
    """Return the latest moment at which anything was told or added."""
    newest = "SELECT (SELECT max(told_at) FROM occurrence), (SELECT max(created) FROM job)"
    told, added = connection.execute(newest).fetchone()
    return _moment(max(told or "", added or ""))


def open_jobs(connection: Connection) -> list[Job]:
    """Return every job that may still be told, whosever it is."""
    return select_jobs(connection, ALL_SCOPES, ("active", "paused", "proposed"))


# ── occurrences ──────────────────────────────────────────────────────────────────────────────────────────────────────


def get_occurrence(connection: Connection, occurrence: int) -> Occurrence | None:
    """Return an occurrence by its id."""
    row = connection.execute(f"SELECT {_OCCURRENCE} FROM occurrence WHERE id = ?", (occurrence,)).fetchone()
    return _occurrence(row) if row else None


def is_settled(connection: Connection, job: int, due: datetime, planned: str) -> bool:
    """Return whether an instance of a job was told, skipped or left out before."""
    row = connection.execute(
        "SELECT 1 FROM occurrence WHERE job = ? AND state != 'due' AND (due = ? OR (planned != '' AND planned = ?))",
        (job, stamp(due), planned),
    ).fetchone()
    return row is not None


def put_occurrence(
    connection: Connection, job: int, due: datetime, state: OccurrenceState, planned: str = "", covers: int = 1
) -> int:
    """Store an occurrence, or settle the waiting one of the same moment; return its id."""
    row = connection.execute(
        "INSERT INTO occurrence (job, due, planned, covers, state) VALUES (?, ?, ?, ?, ?) ON CONFLICT (job, due) "
        "DO UPDATE SET state = excluded.state, planned = excluded.planned, covers = excluded.covers "
        "WHERE state = 'due' RETURNING id",
        (job, stamp(due), planned, covers, state),
    ).fetchone()
    if row is None:
        raise ValueError(f"occurrence {stamp(due)} of job {job} is settled")
    return int(row[0])


def set_occurrence(connection: Connection, occurrence: int, state: OccurrenceState) -> None:
    """Set the state of an occurrence."""
    connection.execute("UPDATE occurrence SET state = ? WHERE id = ?", (state, occurrence))


def drop_occurrences(connection: Connection, occurrences: Iterable[int]) -> None:
    """Remove occurrences by their ids."""
    connection.executemany("DELETE FROM occurrence WHERE id = ?", [(each,) for each in occurrences])


def note_told(connection: Connection, occurrence: int, outbox: int | None, trace: str, at: datetime) -> None:
    """Note by which part of the outbox an occurrence is told."""
    connection.execute(
        "UPDATE occurrence SET outbox = ?, trace = ?, told_at = ? WHERE id = ?", (outbox, trace, stamp(at), occurrence)
    )


def waiting_occurrences(connection: Connection, job: int) -> list[Occurrence]:
    """Return the snoozed moments of a job that are still to come, in order."""
    rows = connection.execute(
        f"SELECT {_OCCURRENCE} FROM occurrence WHERE job = ? AND state = 'due' ORDER BY due", (job,)
    )
    return [_occurrence(row) for row in rows]


def last_told(connection: Connection, job: int) -> Occurrence | None:
    """Return the occurrence of a job that was told last."""
    row = connection.execute(
        f"SELECT {_OCCURRENCE} FROM occurrence WHERE job = ? AND told_at != '' ORDER BY told_at DESC, id DESC LIMIT 1",
        (job,),
    ).fetchone()
    return _occurrence(row) if row else None


def last_occurrences(connection: Connection, job: int, most: int) -> list[Occurrence]:
    """Return the latest occurrences of a job, those to come included, the latest first."""
    rows = connection.execute(
        f"SELECT {_OCCURRENCE} FROM occurrence WHERE job = ? ORDER BY due DESC LIMIT ?", (job, most)
    )
    return [_occurrence(row) for row in rows]


def list_occurrences_between(
    connection: Connection, reach: Reach, begin: datetime, end: datetime
) -> list[tuple[int, Occurrence]]:
    """Return what was told of jobs within a reach from `begin` up to and without `end`, with the ids of the jobs."""
    where, values = _filter_reach(reach)
    columns = ", ".join(f"occurrence.{name.strip()}" for name in _OCCURRENCE.split(","))
    rows = connection.execute(
        f"SELECT {columns} FROM occurrence JOIN job ON job.id = occurrence.job WHERE job.{where} "
        "AND occurrence.due >= ? AND occurrence.due < ? AND occurrence.told_at != '' ORDER BY occurrence.due",
        (*values, stamp(begin), stamp(end)),
    )
    return [(row[1], _occurrence(row)) for row in rows]


def forget_planned(connection: Connection, job: int) -> None:
    """Keep what was told of a job, and let its instances be told anew."""
    connection.execute("UPDATE occurrence SET planned = '' WHERE job = ?", (job,))


async def prune(database: Database, now: datetime) -> None:
    """Drop occurrences that were settled long ago, and jobs and wishes that ended a year ago."""
    last_year = stamp(now - timedelta(days=_KEEP_ENDED_DAYS))
    await database.prune("occurrence", "due < ? AND state != 'due'", stamp(now - timedelta(days=_KEEP_DAYS)))
    await database.prune("job", "ended != '' AND ended < ?", last_year)
    await database.prune("wish", "ends < ?", last_year)


def _filter_reach(reach: Reach) -> tuple[str, tuple[str, ...]]:
    return scope_filter(reach if reach is ALL_SCOPES or isinstance(reach, tuple) else tuple(reach))


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _job(row: Iterable[Any]) -> Job:
    values = dict(zip(_JOB.split(", "), row, strict=True))
    for name in ("private", "exact", "has_time"):
        values[name] = bool(values[name])
    for name in ("planned_due", "next_due", "ended"):
        values[name] = _moment(values[name])
    for name in ("start_local", "created"):
        values[name] = datetime.fromisoformat(values[name])
    return Job(**values)


def _occurrence(row: tuple[Any, ...]) -> Occurrence:
    number, job, due, state, planned, covers, outbox, told_at = row
    return Occurrence(number, job, datetime.fromisoformat(due), state, planned, covers, outbox, _moment(told_at))
