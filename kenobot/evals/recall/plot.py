"""The figures of a run as a picture."""

from pathlib import Path
from typing import TYPE_CHECKING

from kenobot.evals import plots
from kenobot.evals.recall.metrics import DEPTHS

if TYPE_CHECKING:
    from kenobot.evals.recall.run import RecallReport

_NAMES = {"recall": "recall", "bm25": "BM25 alone", "dense": "vectors alone"}


def draw(report: "RecallReport", path: Path) -> None:
    """Recall at each depth, by ranking, into the PNG `path`. Raises ConfigError when it cannot be drawn or written."""
    figure = plots.figure(7, 4)
    axes = figure.add_subplot()
    places = range(len(DEPTHS))
    for number, (method, name) in enumerate(_NAMES.items()):
        found = report.scores(method)["all"]
        if found.questions:
            heights = [100 * found.recall[depth] for depth in DEPTHS]
            bars = axes.bar([at + 0.27 * (number - 1) for at in places], heights, 0.25, label=name)
            axes.bar_label(bars, fmt="%.1f", fontsize=8)
    axes.set_xticks(list(places), [f"R@{depth}" for depth in DEPTHS])
    axes.set_ylabel("percent of what answers")
    axes.set_ylim(0, 100)
    axes.set_title(f"{len(report.rows)} questions, {report.model or 'no model'}", fontsize=9)
    axes.legend()
    plots.save(figure, path, dots=120)
