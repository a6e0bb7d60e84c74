"""KeyedQueue: one worker per key, in order, backed by a store that holds what does not fit in memory."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from kenobot.core.worker import finish_or_cancel
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

_log = logging.getLogger(__name__)

_STORE_PAUSE = 5.0


@dataclass(slots=True)
class _Line(Generic[T]):
    """The items of a key at work.

    done: the id of the newest item worked off. newest: of the newest item ever queued.
    more: the store may hold items that are not in `ready`.
    reading: `ready` is being filled from the store; an item queued meanwhile would overtake, so it waits there too.
    """

    # bounded: 32 items: parts of a chat, 16 messages; test_a_chat_that_takes_nothing_holds_few_parts
    ready: deque[T] = field(default_factory=deque)
    done: int = 0
    newest: int = 0
    more: bool = False
    reading: bool = False
    task: asyncio.Task[None] | None = None


class KeyedQueue(Generic[K, T]):
    """Run one worker per key over its items, in the order of their ids.

    store: the name of the store, for the log. fetch: reads up to `limit` items of a key with ids above `after`, given
    as (key, after, limit). work: deals with one item; False ends the key's run and leaves the item to the store.
    ahead: items of a key held in memory.

    A StoreError out of `fetch` or `work` delays the key, which goes on with the first item that is not done.
    """

    def __init__(
        self,
        store: str,
        clock: Clock,
        fetch: Callable[[K, int, int], Awaitable[Sequence[T]]],
        work: Callable[[K, T], Awaitable[bool | None]],
        id_of: Callable[[T], int],
        *,
        ahead: int,
    ) -> None:
        self._store = store
        self._clock = clock
        self._fetch = fetch
        self._work = work
        self._id_of = id_of
        self._ahead = ahead
        self._lines: dict[K, _Line[T]] = {}  # bounded: chats with mail: at most loop.backlog; turn
        self._stopping = False

    def put(self, key: K, item: T | None = None) -> None:
        """Queue an item that is in the store; None: the store holds items of `key` that nothing works on."""
        if self._stopping:
            return
        line = self._lines.setdefault(key, _Line())
        if item is None or line.more or line.reading or len(line.ready) >= self._ahead:
            line.more = True
        elif self._id_of(item) > line.newest:
            line.newest = self._id_of(item)
            line.ready.append(item)
        if line.task is None:
            line.task = asyncio.create_task(self._run(key, line), name=f"{self._store} {key}")

    def is_free(self, key: K) -> bool:
        """Whether no item of `key` is at work."""
        return key not in self._lines

    @property
    def idle(self) -> bool:
        """Whether no key has a worker."""
        return not self._lines

    async def wait_idle(self) -> None:
        """Return once no key has a worker."""
        while tasks := self._tasks():
            await asyncio.wait(tasks)

    async def stop(self, grace: float) -> None:
        """Begin no more items; give those at work `grace` seconds and leave the rest to the store."""
        self._stopping = True
        await finish_or_cancel(self._tasks(), grace)

    def _tasks(self) -> list[asyncio.Task[None]]:
        return [line.task for line in self._lines.values() if line.task is not None]

    async def _run(self, key: K, line: _Line[T]) -> None:
        try:
            while not self._stopping:
                try:
                    if not await self._step(key, line):
                        return
                except StoreError as error:
                    _log.error("the %s cannot be used: %s", self._store, error)
                    line.ready.clear()
                    line.newest, line.more = line.done, True
                    await self._clock.sleep(_STORE_PAUSE)
        finally:
            del self._lines[key]

    async def _step(self, key: K, line: _Line[T]) -> bool:
        """Work off one item, or fill `ready`; returns whether the key's run goes on."""
        if line.ready:
            item = line.ready.popleft()
            going_on = await self._work(key, item) is not False
            line.done = self._id_of(item)
            return going_on
        if not line.more:
            return False
        line.more, line.reading = False, True
        try:
            line.ready.extend(await self._fetch(key, line.done, self._ahead))
        finally:
            line.reading = False
        if line.ready:
            line.newest = max(line.newest, self._id_of(line.ready[-1]))
        line.more = line.more or len(line.ready) == self._ahead
        return True
