"""Say when a reminder comes."""

from datetime import datetime
from zoneinfo import ZoneInfo

from kenobot.agenda.job import Job
from kenobot.agenda.jobs import zone_of
from kenobot.agenda.recurrence import to_local
from kenobot.agenda.say_time import say_moment
from kenobot.core import texts
from kenobot.core.i18n import Language


def say_next(job: Job, zone: ZoneInfo, language: Language, at: datetime) -> str:
    """Say when a reminder comes next; its zone is named where it has one of its own. zone: the owner's."""
    if job.next_due is None or job.state == "paused":
        return texts.REMINDER_PAUSED(language) if job.state == "paused" else texts.REMIND_NEVER(language)
    here = find_shown_zone(job, zone)
    said = say_moment(to_local(job.next_due, here), language, to_local(at, here).date())
    return f"{said} ({here.key})" if here.key != zone.key else said


def find_shown_zone(job: Job, zone: ZoneInfo) -> ZoneInfo:
    """Return the zone in which a reminder's times are shown: the owner's, but where it has one of its own."""
    return zone if job.exact else zone_of(job, zone)
