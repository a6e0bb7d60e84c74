"""The page *health*: what is wrong, what runs, and how long answers take."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Response

from kenobot.api import operations
from kenobot.core.health import Cause
from kenobot_dashboard.bars import plot_bars
from kenobot_dashboard.viewer import LiveView, View

router = APIRouter(prefix="/health")

SPANS: Final = ("1", "7", "30")
_CHATS: Final = 15


@router.get("")
async def show_health(view: View, days: Annotated[Literal["1", "7", "30"], Query()] = "7") -> Response:
    """Show what `kenobot status` and `kenobot stats` show."""
    f, span = view.formats, int(days)
    status = await view.services.status()
    health = await operations.get_health(view.caller)
    stats = await operations.get_stats(view.caller, span, "hour" if span == 1 else "day")
    causes = [cause for row in status.causes if (cause := Cause.load(row.model_dump())) is not None]
    times = [(group.name, group.times.p95 / 1000, f.span(group.times.p95 / 1000)) for group in stats.groups]
    return view.page(
        "health",
        status=status,
        causes=[(cause.text(view.language), cause.since) for cause in causes],
        memories=health.memories,
        stats=stats,
        times=times,
        plot=plot_bars(times),
        days=days,
        spans=SPANS,
        chats=status.chats[:_CHATS],
        more_chats=len(status.chats) - _CHATS,
    )


@router.get("/badge")
async def show_badge(view: LiveView) -> Response:
    """Show the state in two words, for the frame of an open page."""
    return view.page("health", "badge.html", state=view.services.state(), notice=None)
