"""Read the events of a calendar file (iCalendar, RFC 5545), a line each."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

if TYPE_CHECKING:
    from icalendar import Calendar, Component

ALL_DAY, LOCAL, UNKNOWN = "all day", "local time", "zone not known: "
"""What stands in the place of a zone: of a day, of a time without a zone, and before the name of one that is unknown.

Only an event that comes again in a zone that the file defines itself has none that is known.
"""

EVENT = re.compile(
    r"- (?P<day>\d{4}-\d\d-\d\d)(?: (?P<time>\d\d:\d\d))? "
    r"\((?P<zone>[^;()]+)(?:; (?P<rule>[A-Z0-9=;,+-]+))?\): (?P<text>.+)"
)
"""A line of an event."""

_MOST = 500  # lines
_MOST_TIMES = 60  # of an event whose times no rule alone tells
_AHEAD = timedelta(days=3 * 366)
_LONGEST = 200
_MOST_PEOPLE = 20
_NO_NAME = re.compile(r"[;()\s]+")


_METHODS = {"REQUEST": "Invitation", "CANCEL": "Cancelled", "REPLY": "Answer to an invitation", "COUNTER": "Other time"}
_ATTENDANCE = {"ACCEPTED": "accepts", "DECLINED": "declines", "TENTATIVE": "accepts for now"}


def calendar_lines(raw: bytes, now: datetime | None = None) -> Iterator[str]:
    """Iterate over the lines of a calendar's events, the earliest first.

    now: of an event whose times no rule alone tells, those from then on; of too many events, what is to come. None for
    all from its beginning.
    """
    found: list[tuple[str, str]] = []
    for calendar in _read(raw):
        found += [(line[2:18], line) for line in _events(calendar, now)]
    found.sort(key=lambda each: each[0])
    yield f"Calendar, events: {len(found)}"
    if now is not None and len(found) > _MOST:
        found = [each for each in found if not _is_over(each[1], now)] or found
    yield from (line for _, line in found[:_MOST])


def _is_over(line: str, now: datetime) -> bool:
    """Return whether the event of a line comes no more, as far as its day tells."""
    event = EVENT.fullmatch(line)
    return event is not None and not event["rule"] and event["day"] < f"{now - timedelta(days=1):%Y-%m-%d}"


def invitation_lines(raw: bytes) -> Iterator[str]:
    """Iterate over the events that a mail invites to, each with its end and the people of it."""
    for calendar in _read(raw):
        method = str(calendar.get("METHOD", "")).upper()
        yield f"[{_METHODS.get(method, 'Calendar')}]"
        for event in calendar.walk("VEVENT"):
            start, rule = event.get("DTSTART"), event.get("RRULE")
            if start is None:
                continue
            zone = _zone_of(start, recurs=rule is not None)
            yield _line(event, start.dt, zone, _rule_of(rule, zone) if rule is not None else "")
            end = event.get("DTEND")
            if (
                last := _last_day(end.dt) if end is not None else _add_duration(start.dt, event.get("DURATION"))
            ) is not None:
                yield f"  until {_write_moment(last, zone)}"
            yield from _people(event, answers=method == "REPLY")
            if text := " ".join(str(event.get("DESCRIPTION", "")).split()):
                yield f"  {text}"


def _last_day(end: date) -> date:
    return end if isinstance(end, datetime) else end - timedelta(days=1)


def _add_duration(start: date, duration: Any) -> date | None:
    return None if duration is None else start + duration.dt


def _people(event: "Component", *, answers: bool) -> Iterator[str]:
    for name, label in (("ORGANIZER", "organiser"), ("ATTENDEE", "invited")):
        given = event.get(name, [])
        people = [_person(each, answers=answers) for each in (given if isinstance(given, list) else [given])]
        if people:
            yield f"  {label}: {', '.join(people[:_MOST_PEOPLE])}{' …' if len(people) > _MOST_PEOPLE else ''}"


def _person(person: Any, *, answers: bool) -> str:
    address = re.sub("(?i)^mailto:", "", str(person))
    name = str(person.params.get("CN", ""))
    told = f"{name} <{address}>" if name and name != address else address
    answer = _ATTENDANCE.get(str(person.params.get("PARTSTAT", "")).upper(), "") if answers else ""
    return f"{told} {answer}".strip()


def _read(raw: bytes) -> "list[Calendar]":
    from icalendar import Calendar  # noqa: PLC0415 - an extra

    return list(Calendar.from_ical(raw.decode("utf-8-sig", "replace"), multiple=True))


def _events(calendar: "Calendar", now: datetime | None) -> Iterator[str]:
    by_uid: dict[str, list[Component]] = {}
    for event in calendar.walk():
        if event.name in ("VEVENT", "VTODO") and str(event.get("STATUS", "")).upper() not in ("CANCELLED", "COMPLETED"):
            by_uid.setdefault(str(event.get("UID", id(event))), []).append(event)
    for events in by_uid.values():
        first = next((each for each in events if "RECURRENCE-ID" not in each), events[0])
        start = first.get("DTSTART") or first.get("DUE")
        if start is None:
            continue
        is_plain = len(events) == 1 and not any(name in first for name in ("EXDATE", "RDATE", "EXRULE"))
        if "RRULE" not in first and len(events) == 1 and "RDATE" not in first:
            yield _line(first, start.dt, _zone_of(start, recurs=False))
        elif is_plain and not isinstance(first["RRULE"], list):
            zone = _zone_of(start, recurs=True)
            yield _line(first, start.dt, zone, _rule_of(first["RRULE"], zone))
        else:
            yield from _each_time(calendar, events, start, now)


def _each_time(calendar: "Calendar", events: "list[Component]", start: Any, now: datetime | None) -> Iterator[str]:
    """Iterate over the times of an event that come by more than a rule: those to come, of one that is over the first.

    Those of the day before `now` count as well, because a day begins earlier in other zones.
    """
    import recurring_ical_events  # noqa: PLC0415 - an extra
    from icalendar import Calendar  # noqa: PLC0415

    alone = Calendar()
    for zone in calendar.walk("VTIMEZONE"):
        alone.add_component(zone)
    for event in events:
        alone.add_component(event)
    name, begin, recurring = _zone_of(start, recurs=True), start.dt, recurring_ical_events.of(alone)
    lately = begin if now is None else max(begin, _as_kind_of(begin, now - timedelta(days=1)))
    times = islice(recurring.between(lately, lately + _AHEAD), _MOST_TIMES) if lately > begin else ()
    for event in [*times] or islice(recurring.between(begin, begin + _AHEAD), _MOST_TIMES):
        yield _line(event, event["DTSTART"].dt, name)


def _as_kind_of(begin: date, moment: datetime) -> date:
    """Return a moment as a value that can be compared with the begin of an event: a day, a local time or a time."""
    if not isinstance(begin, datetime):
        return moment.date()
    return moment if begin.tzinfo is not None else moment.astimezone(UTC).replace(tzinfo=None)


def _write_moment(moment: date, zone: str) -> str:
    """Write a day, or a time in a zone where that is known."""
    if not isinstance(moment, datetime):
        return f"{moment:%Y-%m-%d}"
    if moment.tzinfo is not None and zone == "UTC":
        moment = moment.astimezone(UTC)
    elif moment.tzinfo is not None and not zone.startswith(UNKNOWN) and zone not in (LOCAL, ALL_DAY):
        moment = moment.astimezone(ZoneInfo(zone))
    return f"{moment:%Y-%m-%d %H:%M}"


def _line(event: "Component", start: date, zone: str, rule: str = "") -> str:
    when = _write_moment(start, zone)
    told = [" ".join(str(event.get(name, "")).split()) for name in ("SUMMARY", "LOCATION")]
    text = " — ".join(part for part in told if part)[:_LONGEST] or "?"
    return f"- {when} ({zone}{f'; {rule}' if rule else ''}): {text}"


def _zone_of(start: Any, *, recurs: bool) -> str:
    """Return the name of the zone of a start, or what stands in its place."""
    from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON  # noqa: PLC0415 - an extra

    moment, name = start.dt, str(start.params.get("TZID", ""))
    if not isinstance(moment, datetime):
        return ALL_DAY
    if not name:
        return LOCAL if moment.tzinfo is None else "UTC"
    for known in (WINDOWS_TO_OLSON.get(name, name), "/".join(name.split("/")[-2:])):
        try:
            return ZoneInfo(known).key
        except (OSError, ValueError, ZoneInfoNotFoundError):
            continue
    if moment.tzinfo is not None and not recurs:
        return "UTC"  # the file itself says how far from it
    return UNKNOWN + _NO_NAME.sub(" ", name).strip()[:60]


def _rule_of(rule: Any, zone: str) -> str:
    """Return a recurrence with an end in the time of its zone."""
    parts = dict(part.partition("=")[::2] for part in rule.to_ical().decode().upper().split(";"))
    until = rule.get("UNTIL", [None])[0]
    if isinstance(until, datetime):
        known = zone != LOCAL and not zone.startswith(UNKNOWN)
        local = until.astimezone(ZoneInfo(zone)) if known and until.tzinfo is not None else until
        parts["UNTIL"] = f"{local:%Y%m%dT%H%M%S}"
    elif until is not None:
        parts["UNTIL"] = f"{until:%Y%m%d}T235959"
    return ";".join(f"{name}={value}" for name, value in parts.items())
