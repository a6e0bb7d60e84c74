"""Tell how memory grew: what was learned, replaced, faded, forgotten and undone, by day, week or month."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from kenobot.cognitive.control.timeline_rows import HappeningRow, count_between, page_of_events, read_span
from kenobot.ports.browsing import HAPPENINGS, Days, Happening, Period, TimelineItem, TimelinePeriod
from kenobot.ports.records import read_reason
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes
from kenobot.storage.times import stamp

NAMES: dict[str, Happening] = {kind: name for name, kinds in HAPPENINGS.items() for kind in kinds}
"""What each type of event tells."""
_DAY = timedelta(days=1)


def count_by_period(
    connection: Connection, reach: Scopes, days: Days, by: Period, *, subject: str = ""
) -> list[TimelinePeriod]:
    """Count what happened by period, the newest first, without periods in which nothing did."""
    begins = _list_begins(_cut_to_events(connection, days), by)
    moments = [_find_beginning(day, days.zone) for day in (*begins, days.last + _DAY)]
    periods: dict[date, Counter[Happening]] = {}
    for number, kind, count in count_between(connection, reach, moments, [*NAMES], subject):
        periods.setdefault(_begin(begins[number], by), Counter())[NAMES[kind]] += count
    return [
        TimelinePeriod(begin.isoformat(), _end(begin, by).isoformat(), dict(periods[begin]))
        for begin in sorted(periods, reverse=True)
    ]


def list_happenings(
    connection: Connection,
    reach: Scopes,
    days: Days,
    kinds: Sequence[Happening] = (),
    *,
    before: int,
    limit: int,
    subject: str = "",
) -> list[TimelineItem]:
    """List what happened in some days, the newest first. kinds: none for all. before: only events with ids below."""
    wanted = [kind for kind, name in NAMES.items() if name in (kinds or NAMES.values())]
    rows = page_of_events(connection, reach, *_find_bounds(days), wanted, subject, before=before, limit=limit)
    return [make_item(row) for row in rows]


def make_item(row: HappeningRow) -> TimelineItem:
    """Make the line of a timeline from a row, without the words of what was forgotten."""
    text = "" if row.status == "forgotten" else row.text
    name = NAMES[row.kind]
    data = json.loads(row.data)
    part_of = data.get("part_of")
    event = part_of if isinstance(part_of, int) else row.event
    reason = "" if row.status == "forgotten" else read_reason(data)  # which may quote what it said
    return TimelineItem(row.event, row.at, name, row.kind, row.actor, reason, row.record, row.subject, text, event)


def _begin(day: date, by: Period) -> date:
    match by:
        case "day":
            return day
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)


def _end(begin: date, by: Period) -> date:
    match by:
        case "day":
            return begin
        case "week":
            return begin + timedelta(days=6)
        case "month":
            return (begin.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


def _cut_to_events(connection: Connection, days: Days) -> Days:
    """Return those of some days in which something may have happened."""
    span = read_span(connection)
    if span is None:
        return replace(days, last=days.first - _DAY)
    first, last = (datetime.fromisoformat(moment).astimezone(days.zone).date() for moment in span)
    return replace(days, first=max(days.first, first - _DAY), last=min(days.last, last + _DAY))


def _list_begins(days: Days, by: Period) -> list[date]:
    """List the day on which each period of some days begins among them."""
    found, day = list[date](), days.first
    while day <= days.last:
        found.append(day)
        day = _end(_begin(day, by), by) + timedelta(days=1)
    return found


def _find_bounds(days: Days) -> tuple[str, str]:
    """Return when some days begin and when they are over, as the database keeps moments."""
    return _find_beginning(days.first, days.zone), _find_beginning(days.last + timedelta(days=1), days.zone)


def _find_beginning(day: date, zone: ZoneInfo) -> str:
    return stamp(datetime.combine(day, time.min, zone).astimezone(UTC))
