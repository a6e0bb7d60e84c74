"""Plot measured figures as PNG or SVG: the one module that imports the plotting library, an extra of the package."""

import warnings
from pathlib import Path
from typing import Any

from kenobot.ports.errors import ConfigError

INK, MUTED, LINE = "#1b1d21", "#565b66", "#dfdfd8"
ACCENT, WARM, BAD, QUIET = "#0f766e", "#b45309", "#b42318", "#8b909b"
"""The colours of the dashboard, on a light ground."""


def require_matplotlib() -> None:
    """Raise ConfigError, with what to do, when nothing here can draw."""
    _library()


def figure(width: float, height: float) -> Any:
    """Return an empty figure that lays itself out; inches. Raises ConfigError when nothing here can draw."""
    return _library()(figsize=(width, height), layout="constrained")


def set_quiet(axes: Any) -> None:
    """Draw axes quietly: a thin line below, and muted numbers."""
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(LINE)
    axes.tick_params(colors=MUTED, labelsize=9, length=0)


def set_days(axes: Any) -> None:
    """Name a few days along an axis of moments."""
    from matplotlib import dates

    untyped: Any = dates
    axes.xaxis.set_major_locator(untyped.AutoDateLocator(minticks=3, maxticks=9))
    axes.xaxis.set_major_formatter(untyped.DateFormatter("%Y-%m-%d"))


def set_counts(axes: Any) -> None:
    """Name whole numbers along an axis of counts, without the sign of those that are drawn downwards."""
    from matplotlib.ticker import MaxNLocator

    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):.0f}")


def save(drawn: Any, file: str | Path, dots: int) -> None:
    """Write a figure into a file, `dots` an inch: SVG where its name ends so, else PNG.

    The same figure makes the same file. Raises ConfigError when it cannot be written.
    """
    from matplotlib import rc_context

    kind = "svg" if Path(file).suffix.lower() == ".svg" else "png"
    metadata = {"Date": None, "Creator": None} if kind == "svg" else None
    try:
        with Path(file).open("wb") as target, rc_context({"svg.hashsalt": "kenobot"}), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing")  # such as emoji: a box stands for them
            drawn.savefig(target, format=kind, dpi=dots, metadata=metadata)
    except OSError as error:
        raise ConfigError("files.unwritable", path=file, reason=error) from error


def _library() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConfigError("plots.no_library", library="matplotlib") from error
    return Figure
