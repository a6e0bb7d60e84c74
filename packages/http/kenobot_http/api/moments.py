"""Dates and times as requests give them: ISO 8601 alone, no count of seconds."""

import re
from datetime import UTC, date, datetime
from typing import Annotated

from pydantic import BeforeValidator

from kenobot.ports.sentences import Sentence

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")


def _iso(value: object) -> object:
    if isinstance(value, str) and not _ISO.match(value):
        raise ValueError(Sentence("settings.no_moment"))
    return value


Day = Annotated[date, BeforeValidator(_iso)]
Moment = Annotated[datetime, BeforeValidator(_iso)]

_FIRST, _LAST = date(1000, 1, 1), date(9000, 1, 1)  # so that no zone and no day more leads out of the calendar


def to_utc(moment: datetime) -> datetime:
    """Return a moment in UTC, in which one without an offset is read."""
    zone = moment.tzinfo or UTC
    return datetime.combine(clamp_day(moment.date()), moment.time(), zone).astimezone(UTC)


def clamp_day(day: date) -> date:
    """Return a day that can be reckoned with in every zone."""
    return min(max(day, _FIRST), _LAST)
