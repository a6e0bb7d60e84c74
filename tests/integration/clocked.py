"""The real `kenobot` command on a clock that starts elsewhere: `python -m tests.integration.clocked ISO-TIME run …`."""

import sys
from datetime import datetime

from kenobot.cli import main
from kenobot.ports.clock import SystemClock

if __name__ == "__main__":
    sys.exit(main(sys.argv[2:], clock=SystemClock(datetime.fromisoformat(sys.argv[1]))))
