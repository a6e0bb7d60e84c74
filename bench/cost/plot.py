"""The cost of prompts as a picture: tokens, the share a cache serves, and milliseconds, over the size of memory."""

from collections.abc import Mapping, Sequence
from typing import Any

from bench.cost.run import SizeResult
from bench.report import TokenCaps
from kenobot.cli.pictures import plots

_INCHES = (10, 3.4)
_DPI = 100
_ROOM = 1.3  # above the highest line, for what the lines mean


def draw(rows: Sequence[SizeResult], limits: TokenCaps, file: str) -> None:
    """Draw the rows into a PNG file. Raises ConfigError when it cannot be drawn or written."""
    figure = plots.figure(*_INCHES)
    tokens, cached, times = figure.subplots(1, 3)
    sizes = [row.memories for row in rows]
    series: Mapping[str, Sequence[float]] = {
        "prompt, mean": [row.prompt for row in rows],
        "memory in it, mean": [row.memory for row in rows],
        "memory, most": [row.memory_most for row in rows],
    }
    _lines(tokens, "tokens of a prompt", sizes, series)
    tokens.axhline(limits.memory, color="gray", linewidth=0.8, linestyle="--", label="memory may take")
    _lines(cached, "input served by a prompt cache, %", sizes, {"share": [100 * row.cached for row in rows]})
    cached.set_ylim(0, 100)
    series = {
        "prompt built, p50": [row.build_cpu.p50 for row in rows],
        "prompt built, p95": [row.build_cpu.p95 for row in rows],
        "turn, p50": [row.turn_cpu.p50 for row in rows],
        "turn, p95": [row.turn_cpu.p95 for row in rows],
    }
    _lines(times, "ms of CPU", sizes, series)
    times.set_ylim(0, _ROOM * max(row.turn_cpu.p95 for row in rows))
    tokens.legend(fontsize=8, frameon=False)
    times.legend(fontsize=8, frameon=False, loc="upper left", ncols=2)
    plots.save(figure, file, _DPI)


def _lines(axes: Any, title: str, sizes: Sequence[int], series: Mapping[str, Sequence[float]]) -> None:
    for name, values in series.items():
        axes.plot(sizes, values, label=name, linewidth=1.4, marker="o", markersize=3)
    axes.set_xscale("log")
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("memories")
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, alpha=0.3)
