"""`python -m kenobot`."""

import sys

from kenobot.cli import main

if __name__ == "__main__":
    sys.exit(main())
