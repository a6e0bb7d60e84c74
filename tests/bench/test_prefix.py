"""The bench of how many notes a prompt begins with: its picture."""

from pathlib import Path

import pytest

from bench.prefix import plot
from bench.prefix.__main__ import main
from bench.prefix.rows import PrefixRow


def test_a_plot_is_a_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    rows = [PrefixRow(size, 900 + size, 4000.0 + size, 0.94, 0, 1.0, 0.86, 0.3, 0, 0.65) for size in (0, 1000)]

    plot.draw(rows, str(tmp_path / "prefix.png"))

    assert (tmp_path / "prefix.png").read_bytes().startswith(b"\x89PNG")


def test_a_list_of_sizes_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--sizes", "many"]) == 2
    assert "no list of numbers" in capsys.readouterr().err
