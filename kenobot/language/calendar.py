"""Convert moments to the owner's calendar, and parse them."""

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo


def local_day(moment: datetime, zone: ZoneInfo) -> str:
    """Return the calendar day of an aware `moment` in `zone`, YYYY-MM-DD."""
    return moment.astimezone(zone).date().isoformat()


def local_time(moment: datetime, zone: ZoneInfo) -> str:
    """Return the time of day of an aware `moment` in `zone`, HH:MM."""
    return f"{moment.astimezone(zone):%H:%M}"


def week_of(day: str) -> str:
    """Return the week of the calendar, YYYY-Www, that `day`, YYYY-MM-DD, belongs to; "" for what is no day."""
    try:
        year, number, _ = date.fromisoformat(day).isocalendar()
    except ValueError:
        return ""
    return f"{year:04}-W{number:02}"


def describe_age(elapsed: timedelta) -> str:
    """Describe a time ago: "just now", "5 minutes ago", "2 hours ago", "1 day ago"."""
    minutes = int(elapsed.total_seconds() // 60)
    if minutes < 1:
        return "just now"
    count, unit = minutes, "minute"
    if minutes >= 60:
        count, unit = round(minutes / 60), "hour"
        if count >= 24:
            count, unit = round(count / 24), "day"
    return f"{count} {unit}{'' if count == 1 else 's'} ago"


@lru_cache(4096)
def parse_time(text: str) -> datetime | None:
    """Parse an ISO time to UTC; None when it is none."""
    try:
        found = datetime.fromisoformat(text.strip())
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
