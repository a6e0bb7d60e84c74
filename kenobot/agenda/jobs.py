"""Jobs: add, find, move, snooze, skip, pause and end them, each inside a writer's transaction.

`find_jobs` and `load_job` show what lies within the scopes given; the other functions change what a caller loaded.
"""

import json
import logging
from collections.abc import Collection, Mapping
from dataclasses import asdict
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kenobot.agenda import job_rows
from kenobot.agenda.job import OWNER_PERSON, Job, JobError, JobState, NewJob, Occurrence
from kenobot.agenda.job_rows import Reach, stamp, stamp_local
from kenobot.agenda.recurrence import (
    CRON,
    RuleError,
    check_rule,
    instances,
    is_by_the_hour,
    list_moments_between,
    next_instance,
    to_local,
    to_utc,
)
from kenobot.core import texts
from kenobot.language.when.meaning import Moment, Recurrence
from kenobot.ports.identity import OWNER_SCOPE, QUOTED_TRUST
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection

_log = logging.getLogger(__name__)

_LONGEST_TEXT = 1000
_MOST_OF_OWNER, _MOST_OF_OTHERS = 2000, 100
_DAY_HOURS = (time(9), time(18))  # of what was asked for without an hour: the first that is still to come
_UTC = ZoneInfo("UTC")
_YEARS = range(1900, 9000)
_MOST_BETWEEN = 1000
_ACTIVE: tuple[JobState, ...] = ("active",)
_ROUNDED = timedelta(seconds=1)  # by which the times of jobs are
_UNDONE = ("rule", "zone", "exact", "has_time", "cursor", "state")


def add_job(connection: Connection, new: NewJob, zone: ZoneInfo, at: datetime) -> Job:
    """Store a job. zone: the owner's. at: now. Raises JobError."""
    text = new.text.strip()
    if not text:
        raise JobError(texts.REMINDER_EMPTY)
    if len(text) > _LONGEST_TEXT:
        raise JobError(texts.REMINDER_LONG, most=_LONGEST_TEXT)
    most = _MOST_OF_OWNER if new.place.scope == OWNER_SCOPE else _MOST_OF_OTHERS
    if job_rows.count_open(connection, new.place.scope) >= most:
        raise JobError(texts.REMINDERS_MANY, most=most)
    values = {
        "kind": new.kind,
        "text": text,
        **asdict(new.place),
        **_schedule(new.meaning, new.zone or _own_zone(new.place.person, zone), zone, at),
        "state": "proposed" if new.trust in QUOTED_TRUST else "active",
        "missed": new.missed,
        "trust": new.trust,
        "origin": new.origin,
        "created": stamp(at),
        "source_record": new.source_record,
        "undo": json.dumps({"state": "cancelled"}),
    }
    return _plan(connection, job_rows.insert_job(connection, values), zone, at)


def find_twin(connection: Connection, new: NewJob, zone: ZoneInfo, at: datetime, within: timedelta) -> Job | None:
    """Find an open job that the same words asked for a moment ago: then "in two hours" meant a little earlier.

    Raises JobError.
    """
    columns = _schedule(new.meaning, new.zone or _own_zone(new.place.person, zone), zone, at)
    start = datetime.fromisoformat(str(columns["start_local"]))
    for job in job_rows.select_jobs(connection, (new.place.scope,), ("active", "paused")):
        alike = (job.text, job.rule, job.kind) == (new.text.strip(), columns["rule"], new.kind)
        age, later = at - job.created, start - job.start_local
        if alike and age <= within and (not later or abs(later - age) <= _ROUNDED):
            return job
    return None


def find_jobs(
    connection: Connection,
    scopes: Reach,
    *,
    states: Collection[JobState] = ("active", "paused"),
    until: datetime | None = None,
) -> list[Job]:
    """Return the jobs of these scopes, the next ones first. until: only those due by then."""
    return job_rows.select_jobs(connection, scopes, states, until)


def load_job(connection: Connection, job: int, scopes: Reach) -> Job | None:
    """Return a job of these scopes by its id."""
    found = job_rows.get_job(connection, job)
    return found if found is not None and _lies_within(found, scopes) else None


def load_occurrence(connection: Connection, occurrence: int, scopes: Reach) -> tuple[Occurrence, Job] | None:
    """Return an occurrence by its id, with its job, which is of these scopes."""
    found = job_rows.get_occurrence(connection, occurrence)
    job = load_job(connection, found.job_id, scopes) if found is not None else None
    return (found, job) if found is not None and job is not None else None


def move_job(connection: Connection, job: Job, meaning: Moment | Recurrence, zone: ZoneInfo, at: datetime) -> Job:
    """Give a job another time; of a recurring one, a moment moves the next instance alone. Raises JobError."""
    _require_open(job)
    fixed = _own_zone(job.person, zone) if job.exact else job.zone
    schedule = _schedule(meaning, fixed, zone, at)
    if job.rule and isinstance(meaning, Moment):
        return _move_next(connection, job, _due_of(schedule, zone), zone, at)
    job_rows.forget_planned(connection, job.id)
    _drop_waiting(connection, job.id)
    state = job.state if job.state in ("paused", "proposed") else "active"
    job_rows.update_job(connection, job.id, {**schedule, "state": state, "ended": "", "undo": _undo_of(job)})
    return _plan(connection, job.id, zone, at)


def _move_next(connection: Connection, job: Job, due: datetime, zone: ZoneInfo, at: datetime) -> Job:
    """Move the next instance of a recurring job to another time, and leave the others."""
    undo = json.loads(skip_next(connection, job, zone, at).undo) if job.next_due is not None else {"drop": []}
    undo["drop"].append(_wait_until(connection, job, due))
    job_rows.update_job(connection, job.id, {"undo": json.dumps(undo)})
    return _settle(connection, job.id, at)


def snooze(connection: Connection, occurrence: int, until: datetime, at: datetime) -> Job:
    """Snooze an instance until `until`; the recurrence of its job stays. Raises JobError."""
    found = job_rows.get_occurrence(connection, occurrence)
    job = job_rows.get_job(connection, found.job_id) if found is not None else None
    if found is None or job is None or job.state == "cancelled":
        raise JobError(texts.REMINDER_OVER)
    if until <= at:
        raise JobError(texts.REMINDER_PAST)
    _drop_snoozed(connection, found)
    job_rows.set_occurrence(connection, found.id, "snoozed")
    _wait_until(connection, job, until)
    return _settle(connection, job.id, at)


def tell_now(connection: Connection, job: Job, at: datetime) -> Job:
    """Run a job at once, beside its times. Raises JobError."""
    _require_open(job)
    _wait_until(connection, job, at)
    return _settle(connection, job.id, at)


def snooze_job(connection: Connection, job: Job, until: datetime, zone: ZoneInfo, at: datetime) -> Job:
    """Snooze what was told of a job last; of one that was not told yet, move the next instance. Raises JobError."""
    told = job_rows.last_told(connection, job.id)
    if told is not None and told.state in ("sent", "missed"):
        return snooze(connection, told.id, until, at)
    meaning = Moment(to_local(until, zone_of(job, zone)))
    return move_job(connection, job, meaning, zone, at)


def _wait_until(connection: Connection, job: Job, until: datetime) -> int:
    """Add an occurrence of a job beside those of its rule, and return it."""
    again = until.replace(microsecond=0)
    while job_rows.is_settled(connection, job.id, again, ""):
        again += timedelta(seconds=1)
    state = "active" if job.state == "done" else job.state
    job_rows.update_job(connection, job.id, {"state": state, "ended": ""})
    return job_rows.put_occurrence(connection, job.id, again, "due")


def _drop_snoozed(connection: Connection, told: Occurrence) -> None:
    """Settle the moment until which an occurrence was snoozed."""
    if told.state == "snoozed":
        for waiting in job_rows.waiting_occurrences(connection, told.job_id)[:1]:
            job_rows.set_occurrence(connection, waiting.id, "skipped")


def _drop_waiting(connection: Connection, job: int) -> None:
    for waiting in job_rows.waiting_occurrences(connection, job):
        job_rows.set_occurrence(connection, waiting.id, "skipped")


def mark_done(connection: Connection, done: int | Job, at: datetime) -> Job:
    """Note that what an occurrence, or a job, says is done; a recurring job goes on. Raises JobError."""
    if isinstance(done, Job):
        told, job = job_rows.last_told(connection, done.id), done
    else:
        told = job_rows.get_occurrence(connection, done)
        found = job_rows.get_job(connection, told.job_id) if told is not None else None
        if found is None:
            raise JobError(texts.REMINDER_OVER)
        job = found
    if told is not None:
        _drop_snoozed(connection, told)
        job_rows.set_occurrence(connection, told.id, "done")
    if not job.rule and job.state != "cancelled":
        _drop_waiting(connection, job.id)
        job_rows.update_job(connection, job.id, {"state": "done", "ended": stamp(at), "undo": _undo_of(job)})
    return _settle(connection, job.id, at)


def skip_next(connection: Connection, job: Job, zone: ZoneInfo, at: datetime) -> Job:
    """Leave out the next moment of a job. Raises JobError."""
    if job.state not in ("active", "paused") or job.next_due is None:
        raise JobError(texts.REMINDER_OVER)
    planned = instance_key(job, datetime.fromisoformat(job.planned)) if job.next_due == job.planned_due else ""
    skipped = job_rows.put_occurrence(connection, job.id, job.next_due, "skipped", planned)
    job_rows.update_job(connection, job.id, {"undo": json.dumps({"drop": [skipped]})})
    return _plan(connection, job.id, zone, at)


def pause_job(connection: Connection, job: Job, at: datetime) -> Job:
    """Pause a job until it is resumed. Raises JobError."""
    _require_open(job)
    job_rows.update_job(connection, job.id, {"state": "paused", "undo": _undo_of(job)})
    return _settle(connection, job.id, at)


def resume_job(connection: Connection, job: Job, zone: ZoneInfo, at: datetime) -> Job:
    """Go on with a paused job, or accept a proposed one; what it missed meanwhile is left out. Raises JobError."""
    if job.state not in ("paused", "proposed"):
        raise JobError(texts.REMINDER_OVER)
    if not job.rule and job.next_due is not None and job.next_due <= at:
        raise JobError(texts.REMINDER_PAST)
    for waiting in job_rows.waiting_occurrences(connection, job.id):
        if waiting.due <= at:
            job_rows.set_occurrence(connection, waiting.id, "skipped")
    cursor = max(job.cursor, _cursor_at(job.rule, zone_of(job, zone), at)) if job.rule else ""
    job_rows.update_job(connection, job.id, {"state": "active", "cursor": cursor, "undo": _undo_of(job)})
    return _plan(connection, job.id, zone, at)


def cancel_job(connection: Connection, job: Job, at: datetime) -> Job:
    """End a job. Raises JobError."""
    _require_open(job)
    values = {"state": "cancelled", "ended": stamp(at), "undo": _undo_of(job)}
    job_rows.update_job(connection, job.id, values)
    return _settle(connection, job.id, at)


def undo_job(connection: Connection, job: Job, zone: ZoneInfo, at: datetime) -> Job:
    """Take back the last change of a job: that it was added, moved, paused, done or ended. Raises JobError."""
    if not job.undo:
        raise JobError(texts.REMINDER_NO_UNDO)
    before = json.loads(job.undo)
    job_rows.drop_occurrences(connection, before.pop("drop", ()))
    state = before.get("state", job.state)
    ended = stamp(at) if state in ("cancelled", "done") else ""
    job_rows.update_job(connection, job.id, {**before, "ended": ended, "undo": ""})
    return _plan(connection, job.id, zone, at)


def occurrences_between(
    connection: Connection, scopes: Reach, begin: datetime, end: datetime, zone: ZoneInfo
) -> list[tuple[Job, datetime]]:
    """Return what is to come of the jobs of these scopes from `begin` up to and without `end`, in order."""
    found: list[tuple[Job, datetime]] = []
    for job in find_jobs(connection, scopes, states=_ACTIVE, until=end):
        moments = {each.due for each in job_rows.waiting_occurrences(connection, job.id)}
        moments |= set(_list_planned_between(connection, job, zone, begin, end))
        found += [(job, due) for due in moments if begin <= due < end]
    return sorted(found, key=lambda each: (each[1], each[0].id))[:_MOST_BETWEEN]


def _list_planned_between(
    connection: Connection, job: Job, zone: ZoneInfo, begin: datetime, end: datetime
) -> list[datetime]:
    if job.planned_due is None or not job.rule:
        return [] if job.planned_due is None else [job.planned_due]
    begin = max(begin, job.planned_due)
    return [
        due
        for due in list_moments_between(job.rule, job.start_local, zone_of(job, zone), begin, end, _MOST_BETWEEN)
        if not job_rows.is_settled(connection, job.id, due, "")
    ]


# ── zones and clocks ─────────────────────────────────────────────────────────────────────────────────────────────────


def change_zone(connection: Connection, zone: ZoneInfo, at: datetime) -> int:
    """Plan anew what is said in the owner's local time, after that changed; return how many jobs that moves."""
    following = [job for job in job_rows.open_jobs(connection) if not job.zone]
    return sum(_plan_or_pause(connection, job, {}, zone, at).next_due != job.next_due for job in following)


def rewind(connection: Connection, zone: ZoneInfo, at: datetime) -> None:
    """Plan recurring jobs anew after the clock was set back: what a wrong time settled too early is to come again."""
    for job in job_rows.open_jobs(connection):
        if job.rule:
            _plan_or_pause(connection, job, {"cursor": min(job.cursor, _cursor_of(job, zone, at))}, zone, at)


def _cursor_of(job: Job, zone: ZoneInfo, at: datetime) -> str:
    try:
        return _cursor_at(job.rule, zone_of(job, zone), at)
    except (JobError, RuleError):
        return job.cursor


def _plan_or_pause(
    connection: Connection, job: Job, changes: Mapping[str, object], zone: ZoneInfo, at: datetime
) -> Job:
    """Plan a job anew, and pause one whose rule or zone is no longer known, as after a change of this machine."""
    if changes:
        job_rows.update_job(connection, job.id, changes)
    try:
        return _plan(connection, job.id, zone, at)
    except (JobError, RuleError) as error:
        _log.error("reminder %d is paused: %s", job.id, error)
        job_rows.update_job(connection, job.id, {"state": "paused"})
        return _settle(connection, job.id, at)


def advance(connection: Connection, job: Job, local: datetime, due: datetime, zone: ZoneInfo, at: datetime) -> Job:
    """Settle the instances of a job up to this one, and plan the next."""
    cursor = stamp(due) if is_by_the_hour(job.rule) else stamp_local(local)
    job_rows.update_job(connection, job.id, {"cursor": cursor})
    return _plan(connection, job.id, zone, at)


def settle(connection: Connection, job: Job, at: datetime) -> Job:
    """Work out when a job is due next, once an occurrence of it is settled."""
    return _settle(connection, job.id, at)


def zone_of(job: Job, zone: ZoneInfo) -> ZoneInfo:
    """Return the zone in which a job's local times are meant. zone: the owner's."""
    return _load_zone(job.zone) if job.zone else zone


def instance_key(job: Job, local: datetime) -> str:
    """Return what tells an instance of a job from its others: its local time, save where hours are counted."""
    return "" if is_by_the_hour(job.rule) else stamp_local(local)


# ── planning ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _schedule(meaning: Moment | Recurrence, name: str, zone: ZoneInfo, at: datetime) -> dict[str, object]:
    """Return the columns of a job that say when. Raises JobError."""
    zone = _load_zone(name) if name else zone
    if isinstance(meaning, Recurrence):
        start = meaning.start if meaning.has_time else _at_hour(meaning.start, _DAY_HOURS[0])
        rule = meaning.rule.strip()
        _check_year(start)
        _check(rule, start, zone)
        return _columns(rule, start, name, meaning, cursor=_cursor_at(rule, zone, at))
    now_local = to_local(at, zone)
    _check_year(meaning.at)
    if meaning.exact:
        # In hours that pass, not in those that the clocks show: and so it is kept in UTC, which no zone moves.
        start, name, zone = to_local(at + (meaning.at - now_local), _UTC), _UTC.key, _UTC
    else:
        start = meaning.at if meaning.has_time else _hour_of_day(meaning.at, now_local)
    if to_utc(start, zone) <= at:
        raise JobError(texts.REMINDER_PAST)
    return _columns("", start, name, meaning)


def _check_year(start: datetime) -> None:
    if start.year not in _YEARS:
        raise JobError(texts.REMINDER_FAR)


def _own_zone(person: str, zone: ZoneInfo) -> str:
    """Return the zone that a person's times keep: only the owner's follow the owner, wherever that is."""
    return "" if person == OWNER_PERSON else zone.key


def _columns(
    rule: str, start: datetime, zone: str, meaning: Moment | Recurrence, *, cursor: str = ""
) -> dict[str, object]:
    return {
        "rule": rule,
        "start_local": stamp_local(start.replace(microsecond=0)),
        "zone": zone,
        "exact": isinstance(meaning, Moment) and meaning.exact,
        "has_time": meaning.has_time,
        "cursor": cursor,
    }


def _due_of(schedule: Mapping[str, object], zone: ZoneInfo) -> datetime:
    """Return the moment of the columns of a job for once."""
    name = str(schedule["zone"])
    return to_utc(datetime.fromisoformat(str(schedule["start_local"])), _load_zone(name) if name else zone)


def _check(rule: str, start: datetime, zone: ZoneInfo) -> None:
    try:
        if not rule:
            raise RuleError(Sentence("recurrence.none"))
        check_rule(rule, start, zone)
    except RuleError as error:
        raise JobError(texts.REMINDER_RULE, rule=rule.removeprefix(CRON)[:100], why=str(error)) from error


def _hour_of_day(day: datetime, now_local: datetime) -> datetime:
    """Return the hour at which something is told that was asked for by its day alone."""
    first, last = (_at_hour(day, hour) for hour in _DAY_HOURS)
    return first if first > now_local else last


def _at_hour(day: datetime, hour: time) -> datetime:
    return datetime.combine(day.date(), hour)


def _plan(connection: Connection, number: int, zone: ZoneInfo, at: datetime) -> Job:
    """Work out the next instance of a job from its cursor on, and store when it is due."""
    job = job_rows.get_job(connection, number)
    assert job is not None
    found = _next_of(connection, job, zone_of(job, zone))
    planned, due = ("", None) if found is None else (stamp_local(found[0]), found[1])
    job_rows.update_job(connection, job.id, {"planned": planned, "planned_due": stamp(due)})
    return _settle(connection, job.id, at)


def _next_of(connection: Connection, job: Job, zone: ZoneInfo) -> tuple[datetime, datetime] | None:
    """Return the next instance of a job that is not settled, as its local time and its moment."""
    if is_by_the_hour(job.rule):
        after = datetime.fromisoformat(job.cursor)
        while (found := next_instance(job.rule, job.start_local, zone, after)) is not None:
            if not job_rows.is_settled(connection, job.id, found[1], ""):
                return found
            after = found[1]
        return None
    cursor = datetime.fromisoformat(job.cursor) if job.cursor else job.start_local - timedelta(seconds=1)
    for local in instances(job.rule, job.start_local, zone, cursor):
        due = to_utc(local, zone)
        if not job_rows.is_settled(connection, job.id, due, stamp_local(local)):
            return local, due
    return None


def _settle(connection: Connection, number: int, at: datetime) -> Job:
    """Store when a job is due next, by its rule or what was snoozed; one with nothing to come is done."""
    job = job_rows.get_job(connection, number)
    assert job is not None
    moments = [each.due for each in job_rows.waiting_occurrences(connection, job.id)]
    moments += [job.planned_due] if job.planned_due is not None else []
    due = min(moments, default=None) if job.state not in ("done", "cancelled") else None
    values: dict[str, object] = {"next_due": stamp(due)}
    if due is None and job.state in ("active", "paused"):
        values |= {"state": "done", "ended": stamp(at)}
    job_rows.update_job(connection, job.id, values)
    settled = job_rows.get_job(connection, job.id)
    assert settled is not None
    return settled


def _cursor_at(rule: str, zone: ZoneInfo, at: datetime) -> str:
    """Return the cursor behind all that lies before `at`."""
    return stamp(at) if is_by_the_hour(rule) else stamp_local(to_local(at, zone).replace(microsecond=0))


def _load_zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise JobError(texts.REMINDER_ZONE, zone=name[:60]) from error


def _undo_of(job: Job) -> str:
    before = {name: getattr(job, name) for name in _UNDONE}
    before["start_local"] = stamp_local(job.start_local)
    return json.dumps(before)


def _require_open(job: Job) -> None:
    if job.state == "cancelled":
        raise JobError(texts.REMINDER_OVER)


def _lies_within(job: Job, scopes: Reach) -> bool:
    return not isinstance(scopes, Collection) or job.scope in scopes
