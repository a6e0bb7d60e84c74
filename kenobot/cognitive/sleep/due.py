"""Tell when a night is due: read every hour by a bot that runs, which imports nothing else of a night for it."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy.sleep import SleepPolicy
from kenobot.core.settings.schema import SleepSettings

_DAYS = 7


def is_due(
    now: datetime,
    last: datetime | None,
    policy: SleepPolicy,
    zone: ZoneInfo,
    hour: int | None = None,
    first_event: datetime | None = None,
) -> bool:
    """Return whether a night should begin. last: when the last whole one began. first_event: when memory began.

    hour: in the owner's zone; a night begins between it and midnight, once each time it comes round. A whole day
    overdue, it begins at any hour: the machine may be off when that hour comes.
    """
    if last is not None and last > now:
        last = None  # the clock was ahead then
    idle, interval = now - (last or first_event or now), timedelta(hours=policy.due_hours)
    if last is not None and idle < interval:
        return False
    if hour is None or idle >= interval + timedelta(hours=24):
        return True
    local = now.astimezone(zone)
    opened = local.replace(hour=hour, minute=0, second=0, microsecond=0)
    return local >= opened and (last is None or last < opened)


def next_sleep_time(
    settings: SleepSettings, policy: SleepPolicy, last: datetime | None, now: datetime, timezone: str
) -> datetime | None:
    """Return the first moment from now on at which sleep will be due; None when it is disabled."""
    if not settings.enabled:
        return None
    zone, hour = ZoneInfo(timezone), settings.hour if settings.hour >= 0 else None
    moments, interval = [now], timedelta(hours=policy.due_hours)
    if last is not None:
        moments += [last + interval, last + interval + timedelta(hours=24)]
    if hour is not None:
        today = now.astimezone(zone).replace(hour=hour, minute=0, second=0, microsecond=0)
        moments += [(today + timedelta(days=number)).astimezone(UTC) for number in range(_DAYS)]
    return next((each for each in sorted(moments) if each >= now and is_due(each, last, policy, zone, hour)), None)
