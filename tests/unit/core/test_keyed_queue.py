"""KeyedQueue: order within a key, each item once, whatever is put, read back and fails in between."""

import asyncio
from collections import defaultdict
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenobot.core.worker import KeyedQueue
from kenobot.ports.errors import StoreError
from kenobot_testing.clock import EagerClock


class _Store:
    """Items of keys by id, and a queue over them that fails and dawdles as a seed says."""

    def __init__(self, seed: int, *, ahead: int = 3, failing: float = 0.2) -> None:
        self.random = Random(seed)
        self.failing = failing
        self.waiting: dict[str, list[int]] = defaultdict(list)
        self.worked: dict[str, list[int]] = defaultdict(list)
        self.most_held = 0
        self._number = 0
        self.queue = KeyedQueue("store", EagerClock(), self._fetch, self._work, lambda item: item, ahead=ahead)

    async def _dawdle(self) -> None:
        for _ in range(self.random.choice([0, 0, 1, 7])):
            await asyncio.sleep(0)
        if self.random.random() < self.failing:
            raise StoreError("full")

    async def _fetch(self, key: str, after: int, limit: int) -> list[int]:
        await self._dawdle()
        items = [item for item in self.waiting[key] if item > after][:limit]
        await asyncio.sleep(0)
        return items

    async def _work(self, key: str, item: int) -> None:
        self.most_held = max(self.most_held, *(len(line.ready) for line in self.queue._lines.values()))
        await self._dawdle()
        self.waiting[key].remove(item)
        self.worked[key].append(item)

    def store(self, key: str) -> int:
        self._number += 1
        self.waiting[key].append(self._number)
        return self._number


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    steps=st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["put", "sweep", "twice", "wait"])), max_size=60),
)
def test_every_item_is_worked_off_once_and_in_order(seed: int, steps: list[tuple[str, str]]) -> None:
    """Items that are handed over, handed over twice, or only found in the store."""

    async def run() -> None:
        store = _Store(seed)
        for key, step in steps:
            item = store.store(key)
            for _ in range({"put": 1, "twice": 2}.get(step, 0)):
                store.queue.put(key, item)
            if step == "sweep":
                store.queue.put(key)
            if step == "wait":
                store.queue.put(key)
                await asyncio.sleep(0)
        for key in "ab":
            store.queue.put(key)
        await store.queue.wait_idle()
        assert store.queue.idle and not any(store.waiting.values())
        assert all(items == sorted(items) for items in store.worked.values())
        assert sum(map(len, store.worked.values())) == len(steps)
        assert store.most_held <= 3

    asyncio.run(run())


async def test_false_ends_the_run_of_a_key() -> None:
    """The rest waits in the store; other keys go on."""
    worked: list[tuple[str, int]] = []

    async def fetch(key: str, after: int, limit: int) -> list[int]:
        return []

    async def work(key: str, item: int) -> bool:
        worked.append((key, item))
        return key != "a"

    queue = KeyedQueue("store", EagerClock(), fetch, work, lambda item: item, ahead=8)
    for key, item in [("a", 1), ("a", 2), ("b", 3), ("b", 4)]:
        queue.put(key, item)
    assert not queue.is_free("a")
    await queue.wait_idle()
    assert (worked, queue.is_free("a")) == ([("a", 1), ("b", 3), ("b", 4)], True)


@pytest.mark.parametrize("grace", [0, 1])
async def test_stop_gives_items_at_work_their_time_and_begins_no_more(grace: float) -> None:
    """What is not done by then is left to the store."""
    worked: list[int] = []

    async def fetch(key: str, after: int, limit: int) -> list[int]:
        return []

    async def work(key: str, item: int) -> None:
        for _ in range(10):
            await asyncio.sleep(0)
        worked.append(item)

    queue = KeyedQueue("store", EagerClock(), fetch, work, lambda item: item, ahead=8)
    for item in (1, 2):
        queue.put("a", item)
    await asyncio.sleep(0)
    await queue.stop(grace)
    queue.put("a", 3)
    assert (worked, queue.idle) == ([1] if grace else [], True)
