"""Take the place of this process by another program, within limits.

Run as `python -I -S limited_exec.py SECONDS DATA FILE DESCRIPTORS PROGRAM ...`: seconds of CPU, bytes of private memory
and of one file, open files. The limits are of each process, and hold for all that the program starts.
"""

import os
import resource
import sys


def main(arguments: list[str]) -> None:
    """Set the limits and execute the program."""
    seconds, data, file, descriptors = map(int, arguments[:4])
    os.nice(10)
    for kind, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_DATA, data),
        (resource.RLIMIT_FSIZE, file),
        (resource.RLIMIT_NOFILE, descriptors),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (allowed, allowed))
    os.execv(arguments[4], arguments[4:])  # noqa: S606


if __name__ == "__main__":
    main(sys.argv[1:])
