"""The morning word: one message with what the owner's day holds; nothing at all when there is nothing to say.

It is a job of its own kind, which `/settings morning` sets; its words are made when it is due.
"""

from collections.abc import Collection, Iterator
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from kenobot.agenda import jobs
from kenobot.agenda.answers import AgendaAnswer, render_answer
from kenobot.agenda.job import Job, NewJob, Place
from kenobot.agenda.plans import find_plans
from kenobot.agenda.recurrence import to_local
from kenobot.agenda.zones import zone_in_force
from kenobot.cognitive.memory import Promises, Proposals
from kenobot.core import lazy, texts
from kenobot.core.i18n import Language
from kenobot.core.redaction import one_line
from kenobot.language.dates import DateRange
from kenobot.language.named_days import days_named
from kenobot.language.question.agenda import AgendaQuestion
from kenobot.language.when import Recurrence
from kenobot.language.words import fold
from kenobot.ports.identity import OWNER_SCOPE, QUOTED_TRUST
from kenobot.storage.connection import Connection

_REACH = (OWNER_SCOPE,)
_LATEST = timedelta(hours=4)  # after its hour it is no morning word any more
_MOST_READ, _MOST_BIRTHDAYS = 2000, 10
_BIRTHDAY = lazy.regex(r"\b(?:birthdays?|bdays?|born|cumpleaños|cumples?|cumplira?|nacio|naci|nacieron)\b")


def set_morning(connection: Connection, hour: time | None, place: Place, zone: ZoneInfo, at: datetime) -> None:
    """Set the hour of the morning word in the owner's chat, in place of an earlier one; None for none."""
    for job in _jobs(connection):
        jobs.cancel_job(connection, job, at)
    if hour is not None:
        start = datetime.combine(to_local(at, zone).date(), hour)
        words = NewJob("morning", place, Recurrence("FREQ=DAILY", start), kind="morning")
        jobs.add_job(connection, words, zone, at)


def find_morning_hour(connection: Connection) -> time | None:
    """Return the hour of the morning word; None where there is none."""
    return next((job.start_local.time() for job in _jobs(connection)), None)


def compose_morning(connection: Connection, job: Job, at: datetime, home: ZoneInfo) -> str | None:
    """Word what the day holds: reminders, promises, birthdays, and what waits for an answer; None for nothing.

    home: the zone of the settings.
    """
    zone = zone_in_force(connection, home, at)
    local = to_local(at, zone)
    if local - datetime.combine(local.date(), job.start_local.time()) > _LATEST:
        return None
    question = AgendaQuestion(DateRange(local.date(), local.date()))
    plans = find_plans(connection, _REACH, question, at, zone)
    parts = [render_answer(AgendaAnswer(question, tuple(plans)), job.language, local.date())] if plans else []
    told = {entry.record.id for entry in plans if entry.record is not None}
    parts += _birthdays(connection, local.date(), job.language, told)
    if waiting := Proposals.count_pending(connection):
        parts.append(texts.MORNING_PROPOSALS(job.language, count=waiting))
    return "\n".join([texts.MORNING(job.language), *parts]) if parts else None


def _birthdays(connection: Connection, today: date, language: Language, told: Collection[int]) -> Iterator[str]:
    """Word the birthdays of a day that memory knows. told: memories that are among the plans of it."""
    naming = Promises.list_naming(connection, today.day, after="", reach=_REACH, limit=_MOST_READ)
    found = [
        record
        for record in naming
        if record.id not in told
        and record.trust not in QUOTED_TRUST
        and _BIRTHDAY.search(plain := fold(record.text))
        and any((named.day.month, named.day.day) == (today.month, today.day) for named in days_named(plain, today))
    ]
    if found:
        yield f"**{texts.MORNING_BIRTHDAYS(language)}**"
        yield from (f"- {one_line(record.text)}" for record in found[:_MOST_BIRTHDAYS])


def _jobs(connection: Connection) -> list[Job]:
    return [job for job in jobs.find_jobs(connection, _REACH) if job.kind == "morning"]
