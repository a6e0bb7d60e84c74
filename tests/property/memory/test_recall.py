"""Recall under random memories: budgets hold, scopes hold, time travel tells the truth, and k bounds the work."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kenobot.cognitive.recall.results.memory import MemoryQuery
from kenobot.cognitive.recall.search.recall import recall
from kenobot.core.token_estimate import estimate_tokens
from kenobot.storage.connection import Connection
from kenobot.storage.times import stamp
from tests.scratch import scratch
from tests.unit.cognitive.recall.house import REACH, ZONE, Memory, open_memory

_WORDS = "gato perro casa tren lluvia coffee bridge winter river 茶 猫が好き кофе C++ 🚀 no never 42".split()
_TEXTS = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=8).map(" ".join)
_SCOPES = ("owner", "chat:telegram-1", "chat:telegram-2", "user:telegram-9")
_QUIET = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _in_a_memory(work: Callable[[Memory], Awaitable[None]]) -> None:
    async def run() -> None:
        with scratch() as folder:
            async with open_memory(Path(folder)) as memory:
                await work(memory)

    asyncio.run(run())


@_QUIET
@given(
    notes=st.lists(st.tuples(_TEXTS, st.sampled_from(_SCOPES), st.integers(1, 60)), max_size=25),
    said=st.lists(st.tuples(_TEXTS, st.sampled_from(["telegram-1", "telegram-2"])), max_size=6),
    query=_TEXTS,
    budget=st.integers(1, 400),
)
def test_a_pack_keeps_to_its_budget_and_its_reach(
    notes: list[tuple[str, str, int]], said: list[tuple[str, str]], query: str, budget: int
) -> None:
    """Whatever is in memory, however long."""

    async def work(memory: Memory) -> None:
        for text, scope, times in notes:
            await memory.learn(" ".join([text] * times), scope=scope)
        for number, (text, session) in enumerate(said):
            await memory.say(text, number, session)
        pack = await memory.recall(query, budget=budget, force=True)
        lines = [each.line for each in pack.memories] + [each.line for each in pack.excerpts]
        everything = [text for text in lines if text]
        assert estimate_tokens("\n".join(everything)) <= pack.tokens <= budget or not everything
        assert {each.record.scope for each in pack.memories} <= set(REACH)
        assert {each.turn.session for each in pack.excerpts} <= {"telegram-1"}
        shortest = min((each[0] for each in notes if each[0] == query and each[1] in REACH and each[2] == 1),
                       default=None)  # fmt: skip
        if shortest is not None and budget >= 200:
            assert pack.memories

    _in_a_memory(work)


@_QUIET
@given(
    days=st.lists(st.sampled_from(["replaced", "superseded", "archived", "back"]), min_size=1, max_size=6),
)
def test_time_travel_shows_each_day_as_it_was(days: list[str]) -> None:
    """A record through wordings and states, one a day: as of each evening it is what it was that evening."""

    async def work(memory: Memory) -> None:
        record = await memory.learn("river version 0", days_ago=len(days) + 1)
        text, status = "river version 0", "active"
        was: list[tuple[str, str]] = [(text, status)]
        for number, kind in enumerate(days, 1):
            at = memory.now - timedelta(days=len(days) + 1 - number)
            if kind == "replaced":
                text = f"river version {number}"
                await memory.change(record, kind, at, text=text)
            else:
                status = "active" if kind == "back" else kind
                await memory.change(record, kind, at, status=status)
            was.append((text, status))
        for number, (then, standing) in enumerate(was):
            evening = memory.now - timedelta(days=len(days) + 1 - number) + timedelta(hours=8)
            found = await memory.texts("river version", as_of=evening)
            assert found == ([then] if standing == "active" else [])

    _in_a_memory(work)


@settings(max_examples=3, deadline=None)
@given(query=_TEXTS)
def test_a_recall_reads_as_much_of_a_large_memory_as_of_a_small_one(query: str) -> None:
    """Five times the memory: no more than a few steps of SQLite more, and no more rows."""

    async def work(memory: Memory) -> None:
        def fill(connection: Connection, start: int, end: int) -> None:
            at = stamp(memory.now)
            connection.executemany(
                "INSERT INTO record (id, form, scope, text, source, trust, confidence, importance, stability, "
                "valid_from, created, updated, last_seen, day, key, changed_event) "
                "VALUES (?, 'note', 'owner', ?, 'tag', 'owner', .9, .5, 1, ?, ?, ?, ?, '2026-02-14', ?, 0)",
                [(n, f"{_WORDS[n % len(_WORDS)]} {_WORDS[n * 7 % len(_WORDS)]} fact {n}", at, at, at, at, f"k{n}")
                 for n in range(start, end)],
            )  # fmt: skip

        async def steps() -> int:
            while await memory.database.read(lambda c: memory.index.index_backlog(c, 5000)):
                pass
            ticks = 0

            def tick() -> int:
                nonlocal ticks
                ticks += 1
                return 0

            def count(connection: Connection) -> int:
                connection.set_progress_handler(tick, 10)
                recall(connection, memory.index, MemoryQuery(query, REACH, memory.now, ZONE))
                connection.set_progress_handler(None, 0)
                return ticks

            return await memory.database.read(count)

        await memory.database.write(lambda c: fill(c, 1, 1001))
        few = await steps()
        await memory.database.write(lambda c: fill(c, 1001, 5001))
        memory.index.close()
        for path in memory.path.parent.glob("index.db*"):
            path.unlink()
        assert await steps() < 2 * few + 100

    _in_a_memory(work)
