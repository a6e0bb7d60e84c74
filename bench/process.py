"""A KenoBot in a process of its own: how long until it is ready, and how much memory it holds when idle."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_RUNS = 5


def start_and_rss() -> dict[str, float | str]:
    """Seconds from the command to "ready", and resident MB two seconds later, over a few runs."""
    with tempfile.TemporaryDirectory(prefix="kenobot-bench-") as folder:
        runs = [_once(Path(folder) / "home") for _ in range(_RUNS)]
    return {
        "start to ready, console and offline provider, s": statistics.median(ready for ready, _ in runs),
        "idle RSS, console and offline provider, MB": statistics.median(rss for _, rss in runs),
    }


def _once(home: Path) -> tuple[float, float]:
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "kenobot", "chat", "--home", str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "KENOBOT_LOG__LEVEL": "info"},
        text=True,
    )
    assert process.stderr is not None and process.stdin is not None
    for line in process.stderr:
        if "ready:" in line:
            break
    ready = time.perf_counter() - began
    time.sleep(2)
    status = Path(f"/proc/{process.pid}/status").read_text()
    rss = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    process.stdin.close()
    process.stderr.close()
    process.wait(10)
    return ready, rss / 1024
