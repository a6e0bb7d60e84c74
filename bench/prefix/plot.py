"""The latest notes of a prompt's beginning as a picture: what is found, over the tokens of the mean prompt."""

from collections.abc import Sequence

from bench.prefix.rows import PrefixRow
from kenobot.cli.pictures import plots

_INCHES = (7, 4)
_DPI = 100


def draw(rows: Sequence[PrefixRow], file: str) -> None:
    """Draw the rows into a PNG file. Raises ConfigError when it cannot be drawn or written."""
    figure = plots.figure(*_INCHES)
    axes = figure.subplots()
    tokens = [row.prompt for row in rows]
    for name, shares in (
        ("facts of years", [row.years for row in rows]),
        ("notes, by meaning", [row.notes for row in rows]),
        ("notes, by words", [row.notes_by_words for row in rows]),
        ("turns of talks", [row.talks for row in rows]),
    ):
        axes.plot(tokens, [100 * share for share in shares], label=name, linewidth=1.4, marker="o", markersize=3)
    for row in rows:
        axes.annotate(f"{row.recent_tokens:,}", (row.prompt, 2), fontsize=7, ha="center")
    axes.set_title("answers found, %; below: tokens of the latest notes", fontsize=10)
    axes.set_xlabel("tokens of a prompt, mean")
    axes.set_ylim(0, 105)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize=8, frameon=False)
    plots.save(figure, file, _DPI)
