"""The page *today*: what is planned, what waits for the owner, and how the bot is, in a few lines."""

from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby

from fastapi import APIRouter, Response

from kenobot.agenda.entry import Entry
from kenobot.agenda.plans import find_plans
from kenobot.agenda.say_time import say_rule
from kenobot.agenda.zones import zone_in_force
from kenobot.cognitive.memory import Nights
from kenobot.core.health import Cause
from kenobot.language.dates import DateRange
from kenobot.language.question.agenda import AgendaQuestion
from kenobot.ports.identity import OWNER_SCOPE, user_scope
from kenobot.storage.connection import Connection
from kenobot_dashboard.pages.today.waits import list_waits
from kenobot_dashboard.viewer import View, Viewer
from kenobot_http.api import access, operations

router = APIRouter()

_DAYS = 7
_MOST = 30  # entries of the owner's agenda
_OTHERS = 12  # of other people's


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the agenda. repeats: how, in words; "" for once. whose: of another person or chat, its scope."""

    text: str
    time: str
    kind: str
    is_late: bool
    repeats: str
    record: int
    day: str
    whose: str


@dataclass(frozen=True, slots=True)
class Plans:
    """Plans of the owner, by day, and of others whom the owner may see. left_out: how many more there are."""

    days: list[tuple[str, list[Line]]]
    left_out: int
    others: list[Line]
    others_left_out: int


@router.get("/")
async def show_today(view: View) -> Response:
    """Show the day: agenda, what waits, health, the last night and the cost of today."""
    plans, night, changed = await view.services.database.read(lambda connection: _read(connection, view))
    status = await view.services.status()
    costs = await operations.get_cost(view.caller, by="day", since=view.formats.today)
    causes = [cause for row in status.causes if (cause := Cause.load(row.model_dump())) is not None]
    return view.page(
        "today",
        plans=plans,
        names=await _list_names(view) if plans.others else {},
        waits=await list_waits(view, status),
        status=status,
        causes=[cause.text(view.language) for cause in causes],
        night=night,
        changed=changed,
        spent=sum(row.usd for row in costs.rows),
        calls=sum(row.calls for row in costs.rows),
        unpriced=sum(row.unpriced_tokens for row in costs.rows),
    )


def _read(connection: Connection, view: Viewer) -> tuple[Plans, object, int]:
    """Read what is planned. Of other people it is told apart: their promises are none of the owner's."""
    zone = zone_in_force(connection, view.zone, view.now)
    today = view.now.astimezone(zone).date()
    question = AgendaQuestion(DateRange(today, today + timedelta(days=_DAYS - 1)))
    entries = find_plans(connection, view.caller.reach, question, view.now, zone)
    late = today.isoformat()
    own = [_line(each, view, late) for each in entries if each.scope == OWNER_SCOPE]
    others = [_line(each, view, late) for each in entries if each.scope != OWNER_SCOPE]

    def name_day(line: Line) -> str:
        return "" if line.is_late else line.day

    shown = sorted(own[:_MOST], key=name_day)
    days = [(day, list(of_day)) for day, of_day in groupby(shown, key=name_day)]
    plans = Plans(days, len(own) - len(shown), others[:_OTHERS], len(others[_OTHERS:]))
    night = Nights.last_finished(connection)
    changed = Nights.count(connection, night, view.services.policy)["changed"] if night is not None else 0
    return plans, night, changed


async def _list_names(view: Viewer) -> dict[str, str]:
    """Return what people are called, by their scope."""
    people = (await access.list_access(view.caller)).people
    return {user_scope(each.channel, each.id): each.name or each.id for each in people if each.kind == "guest"}


def _line(entry: Entry, view: Viewer, today: str) -> Line:
    job = entry.job
    return Line(
        text=entry.text,
        time=entry.time,
        kind=entry.kind,
        is_late=bool(entry.day) and entry.day < today,
        repeats=say_rule(job.rule, job.start_local, view.language) if job is not None and job.rule else "",
        record=entry.record.id if entry.record is not None else 0,
        day=entry.day,
        whose=entry.scope,
    )
