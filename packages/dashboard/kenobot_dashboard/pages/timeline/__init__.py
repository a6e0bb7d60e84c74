"""The page *timeline*: how memory grew and faded, by day, week and month, and how it was on any day."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Final

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from kenobot.ports.browsing import HAPPENINGS, Happening, Period
from kenobot_dashboard.bars import BarPlot, plot_bars
from kenobot_dashboard.fields import DAY, read_day
from kenobot_dashboard.formats import Formats
from kenobot_dashboard.viewer import View, Viewer
from kenobot_http.api import browsing, memory
from kenobot_http.api.browsing import MemoryFilter, PeriodOfChanges
from kenobot_http.api.moments import Day, clamp_day

router = APIRouter(prefix="/timeline")

PERIODS: Final[tuple[Period, ...]] = ("day", "week", "month")
_SPANS: Final[dict[Period, int]] = {"day": 45, "week": 26 * 7, "month": 3 * 365}
_PAGE: Final = 40
_ENDED: Final[tuple[Happening, ...]] = ("replaced", "faded", "forgotten")


class Chosen(BaseModel):
    """Read which part of the timeline to show. first, last: the days whose changes are listed; None for all."""

    by: Period = "week"
    subject: str = Field("", max_length=200)
    happening: Happening | None = None
    first: str = Field("", pattern=DAY)
    last: str = Field("", pattern=DAY)
    cursor: str = Field("", pattern=r"^([1-9][0-9]{0,14})?$")

    @property
    def given(self) -> dict[str, str]:
        """Return what a link to the same choice repeats."""
        return self.model_dump(exclude={"cursor"}, exclude_defaults=True)


@dataclass(frozen=True, slots=True)
class Row:
    """A period with its name, and the share of the busiest one that was learned and that ended in it.

    ended_count: how many memories ended.
    """

    period: PeriodOfChanges
    name: str
    learned: float
    ended: float
    ended_count: int


@router.get("")
async def show_timeline(view: View, chosen: Annotated[Chosen, Query()]) -> Response:
    """Show what happened to memory by period, and the changes of one period or of all."""
    f, span = view.formats, _SPANS[chosen.by]
    begin, end = f.today - timedelta(days=span - 1), f.today
    periods = await browsing.count_timeline(view.caller, chosen.by, begin, end, chosen.subject)
    first, last = read_day(chosen.first) or begin, read_day(chosen.last) or end
    changes = await browsing.list_changes(
        view.caller, first, last, chosen.happening, chosen.subject, _PAGE, chosen.cursor
    )
    return view.page(
        "timeline",
        chosen=chosen,
        periods=PERIODS,
        rows=_make_rows(periods, chosen.by, f),
        plot=_plot(periods, chosen.by, begin, end, f),
        items=changes.items,
        next=changes.next,
        happenings=tuple(HAPPENINGS),
        yesterday=f.today - timedelta(days=1),
    )


@router.get("/then")
async def show_then(
    view: View,
    day: Annotated[Day, Query()],
    cursor: Annotated[str, Query(pattern=r"^([1-9][0-9]{0,14})?$")] = "",
) -> Response:
    """Show what was remembered at the end of a day, as it was worded then."""
    moment = _find_end(clamp_day(day), view)
    page = await memory.list_memories(view.caller, MemoryFilter(), "active", _PAGE, cursor, moment)
    shown, step = clamp_day(day), timedelta(days=1)
    later = shown + step if shown < view.formats.today else None
    return view.page(
        "timeline", "then.html", day=day, memories=page.items, next=page.next, earlier=shown - step, later=later
    )


def _find_end(day: date, view: Viewer) -> datetime:
    return datetime.combine(day + timedelta(days=1), time.min, view.zone).astimezone(UTC)


def _make_rows(periods: list[PeriodOfChanges], by: Period, f: Formats) -> list[Row]:
    learned = [each.counts.get("learned", 0) for each in periods]
    ended = [sum(each.counts.get(name, 0) for name in _ENDED) for each in periods]
    most = max((*learned, *ended, 1))
    return [
        Row(each, _name(each, by, f), one / most, other / most, other)
        for each, one, other in zip(periods, learned, ended, strict=True)
    ]


def _plot(periods: list[PeriodOfChanges], by: Period, begin: date, end: date, f: Formats) -> BarPlot | None:
    """Draw what was learned in each period, those in which nothing was among them."""
    counts = {each.first: each for each in periods}
    series, day = [], begin
    while day <= end:
        first = day - timedelta(days=day.weekday()) if by == "week" else day.replace(day=1) if by == "month" else day
        found = counts.get(first.isoformat())
        learned = found.counts.get("learned", 0) if found is not None else 0
        series.append((first.isoformat(), float(learned), f.number(learned)))
        day = first + timedelta(days={"day": 1, "week": 7, "month": 32}[by])
        day = day.replace(day=1) if by == "month" else day
    return plot_bars(series)


def _name(period: PeriodOfChanges, by: Period, f: Formats) -> str:
    return f.day(period.first) if by == "day" else f.span_of_days(period.first, period.last)
