"""Read the fields of forms that several pages have."""

from datetime import date
from typing import Final

from starlette.exceptions import HTTPException

from kenobot.ports.sentences import Sentence
from kenobot_http.api.moments import clamp_day

DAY: Final = r"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$"
"""The form of a day, or nothing."""


def read_day(text: str) -> date | None:
    """Read the day of a field; None where it is empty. Raises HTTPException for a day that no calendar has."""
    if not text:
        return None
    try:
        return clamp_day(date.fromisoformat(text))
    except ValueError:
        raise HTTPException(422, Sentence("http.wrong_field")) from None
