"""Write down where every thread and task of the process stands, on SIGUSR2 and when the event loop stands still.

`faulthandler` writes the threads from within the signal, also while nothing of Python's own runs, into a file that is
open for that, `raw.txt`. As soon as somebody can, that is emptied into a dump of its own, with the tasks. No values of
variables are written.
"""

import asyncio
import contextlib
import faulthandler
import os
import signal
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import AsyncGeneratorType, CoroutineType, FrameType, GeneratorType
from typing import Any

_RAW = "raw.txt"
_KEPT = 10  # dumps
_LARGEST = 500_000  # bytes of threads, of which the first count
_TASKS = 500
_DEPTH = 60  # frames of a task
_SIGNAL = signal.SIGUSR2
_CLOSE_SECONDS = 1.0  # for a dump that is under way; the end does not wait for a disk that hangs


class StackDumps:
    """Dumps in `folder`, readable by the owner alone; the ten newest are kept.

    `open` it first, `close` it at the end.
    """

    def __init__(self, folder: Path, loop: asyncio.AbstractEventLoop) -> None:
        self._folder = folder
        self._loop = loop
        self._raw = -1
        self._one = threading.Lock()

    def open(self) -> None:
        """Dump on SIGUSR2 from now on; for the main thread. Raises OSError."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._raw = os.open(self._folder / _RAW, flags, 0o600)
        faulthandler.register(_SIGNAL, self._raw, all_threads=True, chain=False)

    def close(self) -> None:
        """Ignore SIGUSR2 from now on: by default it would end the process."""
        if self._raw < 0:
            return
        faulthandler.unregister(_SIGNAL)
        with contextlib.suppress(ValueError):  # in another thread than the main one
            signal.signal(_SIGNAL, signal.SIG_IGN)
        # A thread that is writing needs the file. Closed under it, its number might be that of a file opened since.
        if self._one.acquire(timeout=_CLOSE_SECONDS):
            try:
                os.close(self._raw)
                self._raw = -1
            finally:
                self._one.release()

    def dump(self, reason: str) -> Path:
        """Write a dump of all threads and tasks, with what a signal left; returns its file. From any thread.

        Raises OSError.
        """
        with self._one:
            return self._dump(reason)

    def dump_if_asked(self, reason: str) -> None:
        """Do so where a signal has asked for it. Raises OSError."""
        if self._was_asked():
            with self._one:
                if self._was_asked():  # and no dump has taken its threads meanwhile
                    self._dump(reason)

    def _was_asked(self) -> bool:
        return self._raw >= 0 and os.fstat(self._raw).st_size > 0

    def _dump(self, reason: str) -> Path:
        if self._raw >= 0 and not self._was_asked():
            faulthandler.dump_traceback(self._raw, all_threads=True)
        threads = os.pread(self._raw, _LARGEST, 0).decode("utf-8", "replace") if self._raw >= 0 else ""
        at = datetime.now(UTC)
        path = self._folder / f"stacks-{at:%Y%m%dT%H%M%S.%f}Z.txt"
        head = f"KenoBot, process {os.getpid()}, {at.isoformat(timespec='seconds')}: {reason}"
        text = "\n".join([head, "", "— threads —", threads, "— tasks —", *_tasks(self._loop), ""])
        path.touch(mode=0o600, exist_ok=False)
        path.write_text(text, "utf-8")
        if self._raw >= 0:
            os.ftruncate(self._raw, 0)
        for old in sorted(self._folder.glob("stacks-*.txt"))[:-_KEPT]:
            old.unlink(missing_ok=True)
        return path


def ask_process(folder: Path, process: int, seconds: float) -> Path | None:
    """Ask another process for a dump, by SIGUSR2; return the file, `raw.txt` where it could not be made into a dump.

    None: it wrote nothing in time. Raises OSError.
    """
    raw, before = folder / _RAW, set(folder.glob("stacks-*.txt"))
    if not (raw.exists() and _listens(process)):  # the signal would end it
        return None
    os.kill(process, _SIGNAL)
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if new := sorted(set(folder.glob("stacks-*.txt")) - before):
            return new[-1]
        time.sleep(0.05)
    return raw if raw.stat().st_size else None


def _listens(process: int) -> bool:
    """Return whether a process has a handler for the signal: an earlier one of the home may have left its file.

    True where the system does not tell.
    """
    try:
        lines = Path(f"/proc/{process}/status").read_text("utf-8", "replace").splitlines()
    except OSError:
        return True
    caught = next((line.split()[1] for line in lines if line.startswith("SigCgt:")), None)
    return caught is None or bool(int(caught, 16) >> (_SIGNAL - 1) & 1)


def _tasks(loop: asyncio.AbstractEventLoop) -> Iterator[str]:
    """Name the tasks of a loop and where each waits, from the outermost call to the innermost."""
    try:
        tasks = sorted(asyncio.all_tasks(loop), key=lambda task: task.get_name())
    except RuntimeError as error:  # the loop begins tasks faster than they can be looked at
        yield f"they cannot be listed: {error}"
        return
    for task in tasks[:_TASKS]:
        yield f"task {task.get_name()!r}"
        for frame, line in _frames(task.get_coro()):
            yield f'  File "{frame.f_code.co_filename}", line {line} in {frame.f_code.co_qualname}'
    if len(tasks) > _TASKS:
        yield f"… and {len(tasks) - _TASKS} more"


def _frames(awaited: Any) -> Iterator[tuple[FrameType, int]]:
    """Follow a coroutine to what it awaits; a task's own `get_stack` tells the outermost frame alone."""
    for _ in range(_DEPTH):
        match awaited:
            case CoroutineType():
                frame, awaited = awaited.cr_frame, awaited.cr_await
            case GeneratorType():
                frame, awaited = awaited.gi_frame, awaited.gi_yieldfrom
            case AsyncGeneratorType():
                frame, awaited = awaited.ag_frame, awaited.ag_await
            case _:
                return
        if frame is not None:
            yield frame, frame.f_lineno or 0
