"""The owner's calendar: which day and which time of day a moment is where the owner lives."""

from datetime import date, datetime
from zoneinfo import ZoneInfo


def local_day(moment: datetime, zone: ZoneInfo) -> str:
    """The calendar day of an aware `moment` in `zone`, YYYY-MM-DD."""
    return moment.astimezone(zone).date().isoformat()


def local_time(moment: datetime, zone: ZoneInfo) -> str:
    """The time of day of an aware `moment` in `zone`, HH:MM."""
    return f"{moment.astimezone(zone):%H:%M}"


def week_of(day: str) -> str:
    """The week of the calendar, YYYY-Www, that `day`, YYYY-MM-DD, belongs to; "" for what is no day."""
    try:
        year, number, _ = date.fromisoformat(day).isocalendar()
    except ValueError:
        return ""
    return f"{year:04}-W{number:02}"
