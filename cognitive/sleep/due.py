"""When it is time to sleep."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy.sleep import SleepPolicy

_A_NIGHT = timedelta(hours=24)


def is_due(
    now: datetime,
    last: datetime | None,
    policy: SleepPolicy,
    zone: ZoneInfo,
    hour: int | None = None,
    first_event: datetime | None = None,
) -> bool:
    """Whether a night should begin. last: when the last whole one began. first_event: when memory began.

    hour: in the owner's zone; a night begins between it and midnight, once for each time that it comes round. A whole
    day later than it should have been, a night begins at any hour: the machine may be off when that hour comes.
    """
    if last is not None and last > now:
        last = None  # the clock was ahead then
    idle = now - (last or first_event or now)
    if last is not None and idle < timedelta(hours=policy.due_hours):
        return False
    if hour is None or idle >= timedelta(hours=policy.due_hours) + _A_NIGHT:
        return True
    local = now.astimezone(zone)
    opened = local.replace(hour=hour, minute=0, second=0, microsecond=0)
    return local >= opened and (last is None or last < opened)
