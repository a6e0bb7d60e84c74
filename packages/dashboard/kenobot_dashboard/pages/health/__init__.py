"""The page *health*: what is wrong, what runs, and how long answers take."""

from datetime import timedelta
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Response

from kenobot.core.health import Cause
from kenobot_dashboard.bars import plot_bars
from kenobot_dashboard.names import read_names
from kenobot_dashboard.viewer import LiveView, View
from kenobot_http.api import operations

router = APIRouter(prefix="/health")

SPANS: Final = ("1", "7", "30")
_CHATS: Final = 15


@router.get("")
async def show_health(view: View, days: Annotated[Literal["1", "7", "30"], Query()] = "7") -> Response:
    """Show what `kenobot status` and `kenobot stats` show."""
    f, span = view.formats, int(days)
    status = await view.services.status()
    stats = await operations.get_stats(view.caller, span, "hour" if span == 1 else "day")
    causes = [cause for row in status.causes if (cause := Cause.load(row.model_dump())) is not None]
    measured = {group.name: group.times.p95 / 1000 for group in stats.groups}
    times = [(name, measured.get(name, 0.0), f.span(measured.get(name, 0.0))) for name in _names(view, span)]
    return view.page(
        "health",
        status=status,
        causes=[(cause.text(view.language), cause.since) for cause in causes],
        stats=stats,
        plot=plot_bars(times),
        days=days,
        spans=SPANS,
        chats=status.chats[:_CHATS],
        names=await read_names(view, [chat.session for chat in status.chats[:_CHATS]]),
        more_chats=len(status.chats) - _CHATS,
    )


def _names(view: View, days: int) -> list[str]:
    """Return the names of the last days, or of the hours of one, as `kenobot stats` groups answers by."""
    now = view.now.astimezone(view.zone)
    if days > 1:
        return [f"{now - timedelta(days=back):%Y-%m-%d}" for back in reversed(range(days))]
    return [f"{(view.now - timedelta(hours=back)).astimezone(view.zone):%Y-%m-%d %H}" for back in reversed(range(24))]


@router.get("/badge")
async def show_badge(view: LiveView) -> Response:
    """Show the state in two words, for the frame of an open page."""
    return view.page("health", "badge.html", state=view.services.state(), notice=None)
