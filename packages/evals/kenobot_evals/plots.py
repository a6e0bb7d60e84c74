"""Plot measured figures as PNG: the one module that imports the plotting library, an extra of the package."""

from pathlib import Path
from typing import Any

from kenobot.ports.errors import ConfigError


def require_matplotlib() -> None:
    """Raise ConfigError, with what to do, when nothing here can draw."""
    _library()


def figure(width: float, height: float) -> Any:
    """Return an empty figure that lays itself out; inches. Raises ConfigError when nothing here can draw."""
    return _library()(figsize=(width, height), layout="constrained")


def save(drawn: Any, file: str | Path, dots: int) -> None:
    """Write a figure into a PNG file, `dots` an inch. Raises ConfigError when it cannot be written."""
    try:
        with Path(file).open("wb") as png:
            drawn.savefig(png, format="png", dpi=dots)
    except OSError as error:
        raise ConfigError("files.unwritable", path=file, reason=error) from error


def _library() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConfigError("A plot needs matplotlib: pip install 'kenobot[plots]', or leave out --plot.") from error
    return Figure
