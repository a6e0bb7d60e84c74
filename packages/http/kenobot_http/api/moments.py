"""Dates and times as requests give them: ISO 8601 alone, no count of seconds."""

import re
from datetime import date, datetime
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
