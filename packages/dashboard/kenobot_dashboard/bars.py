"""Draw a series of amounts as bars, one a day or an hour, as an SVG that pages show without a script."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

WIDTH: Final = 720
HEIGHT: Final = 160
_GAP: Final = 0.25  # of the room of a bar
_LEAST: Final = 2.0  # height of a bar that is not nothing


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of the plot. name: what it is of; label: its amount in words."""

    x: float
    y: float
    width: float
    height: float
    name: str
    label: str


@dataclass(frozen=True, slots=True)
class BarPlot:
    """Bars for an SVG of `WIDTH` by `HEIGHT`. highest: the amount of the highest bar, in words."""

    bars: tuple[Bar, ...]
    highest: str
    width: int = WIDTH
    height: int = HEIGHT


def plot_bars(amounts: Sequence[tuple[str, float, str]]) -> BarPlot | None:
    """Draw amounts, each with its name and its words; None where there is nothing to see."""
    most = max((amount for _, amount, _ in amounts), default=0.0)
    if most <= 0:
        return None
    room = WIDTH / len(amounts)
    bars = []
    for place, (name, amount, label) in enumerate(amounts):
        height = max(_LEAST, amount / most * HEIGHT) if amount > 0 else 0.0
        x, width = place * room + room * _GAP / 2, room * (1 - _GAP)
        bars.append(Bar(round(x, 2), round(HEIGHT - height, 2), round(width, 2), round(height, 2), name, label))
    return BarPlot(tuple(bars), next(label for _, amount, label in amounts if amount == most))
