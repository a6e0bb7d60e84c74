"""Tell when a commitment was resolved."""

import json
from datetime import date
from zoneinfo import ZoneInfo

from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.calendar import parse_time
from kenobot.cognitive.text.lexicon import word_set
from kenobot.cognitive.text.words import fold

RESOLVED_ATTRIBUTE = "resolved"
"""The attribute that tells on which day a commitment was resolved."""


_MARKS = word_set("resolved_marks")


def resolved_on(record: Record, today: date, zone: ZoneInfo) -> date | None:
    """The day on which a commitment was resolved, up to `today`; None while it is open."""
    attributes = record.attribute_map
    said = _day(attributes.get(RESOLVED_ATTRIBUTE, ""))
    if said is not None:
        return min(said, today)
    marked = {fold(tag) for tag in json.loads(record.tags)} | {fold(attributes.get("status", ""))}
    if marked & _MARKS:
        touched = parse_time(record.updated)
        return touched.astimezone(zone).date() if touched is not None else today
    due = _day(attributes.get("due", ""))
    return due if due is not None and due < today else None


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None
