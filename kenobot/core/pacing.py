"""Hold background work back while turns are under way: it has a tenth of the time then, and all when nobody talks.

A turn says when it computes (`Pacer.turn`). Background threads rest between steps (`step`), tasks before they
have something written (`Pacer.await_gap`). What a turn itself waits for is not held back (`Pacer.mark_waiting`).

The rank of a task says whose work it does. It is set where the task begins and passes on to whatever it awaits, so that
the same code serves a turn and the work behind it.
"""

import asyncio
import contextlib
import gc
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from enum import IntEnum
from types import TracebackType

_LINGER_SECONDS = 0.005  # without a turn before nobody talks: the next message may follow at once
_STEP_SECONDS = 0.002  # of background work at a time beside turns
_REST_SECONDS = 0.018  # after it, as long as turns are under way
_SWITCH_SECONDS = 0.0005  # until a thread that computes gives way to another; by default it is ten times that
_COLLECT_ABOVE = 10_000  # objects more than were there; by default 700. A thousand turns leave some hundred in cycles


class Rank(IntEnum):
    """The urgency of a task. SOON: what the next turn may build on. LATER: what may take until tomorrow."""

    TURN = 0
    SOON = 1
    LATER = 2


_rank: ContextVar[Rank] = ContextVar("rank", default=Rank.TURN)


def current_rank() -> Rank:
    """Return the rank of the running task."""
    return _rank.get()


@contextlib.contextmanager
def run_at_rank(rank: Rank) -> Iterator[None]:
    """Run the block, and the tasks that it begins, at a rank."""
    token = _rank.set(rank)
    try:
        yield
    finally:
        _rank.reset(token)


class _Thread(threading.local):
    """The pace of this thread, if it rests, and the blocks under way that nothing may hold up."""

    pace: "Pace | None" = None
    unbroken = 0


_thread = _Thread()


def step() -> None:
    """Let a background thread rest if it is time to: for use between the steps of what lasts. Elsewhere, do nothing."""
    if _thread.pace is not None and not _thread.unbroken:
        _thread.pace.step()


def release_thread() -> None:
    """Let the calling thread rest in its steps no more."""
    _thread.pace = None


@contextlib.contextmanager
def unbroken() -> Iterator[None]:
    """Take no rest in the block: it holds a lock that turns need too."""
    _thread.unbroken += 1
    try:
        yield
    finally:
        _thread.unbroken -= 1


class _Counted:
    """A block to enter from many tasks: `change` is called with +1 and -1."""

    def __init__(self, change: Callable[[int], None]) -> None:
        self._change = change

    def __enter__(self) -> None:
        self._change(+1)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._change(-1)


class Pacer:
    """The turns under way. All but `hold_back_thread` is for the event loop's thread."""

    def __init__(self) -> None:
        self._turns = self._waiting = 0
        self._free = threading.Event()  # nobody talks, or a turn waits for background work
        self._free.set()
        self._gap = asyncio.Event()  # the same, for tasks
        self._gap.set()
        self._timer: asyncio.TimerHandle | None = None
        self._quiet_at = -math.inf  # when nobody has talked for long enough; of the event loop's clock
        self._turn, self._away = _Counted(self._count_turn), _Counted(lambda change: self._count_turn(-change))
        self._waited_for = _Counted(self._count_waiting)

    def turn(self) -> _Counted:
        """Enter while a turn is under way."""
        return self._turn

    def step_away(self) -> _Counted:
        """Enter while a turn waits for a model, and computes nothing."""
        return self._away

    def mark_waiting(self) -> _Counted:
        """Enter while a turn waits for background work, so that this is not held back."""
        return self._waited_for

    async def await_gap(self) -> None:
        """Return once nobody talks, or background work is due its share."""
        if not self._gap.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_REST_SECONDS):
                    await self._gap.wait()

    async def await_quiet(self, seconds: float) -> None:
        """Return once no turn has computed for `seconds`."""
        loop = asyncio.get_running_loop()
        while True:
            await self._gap.wait()
            left = self._quiet_at + seconds - loop.time()
            if left <= 0 and not self._turns:
                return
            await asyncio.sleep(max(left, _LINGER_SECONDS))

    def hold_back_thread(self) -> None:
        """Let the calling thread rest in its steps from now on; the one method for other threads."""
        _thread.pace = Pace(self._free)

    def _count_turn(self, change: int) -> None:
        self._turns += change
        if self._turns:
            self._settle()
            return
        loop = asyncio.get_running_loop()
        self._quiet_at = loop.time() + _LINGER_SECONDS
        if self._timer is None:  # one serves several turns: a message begins and ends a few spells
            self._timer = loop.call_at(self._quiet_at, self._end_linger)

    def _count_waiting(self, change: int) -> None:
        self._waiting += change
        self._settle()

    def _end_linger(self) -> None:
        self._timer, loop = None, asyncio.get_running_loop()
        if not self._turns and loop.time() < self._quiet_at:
            self._timer = loop.call_at(self._quiet_at, self._end_linger)
        self._settle()

    def _settle(self) -> None:
        free = bool(self._waiting) or not (self._turns or self._timer is not None)
        if free != self._gap.is_set():
            for event in (self._free, self._gap):
                (event.set if free else event.clear)()


class Pace:
    """The rests of a background thread."""

    def __init__(self, free: threading.Event) -> None:
        self._free = free
        self._until = 0.0

    def step(self) -> None:
        """Wait before the next step if turns are under way and the last ones took their share."""
        if not self._free.is_set() and time.monotonic() >= self._until:
            self._free.wait(_REST_SECONDS)
            self._until = time.monotonic() + _STEP_SECONDS


class _Interpreter:
    """The interpreter's settings, which several apps of a process may change at once and end in any order."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._switch_seconds = sys.getswitchinterval()
        self._collect_above = gc.get_threshold()[0]

    def begin(self) -> None:
        """Change the settings for one more user."""
        with self._lock:
            if not self._users:
                self._switch_seconds, self._collect_above = sys.getswitchinterval(), gc.get_threshold()[0]
                self._set(_SWITCH_SECONDS, _COLLECT_ABOVE)
            self._users += 1

    def end(self) -> None:
        """Restore the settings after the last user."""
        with self._lock:
            self._users -= 1
            if not self._users:
                self._set(self._switch_seconds, self._collect_above)

    @staticmethod
    def _set(switch_seconds: float, collect_above: int) -> None:
        sys.setswitchinterval(switch_seconds)
        gc.set_threshold(collect_above, *gc.get_threshold()[1:])


_interpreter = _Interpreter()


@contextlib.contextmanager
def responsive() -> Iterator[None]:
    """Keep a turn from waiting long for the interpreter: threads that compute give way soon, garbage waits for more."""
    _interpreter.begin()
    try:
        yield
    finally:
        _interpreter.end()
