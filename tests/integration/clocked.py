"""The real `kenobot` command on a clock that starts elsewhere, and with other constants.

`python -m tests.integration.clocked ISO-TIME run …`; "" is the time that it is.
"""

import sys
from datetime import datetime

from kenobot.cli import main
from kenobot.ports.clock import SystemClock
from tests.constants import change_by_variable

if __name__ == "__main__":
    change_by_variable()
    sys.exit(main(sys.argv[2:], clock=SystemClock(datetime.fromisoformat(sys.argv[1]) if sys.argv[1] else None)))
