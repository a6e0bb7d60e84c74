"""Routes of reminders: list them, add one, cancel one."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from kenobot.agenda import job_rows, jobs
from kenobot.agenda.job import Job, JobError, JobState, NewJob, Place
from kenobot.agenda.places import owner_place
from kenobot.agenda.recurrence import CRON, to_local
from kenobot.agenda.zones import zone_in_force
from kenobot.core import texts
from kenobot.core.i18n import guess_language
from kenobot.language.when import Choice, Moment, Recurrence
from kenobot.language.when.read import read_when
from kenobot.ports.names import Role
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection
from kenobot_http.api.auth import Scheduler
from kenobot_http.api.idempotency import IdempotencyKey, do_once
from kenobot_http.api.moments import Moment as IsoMoment
from kenobot_http.api.paging import LARGEST_ID, Cursor, Limit, Page, page_of, read_cursor
from kenobot_http.api.services import Caller
from kenobot_http.settings import CHANNEL

router = APIRouter(prefix="/v1", tags=["schedule"])

_OPEN: tuple[JobState, ...] = ("active", "paused", "proposed")
_STATES: dict[str, tuple[JobState, ...]] = {"open": _OPEN, "all": (*_OPEN, "done", "cancelled")}
_CONVERSATION = "default"
_UTC = ZoneInfo("UTC")


class Reminder(BaseModel):
    """A reminder. next_due: in UTC. rule: an RRULE, or `cron:` and a line. zone: null where it follows the owner.

    restorable: that it was cancelled can be taken back.
    """

    id: int
    text: str
    state: str
    next_due: str | None
    rule: str | None
    start: str
    zone: str | None
    scope: str
    channel: str
    chat: str
    created: str
    last_told: str | None
    restorable: bool


class NewReminder(BaseModel, extra="forbid"):
    """A reminder to be, with exactly one of `when`, `at`, `rule` and `cron`."""

    text: str = Field(min_length=1, max_length=1000)
    when: str = Field("", max_length=200, description='In words: "tomorrow at 8 am", "cada lunes a las 9"')
    at: IsoMoment | None = Field(None, description="Once, then; without an offset in the owner's local time")
    rule: str = Field("", max_length=300, description="RRULE of RFC 5545")
    cron: str = Field("", max_length=100, description="A cron line of five fields")
    start: IsoMoment | None = Field(None, description="From when on a rule counts; local, now without")
    zone: str = Field("", max_length=64, description="Time zone of its times, such as Europe/Madrid")


class Scheduled(BaseModel):
    """Outcome for a reminder."""

    id: int
    text: str
    state: JobState
    next_due: str | None


@router.get("/schedule")
async def list_reminders(
    caller: Scheduler, state: Literal["open", "all"] = "open", limit: Limit = 50, cursor: Cursor = ""
) -> Page[Reminder]:
    """List reminders, the newest first: the owner's key sees all of them, another its user's."""
    before = read_cursor(cursor)

    def read(connection: Connection) -> list[Reminder]:
        rows = job_rows.page_of_jobs(connection, caller.reach, _STATES[state], before, limit + 1)
        return [_render_reminder(connection, job) for job in rows]

    return page_of(await caller.services.database.read(read), limit, lambda row: row.id, lambda row: row)


@router.post("/schedule")
async def add_reminder(caller: Scheduler, new: NewReminder, idempotency_key: IdempotencyKey = "") -> Scheduled:
    """Add a reminder: the owner is told in the chat in which they wrote last."""
    return await set_reminder(caller, new, idempotency_key)


async def set_reminder(
    caller: Caller, new: NewReminder, name: str = "", *, repeats_within: timedelta | None = None
) -> Scheduled:
    """Set a reminder once for the requests of a name. repeats_within: the same one asked for again is that one."""

    def work(connection: Connection) -> Scheduled:
        services, at = caller.services, caller.services.clock.now()
        place = _place(connection, caller, new.text)
        zone = zone_in_force(connection, services.zone, at, _role(caller))
        meaning, zone_name = _meaning(new, to_local(at, zone))
        job = NewJob(new.text, place, meaning, zone_name, trust=_role(caller))
        twin = jobs.find_twin(connection, job, zone, at, repeats_within) if repeats_within is not None else None
        return _render_scheduled(twin or jobs.add_job(connection, job, zone, at))

    return await _do(caller, name, ("schedule", new.model_dump_json()), work)


def _find_job(connection: Connection, caller: Caller, number: int) -> Job:
    """Find a reminder within reach. Raises HTTPException."""
    job = jobs.load_job(connection, number, caller.reach)
    if job is None:
        raise HTTPException(404)
    return job


@router.delete("/schedule/{number}")
async def cancel_reminder(
    caller: Scheduler, number: Annotated[int, Path(ge=1, le=LARGEST_ID)], idempotency_key: IdempotencyKey = ""
) -> Scheduled:
    """End a reminder."""

    def work(connection: Connection) -> Scheduled:
        job = _find_job(connection, caller, number)
        return _render_scheduled(jobs.cancel_job(connection, job, caller.services.clock.now()))

    return await _do(caller, idempotency_key, ("cancel", number), work)


@router.post("/schedule/{number}/restore")
async def restore_reminder(
    caller: Scheduler, number: Annotated[int, Path(ge=1, le=LARGEST_ID)], idempotency_key: IdempotencyKey = ""
) -> Scheduled:
    """Take back that a reminder was cancelled."""

    def work(connection: Connection) -> Scheduled:
        job = _find_job(connection, caller, number)
        if job.state != "cancelled":
            raise HTTPException(409, Sentence("api.not_cancelled"))
        services, at = caller.services, caller.services.clock.now()
        zone = zone_in_force(connection, services.zone, at, _role(caller))
        return _render_scheduled(jobs.undo_job(connection, job, zone, at))

    return await _do(caller, idempotency_key, ("restore", number), work)


async def _do(
    caller: Caller, name: str, request: tuple[object, ...], work: Callable[[Connection], Scheduled]
) -> Scheduled:
    try:
        return await do_once(caller, name, request, Scheduled, work)
    except JobError as error:
        raise HTTPException(409, str(error)) from None


def _meaning(new: NewReminder, now: datetime) -> tuple[Moment | Recurrence, str]:
    """Return when a reminder comes, and in which zone that is said. Raises HTTPException."""
    if sum(map(bool, (new.when, new.at, new.rule, new.cron))) != 1:
        raise HTTPException(409, Sentence("api.one_time"))
    if new.at is not None:
        if new.at.tzinfo is None:
            return Moment(new.at), new.zone
        try:
            return Moment(new.at.astimezone(_UTC).replace(tzinfo=None)), _UTC.key
        except OverflowError:
            raise JobError(texts.REMINDER_FAR) from None
    if new.rule or new.cron:
        start = now if new.start is None else new.start.replace(tzinfo=None)
        return Recurrence(f"{CRON}{new.cron}" if new.cron else new.rule, start), new.zone
    when = read_when(new.when, now)
    meaning = when.meaning if when is not None else None
    if meaning is None or isinstance(meaning, Choice):
        key = "api.when_ambiguous" if meaning is not None else "api.when_unclear"
        raise HTTPException(409, Sentence(key))
    return meaning, new.zone


def _place(connection: Connection, caller: Caller, text: str) -> Place:
    elsewhere = caller.elsewhere or (CHANNEL, caller.chat(_CONVERSATION))
    if caller.is_owner:
        return owner_place(connection, text, elsewhere, None)
    return Place(*elsewhere, "", True, guess_language(text), f"{CHANNEL}:{caller.user}", caller.write_scope)


def _role(caller: Caller) -> Role:
    return "owner" if caller.is_owner else "guest"


def _render_scheduled(job: Job) -> Scheduled:
    return Scheduled(id=job.id, text=job.text, state=job.state, next_due=job_rows.stamp(job.next_due) or None)


def _render_reminder(connection: Connection, job: Job) -> Reminder:
    told = job_rows.last_told(connection, job.id)
    return Reminder(
        id=job.id,
        text=job.text,
        state=job.state,
        next_due=job_rows.stamp(job.next_due) or None,
        rule=job.rule or None,
        start=job_rows.stamp_local(job.start_local),
        zone=job.zone or None,
        scope=job.scope,
        channel=job.channel,
        chat=job.chat,
        created=job_rows.stamp(job.created),
        last_told=job_rows.stamp(told.told_at) if told is not None else None,
        restorable=job.state == "cancelled" and bool(job.undo),
    )
