"""Routes of the agenda: what is due, what is overdue, and what the bot waits for."""

from datetime import timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from kenobot.agenda.entry import Entry
from kenobot.agenda.plans import find_plans
from kenobot.agenda.zones import zone_in_force
from kenobot.cognitive.memory import Promises
from kenobot.language.calendar import local_day
from kenobot.language.dates import DateRange
from kenobot.language.question.agenda import AgendaQuestion
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection
from kenobot_http.api.auth import MemoryWriter, Scheduler
from kenobot_http.api.idempotency import IdempotencyKey
from kenobot_http.api.memory import Decided, change_memory, find_record
from kenobot_http.api.moments import Day, clamp_day
from kenobot_http.api.paging import LARGEST_ID

router = APIRouter(prefix="/v1", tags=["schedule"])

_LONGEST_SPAN = 366  # days


class AgendaEntry(BaseModel):
    """Something due. day: YYYY-MM-DD where its person is, empty for none. time: HH:MM, empty where unknown.

    id: of the reminder, or of the memory. overdue: its day has passed.
    """

    kind: Literal["reminder", "memory", "message"]
    id: int
    text: str
    day: str
    time: str
    overdue: bool


class Agenda(BaseModel):
    """List what is due on some days, in order; with today among them also promises that are overdue. today: its day."""

    today: str
    entries: list[AgendaEntry]


@router.get("/agenda")
async def get_agenda(
    caller: Scheduler,
    first: Annotated[Day | None, Query(description="The first day; today without")] = None,
    days: Annotated[int, Query(ge=1, le=_LONGEST_SPAN, description="How many days")] = 1,
    undated: Annotated[bool, Query(description="Also commitments without a day")] = False,
) -> Agenda:
    """Return the reminders and promises of some days, in the order of their days and hours."""
    services, scopes = caller.services, (caller.write_scope,)

    def read(connection: Connection) -> Agenda:
        now = services.clock.now()
        zone = zone_in_force(connection, services.zone, now, "owner" if caller.is_owner else "guest")
        today = now.astimezone(zone).date()
        begin = clamp_day(first) if first is not None else today
        asked = AgendaQuestion(DateRange(begin, begin + timedelta(days=days - 1)), undated=undated)
        found = find_plans(connection, scopes, asked, now, zone)
        return Agenda(today=today.isoformat(), entries=[_render(each, today.isoformat()) for each in found])

    return await services.database.read_long(read)


@router.post("/promises/{number}/done")
async def note_done(
    caller: MemoryWriter, number: Annotated[int, Path(ge=1, le=LARGEST_ID)], idempotency_key: IdempotencyKey = ""
) -> Decided:
    """Note that what a memory says was to be done is done, today; an undo of the event takes that back."""
    services = caller.services

    def work(connection: Connection) -> Decided:
        record = find_record(connection, caller, number)
        today = services.clock.now().astimezone(services.zone).date()
        if record.status != "active" or Promises.find_resolution_day(record, today, services.zone) is not None:
            raise HTTPException(409, Sentence("api.not_open"))
        day = local_day(services.clock.now(), services.zone)
        reason = Sentence("reasons.said_done", day=day)
        return Decided(
            action="resolved",
            memory=number,
            event=Promises.resolve(connection, record, day, caller.occasion(), reason),
        )

    return await change_memory(caller, idempotency_key, ("done", number), Decided, work)


def _render(entry: Entry, today: str) -> AgendaEntry:
    number = entry.job.id if entry.job is not None else entry.record.id if entry.record is not None else 0
    is_late = bool(entry.day) and entry.day < today
    return AgendaEntry(kind=entry.kind, id=number, text=entry.text, day=entry.day, time=entry.time, overdue=is_late)
