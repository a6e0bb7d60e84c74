"""The signal bus: blinker made safe.

Every receiver has a queue and a task of its own: order is kept for each, a slow one delays only itself, and a failing
one is logged and announced but never breaks the sender. Nothing that must not be lost travels only by signal.
"""

import asyncio
import functools
import inspect
import logging
from collections.abc import Callable, Iterable
from typing import Any

import blinker

from kenobot.core.pacing import Rank, run_at_rank
from kenobot.core.worker import was_cancelled
from kenobot.ports.clock import Clock
from kenobot.ports.signals import (
    ALL_SIGNALS,
    SUBSCRIBER_FAILED,
    Envelope,
    Middleware,
    PayloadValue,
    Signal,
    Subscriber,
    Unsubscribe,
)

_log = logging.getLogger(__name__)

_QUEUE = 1000
_CLOSE_SECONDS = 1.0  # for a receiver to end once it is cancelled


class _Subscription:
    """A receiver, its queue, and the task that empties it."""

    def __init__(self, bus: "Bus", receiver: Subscriber) -> None:
        self._bus = bus
        self._receiver = receiver
        # bounded: 1,000 signals; test_a_full_queue_drops_and_says_so
        self._queue: asyncio.Queue[Envelope] = asyncio.Queue(_QUEUE)
        self._name = getattr(receiver, "__qualname__", repr(receiver))
        self._task: asyncio.Task[None] | None = None
        self._busy = False
        self._ended = False

    def offer(self, envelope: Envelope) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name=f"receiver {self._name}")
        try:
            self._queue.put_nowait(envelope)
        except asyncio.QueueFull:
            _log.warning("receiver %s is too slow: it missed a %s", self._name, envelope.signal.name)

    async def _run(self) -> None:
        while not self._ended:
            envelope = await self._queue.get()
            self._busy = True
            try:
                with run_at_rank(Rank.SOON):
                    async with asyncio.timeout(self._bus.deadline):
                        await self._receiver(envelope)
            except (Exception, SystemExit, asyncio.CancelledError) as error:
                if was_cancelled(error):
                    raise
                _log.warning("receiver %s of %s failed: %r", self._name, envelope.signal.name, error)
                if envelope.signal is not SUBSCRIBER_FAILED:
                    await self._bus.emit(
                        SUBSCRIBER_FAILED,
                        "bus",
                        envelope.trace,
                        receiver=self._name,
                        signal=envelope.signal.name,
                        error=type(error).__name__,
                    )
            finally:
                self._busy = False
                self._queue.task_done()

    def end(self) -> None:
        """Receive no more: drop what waits, finish what is under way."""
        self._ended = True
        while not self._queue.empty():
            self._queue.get_nowait()
            self._queue.task_done()
        if self._task is not None and not self._busy:
            self._task.cancel()

    async def drain(self) -> None:
        await self._queue.join()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            ended, _ = await asyncio.wait({self._task}, timeout=_CLOSE_SECONDS)
            if not ended:
                _log.warning("receiver %s does not end when it is told to; it is left behind", self._name)


class Bus:
    """Deliver signals to receivers; middleware sees, changes or stops them first.

    deadline: seconds a receiver or a middleware may take for one signal.
    """

    def __init__(self, clock: Clock, deadline: float = 5.0) -> None:
        self.deadline = deadline
        self._clock = clock
        self._signals = {name: blinker.Signal(signal.meaning) for name, signal in ALL_SIGNALS.items()}
        self._middleware: list[Middleware] = []  # bounded: what plugins register; start
        self._bells: dict[str, list[Callable[[Envelope], None]]] = {}  # bounded: KenoBot's own wake-ups; start
        # bounded: the receivers there are; test_a_receiver_that_leaves_leaves_nothing_behind
        self._subscriptions: set[_Subscription] = set()

    def add_middleware(self, middleware: Middleware) -> None:
        """Pass every envelope through `middleware` before delivery. Raises TypeError unless it is `async def`."""
        require_async(middleware)
        self._middleware.append(middleware)

    def wake_on(self, signal: Signal, ring: Callable[[Envelope], None]) -> None:
        """Call `ring` at once with every envelope of `signal`: for KenoBot's own parts, which only note it.

        Observers subscribe instead: here there is no queue and no deadline.
        """
        self._bells.setdefault(signal.name, []).append(ring)

    def subscribe(self, signals: Signal | Iterable[Signal], receiver: Subscriber) -> Unsubscribe:
        """Call `receiver` with every envelope of `signals`, in order. Raises TypeError unless it is `async def`."""
        require_async(receiver)
        subscription = _Subscription(self, receiver)
        self._subscriptions.add(subscription)
        names = [signal.name for signal in ([signals] if isinstance(signals, Signal) else signals)]
        for name in names:
            self._signals[name].connect(subscription.offer, weak=False)

        def unsubscribe() -> None:
            for name in names:
                self._signals[name].disconnect(subscription.offer)
            self._subscriptions.discard(subscription)
            subscription.end()

        return unsubscribe

    async def emit(self, signal: Signal, source: str, trace: str, /, **payload: PayloadValue) -> Envelope | None:
        """Send a signal; returns the envelope as delivered, or None when middleware stopped it."""
        made = Envelope(signal, payload, source, trace, self._clock.now())
        envelope = await self._pass(made) if self._middleware else made
        if envelope is not None:
            self.deliver(envelope)
        return envelope

    async def prepare(self, signal: Signal, source: str, trace: str, /, **payload: PayloadValue) -> Envelope | None:
        """Make an envelope and pass it through the middleware, without delivering it yet."""
        made = Envelope(signal, payload, source, trace, self._clock.now())
        return await self._pass(made) if self._middleware else made

    async def _pass(self, envelope: Envelope) -> Envelope | None:
        """Pass an envelope through the middleware; None when that stopped it."""
        for middleware in self._middleware:
            try:
                async with asyncio.timeout(self.deadline):
                    following = await middleware(envelope)
                if following is not None and not isinstance(following, Envelope):
                    raise TypeError(f"it returned a {type(following).__name__}, not an envelope")
            except (Exception, SystemExit, asyncio.CancelledError) as error:
                if was_cancelled(error):
                    raise
                _log.warning("middleware %r failed at %s: %r", middleware, envelope.signal.name, error)
                continue
            if following is None:
                return None
            envelope = following
        return envelope

    def deliver(self, envelope: Envelope) -> None:
        """Hand a prepared envelope to its receivers, in the order in which they subscribed."""
        for ring in self._bells.get(envelope.signal.name, ()):
            ring(envelope)
        # The dictionary, because `send` goes through a set, in no order.
        receivers: dict[Any, Any] = self._signals[envelope.signal.name].receivers
        for offer in list(receivers.values()):
            offer(envelope)

    async def drain(self) -> None:
        """Return once every receiver has dealt with what was sent so far."""
        for subscription in list(self._subscriptions):
            await subscription.drain()

    async def close(self) -> None:
        """Stop every receiver."""
        await asyncio.gather(*(subscription.close() for subscription in list(self._subscriptions)))


def require_async(function: Callable[..., Any]) -> None:
    called: Any = function
    while isinstance(called, functools.partial):
        called = called.func
    targets = (called, getattr(type(called), "__call__", None))  # noqa: B004 - not whether, but what is called
    if not any(map(inspect.iscoroutinefunction, targets)):
        raise TypeError(f"{function!r} must be an async function: anything else would block every chat")
