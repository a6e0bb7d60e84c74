"""Say that more edits than a turn should wait for are being taken in: turns go on from what is known meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from kenobot.ports.errors import StoreError
from kenobot.ports.memory_files import IntakeNotice


async def _ignore(_: IntakeNotice) -> None:
    pass


class LargeIntake:
    """Count the changes that are being taken in at once. listener: awaited with each notice."""

    def __init__(self, listener: Callable[[IntakeNotice], Awaitable[None]] = _ignore) -> None:
        self._listener = listener
        self._under_way = asyncio.Event()
        self._count = 0
        self._is_closed = False

    def close(self) -> None:
        """Begin nothing large any more."""
        self._is_closed = True

    @property
    def is_under_way(self) -> bool:
        """Tell whether much is being taken in."""
        return self._under_way.is_set()

    @asynccontextmanager
    async def announce(self, path: str, changes: int, large_from: int) -> AsyncIterator[None]:
        """Announce what the block takes in, if that is large, before and after; one that fails is not done.

        Raises StoreError for a large one after `close`.
        """
        if changes < large_from:
            yield
            return
        if self._is_closed:
            raise StoreError("memory.too_many_edits", path=path)
        self._count += 1
        self._under_way.set()
        try:
            await self._listener(IntakeNotice(path, changes, is_done=False))
            yield
        finally:
            self._count -= 1
            if not self._count:
                self._under_way.clear()
        await self._listener(IntakeNotice(path, changes, is_done=True))

    async def wait_unless_large(self, look: "asyncio.Task[int]") -> int:
        """Wait for a look at files, unless it finds much to take in: then that goes on, and 0 is returned."""
        large = asyncio.create_task(self._under_way.wait())
        try:
            await asyncio.wait({look, large}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            large.cancel()
        return look.result() if look.done() else 0
