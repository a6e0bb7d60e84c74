"""A loop with real mail around it."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from random import Random

from kenobot.agent.intake_policy import IntakePolicy
from kenobot.agent.loop import AgentLoop
from kenobot.core.bus import Bus
from kenobot.ledger.model_router import ModelRouter
from kenobot.ports.messages import Inbound
from kenobot.storage import inbox_rows
from kenobot.storage.database import Database
from kenobot.storage.inbox import Inbox
from kenobot.storage.inbox_rows import PendingMessage
from kenobot_testing.clock import START, EagerClock
from tests.samples import inbound, scalar


class _Policy(IntakePolicy):
    """Admit all but those that are barred."""

    def __init__(self, house: "House", backlog: int, chat_backlog: int) -> None:
        self._house = house
        self.backlog, self.chat_backlog, self.fragments = backlog, chat_backlog, None
        self.prepare_to_read = lambda text: house.readings.pop() if house.readings else None

    def in_first_chat(self, inbound: Inbound) -> Inbound:
        return inbound

    async def admits(self, inbound: Inbound) -> bool:
        return inbound.user not in self._house.barred

    async def reject_flood(self, inbound: Inbound) -> None:
        self._house.turned_away.append(inbound.chat)

    async def end_stopped(self, inbox: Inbox, pending: PendingMessage) -> None:
        await inbox.end_stopped(pending.id)


class _Model(ModelRouter):
    """A model that is back when the test says so."""

    def __init__(self, house: "House") -> None:
        self._house = house

    async def wait_until_available(self, longest: float) -> None:
        self._house.waits.append(longest)
        await self._house.back.wait()


class House:
    """A loop with real mail around it, whose turns do what `during` says and are then answered."""

    def __init__(
        self, database: Database, *, parallel: int = 32, backlog: int = 1000, chat_backlog: int = 1000
    ) -> None:
        self.database = database
        self.clock = EagerClock()
        self.bus = Bus(self.clock)
        self.inbox = Inbox(database, self.clock)
        self.during: Callable[[PendingMessage], Awaitable[None]] | None = None
        self.turns: list[PendingMessage] = []
        self.at_work: Counter[str] = Counter()
        self.most_at_once = 0
        self.most_in_a_chat = 0
        self.deferred: list[int] = []
        self.out_of_reach: set[str] = set()
        self.back = asyncio.Event()
        self.waits: list[float] = []
        self.turned_away: list[str] = []
        self.barred: set[str] = set()
        self.readings: list[Coroutine[None, None, None]] = []
        policy = _Policy(self, backlog, chat_backlog)
        self.loop = AgentLoop(
            self.inbox, self.bus, self.clock, self, _Model(self), Random(1), policy, parallel=parallel
        )

    def note_behind(self, under_way: PendingMessage, pending: PendingMessage) -> None:
        """Nothing goes on as a task here."""

    def prepare(self, pending: PendingMessage) -> None:
        pass

    async def run(self, pending: PendingMessage) -> bool:
        self.turns.append(pending)
        self.at_work[pending.session] += 1
        self.most_at_once = max(self.most_at_once, self.at_work.total())
        self.most_in_a_chat = max(self.most_in_a_chat, self.at_work[pending.session])
        attempt = 0
        try:
            attempt = pending.attempts if pending.claimed else await self.inbox.claim(pending.id)
            if self.during is not None:
                await self.during(pending)
            if pending.inbound.text in self.out_of_reach:
                await self.database.write(lambda c: inbox_rows.defer(c, pending.id, attempt))
                return False
            await self.database.write(lambda c: inbox_rows.finish(c, pending.id, attempt, "answered", START))
            return True
        except asyncio.CancelledError:
            self.deferred.append(pending.id)
            await self.inbox.release(pending.id, attempt)
            raise
        finally:
            self.at_work[pending.session] -= 1

    async def say(self, text: str, number: int | str, chat: str = "1") -> bool:
        return await self.loop(inbound(text, number, chat=chat))

    def texts(self, chat: str = "1") -> list[str]:
        return [pending.inbound.text for pending in self.turns if pending.inbound.chat == chat]

    async def open_messages(self) -> int:
        return int(str(await scalar(self.database, "SELECT count(*) FROM inbox WHERE done_at IS NULL")))
