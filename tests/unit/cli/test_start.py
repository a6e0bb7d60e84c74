"""What a start settles for the whole process."""

import platform
import subprocess
import sys

import pytest

_PROGRAM = """
import sys, threading
from pathlib import Path
from kenobot.cli.start import limit_malloc_arenas

if sys.argv[1] == "shared":
    assert limit_malloc_arenas()
def reserved():
    lines = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
    spans = [[int(end, 16) for end in line[0].split("-")] for line in lines if line[1] == "---p" and len(line) == 5]
    return sum(end - start > 30_000_000 for start, end in spans)
def work(ready, over):
    held = [bytearray(2_000 + at) for at in range(200)]
    ready.wait(10)
    over.wait(10)
ready, over = threading.Barrier(9), threading.Event()
for _ in range(8):
    threading.Thread(target=work, args=(ready, over), daemon=True).start()
ready.wait(10)
print(reserved())
over.set()
"""


def _reserved(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", _PROGRAM, how], capture_output=True, text=True, check=True, timeout=60)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc" or sys.platform != "linux", reason="only glibc has arenas")
def test_threads_share_the_memory_that_is_free() -> None:
    """Eight threads at once: one store besides the first, where each would have one of its own."""
    assert _reserved("shared") <= 1 < _reserved("apart")
