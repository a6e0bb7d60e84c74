"""Draw how sure a memory was over time, as a line that pages show without a script."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from kenobot_http.api.memory import Confidence

WIDTH: Final = 600
HEIGHT: Final = 120
_EDGE: Final = 8


@dataclass(frozen=True, slots=True)
class PlotDot:
    """A moment at which it changed."""

    x: float
    y: float
    point: Confidence


@dataclass(frozen=True, slots=True)
class ConfidencePlot:
    """A line of steps. path: for an SVG of `WIDTH` by `HEIGHT`. begin, end: the days of its edges."""

    path: str
    dots: tuple[PlotDot, ...]
    begin: date
    end: date
    width: int = WIDTH
    height: int = HEIGHT


def plot_confidence(points: Sequence[Confidence], end: datetime) -> ConfidencePlot | None:
    """Draw the points, from the first one until a moment; None where there are none."""
    if not points:
        return None
    begin = datetime.fromisoformat(points[0].at)
    span = max(1.0, (end - begin).total_seconds())

    def place(point: Confidence) -> tuple[float, float]:
        share = (datetime.fromisoformat(point.at) - begin).total_seconds() / span
        return (
            round(_EDGE + min(1.0, max(0.0, share)) * (WIDTH - 2 * _EDGE), 1),
            round(HEIGHT - _EDGE - min(1.0, max(0.0, point.value)) * (HEIGHT - 2 * _EDGE), 1),
        )

    dots = tuple(PlotDot(*place(point), point) for point in points)
    path = f"M{dots[0].x} {dots[0].y}" + "".join(f"H{dot.x}V{dot.y}" for dot in dots[1:]) + f"H{WIDTH - _EDGE}"
    return ConfidencePlot(path, dots, begin.date(), end.date())
