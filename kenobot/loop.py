"""AgentLoop: a lane a chat. Messages of a chat are answered in strict order, chats in parallel up to a limit.

The loop wakes on `message:in`; what it works on comes from the inbox, so a lost signal loses nothing. A lane lives
while its chat has mail and ends when there is none.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from kenobot.bus import Bus
from kenobot.clock import Clock
from kenobot.errors import StoreError
from kenobot.inbox import Inbox, Pending
from kenobot.ports import Inbound
from kenobot.signals import HEALTH_DEGRADED, MESSAGE_IN, Envelope

_log = logging.getLogger(__name__)

_AHEAD = 16  # messages a lane holds in memory; the rest waits in the inbox
_SEEN = 10_000
_STORE_PAUSE = 5.0

RunTurn = Callable[[Pending], Awaitable[None]]


@dataclass(slots=True)
class _Lane:
    """A chat at work. `taken` is the newest inbox id it began; `more`: the inbox holds some that are not in `ready`.

    reading: `ready` is being filled from the inbox; what comes meanwhile would get ahead of it and waits there too.
    """

    ready: deque[Pending] = field(default_factory=deque)
    taken: int = 0
    more: bool = False
    reading: bool = False
    task: asyncio.Task[None] | None = None


class AgentLoop:
    """Takes messages in, and runs a turn for each.

    parallel: turns at once. backlog: messages waiting in all, above which `accept` waits.
    """

    def __init__(
        self,
        inbox: Inbox,
        bus: Bus,
        clock: Clock,
        run_turn: RunTurn,
        new_trace: Callable[[], str],
        *,
        parallel: int = 32,
        backlog: int = 1000,
    ) -> None:
        self._inbox = inbox
        self._bus = bus
        self._clock = clock
        self._run_turn = run_turn
        self._new_trace = new_trace
        self._slots = asyncio.Semaphore(parallel)
        self._backlog = backlog
        self._waiting = 0
        self._room = asyncio.Event()
        self._room.set()
        self._lanes: dict[str, _Lane] = {}
        self._handed: dict[int, Pending] = {}
        self._taking: set[asyncio.Task[bool]] = set()
        self._stopping = False

    # ── taking in ────────────────────────────────────────────────────────────────────────────────────────────────

    async def __call__(self, inbound: Inbound) -> bool:
        """The Sink of every channel: store the message, then ring. See `kenobot.ports.Sink`.

        A channel that is cancelled meanwhile stops neither: a message that was stored without a ring would lie there.
        """
        while not self._room.is_set():
            await self._room.wait()
        self._count(+1)
        task = asyncio.create_task(self._take_in(inbound))
        self._taking.add(task)
        task.add_done_callback(self._taking.discard)
        return await asyncio.shield(task)

    async def _take_in(self, inbound: Inbound) -> bool:
        pending = None
        try:
            new, pending = await self._store(inbound)
            return new
        finally:
            if pending is None:
                self._count(-1)

    async def _store(self, inbound: Inbound) -> tuple[bool, Pending | None]:
        """Store a message and ring for it; says whether it is new, and what waits for a turn now."""
        trace = self._new_trace()
        envelope = await self._bus.prepare(
            MESSAGE_IN,
            inbound.channel,
            trace,
            channel=inbound.channel,
            chat=inbound.chat,
            session=inbound.session,
            user=inbound.user,
            text=inbound.text,
        )
        if envelope is None:
            return await self._inbox.accept(inbound, trace, dropped="stopped by middleware") is not None, None
        text = str(envelope.payload.get("text", inbound.text))
        if text != inbound.text:
            inbound = replace(inbound, text=text)
        pending = await self._inbox.accept(inbound, trace, claimed=inbound.session not in self._lanes)
        if pending is None:
            return False, None
        if len(self._handed) < _SEEN:
            self._handed[pending.id] = pending
        payload = {**envelope.payload, "session": inbound.session, "id": pending.id}
        self._bus.deliver(replace(envelope, payload=payload))
        return True, pending

    async def set_aside(self, channel: str, external_id: str, raw: str, reason: str) -> None:
        """See `kenobot.ports.Sink`."""
        _log.warning("%s: something that cannot be understood was set aside: %s", channel, reason)
        await self._inbox.set_aside(channel, external_id, raw, reason)

    async def report(self, channel: str, problem: str) -> None:
        """See `kenobot.ports.Sink`."""
        _log.warning("%s: %s", channel, problem)
        await self._bus.fire(HEALTH_DEGRADED, channel, "", reason=problem)

    # ── lanes ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def start(self) -> None:
        """Take up what an earlier run left behind."""
        for session, count in (await self._inbox.open_sessions()).items():
            self._count(count)
            self._wake(session, None)

    def on_message_in(self, envelope: Envelope) -> None:
        """The bell of `message:in`."""
        pending = self._handed.pop(int(envelope.payload["id"] or 0), None)
        self._wake(str(envelope.payload["session"]), pending)

    def _wake(self, session: str, pending: Pending | None) -> None:
        if self._stopping:
            return
        lane = self._lanes.get(session)
        if lane is None:
            lane = self._lanes[session] = _Lane()
        newest = lane.ready[-1].id if lane.ready else lane.taken
        if pending is None or lane.more or lane.reading or len(lane.ready) >= _AHEAD:
            lane.more = True
        elif pending.id > newest:
            lane.ready.append(pending)
        if lane.task is None:
            lane.task = asyncio.create_task(self._run_lane(session, lane), name=f"lane {session}")

    async def _run_lane(self, session: str, lane: _Lane) -> None:
        try:
            while not self._stopping:
                while not lane.ready and lane.more:
                    await self._read(session, lane)
                if not lane.ready:
                    return None
                pending = lane.ready.popleft()
                lane.taken = pending.id
                async with self._slots:
                    if self._stopping:
                        return await self._park(pending)
                    await self._attend(session, pending)
        finally:
            self._lanes.pop(session, None)

    async def _park(self, pending: Pending) -> None:
        """Leave a message whose turn never began to the next start, at no cost of an attempt."""
        if pending.claimed:
            with contextlib.suppress(StoreError):
                await self._inbox.release(pending.id, pending.attempts)

    async def _read(self, session: str, lane: _Lane) -> None:
        """Fill `ready` from the inbox; while that fails, wait and leave `more` as it is."""
        lane.more, lane.reading = False, True
        try:
            lane.ready.extend(await self._inbox.waiting(session, lane.taken, _AHEAD))
        except StoreError as error:
            _log.error("the inbox cannot be read: %s", error)
            lane.more = True
            await self._clock.sleep(_STORE_PAUSE)
        finally:
            lane.reading = False
        lane.more = lane.more or len(lane.ready) == _AHEAD

    async def _attend(self, session: str, pending: Pending) -> None:
        try:
            await self._run_turn(pending)
        except (Exception, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise
            _log.exception("a turn of %s broke; its message waits for the next start", session)
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        self._waiting += change
        if self._stopping or self._waiting < self._backlog:
            self._room.set()
        else:
            self._room.clear()

    @property
    def waiting(self) -> int:
        """Messages accepted and not yet done."""
        return self._waiting

    @property
    def idle(self) -> bool:
        """Whether no lane is at work."""
        return not self._lanes

    async def wait_idle(self) -> None:
        """Return once every accepted message has had its turn."""
        while True:
            await self._bus.settle()
            tasks = [lane.task for lane in self._lanes.values() if lane.task is not None]
            if not tasks:
                return
            await asyncio.wait(tasks)

    async def stop(self, grace: float) -> None:
        """Begin no more turns; give those under way `grace` seconds, then park them for the next start."""
        self._stopping = True
        self._room.set()
        tasks = [*self._taking, *(lane.task for lane in self._lanes.values() if lane.task is not None)]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
