"""The page *health*: what is wrong, what runs, and how long answers take."""

from fastapi import APIRouter, Response

from kenobot.core.health import Cause
from kenobot_dashboard.viewer import LiveView, View

router = APIRouter(prefix="/health")


@router.get("")
async def show_health(view: View) -> Response:
    """Show what `kenobot status` shows, with the times of the last answers."""
    status = await view.services.status()
    causes = [cause for row in status.causes if (cause := Cause.load(row.model_dump())) is not None]
    return view.page("health", status=status, causes=causes)


@router.get("/badge")
async def show_badge(view: LiveView) -> Response:
    """Show the state in two words, for the frame of an open page."""
    return view.page("health", "badge.html", state=view.services.state(), notice=None)
