"""`python -m tests.conformance FILE …`"""

import sys

from tests.conformance.runner import main

if __name__ == "__main__":
    sys.exit(main())
