"""AgentLoop: a lane a chat. Messages of a chat are answered in strict order, chats in parallel up to a limit.

The loop wakes on `message:in`; what it works on comes from the inbox, so a lost signal loses nothing. A lane lives
while its chat has mail that can be answered. While no model can be reached it is parked: what comes in meanwhile waits
in the inbox, in its order.

A message may be what kills the process, and then only it is to be given up, not those that were under way beside it. So
one whose turn was cut short twice is tried after a pause, and never beside another such one.
"""

import asyncio
import contextlib
import logging
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace

from kenobot.core.bus import Bus
from kenobot.core.worker import finish_or_cancel
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.ports.messages import Inbound
from kenobot.ports.signals import (
    HEALTH_DEGRADED,
    MESSAGE_IN,
    MESSAGE_QUARANTINED,
    MESSAGE_REFUSED,
    MESSAGE_STORE_FAILED,
    Envelope,
)
from kenobot.storage.inbox import Inbox, PendingMessage, has_bad_ids

_log = logging.getLogger(__name__)

_AHEAD = 16  # messages a lane holds in memory; the rest waits in the inbox
_SEEN = 10_000
_STORE_PAUSE = 5.0
_FIRST_PARK = 5.0
_LONGEST_PARK = 60.0
_CUT_SHORT = 2  # attempts that came to no end, after which a message may be the reason
_CAUTION = 0.25  # seconds; four times as long after each further one
_LONGEST_CAUTION = 16.0

RunTurn = Callable[[PendingMessage], Awaitable[bool]]


@dataclass(slots=True)
class _Lane:
    """A chat at work. `taken` is the newest inbox id it began; `more`: the inbox holds some that are not in `ready`.

    reading: `ready` is being filled from the inbox; what comes meanwhile would get ahead of it and waits there too.
    parks: how often the message at its head was put back because no model could be reached.
    """

    ready: deque[PendingMessage] = field(default_factory=deque)
    taken: int = 0
    more: bool = False
    reading: bool = False
    parks: int = 0
    task: asyncio.Task[None] | None = None


@dataclass(frozen=True, slots=True)
class IntakePolicy:
    """What a message has to pass before it is stored.

    admits: whether this sender may talk here. reject_flood: tell a chat that it writes faster than it can be answered.
    backlog: messages waiting in all, above which intake waits. chat_backlog: messages of one chat that may wait.
    """

    admits: Callable[[Inbound], Awaitable[bool]]
    reject_flood: Callable[[Inbound], Awaitable[None]]
    backlog: int = 1000
    chat_backlog: int = 100


class AgentLoop:
    """Takes messages in, and runs a turn for each.

    run_turn: runs a turn and says whether the message is done with. until_back: returns when a model may answer again,
    at the latest after so many seconds. parallel: turns at once.
    """

    def __init__(
        self,
        inbox: Inbox,
        bus: Bus,
        clock: Clock,
        run_turn: RunTurn,
        until_back: Callable[[float], Awaitable[None]],
        new_trace: Callable[[], str],
        gate: IntakePolicy,
        *,
        parallel: int = 32,
    ) -> None:
        self._inbox = inbox
        self._bus = bus
        self._clock = clock
        self._run_turn = run_turn
        self._until_back = until_back
        self._new_trace = new_trace
        self._gate = gate
        self._slots = asyncio.Semaphore(parallel)
        self._suspect = asyncio.Lock()
        self._open: Counter[str] = Counter()
        self._waiting = 0
        self._room = asyncio.Event()
        self._room.set()
        self._lanes: dict[str, _Lane] = {}
        self._parked: dict[str, asyncio.Task[None]] = {}
        self._flooding: set[str] = set()
        self._handed: dict[int, PendingMessage] = {}
        self._taking: set[asyncio.Task[bool]] = set()
        self._stopping = False

    # ── taking in ────────────────────────────────────────────────────────────────────────────────────────────────

    async def __call__(self, inbound: Inbound) -> bool:
        """The Sink of every channel: store the message, then ring. See `kenobot.ports.channel.Sink`.

        A channel that is cancelled meanwhile stops neither: a message that was stored without a ring would lie there.
        """
        if not await self._gate.admits(inbound) or await self._is_one_too_many(inbound):
            return False
        while not self._room.is_set():
            await self._room.wait()
        self._count(inbound.session, +1)
        task = asyncio.create_task(self._take_in(inbound))
        self._taking.add(task)
        task.add_done_callback(self._taking.discard)
        return await asyncio.shield(task)

    async def _is_one_too_many(self, inbound: Inbound) -> bool:
        """Whether the chat has as many messages waiting as it may; it is told when that begins."""
        session = inbound.session
        if self._open[session] < self._gate.chat_backlog:
            return False
        if await self._inbox.is_known(inbound):
            return True
        if session not in self._flooding:
            self._flooding.add(session)
            where = {"channel": inbound.channel, "chat": inbound.chat, "user": inbound.user}
            await self._bus.emit(MESSAGE_REFUSED, "loop", "", reason="too many messages of one chat wait", **where)
            await self._gate.reject_flood(inbound)
        return True

    async def _take_in(self, inbound: Inbound) -> bool:
        pending = None
        try:
            if has_bad_ids(inbound):
                await self.dead_letter(inbound.channel, inbound.external_id, repr(inbound), "one of its ids is no text")
                return False
            new, pending = await self._store(inbound)
            return new
        except StoreError as error:
            where = {"channel": inbound.channel, "chat": inbound.chat, "session": inbound.session}
            await self._bus.emit(MESSAGE_STORE_FAILED, "loop", "", error=type(error).__name__, **where)
            raise
        finally:
            if pending is None:
                self._count(inbound.session, -1)

    async def _store(self, inbound: Inbound) -> tuple[bool, PendingMessage | None]:
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
            return await self._inbox.store(inbound, trace, drop_reason="stopped by middleware") is not None, None
        text = str(envelope.payload.get("text", inbound.text))
        if text != inbound.text:
            inbound = replace(inbound, text=text)
        first = self._is_free(inbound.session) and self._open[inbound.session] == 1
        pending = await self._inbox.store(inbound, trace, claimed=first)
        if pending is None:
            return False, None
        if len(self._handed) < _SEEN:
            self._handed[pending.id] = pending
        payload = {**envelope.payload, "session": inbound.session, "id": pending.id}
        self._bus.deliver(replace(envelope, payload=payload))
        return True, pending

    async def dead_letter(self, channel: str, external_id: str, raw: str, reason: str) -> None:
        """See `kenobot.ports.channel.Sink`."""
        _log.warning("%s: something that cannot be understood was set aside: %s", channel, reason)
        await self._inbox.dead_letter(channel, external_id, raw, reason)
        await self._bus.emit(MESSAGE_QUARANTINED, "loop", "", channel=channel, reason=reason)

    async def report(self, channel: str, problem: str) -> None:
        """See `kenobot.ports.channel.Sink`."""
        _log.warning("%s: %s", channel, problem)
        await self._bus.emit(HEALTH_DEGRADED, channel, "", reason=problem)

    # ── lanes ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def start(self) -> None:
        """Take up what an earlier run left behind."""
        await self.sweep()

    async def sweep(self) -> None:
        """Take up messages that nobody works on: of an earlier run, of a turn that broke, put back by the owner."""
        for session, count in (await self._inbox.open_sessions()).items():
            if self._is_free(session) and not self._open[session]:
                self._count(session, count)
                self._wake(session, None)

    def _is_free(self, session: str) -> bool:
        return session not in self._lanes and session not in self._parked

    def on_inbox_signal(self, envelope: Envelope) -> None:
        """The bell of `message:in`."""
        pending = self._handed.pop(int(envelope.payload["id"] or 0), None)
        self._wake(str(envelope.payload["session"]), pending)

    def _wake(self, session: str, pending: PendingMessage | None) -> None:
        if self._stopping or session in self._parked:
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
                pending = replace(lane.ready.popleft(), deferrals=lane.parks)
                lane.taken = pending.id
                async with self._caution(pending), self._slots:
                    if self._stopping:
                        return await self._release(pending)
                    done = await self._attend(session, pending)
                if not done:
                    return self._park(session, lane.parks + 1)
                lane.parks = 0
        finally:
            self._lanes.pop(session, None)

    @contextlib.asynccontextmanager
    async def _caution(self, pending: PendingMessage) -> AsyncIterator[None]:
        """Time and room for a message that earlier runs of the process may have died of."""
        if pending.claimed or pending.attempts < _CUT_SHORT:
            yield
            return
        await self._clock.sleep(min(_LONGEST_CAUTION, _CAUTION * 4.0 ** (pending.attempts - _CUT_SHORT)))
        async with self._suspect:
            yield

    def _park(self, session: str, parks: int) -> None:
        """End a lane until a model may answer again; then its message is the first one in the inbox."""
        if not self._stopping:
            task = asyncio.create_task(self._resume(session, parks), name=f"parked {session}")
            self._parked[session] = task

    async def _resume(self, session: str, parks: int) -> None:
        try:
            await self._until_back(min(_LONGEST_PARK, _FIRST_PARK * 2.0 ** min(parks - 1, 10)))
        finally:
            del self._parked[session]
        self._lanes[session] = _Lane(parks=parks)
        self._wake(session, None)

    async def _release(self, pending: PendingMessage) -> None:
        """Leave a message whose turn never began to the next start, at no cost of an attempt."""
        if pending.claimed:
            with contextlib.suppress(StoreError):
                await self._inbox.release(pending.id, pending.attempts)

    async def _read(self, session: str, lane: _Lane) -> None:
        """Fill `ready` from the inbox; while that fails, wait and leave `more` as it is."""
        lane.more, lane.reading = False, True
        try:
            lane.ready.extend(await self._inbox.pending_after(session, lane.taken, _AHEAD))
        except StoreError as error:
            _log.error("the inbox cannot be read: %s", error)
            lane.more = True
            await self._clock.sleep(_STORE_PAUSE)
        finally:
            lane.reading = False
        lane.more = lane.more or len(lane.ready) == _AHEAD

    async def _attend(self, session: str, pending: PendingMessage) -> bool:
        """Run the turn of a message; says whether it is done with, as far as this lane is concerned."""
        done = True
        try:
            done = await self._run_turn(pending)
        except (Exception, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise
            _log.exception("a turn of %s broke; its message waits for the next sweep", session)
        finally:
            if done:
                self._count(session, -1)
        return done

    def _count(self, session: str, change: int) -> None:
        self._waiting += change
        self._open[session] += change
        if self._open[session] <= self._gate.chat_backlog // 2:
            self._flooding.discard(session)
        if not self._open[session]:
            del self._open[session]
        if self._stopping or self._waiting < self._gate.backlog:
            self._room.set()
        else:
            self._room.clear()

    @property
    def unfinished_count(self) -> int:
        """Messages accepted and not yet done."""
        return self._waiting

    @property
    def idle(self) -> bool:
        """Whether no lane is at work."""
        return not self._lanes

    async def wait_idle(self) -> None:
        """Return once every accepted message has had its turn, or waits for a model that cannot be reached."""
        while True:
            await self._bus.drain()
            tasks = [lane.task for lane in self._lanes.values() if lane.task is not None]
            if not tasks:
                return
            await asyncio.wait(tasks)

    async def stop(self, grace: float) -> None:
        """Begin no more turns; give those under way `grace` seconds, then park them for the next start."""
        self._stopping = True
        self._room.set()
        for parked in self._parked.values():
            parked.cancel()
        await asyncio.gather(*self._parked.values(), return_exceptions=True)
        tasks = [*self._taking, *(lane.task for lane in self._lanes.values() if lane.task is not None)]
        await finish_or_cancel(tasks, grace)
