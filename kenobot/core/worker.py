"""Background tasks: run one at a time, wait for them, cancel them."""

import asyncio
from collections.abc import Callable, Collection, Coroutine
from typing import Any


class BackgroundTask:
    """name: of its task. What is broken off is the next start's: whoever derives from this keeps it on disk."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    @property
    def idle(self) -> bool:
        """Whether nothing is under way."""
        return self._task is None

    async def wait_idle(self) -> None:
        """Return once what is due has been done, or has to wait."""
        while self._task is not None:
            await asyncio.wait({self._task})

    async def stop(self) -> None:
        """Break off what is under way, and begin nothing more."""
        self._stopping = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None  # one that was broken off before its first step has not said so itself

    def _begin(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have it done in the background, unless something is under way already, or no more is to be begun."""
        if self._task is None and not self._stopping:
            self._task = asyncio.create_task(self._do(work), name=self._name)

    async def _do(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await work()
        finally:
            self._task = None


class TaskSet:
    """Tasks under way at the same time. name: of each."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._tasks: set[asyncio.Task[None]] = set()  # bounded: 220 notices an hour, changes under way; turn

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Have it done in the background."""
        task = asyncio.create_task(work, name=self._name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def wait_idle(self) -> None:
        """Return once no task is under way."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def stop(self) -> None:
        """Break off the tasks under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def finish_or_cancel(tasks: Collection[asyncio.Task[Any]], grace: float) -> None:
    """Give tasks `grace` seconds, then break off those that are still at it."""
    if tasks:
        _, late = await asyncio.wait(tasks, timeout=grace)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)


def was_cancelled(error: BaseException) -> bool:
    """Whether `error` cancels this very task, not just something that the task awaited."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0
