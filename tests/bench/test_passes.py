"""A night is played without one of its passes."""

import os
import subprocess
import sys
from pathlib import Path

from bench.passes import OFF, SEEN
from kenobot.cognitive.sleep.night import NIGHT
from tests.docs.test_readme import ROOT


def test_a_module_runs_with_nights_that_lack_a_pass(tmp_path: Path) -> None:
    """All others are there, in their order."""
    environment = {**os.environ, OFF: "weeks", SEEN: str(tmp_path / "busy")}
    argv = [sys.executable, "-m", "bench.passes", "tests.bench.night_names"]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, cwd=ROOT, check=True)
    assert done.stdout.split() == [one.name for one in NIGHT if one.name != "weeks"]
