"""The page *nights*: what each night changed and why, with one click back for a change or all of it."""

import asyncio
from datetime import datetime, timedelta
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query, Response
from starlette.exceptions import HTTPException

from kenobot.cognitive.memory import Nights
from kenobot.ports.nights import NightReport
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection
from kenobot_dashboard.pages.nights.story import tell_night
from kenobot_dashboard.viewer import View, Viewer
from kenobot_http.api import nights, operations
from kenobot_http.api.paging import LARGEST_ID

router = APIRouter(prefix="/nights")

_SHOWN: Final = 60
_SOON: Final = timedelta(minutes=2)
"""Within which a night that was asked for has begun."""

Night = Annotated[int, Path(ge=1, le=LARGEST_ID)]


@router.get("")
async def list_nights(view: View) -> Response:
    """List the nights, the newest first."""
    status = await view.services.status()
    found = await nights.list_nights(view.caller, _SHOWN)
    descriptions = {each.name: each.description for each in Nights.passes()}
    is_running = bool(found) and found[0].state == "running"
    is_begun = view.request.query_params.get("done") == "begun"
    begins = is_begun and (not found or view.now - datetime.fromisoformat(found[0].at) > _SOON)
    over: dict[str, Any] = {"notice": None} if is_begun and not (is_running or begins) else {}
    return view.page(
        "nights",
        nights=found,
        background=status.background,
        descriptions=descriptions,
        is_awaited=is_running or begins,
        **over,
    )


@router.post("/begin")
async def begin_night(view: View) -> Response:
    """Begin a night now, beside the conversations."""
    begun = await operations.begin_sleep(view.caller)
    return view.go("/nights", done="begun" if begun.state == "begun" else "under_way")


@router.get("/{number}")
async def show_night(view: View, number: Night, kept: Annotated[int, Query(ge=0, le=LARGEST_ID)] = 0) -> Response:
    """Show each change of a night with its reason. kept: how many could not be taken back just now."""
    report = await view.services.database.read_long(lambda connection: _read(connection, number, view))
    if report is None:
        raise HTTPException(404, Sentence("api.no_such_night"))
    chapters = await asyncio.to_thread(tell_night, report, view.texts("nights"), view.formats)
    told = {each.name for each in chapters}
    is_over = report.run.state != "running"
    return view.page(
        "nights",
        "night.html",
        report=report,
        chapters=chapters,
        quiet=[one.description or one.result.name for one in report.passes if one.result.name not in told],
        kept=kept,
        can_undo=is_over and any(each.more or any(deed.can_undo for deed in each.deeds) for each in chapters),
    )


@router.post("/{number}/undo")
async def undo_night(view: View, number: Night) -> Response:
    """Take back all of a night that still holds."""
    taken = await nights.undo_night(view.caller, number)
    return view.go(f"/nights/{number}", done="taken_back", kept=len(taken.kept) or "")


def _read(connection: Connection, number: int, view: Viewer) -> NightReport | None:
    run = Nights.find(connection, number)
    return Nights.report(connection, run, view.services.policy, in_full=True) if run is not None else None
