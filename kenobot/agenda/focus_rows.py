"""Find the reminder that a chat last spoke of: it was set, changed or told there."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from kenobot.agenda.job import Job, Occurrence
from kenobot.agenda.job_rows import get_job, get_occurrence, stamp
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_json, write_json

_KEY = "agenda:spoken"
_MOST = 200  # chats, of which those that spoke last are kept
_LATELY = timedelta(hours=12)


def note_spoken(connection: Connection, session: str, job: int, at: datetime) -> None:
    """Note that a chat speaks of a reminder."""
    rows: dict[str, list[str]] = read_json(connection, _KEY, {})
    rows.pop(session, None)
    rows[session] = [str(job), stamp(at)]
    write_json(connection, _KEY, dict(list(rows.items())[-_MOST:]))


def last_spoken(connection: Connection, session: str, at: datetime) -> tuple[Job, str] | None:
    """Return the reminder that a chat's orders were last about, and when that was."""
    number, moment = read_json(connection, _KEY, dict[str, list[str]]()).get(session, ("0", ""))
    job = get_job(connection, int(number)) if moment >= stamp(at - _LATELY) else None
    return (job, moment) if job is not None else None


def last_told(
    connection: Connection, chat: Sequence[str], at: datetime, person: str = ""
) -> tuple[Job, Occurrence] | None:
    """Return the reminder that was last told in a chat, and the occurrence told.

    chat: its channel, id and thread. person: whose reminders count; "" for everybody's.
    """
    row = connection.execute(
        "SELECT occurrence.id FROM occurrence JOIN job ON job.id = occurrence.job WHERE occurrence.told_at >= ? "
        "AND job.channel = ? AND job.chat = ? AND job.thread = ? AND ? IN ('', job.person) "
        "ORDER BY occurrence.told_at DESC, occurrence.id DESC LIMIT 1",
        (stamp(at - _LATELY), *chat, person),
    ).fetchone()
    occurrence = get_occurrence(connection, row[0]) if row is not None else None
    job = get_job(connection, occurrence.job_id) if occurrence is not None else None
    return (job, occurrence) if job is not None and occurrence is not None else None


def jobs_of_message(connection: Connection, rows: Sequence[int]) -> list[Job]:
    """Return the open jobs that messages asked for. rows: theirs in the inbox."""
    marks = ", ".join("?" * len(rows))
    found = connection.execute(
        f"SELECT id FROM job WHERE origin IN ({marks}) AND state IN ('active', 'paused', 'proposed')", tuple(rows)
    ).fetchall()
    return [job for (number,) in found if (job := get_job(connection, number)) is not None]
