"""A program of an update is waited for, however long it takes, and ended when it may not go on."""

import sys
from pathlib import Path

import pytest

from kenobot_deploy.update.programs import DiskGuard, UpdateFailed, run

_SLOW = "import sys, time; text = sys.stdin.read(); time.sleep(0.5); print(text)"


def test_a_slow_program_is_given_its_input_once() -> None:
    """It takes several looks at the disk until it ends."""
    assert run([sys.executable, "-c", _SLOW], 60, stdin="kenobot\n").strip() == "kenobot"


def test_a_program_that_takes_the_last_room_is_ended(tmp_path: Path) -> None:
    """With a sentence that says what is needed."""
    with pytest.raises(UpdateFailed, match=f"There is too little room in {tmp_path}"):
        run([sys.executable, "-c", "import time; time.sleep(100)"], 60, guard=DiskGuard(tmp_path, 10**18))
