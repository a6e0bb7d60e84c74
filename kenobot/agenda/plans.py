"""Find what is still ahead: reminders, promises and what memory has a day for."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from kenobot.agenda import jobs
from kenobot.agenda.entry import Entry, Mark, in_order
from kenobot.agenda.job import Job, JobState
from kenobot.agenda.job_rows import list_occurrences_between
from kenobot.cognitive.memory import Memory, Promises
from kenobot.language.calendar import local_day, local_time, parse_time
from kenobot.language.changes.corrected_time import find_hour
from kenobot.language.dates import DateRange
from kenobot.language.facts.clause_rules import is_duty
from kenobot.language.question.agenda import AgendaQuestion
from kenobot.ports.identity import QUOTED_TRUST
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes

_EACH_TIME = timedelta(days=8)  # up to which each time of a recurring reminder is an entry, and not only the next
_DAY = timedelta(days=1)
_FIRST_DAY, _LAST_DAY = date.min + 2 * _DAY, date.max - 2 * _DAY
_TO_COME: tuple[JobState, ...] = ("active",)


def find_plans(
    connection: Connection, scopes: Scopes, asked: AgendaQuestion, now: datetime, zone: ZoneInfo
) -> list[Entry]:
    """Find what is open on the days asked about, in order, and what may have taken its place.

    With today among them also promises that are overdue.
    """
    today = now.astimezone(zone).date()
    first, last = asked.days.first.isoformat(), asked.days.last.isoformat()
    found = Promises.list_planned(connection, first, last, scopes, undated=asked.undated)
    if asked.days.first <= today <= asked.days.last:
        late = Promises.list_overdue(connection, today.isoformat(), scopes)
        late = [record for record in late if Promises.find_resolution_day(record, today, zone) is None]
        found = [*(record for record in late if is_duty(record.text)), *found]
    reminders = [*_reminders(connection, scopes, asked, now, zone)]
    as_jobs = {job.source_record for job, _ in reminders}

    def is_listed(record: Record) -> bool:
        return record.id not in as_jobs and Promises.find_resolution_day(record, today, zone) is None

    memories = [*_iterate_with_rivals(connection, scopes, found, is_listed, now, zone)]
    return in_order([*memories, *(job_entry(job, due, zone) for job, due in reminders)])


def _iterate_with_rivals(
    connection: Connection,
    scopes: Scopes,
    found: Sequence[Record],
    is_listed: Callable[[Record], bool],
    now: datetime,
    zone: ZoneInfo,
) -> Iterator[Entry]:
    """Iterate over the entries of what is to be listed, and of what may have taken its place, on whatever day."""
    known = {record.id for record in found}
    for record in filter(is_listed, found):
        entry = memory_entry(record, now, zone)
        rivals = Memory.history.list_rivals(connection, record.id, scopes)
        yield replace(entry, marks=("maybe_over", *entry.marks)) if rivals else entry
        for rival in rivals:
            if rival.id not in known and is_listed(rival):
                known.add(rival.id)
                yield memory_entry(rival, now, zone, "" if Promises.due_on(rival) is not None else entry.day)


def _reminders(
    connection: Connection, scopes: Scopes, asked: AgendaQuestion, now: datetime, zone: ZoneInfo
) -> Iterator[tuple[Job, datetime]]:
    """Iterate over what is to come of reminders on the days asked about; of long spans the next time of each."""
    begin, end = moments_of(asked.days, zone)
    if end - begin <= _EACH_TIME:
        upcoming = jobs.occurrences_between(connection, scopes, max(begin, now), end, zone)
    else:
        active = jobs.find_jobs(connection, scopes, states=_TO_COME, until=end)
        upcoming = [(job, job.next_due) for job in active if job.next_due is not None and job.next_due >= begin]
    yield from ((job, due) for job, due in upcoming if job.kind == "reminder")


def find_told_reminders(
    connection: Connection, scopes: tuple[str, ...], days: DateRange, zone: ZoneInfo
) -> list[Entry]:
    """Find the reminders that were told on these days."""
    found: list[Entry] = []
    for number, told in list_occurrences_between(connection, scopes, *moments_of(days, zone)):
        job = jobs.load_job(connection, number, scopes)
        if job is not None and job.kind == "reminder":
            found.append(job_entry(job, told.due, zone, ("done",) if told.state == "done" else ()))
    return found


def moments_of(days: DateRange, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return the first moment of some days, and the first behind them, as far as moments go in every zone."""
    first, last = (min(max(day, _FIRST_DAY), _LAST_DAY) for day in (days.first, days.last))
    begin, behind = (datetime.combine(day, time(), zone).astimezone(UTC) for day in (first, last + _DAY))
    return begin, behind


def job_entry(job: Job, due: datetime, zone: ZoneInfo, marks: tuple[Mark, ...] = ()) -> Entry:
    """Return a reminder at one of its times as an entry."""
    return Entry("reminder", job.text, local_day(due, zone), local_time(due, zone), marks, job=job)


def memory_entry(record: Record, now: datetime, zone: ZoneInfo, day: str = "") -> Entry:
    """Return a memory as an entry of the day that it is due, or of another one that it tells of."""
    due = Promises.due_on(record)
    marks: list[Mark] = (
        ["done"] if Promises.find_resolution_day(record, now.astimezone(zone).date(), zone) is not None else []
    )
    marks += ["confided"] if record.is_confided else []
    marks += ["of_others"] if record.trust in QUOTED_TRUST else []
    text = " ".join(record.text.split())
    hour = _hour_of(record, due, zone) if due is not None and not day else ""
    day = day or (due.isoformat() if due is not None else "")
    return Entry("memory", text, day, hour, tuple(marks), record=record)


def _hour_of(record: Record, due: date, zone: ZoneInfo) -> str:
    """Return the hour that a memory names for the day that it is due, HH:MM; "" where none is sure."""
    told = parse_time(record.created)
    hour = find_hour(record.text, due, told.astimezone(zone).replace(tzinfo=None)) if told is not None else None
    return f"{hour:%H:%M}" if hour is not None else ""
