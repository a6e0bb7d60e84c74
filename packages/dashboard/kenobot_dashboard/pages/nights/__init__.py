"""The page *nights*: what each night changed and why, with one click back for a change or all of it."""

from typing import Annotated, Final

from fastapi import APIRouter, Path, Query, Response

from kenobot.cognitive.memory import Nights
from kenobot_dashboard.viewer import View
from kenobot_http.api import nights, operations
from kenobot_http.api.paging import LARGEST_ID

router = APIRouter(prefix="/nights")

_SHOWN: Final = 60

Night = Annotated[int, Path(ge=1, le=LARGEST_ID)]


@router.get("")
async def list_nights(view: View) -> Response:
    """List the nights, the newest first."""
    status = await view.services.status()
    found = await nights.list_nights(view.caller, _SHOWN)
    return view.page("nights", nights=found, background=status.background)


@router.post("/begin")
async def begin_night(view: View) -> Response:
    """Begin a night now, beside the conversations."""
    begun = await operations.begin_sleep(view.caller)
    return view.go("/nights", done="begun" if begun.state == "begun" else "under_way")


@router.get("/{number}")
async def show_night(view: View, number: Night, kept: Annotated[int, Query(ge=0, le=LARGEST_ID)] = 0) -> Response:
    """Show each change of a night with its reason. kept: how many could not be taken back just now."""
    report = await operations.get_sleep(view.caller, number)
    descriptions = {each.name: each.description for each in Nights.passes()}
    passes = [each for each in report["passes"] if each["changes"] or each["trouble"] or each["skipped"]]
    quiet = [each["pass"] for each in report["passes"] if each not in passes]
    return view.page(
        "nights", "night.html", report=report, passes=passes, quiet=quiet, descriptions=descriptions, kept=kept
    )


@router.post("/{number}/undo")
async def undo_night(view: View, number: Night) -> Response:
    """Take back all of a night that still holds."""
    taken = await nights.undo_night(view.caller, number)
    return view.go(f"/nights/{number}", done="taken_back", kept=len(taken.kept) or "")
