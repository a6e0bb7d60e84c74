"""Do the work of many databases in a few threads, for a process with hundreds of homes.

Each database has lines of work: to write, to read, and to read behind the turns. One thread at a time does what is next
in a line, so the order of a line is kept, and its connection is used by nobody else. What a line holds open while
nothing is done in it is closed after a while, or as soon as others need the room.
"""

import asyncio
import contextlib
import logging
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from kenobot.storage.job_queue import JobQueue

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ThreadCounts:
    """Counts of threads that write, read and read behind the turns. most_open: lines that hold something open."""

    writing: int = 8
    reading: int = 4
    behind: int = 2
    most_open: int = 300


class SharedThreads:
    """The threads of a process. All methods may be called from any thread."""

    def __init__(self, counts: ThreadCounts | None = None) -> None:
        counts = counts or ThreadCounts()
        self._most_open = counts.most_open
        self._lock = threading.Lock()
        # bounded: ThreadCounts.most_open; test_no_more_is_held_open_than_allowed
        self._open: OrderedDict[SharedLine[object], float] = OrderedDict()
        self.writing = _Crew("kenobot-writer", counts.writing)
        self.reading = _Crew("kenobot-reader", counts.reading)
        self.behind = _Crew("kenobot-background", counts.behind)

    @property
    def open_lines(self) -> int:
        """Return how many lines hold something open."""
        return len(self._open)

    def note_open(self, line: "SharedLine[object]") -> None:
        """Note that a line was used just now; the one that was not for longest rests where there are too many."""
        with self._lock:
            self._open[line] = time.monotonic()
            self._open.move_to_end(line)
            oldest = self._open.popitem(last=False)[0] if len(self._open) > self._most_open else None
        if oldest is not None:
            oldest.request_rest()

    def forget(self, line: "SharedLine[object]") -> None:
        """Note that a line holds nothing open."""
        with self._lock:
            self._open.pop(line, None)

    def close_unused(self, seconds: float) -> None:
        """Close what lines hold open in which nothing was done for some seconds."""
        before = time.monotonic() - seconds
        resting = []
        with self._lock:
            while self._open:
                line, used = next(iter(self._open.items()))
                if used > before:
                    break
                del self._open[line]
                resting.append(line)
        for line in resting:
            line.request_rest()

    def close(self) -> None:
        """End the threads once they have done what they are at. No database may be open any more."""
        for crew in (self.writing, self.reading, self.behind):
            crew.close()


class SharedLine(JobQueue[T | None], Generic[T]):
    """A line of work. What is put into it is done by `work`, None ends it.

    work: does an item, and may take more; returns whether an end was among them. close: closes what it holds open.
    """

    def __init__(
        self,
        threads: SharedThreads,
        crew: "_Crew",
        work: "Callable[[SharedLine[T], T], bool]",
        close: Callable[[], None],
        lines: int = 1,
    ) -> None:
        super().__init__(lines)
        self._threads, self._crew, self._work, self._close = threads, crew, work, close
        self._state = threading.Lock()
        self._is_due = self._rests = False
        self._is_ended = False
        self._waiting: list[Callable[[], object]] = []  # bounded: whoever closes the database; turn

    def put(self, item: T | None, line: int = 0) -> None:
        """Add an item to a line, and have a thread do it."""
        super().put(item, line)
        self._call()

    def request_rest(self) -> None:
        """Request that what is held open is closed, behind what is under way."""
        self._rests = True
        self._call()

    async def wait_end(self, seconds: float | None) -> None:
        """Return when its end was done, or after some seconds."""
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        with self._state:
            if self._is_ended:
                return
            self._waiting.append(lambda: loop.call_soon_threadsafe(ended.set))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await ended.wait()

    def is_alive(self) -> bool:
        """Return whether its end is still to be done."""
        return not self._is_ended

    def _call(self) -> None:
        with self._state:
            is_new, self._is_due = not self._is_due, True
        if is_new:
            self._crew.put(self.serve)

    def serve(self) -> None:
        """Do what is next; for a thread of the crew."""
        try:
            self._serve()
        finally:
            with self._state:
                self._is_due = bool(self.qsize() or self._rests) and not self._is_ended
            if self._is_due:  # behind the other lines that wait
                self._crew.put(self.serve)

    def _serve(self) -> None:
        is_last = False
        try:
            item = self.get(0.0)
        except queue.Empty:
            pass
        else:
            self._threads.note_open(self)  # type: ignore[arg-type]  # whatever it does
            is_last = item is None or self._work(self, item)
        if is_last or (self._rests and not self.qsize()):
            self._rests = False
            self._threads.forget(self)  # type: ignore[arg-type]
            self._close()
        if is_last:
            self._end()

    def _end(self) -> None:
        with self._state:
            self._is_ended = True
            waiting, self._waiting = self._waiting, []
        for tell in waiting:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                tell()


class _Crew:
    """Threads that do what is put into one queue, begun with the first of it."""

    def __init__(self, name: str, count: int) -> None:
        self._name, self._count = name, count
        self._threads: list[threading.Thread] = []  # bounded: ThreadCounts; start
        self._lock = threading.Lock()
        # bounded: the lines there are, each once; test_many_databases_share_few_threads
        self._due: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()

    def put(self, work: Callable[[], None]) -> None:
        """Queue work."""
        self._due.put(work)
        if len(self._threads) < self._count:
            self._begin()

    def close(self) -> None:
        """End the threads."""
        for _ in self._threads:
            self._due.put(None)
        for thread in self._threads:
            thread.join()

    def _begin(self) -> None:
        with self._lock:
            while len(self._threads) < self._count:
                name = f"{self._name}-{len(self._threads)}"
                thread = threading.Thread(target=self._work_on, name=name, daemon=True)
                thread.start()
                self._threads.append(thread)

    def _work_on(self) -> None:
        while (work := self._due.get()) is not None:
            try:
                work()
            except Exception:
                _log.exception("work of a database failed")
            del work  # a thread that waits holds nothing of what it did last
