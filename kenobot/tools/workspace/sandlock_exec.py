"""Run a command by sandlock, where namespaces cannot be made, and let no process of it outlive this one.

Run as `python -I sandlock_exec.py ORDER`: JSON of what the command is and may see. Exits as the command does.
"""

import ctypes
import json
import os
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

_CHILD_SUBREAPER, _DIE_WITH_PARENT = 36, 1  # prctl(2)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
_SIGNALLED = 128


def main(order: dict[str, Any]) -> int:
    """Run the command in a child, and kill what is left of it at its end, at SIGTERM and when the caller dies."""
    libc = ctypes.CDLL(None)
    libc.prctl(_CHILD_SUBREAPER, 1)  # what a command detaches becomes a child of this process
    signal.signal(signal.SIGTERM, lambda *_: _end(_SIGNALLED + signal.SIGTERM))
    libc.prctl(_DIE_WITH_PARENT, signal.SIGTERM)
    if os.getppid() != order["parent"]:
        return 1
    with tempfile.TemporaryDirectory(prefix="kenobot-shell-") as scratch:
        child = os.fork()
        if child == 0:
            os._exit(_run(order, scratch))
        try:
            status = _wait(child)
        finally:
            _kill_all()
    return status


def _run(order: dict[str, Any], scratch: str) -> int:
    """Run the command in the sandbox. The parent's handlers and folder are not this process's to clear."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    from sandlock import Sandbox  # type: ignore[import-not-found,unused-ignore]

    writable = [scratch, *order["writable"], *_DEVICES]
    sandbox = Sandbox(
        fs_readable=[path for path in order["readable"] if Path(path).exists()],
        fs_writable=[path for path in writable if Path(path).exists()],
        net_allow=["*:*"] if order["network"] else [],
        max_memory=order["memory"],
        max_processes=order["processes"],
        clean_env=True,
        env={**order["environ"], "HOME": scratch, "TMPDIR": scratch},
        cwd=order["folder"],
        no_coredump=True,
    )
    code: int = sandbox.run_interactive(order["command"])
    return code if code >= 0 else _SIGNALLED - code


def _wait(child: int) -> int:
    while True:
        ended, status = os.wait()
        if ended == child:
            return os.waitstatus_to_exitcode(status) % 256


def _end(code: int) -> None:
    _kill_all()
    raise SystemExit(code)


def _kill_all() -> None:
    """Kill the children until there are none: each death makes its own children those of this process."""
    while children := _children():
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            for _ in children:
                os.wait()


def _children() -> list[int]:
    me = os.getpid()
    return [int(child) for child in Path(f"/proc/{me}/task/{me}/children").read_text("ascii").split()]


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
