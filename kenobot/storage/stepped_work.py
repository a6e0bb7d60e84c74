"""Long work in steps: at once, or in transactions of some steps each."""

import time
from collections.abc import Callable, Generator
from typing import Generic, TypeVar

from kenobot.ports.errors import StoreFull
from kenobot.storage.connection import Connection

T = TypeVar("T")


def run_steps(steps: Generator[None, None, T], between: Callable[[], None] = lambda: None) -> T:
    """Run long work to its end at once, with a call of `between` after each of its steps; return its result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        between()


class Steps(Generic[T]):
    """Long work on its way: `batch` is the next part of it, `seconds` what the last one took."""

    def __init__(self, work: Callable[[Connection], Generator[None, None, T]], size: int) -> None:
        self._work = work
        self._size = size
        self._steps: Generator[None, None, T] | None = None
        self.seconds = 0.0

    def batch(self) -> Callable[[Connection], tuple[T] | None]:
        """Make a transaction of the next steps; it returns the result of the whole work, None when there are more."""
        is_new = True

        def run(connection: Connection) -> tuple[T] | None:
            nonlocal is_new
            if not is_new:  # the disk was full: what these steps wrote is undone, and they cannot be taken back
                raise StoreFull("disk.full")
            is_new, began = False, time.monotonic()
            if self._steps is None:
                self._steps = self._work(connection)
            try:
                for _ in range(self._size):
                    next(self._steps)
            except StopIteration as end:
                return (end.value,)
            finally:
                self.seconds = time.monotonic() - began
            return None

        return run
