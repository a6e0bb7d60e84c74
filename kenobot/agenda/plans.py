"""Find what is still ahead: reminders, promises and what memory has a day for."""

from datetime import datetime
from zoneinfo import ZoneInfo

from kenobot.agenda.entry import Entry, Mark, in_order
from kenobot.cognitive.beliefs.lifecycle import due_on, resolved_on
from kenobot.cognitive.recall.candidates import recall_rows
from kenobot.cognitive.recall.question.agenda import AgendaQuestion
from kenobot.cognitive.store.records import Record
from kenobot.ports.identity import QUOTED_TRUST
from kenobot.storage.connection import Connection


def find_plans(
    connection: Connection, scopes: tuple[str, ...], asked: AgendaQuestion, now: datetime, zone: ZoneInfo
) -> list[Entry]:
    """Find what is open on the days asked about, in order; with today among them also promises that are overdue."""
    today = now.astimezone(zone).date()
    first, last = asked.days.first.isoformat(), asked.days.last.isoformat()
    found = recall_rows.planned(connection, first, last, scopes, undated=asked.undated)
    if asked.days.first <= today <= asked.days.last:
        found = [*recall_rows.overdue(connection, today.isoformat(), scopes), *found]
    still_open = [record for record in found if resolved_on(record, today, zone) is None]
    return in_order([memory_entry(record, now, zone) for record in still_open])


def memory_entry(record: Record, now: datetime, zone: ZoneInfo, day: str = "") -> Entry:
    """Return a memory as an entry of the day that it is due, or of another one that it tells of."""
    due = due_on(record)
    day = day or (due.isoformat() if due is not None else "")
    marks: list[Mark] = ["done"] if resolved_on(record, now.astimezone(zone).date(), zone) is not None else []
    marks += ["confided"] if record.is_confided else []
    marks += ["of_others"] if record.trust in QUOTED_TRUST else []
    return Entry("memory", " ".join(record.text.split()), day, marks=tuple(marks), record=record)
