"""Take the place of this process by another program, within limits.

Run as `python -I -S limited_exec.py SECONDS DATA FILE DESCRIPTORS FILTER PROGRAM ...`: seconds of CPU, bytes of private
memory and of one file, open files. The limits are of each process, and hold for all that the program starts. FILTER:
bytes in hexadecimal, which it can read from descriptor 9.
"""

import os
import resource
import sys

_FILTER = 9


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
    if wanted := bytes.fromhex(arguments[4]):
        file = os.memfd_create("filter", 0)
        os.write(file, wanted)
        os.lseek(file, 0, os.SEEK_SET)
        os.dup2(file, _FILTER)
        os.close(file)
    os.execv(arguments[5], arguments[5:])  # noqa: S606


if __name__ == "__main__":
    main(sys.argv[1:])
