"""Pictures of measured figures, as far as that goes without looking at them."""

import sys
from pathlib import Path

import pytest

from kenobot.cli.pictures import plots
from kenobot.ports.errors import ConfigError


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both when it is asked whether it can draw, and when it is to draw."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for call in (plots.require_matplotlib, lambda: plots.figure(3, 2)):
        with pytest.raises(ConfigError, match=r"kenobot\[plots\]"):
            call()


def test_a_picture_that_cannot_be_written_is_a_plain_line(tmp_path: Path) -> None:
    """It names the file; nothing is drawn for it."""
    pytest.importorskip("matplotlib")
    with pytest.raises(ConfigError, match=r"no such folder/a\.png cannot be written"):
        plots.save(None, tmp_path / "no such folder" / "a.png", 100)


def test_a_figure_is_saved_as_png(tmp_path: Path) -> None:
    """Where there is a library that draws; its size is inches times dots."""
    pytest.importorskip("matplotlib")
    plots.require_matplotlib()
    drawn = plots.figure(3, 2)
    drawn.add_subplot()
    plots.save(drawn, tmp_path / "a.png", 50)
    head = (tmp_path / "a.png").read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    assert (int.from_bytes(head[16:20]), int.from_bytes(head[20:24])) == (150, 100)
