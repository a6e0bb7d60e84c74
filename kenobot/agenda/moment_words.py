"""Moments in words, in the owner's local time: "08:00", "tomorrow at 08:00", "Fri 4 Dec, 08:00"."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from kenobot.core import texts
from kenobot.core.i18n import Language

_SAME_YEAR_DAYS = 300  # from today, within which a month tells its year


def describe_moment(moment: datetime, now: datetime, zone: ZoneInfo, language: Language) -> str:
    """Describe a moment as it is said at `now`."""
    local, today = moment.astimezone(zone), now.astimezone(zone).date()
    hour = {"hour": f"{local:%H:%M}", "article": "la" if local.hour == 1 else "las"}
    if local.date() == today:
        return texts.MOMENT_TODAY(language, **hour)
    if local.date() == today + timedelta(days=1):
        return texts.MOMENT_TOMORROW(language, **hour)
    if local.date() == today - timedelta(days=1):
        return texts.MOMENT_YESTERDAY(language, **hour)
    weekdays, months = texts.SHORT_WEEKDAYS(language).split(), texts.SHORT_MONTHS(language).split()
    year = "" if abs((local.date() - today).days) < _SAME_YEAR_DAYS else f" {local.year}"
    day = f"{weekdays[local.weekday()]} {local.day} {months[local.month - 1]}{year}"
    return texts.MOMENT_DAY(language, day=day, **hour)
