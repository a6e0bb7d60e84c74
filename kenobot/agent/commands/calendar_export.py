"""Send reminders and dated promises as a calendar file (iCalendar, RFC 5545)."""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from kenobot.agenda import jobs
from kenobot.agenda.focus_rows import last_spoken
from kenobot.agenda.job import Job
from kenobot.agenda.mentions import list_content_words
from kenobot.agenda.plans import find_plans
from kenobot.agenda.recurrence import next_due, to_local
from kenobot.agent.commands.command import CommandAnswer, CommandCall, CommandContext
from kenobot.core import lazy, texts
from kenobot.language.dates import DateRange
from kenobot.language.question.agenda import AgendaQuestion
from kenobot.language.words import fold
from kenobot.ports.messages import Attachment
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection

_THAT = lazy.regex(r"\b(?:that|this|it|eso|esto|lo|ese|este|mandamelo|enviamelo|pasamelo|damelo)\b")
_AHEAD = timedelta(days=366)
_MOST_TIMES = 30  # of a reminder by a cron line
_FILE = "agenda.ics"
_UTC = ZoneInfo("UTC")


def export(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Answer with the reminders that a message means as a file: those it names, the one spoken of last, or all."""
    zone = context.find_zone(connection, call)
    chosen, promises = _choose(connection, call, zone)
    if not chosen and not promises:
        return texts.REMINDERS_NONE(call.language)
    try:
        content = write_calendar(chosen, promises, call.at, zone)
    except ImportError:
        return texts.CALENDAR_MISSING(call.language)
    size = len(content.encode())
    file = Attachment("document", mime="text/calendar", name=_FILE, size=size, text=content)
    return CommandAnswer(texts.CALENDAR_FILE(call.language, count=len(chosen) + len(promises)), file=file)


def _choose(connection: Connection, call: CommandCall, zone: ZoneInfo) -> tuple[list[Job], list[tuple[Record, str]]]:
    reach = call.principal.read_scopes
    own = [job for job in jobs.find_jobs(connection, reach) if job.kind == "reminder" and job.next_due is not None]
    said = {*list_content_words(call.arguments)}
    if named := [job for job in own if not said.isdisjoint(list_content_words(job.text))]:
        return named, []
    spoken = last_spoken(connection, call.inbound.session, call.at)
    if spoken is not None and _THAT.search(fold(call.arguments)):
        return [job for job in own if job.id == spoken[0].id] or own, []
    today = call.at.astimezone(zone).date()
    asked = AgendaQuestion(DateRange(today, today + _AHEAD))
    planned = find_plans(connection, reach, asked, call.at, zone)
    return own, [(each.record, each.day) for each in planned if each.record is not None and each.day >= f"{today}"]


def write_calendar(own: Iterable[Job], promises: Iterable[tuple[Record, str]], at: datetime, zone: ZoneInfo) -> str:
    """Write a calendar file. promises: with their days. zone: the owner's. Raises ImportError."""
    from icalendar import Alarm, Calendar, Event, vRecur  # noqa: PLC0415 - an extra

    calendar = Calendar()
    calendar.add("prodid", "-//KenoBot//agenda//EN")
    calendar.add("version", "2.0")

    def add(uid: str, text: str, start: date, rule: str = "") -> None:
        event = Event()
        event.add("uid", f"{uid}@kenobot")
        event.add("dtstamp", at.astimezone(UTC))
        event.add("summary", text)
        event.add("dtstart", start)
        if rule:
            event.add("rrule", vRecur.from_ical(rule))
        if isinstance(start, datetime):
            alarm = Alarm()
            alarm.add("action", "DISPLAY")
            alarm.add("description", text)
            alarm.add("trigger", timedelta(0))
            event.add_component(alarm)
        calendar.add_component(event)

    for job in own:
        for number, (start, rule) in enumerate(_times(job, zone)):
            add(f"reminder-{job.id}-{number}", job.text, start, rule)
    for record, day in promises:
        add(f"memory-{record.id}", " ".join(record.text.split()), date.fromisoformat(day))
    calendar.add_missing_timezones()
    written: bytes = calendar.to_ical()
    return written.decode()


def _times(job: Job, home: ZoneInfo) -> Iterator[tuple[datetime, str]]:
    """Iterate over the times of a reminder: one with its rule, or several where no rule of a calendar tells them."""
    zone = _UTC if job.exact else jobs.zone_of(job, home)
    assert job.next_due is not None
    if job.rule.startswith("cron:"):
        due: datetime | None = job.next_due
        for _ in range(_MOST_TIMES):
            if due is None:
                return
            yield due.astimezone(zone), ""
            due = next_due(job.rule, job.start_local, zone, due)
    elif job.rule:
        yield job.start_local.replace(tzinfo=zone), _rule_in_utc(job.rule, zone)
    else:
        yield to_local(job.next_due, zone).replace(tzinfo=zone), ""


def _rule_in_utc(rule: str, zone: ZoneInfo) -> str:
    """Return a rule whose end is in UTC, as calendars want it."""
    parts = dict(part.partition("=")[::2] for part in rule.split(";"))
    if "UNTIL" in parts and not parts["UNTIL"].endswith("Z"):
        until = datetime.fromisoformat(parts["UNTIL"]).replace(tzinfo=zone).astimezone(UTC)
        parts["UNTIL"] = f"{until:%Y%m%dT%H%M%SZ}"
    return ";".join(f"{name}={value}" for name, value in parts.items())
