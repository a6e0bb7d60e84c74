"""The real `kenobot` in a terminal, on a clock that stands still: `python -m tests.tour.product ISO-TIME run …`."""

import fcntl
import os
import sys
import termios
from datetime import datetime

from kenobot.cli import main
from kenobot.ports.clock import SystemClock


class StandingClock(SystemClock):
    """Always the same moment; only waiting takes time."""

    def __init__(self, moment: datetime) -> None:
        super().__init__()
        self._moment = moment

    def now(self) -> datetime:
        return self._moment


if __name__ == "__main__":
    if os.isatty(0):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # what asks for a secret asks this process's own terminal
    sys.exit(main(sys.argv[2:], clock=StandingClock(datetime.fromisoformat(sys.argv[1]))))
