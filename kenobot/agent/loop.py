"""AgentLoop: store what channels bring, and run a turn for each message.

The messages of a chat are answered in strict order, chats in parallel up to a limit. A lane lives while its chat has
messages that can be answered. While no model can be reached the chat is deferred: new messages wait in the inbox, in
their order.

A message may be what kills the process, and then only that one is to be given up, not those that were under way beside
it. So a message whose turn was cut short twice is tried after a pause, and never beside another such message.
"""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from random import Random
from typing import Literal, NamedTuple, Protocol

from kenobot.agent.intake_policy import IntakePolicy
from kenobot.agent.interruptions import Interruptions, is_stop
from kenobot.agent.stop_words import LONGEST_STOP
from kenobot.agent.turn_gate import TurnGate
from kenobot.core.bus import Bus
from kenobot.core.redaction import one_line
from kenobot.core.retry import Backoff
from kenobot.core.worker import KeyedQueue, finish_or_cancel, was_cancelled
from kenobot.ports.clock import Clock
from kenobot.ports.errors import RemoteError, StoreError
from kenobot.ports.messages import Inbound
from kenobot.ports.sentences import Sentence
from kenobot.ports.signals import (
    HEALTH_DEGRADED,
    MESSAGE_IN,
    MESSAGE_QUARANTINED,
    MESSAGE_REFUSED,
    MESSAGE_STORE_FAILED,
    Envelope,
)
from kenobot.storage.inbox import Inbox
from kenobot.storage.inbox_rows import PendingMessage
from kenobot.storage.message_identity import has_bad_ids, message_digest

_log = logging.getLogger(__name__)

_AHEAD = 16  # messages a lane holds in memory; the rest waits in the inbox
_DEFERRED = Backoff(5.0, 60.0)
_CUT_SHORT = 2  # attempts that came to no end, after which a message may be the reason
_CAUTION = Backoff(0.25, 16.0, factor=4.0)


class ChatActivity(NamedTuple):
    """Show the work in a chat with messages. since: of a turn under way. waiting: messages behind that one."""

    session: str
    state: Literal["thinking", "waiting", "deferred"]
    since: datetime | None
    waiting: int


class TurnHandler(Protocol):
    """Answers a message."""

    def prepare(self, pending: PendingMessage) -> None:
        """Begin with what its turn will wait for."""
        ...

    def note_behind(self, under_way: PendingMessage, pending: PendingMessage) -> None:
        """Note that a message came in behind the one whose turn is under way."""
        ...

    async def run(self, pending: PendingMessage) -> bool:
        """Run a turn; returns whether the message is done with."""
        ...


class ModelAvailability(Protocol):
    """Tells when a model that did not answer may do so again."""

    async def wait_until_available(self, longest: float) -> None:
        """Return after `longest` seconds, as soon as any call succeeds, or when one may be tried again."""
        ...


class AgentLoop:
    """Take messages in, and run a turn for each.

    rng: of the trace ids. parallel: turns at once.
    """

    def __init__(
        self,
        inbox: Inbox,
        bus: Bus,
        clock: Clock,
        turns: TurnHandler,
        model: ModelAvailability,
        rng: Random,
        policy: IntakePolicy,
        *,
        parallel: int = 32,
    ) -> None:
        self._inbox = inbox
        self._bus = bus
        self._clock = clock
        self._turns = turns
        self._model = model
        self._rng = rng
        self._policy = policy
        self._fragments = policy.fragments
        self._slots = asyncio.Semaphore(parallel)
        self._gate = TurnGate()
        self._suspect = asyncio.Lock()
        self._open: Counter[str] = Counter()  # bounded: chats with messages: at most IntakePolicy.backlog; turn
        self._waiting = 0
        self._room = asyncio.Event()
        self._room.set()
        self._lanes = KeyedQueue("inbox", clock, self._fetch, self._take_turn, lambda message: message.id, ahead=_AHEAD)
        # bounded: chats with messages: at most IntakePolicy.backlog; turn
        self._deferred: dict[str, asyncio.Task[None]] = {}
        # bounded: chats at a time, AgentLoop.parallel; turn
        self._running: dict[str, tuple[PendingMessage, asyncio.Task[bool], datetime]] = {}
        self._interruptions = Interruptions()
        self._deferrals: dict[str, int] = {}  # bounded: chats that were deferred; turn
        self._flooding: set[str] = set()  # bounded: chats that write too fast now; turn
        # bounded: IntakePolicy.backlog; test_a_full_backlog_makes_the_channel_wait
        self._taking: set[asyncio.Future[PendingMessage | None]] = set()
        self._stopping = False
        self._held = False

    # ── taking in ────────────────────────────────────────────────────────────────────────────────────────────────

    async def __call__(self, inbound: Inbound) -> bool:
        """Store a message and queue it for its turn; the `Sink` of every channel.

        A channel that is cancelled meanwhile stops neither: a message that was stored but not queued would lie there.
        """
        inbound = self._policy.in_first_chat(inbound)
        if not await self._policy.admits(inbound):
            return False
        stops = is_stop(inbound)  # which waits for nothing
        if not stops and await self._is_one_too_many(inbound):
            return False
        while not stops and not self._room.is_set():
            await self._room.wait()
        if has_bad_ids(inbound):
            await self.dead_letter(inbound.channel, inbound.external_id, repr(inbound), "one of its ids is no text")
            return False
        try:
            return await self._store(inbound)
        except StoreError as error:
            where = {"channel": inbound.channel, "chat": inbound.chat, "session": inbound.session}
            await self._bus.emit(MESSAGE_STORE_FAILED, "loop", "", error=type(error).__name__, **where)
            raise

    async def _is_one_too_many(self, inbound: Inbound) -> bool:
        """Return whether the chat has as many messages waiting as it may; tells the chat when that begins."""
        session = inbound.session
        if self._open[session] < self._policy.chat_backlog:
            return False
        if await self._inbox.is_known(inbound):
            return True
        if session not in self._flooding:
            self._flooding.add(session)
            where = {"channel": inbound.channel, "chat": inbound.chat, "user": inbound.user}
            await self._bus.emit(MESSAGE_REFUSED, "loop", "", reason="too many messages of one chat wait", **where)
            await self._policy.reject_flood(inbound)
        return True

    async def _store(self, inbound: Inbound) -> bool:
        """Store a message and have it queued; returns whether it is new."""
        trace = inbound.trace or f"{self._rng.getrandbits(64):016x}"
        # A channel that names the turn gives the ids itself: another message under one is no other bot's.
        digest, session = "" if inbound.trace else message_digest(inbound), inbound.session
        envelope = await self._bus.prepare(
            MESSAGE_IN,
            inbound.channel,
            trace,
            channel=inbound.channel,
            chat=inbound.chat,
            session=session,
            user=inbound.user,
            text=inbound.text,
        )
        if envelope is None:
            return (
                await self._inbox.store(inbound, trace, drop_reason="stopped by middleware", digest=digest) is not None
            )
        text = str(envelope.payload.get("text", inbound.text))
        to_store = inbound if text == inbound.text else replace(inbound, text=text)
        self._count(session, +1)
        first = self._is_free(session) and self._open[session] == 1
        try:
            storing = self._inbox.store(to_store, trace, claimed=first, digest=digest)
        except StoreError:
            self._count(session, -1)
            raise
        self._taking.add(storing)
        self._gate.begin_storing()
        queued = asyncio.get_running_loop().create_future()  # of the channel alone, which may be cancelled
        queue = partial(self._queue, session, envelope, queued)
        reading = self._policy.prepare_to_read(text)
        storing.add_done_callback(
            queue if reading is None else partial(_queue_when_read, asyncio.ensure_future(reading), queue)
        )
        await queued
        pending = storing.result()
        if pending is not None and pending.inbound.external_id != inbound.external_id:
            await self.report(inbound.channel, Sentence("channels.reused_id", channel=inbound.channel))
        return pending is not None

    def _queue(
        self,
        session: str,
        envelope: Envelope,
        queued: asyncio.Future[None],
        storing: asyncio.Future[PendingMessage | None],
    ) -> None:
        """Queue a message that has been stored, also when its channel was cancelled meanwhile. queued: to be told."""
        self._taking.discard(storing)
        self._gate.end_storing()
        if not queued.done():
            queued.set_result(None)
        pending = None if storing.cancelled() or storing.exception() is not None else storing.result()
        if pending is None:
            self._count(session, -1)
            return
        if pending.inbound.attachments:
            self._turns.prepare(pending)
        if self._fragments is not None:
            self._fragments.note(pending)
        if is_stop(pending.inbound):
            self._stop_before(pending)
        if pending.inbound.kind == "edit":
            self._interruptions.add_edit(pending)
            self._cancel_interrupted(session)
        if session in self._running:
            self._turns.note_behind(self._running[session][0], pending)
        if session not in self._deferred and not self._held:
            self._lanes.put(session, pending)
        self._bus.deliver(replace(envelope, payload={**envelope.payload, "session": session, "id": pending.id}))

    def _stop_before(self, stop: PendingMessage) -> None:
        """Cancel the running turn of the sender of `stop`; queued ones end when they come to their turn."""
        session = stop.session
        self._interruptions.add_stop(stop)
        self._cancel_interrupted(session)
        if (deferred := self._deferred.pop(session, None)) is not None:
            deferred.cancel()
            self._lanes.put(session)

    def _cancel_interrupted(self, session: str) -> None:
        """Cancel the turn under way in a chat if its message was just stopped or edited."""
        if session in self._running and self._interruptions.find(self._running[session][0]) is not None:
            self._running[session][1].cancel()

    async def dead_letter(self, channel: str, external_id: str, raw: str, reason: str) -> None:
        """Keep something unreadable that a channel brought."""
        reason = one_line(reason)  # it may name what a stranger made up
        _log.warning("%s: something that cannot be understood was set aside: %s", channel, reason)
        await self._inbox.dead_letter(channel, external_id, raw, reason)
        await self._bus.emit(MESSAGE_QUARANTINED, "loop", "", channel=channel, reason=reason)

    async def report(self, channel: str, problem: str) -> None:
        """Announce a channel's problem."""
        _log.warning("%s: %s", channel, problem)
        await self._bus.emit(HEALTH_DEGRADED, channel, "", reason=problem)

    async def follow_chat(self, channel: str, former: str, current: str) -> None:
        """Move a chat to another id, and announce that."""
        if await self._policy.follow_chat(channel, former, current):
            await self.report(channel, Sentence("channels.group_moved", former=former, current=current))

    async def take_back(self, channel: str, message: str, error: RemoteError) -> bool:
        """Treat a sent part as not sent: it is tried again, or given up."""
        return await self._policy.take_back(channel, message, error)

    # ── lanes ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def hold(self) -> None:
        """Begin no turn before `start`: messages are only stored. Call it before any comes in."""
        self._held = True
        for session, count in (await self._inbox.open_sessions()).items():
            self._count(session, count)

    async def start(self) -> None:
        """Take up what an earlier run left behind, and what came in while turns were held; what was stopped is."""
        for pending in await self._inbox.open_short(LONGEST_STOP):
            if is_stop(pending.inbound):
                self._stop_before(pending)
        self._held = False
        for session in +self._open:
            self._lanes.put(session)
        await self.sweep()

    async def sweep(self) -> None:
        """Queue messages that nothing works on: of an earlier run, of a turn that broke, put back by the owner."""
        for session, count in (await self._inbox.open_sessions()).items():
            if self._is_free(session) and not self._open[session]:
                self._count(session, count)
                self._lanes.put(session)

    def _is_free(self, session: str) -> bool:
        return self._lanes.is_free(session) and session not in self._deferred and not self._held

    async def _fetch(self, session: str, after: int, limit: int) -> list[PendingMessage]:
        """Read a chat's next messages; the first one after a pause knows how often it was deferred."""
        messages = await self._inbox.load_pending_after(session, after, limit)
        deferrals = self._deferrals.pop(session, 0)
        return [replace(message, deferrals=0 if number else deferrals) for number, message in enumerate(messages)]

    async def _take_turn(self, session: str, pending: PendingMessage) -> bool:
        """Run the turn of a message; False defers its chat."""
        if not pending.claimed and pending.attempts >= _CUT_SHORT:  # earlier runs of the process may have died of it
            await self._clock.sleep(_CAUTION.pause(pending.attempts - _CUT_SHORT))
            async with self._suspect:
                return await self._take_turn_in_slot(session, pending)
        return await self._take_turn_in_slot(session, pending)

    async def _take_turn_in_slot(self, session: str, pending: PendingMessage) -> bool:
        pending = await self._gather(session, pending)
        async with self._slots:
            await self._gate.wait()
            if self._stopping:
                await self._release(pending)
                return False
            done = await self._attend(session, pending)
        if not done and not self._stopping:
            task = asyncio.create_task(self._resume(session, pending.deferrals + 1), name=f"deferred {session}")
            self._deferred[session] = task
        return done

    async def _gather(self, session: str, pending: PendingMessage) -> PendingMessage:
        """Wait for the fragments of a message; they are no messages of their own any more."""
        if self._fragments is None:
            return pending
        pending = await self._fragments.gather(pending, lambda: self._open[session] > 1)
        if pending.fragments:
            self._lanes.skip(session, pending.fragments[-1].id)
        return pending

    async def _resume(self, session: str, deferrals: int) -> None:
        """Take a deferred chat up when a model may answer again; its message is then the first one in the inbox."""
        try:
            await self._model.wait_until_available(_DEFERRED.pause(deferrals - 1))
        finally:
            if self._deferred.get(session) is asyncio.current_task():
                del self._deferred[session]
        self._deferrals[session] = deferrals
        self._lanes.put(session)

    async def _release(self, pending: PendingMessage) -> None:
        """Leave a message whose turn never began to the next start, at no cost of an attempt."""
        if pending.claimed:
            with contextlib.suppress(StoreError):
                await self._inbox.release(pending.id, pending.attempts)

    async def _attend(self, session: str, pending: PendingMessage) -> bool:
        """Run the turn of a message; returns whether it is done with, a broken one included."""
        done = True
        try:
            done = await self._run_turn(session, pending)
        except (Exception, asyncio.CancelledError) as error:
            if was_cancelled(error):
                raise
            _log.exception("a turn of %s broke; its message waits for the next sweep", session)
        finally:
            if done:
                self._count(session, -max(1, len(pending.fragments)))
        return done

    async def _run_turn(self, session: str, pending: PendingMessage) -> bool:
        """Run the turn of a message unless its sender stopped that, or until they do."""
        self._interruptions.begin_turn(pending)
        if self._interruptions.find(pending) is None:
            turn = asyncio.create_task(self._turns.run(pending), name=f"turn {pending.id}")
            self._running[session] = pending, turn, self._clock.now()
            try:
                return await turn
            except asyncio.CancelledError as error:
                if was_cancelled(error) or not turn.cancelling():  # by nobody here
                    raise
            finally:
                del self._running[session]
        if self._interruptions.find(pending) == "stopped":
            await self._policy.end_stopped(self._inbox, pending)
        else:
            await self._inbox.end_edited(pending.id)
        return True

    def _count(self, session: str, change: int) -> None:
        self._waiting += change
        self._open[session] += change
        if self._open[session] <= self._policy.chat_backlog // 2:
            self._flooding.discard(session)
        if not self._open[session]:
            del self._open[session]
            if self._fragments is not None:
                self._fragments.forget(session)
        if self._stopping or self._waiting < self._policy.backlog:
            self._room.set()
        else:
            self._room.clear()

    @property
    def unfinished_count(self) -> int:
        """Messages accepted and not yet done."""
        return self._waiting

    def activity(self) -> list[ChatActivity]:
        """Return what goes on in each chat with messages; from any thread."""
        found = []
        for session, count in tuple(self._open.items()):
            running = self._running.get(session)
            if running is not None:
                found.append(ChatActivity(session, "thinking", running[2], max(0, count - 1)))
            else:
                state: Literal["deferred", "waiting"] = "deferred" if session in self._deferred else "waiting"
                found.append(ChatActivity(session, state, None, count))
        return found

    @property
    def idle(self) -> bool:
        """Return whether no lane is at work."""
        return self._lanes.idle

    async def wait_idle(self) -> None:
        """Return once every accepted message has had its turn, or waits for a model that cannot be reached."""
        await self._lanes.wait_idle()
        await self._bus.drain()

    def is_chat_idle(self, session: str) -> bool:
        """Return whether no message of a chat is at work."""
        return self._lanes.is_free(session)

    async def wait_chat_idle(self, session: str) -> None:
        """Return once every accepted message of a chat has had its turn, or waits for a model."""
        await self._lanes.wait_free(session)

    async def stop(self, grace: float) -> None:
        """Begin no more turns; give those under way `grace` seconds, then leave them to the next start."""
        self._stopping = True
        self._room.set()
        if self._fragments is not None:
            self._fragments.stop()
        for deferred in self._deferred.values():
            deferred.cancel()
        await asyncio.gather(*self._deferred.values(), return_exceptions=True)
        await asyncio.gather(finish_or_cancel(self._taking, grace), self._lanes.stop(grace))


def _queue_when_read(
    reading: asyncio.Task[None],
    queue: Callable[[asyncio.Future[PendingMessage | None]], None],
    storing: asyncio.Future[PendingMessage | None],
) -> None:
    """Queue a message that has been stored once its words were read in a thread."""

    def go_on(read: asyncio.Task[None]) -> None:
        if not read.cancelled() and (error := read.exception()) is not None:
            _log.error("a message could not be read beforehand", exc_info=error)
        queue(storing)

    reading.add_done_callback(go_on)
