"""The years as a picture: records, disk, prompt tokens and recall over the days."""

from collections.abc import Mapping, Sequence
from typing import Any

from bench.years.run import WeekMetrics
from kenobot.cli.pictures import plots

_MEGABYTE = 1_000_000
_INCHES = (10, 7)
_DPI = 110


def draw(weeks: Sequence[WeekMetrics], file: str) -> None:
    """Draw the weeks into a PNG file. Raises ConfigError when it cannot be drawn or written."""
    days = [week.day for week in weeks]
    figure = plots.figure(*_INCHES)
    (records, disk), (tokens, found) = figure.subplots(2, 2, sharex=True)
    _lines(records, "records", days, {"all": [w.records for w in weeks], "live": [w.live for w in weeks]})
    _lines(
        disk,
        "disk, MB",
        days,
        {
            "database": [w.database / _MEGABYTE for w in weeks],
            "files": [w.tree / _MEGABYTE for w in weeks],
            "index": [w.index / _MEGABYTE for w in weeks],
        },
    )
    _lines(
        tokens,
        "prompt, tokens",
        days,
        {
            "whole, mean": [w.prompt for w in weeks],
            "whole, most": [w.prompt_most for w in weeks],
            "memory, mean": [w.memory for w in weeks],
        },
    )
    _lines(
        found,
        "recall, %",
        days,
        {
            "facts of the first day": [100 * w.first for w in weeks],
            "later facts": [100 * w.later for w in weeks],
            "guesses of the first day, count": [w.guesses for w in weeks],
        },
    )
    for each in (tokens, found):
        each.set_xlabel("day")
    plots.save(figure, file, _DPI)


def _lines(axes: Any, title: str, days: Sequence[int], series: Mapping[str, Sequence[float]]) -> None:
    for name, values in series.items():
        axes.plot(days, values, label=name, linewidth=1.4)
    axes.set_title(title, fontsize=10)
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize=8, frameon=False)
