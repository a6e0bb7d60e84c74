"""Every observed turn is extracted or still pending, whenever the worker is killed; and facts come once."""

import asyncio
import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from kenobot.cognitive.background.extraction import ExtractionWorker
from kenobot.cognitive.background.per_chat_worker import WorkerContext
from kenobot.cognitive.mirror.memory_files import MemoryFiles
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember.extract import buffer
from kenobot.core.bus import Bus
from kenobot.core.pattern_set import PatternSet
from kenobot.core.retry import CircuitBreaker
from kenobot.ledger.ledger import Ledger
from kenobot.ledger.model_router import ModelRouter, ProviderRoute
from kenobot.ports.errors import Unavailable
from kenobot.ports.provider import Request
from kenobot.storage import conversation
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot_testing.clock import START, EagerClock
from kenobot_testing.provider import ScriptedProvider
from tests.property.effort import effort
from tests.scratch import scratch

T = TypeVar("T")

THINGS = ["tea", "jazz", "chess", "hiking", "opera", "rowing", "baking", "sushi"]
CHATS = ["telegram-1", "telegram-2"]
ZONE = ZoneInfo("UTC")


class _NoFiles(MemoryFiles):
    def __init__(self) -> None: ...

    def mark_dirty(self, record_ids: Iterable[int] = ()) -> None: ...


class _Mortal(Database):
    """A database whose process is killed at its `fatal`-th use: before it, within it, or right after it."""

    fatal = 0
    how = "before"
    uses = 0

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self._use(super().read, work)

    async def write(self, work: Callable[[Connection], T], before: Callable[[Connection], object] | None = None) -> T:
        return await self._use(super().write, work)

    async def _use(self, way: Callable[..., object], work: Callable[[Connection], T]) -> T:
        self.uses += 1
        fatal = self.uses == self.fatal
        if fatal and self.how == "before":
            raise asyncio.CancelledError
        if fatal and self.how == "within":

            def fail(connection: Connection) -> T:
                work(connection)
                raise RuntimeError("killed before the commit")

            with suppress(RuntimeError):
                await way(fail)  # type: ignore[misc]
            raise asyncio.CancelledError
        found: T = await way(work)  # type: ignore[misc]
        if fatal:
            raise asyncio.CancelledError
        return found


def _answer(request: Request) -> str:
    """Each turn says what its speaker likes, and the model finds just that."""
    found: list[dict[str, object]] = []
    for block in request.messages[-1].text.split("### Turn ")[1:]:
        number, said = int(block.split(" ", 1)[0]), block.split("> ", 1)[1].split("\n", 1)[0]
        found.append({"text": said, "category": "preference", "evidence": [number]})
    return json.dumps({"facts": found})


def _scope(chat: str) -> str:
    return "owner" if chat == CHATS[0] else f"user:{chat}"


class _World:
    """A home in which turns come in and a worker is killed again and again."""

    def __init__(self, database: _Mortal) -> None:
        self.database = database
        self.clock = EagerClock()
        self.said: dict[int, tuple[str, str]] = {}
        self.down = False

    async def say(self, chat: str, thing: str) -> None:
        number = len(self.said) + 1
        text = f"I love {thing}"
        self.said[number] = (chat, text)

        def write(connection: Connection) -> None:
            turn = conversation.FinishedTurn(chat, number, START, text, "ok", "owner", _scope(chat))
            conversation.append_turn(connection, turn)

        self.database.fatal = 0
        await self.database.write(write)

    async def work(self, fatal: int, how: str) -> None:
        """Start the worker anew, let it look everywhere, and kill it at its `fatal`-th use of the database."""
        self.database.uses, self.database.fatal, self.database.how = 0, fatal, how
        provider = ScriptedProvider([Unavailable("down") if self.down else _answer], repeat_last=True, rule_based=False)
        model = ModelRouter([ProviderRoute(provider, CircuitBreaker(self.clock))], 60, self.clock)
        ledger = Ledger(self.database, self.clock, ZONE)
        rooms = WorkerContext(self.database, Bus(self.clock), self.clock, ZONE, _NoFiles(), ledger)
        worker = ExtractionWorker(rooms, rooms.limit_to_budget(model, "extraction"), DEFAULT, PatternSet(()))
        await worker.tick()
        await worker.wait_idle()
        self.database.fatal = 0

    async def check(self, *, finished: bool) -> None:
        """Each turn is behind its cursor with its fact written once, or before it with no fact of its own."""

        def look(connection: Connection) -> tuple[dict[str, int], dict[str, int], list[tuple[str, str, int, str]]]:
            cursors = {chat: buffer.cursor(connection, chat) for chat in CHATS}
            waiting = {chat: len(buffer.pending_turns(connection, chat, 1000)) for chat in CHATS}
            rows = connection.execute(
                "SELECT scope, text, mentions, source_messages FROM record WHERE status = 'active' AND form IN "
                "('note', 'episode')"
            )
            return cursors, waiting, rows.fetchall()

        cursors, waiting, records = await self.database.read(look)
        last = await self.database.read(lambda c: dict(c.execute("SELECT inbox_id, max(id) FROM message GROUP BY 1")))
        told: dict[tuple[str, str], list[int]] = {}
        for number, (chat, text) in self.said.items():
            if last[number] <= cursors[chat]:
                told.setdefault((chat, text), []).append(number)
        for chat in CHATS:
            heard = [number for number, (where, _) in self.said.items() if where == chat]
            read = sum(last[number] <= cursors[chat] for number in heard)
            assert read + waiting[chat] == len(heard), f"{chat}: a turn is neither read nor waiting"
            assert not (finished and waiting[chat]), f"{chat}: something still waits"
        found = {(scope, text): (seen, json.loads(evidence)) for scope, text, seen, evidence in records}
        assert len(found) == len(records), "a fact came twice"
        wanted = {(_scope(chat), text): numbers for (chat, text), numbers in told.items()}
        assert {where: evidence for where, (_, evidence) in found.items()} == wanted
        assert all(seen <= len(wanted[where]) for where, (seen, _) in found.items()), "a turn counted twice"


_STEPS = st.one_of(
    st.tuples(st.just("say"), st.sampled_from(CHATS), st.sampled_from(THINGS)),
    st.tuples(st.just("work"), st.integers(1, 14), st.sampled_from(["before", "within", "after"])),
    st.tuples(st.just("down"), st.booleans(), st.just("")),
)


@effort(15, 1)
@given(st.lists(_STEPS, min_size=3, max_size=14))
def test_every_turn_is_read_or_waits(steps: list[tuple[str, object, str]]) -> None:
    """Killed before, within or after any use of the database, in an outage or not: nothing is lost, nothing doubled."""

    async def play(folder: Path) -> None:
        database = _Mortal.open(folder / "kenobot.db", folder / "backups")
        assert isinstance(database, _Mortal)
        world = _World(database)
        try:
            for what, first, second in steps:
                if what == "say":
                    await world.say(str(first), second)
                elif what == "down":
                    world.down = bool(first)
                else:
                    await world.work(int(str(first)), second)
                    await world.check(finished=False)
            world.down = False
            await world.work(0, "")
            await world.check(finished=True)
        finally:
            await database.close()

    with scratch() as folder:
        asyncio.run(play(Path(folder)))
