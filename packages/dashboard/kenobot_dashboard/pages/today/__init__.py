"""The page *today*: what is planned, what waits for the owner, and how the bot is, in a few lines."""

from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby

from fastapi import APIRouter, Response

from kenobot.agenda.entry import Entry
from kenobot.agenda.plans import find_plans
from kenobot.agenda.say_time import say_rule
from kenobot.agenda.zones import zone_in_force
from kenobot.cognitive.memory import Nights, Proposals
from kenobot.core.health import Cause
from kenobot.language.dates import DateRange
from kenobot.language.question.agenda import AgendaQuestion
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.storage.connection import Connection
from kenobot_dashboard.viewer import View, Viewer
from kenobot_http.api import operations

router = APIRouter()

_DAYS = 7
_MOST = 30  # entries of the agenda


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the agenda. repeats: how, in words; "" for once."""

    text: str
    time: str
    kind: str
    is_late: bool
    repeats: str
    record: int


@router.get("/")
async def show_today(view: View) -> Response:
    """Show the day: agenda, what waits, health, the last night and the cost of today."""
    days, left_out, night, proposals = await view.services.database.read(lambda connection: _read(connection, view))
    status = await view.services.status()
    costs = await operations.get_cost(view.caller, by="day", since=view.formats.today)
    causes = [cause for row in status.causes if (cause := Cause.load(row.model_dump())) is not None]
    return view.page(
        "today",
        days=days,
        left_out=left_out,
        status=status,
        causes=[cause.text(view.language) for cause in causes],
        night=night,
        proposals=proposals,
        spent=sum(row.usd for row in costs.rows),
        calls=sum(row.calls for row in costs.rows),
        unpriced=sum(row.unpriced_tokens for row in costs.rows),
    )


def _read(connection: Connection, view: Viewer) -> tuple[list[tuple[str, list[Line]]], int, object, int]:
    zone = zone_in_force(connection, view.zone, view.now)
    today = view.now.astimezone(zone).date()
    question = AgendaQuestion(DateRange(today, today + timedelta(days=_DAYS - 1)))
    entries = find_plans(connection, (OWNER_SCOPE,), question, view.now, zone)
    late = today.isoformat()

    def name_day(entry: Entry) -> str:
        return "" if entry.day < late else entry.day

    shown = sorted(entries[:_MOST], key=name_day)
    days = [(day, [_line(entry, view, late) for entry in of_day]) for day, of_day in groupby(shown, key=name_day)]
    return days, len(entries) - len(shown), Nights.last_finished(connection), Proposals.count_pending(connection)


def _line(entry: Entry, view: Viewer, today: str) -> Line:
    job = entry.job
    return Line(
        text=entry.text,
        time=entry.time,
        kind=entry.kind,
        is_late=bool(entry.day) and entry.day < today,
        repeats=say_rule(job.rule, job.start_local, view.language) if job is not None and job.rule else "",
        record=entry.record.id if entry.record is not None else 0,
    )
