"""Hand a plugin the signal bus, and take it back from one that fails again and again."""

import asyncio
import functools
from collections.abc import Callable, Iterable

from kenobot.core.bus import require_async
from kenobot.core.containment import contain
from kenobot.ports.signals import Envelope, Middleware, Signal, Signals, Subscriber, Unsubscribe

_MOST_FAILURES = 5  # in a row
_GRACE_SECONDS = 1.0  # for a function to end once it is cancelled


class PluginSignals:
    """The bus as one plugin sees it. turn_off: called once, with the reason, after five failures in a row,
    or at once when a function does not end at its deadline."""

    def __init__(self, signals: Signals, turn_off: Callable[[str], None]) -> None:
        self._signals = signals
        self._turn_off = turn_off
        self._failures = 0

    @property
    def is_off(self) -> bool:
        """Return whether the plugin hears nothing any more."""
        return self._failures >= _MOST_FAILURES

    def subscribe(self, signals: Signal | Iterable[Signal], receiver: Subscriber) -> Unsubscribe:
        """Subscribe until the plugin is turned off; see `kenobot.ports.signals.Signals`."""
        require_async(receiver)

        @functools.wraps(receiver)
        async def count_call(envelope: Envelope) -> None:
            if not self.is_off:
                await self._count(receiver, envelope)

        return self._signals.subscribe(signals, count_call)

    def add_middleware(self, middleware: Middleware) -> None:
        """Pass envelopes through `middleware` until the plugin is turned off."""
        require_async(middleware)

        @functools.wraps(middleware)
        async def count_call(envelope: Envelope) -> Envelope | None:
            return envelope if self.is_off else await self._count(middleware, envelope)

        self._signals.add_middleware(count_call)

    async def _count(self, receiver: Middleware | Subscriber, envelope: Envelope) -> Envelope | None:
        """Call a plugin's function in a task of its own, which is left behind when it swallows its cancellation.

        The bus deals with what it raises.
        """
        name = getattr(receiver, "__qualname__", repr(receiver))
        task = asyncio.create_task(_call_contained(receiver, envelope), name=f"plugin's {name}")
        try:
            await asyncio.wait({task})
            returned = task.result()
        except BaseException as error:  # also the cancellation at the bus's deadline
            task.cancel()
            _, stuck = await asyncio.wait({task}, timeout=_GRACE_SECONDS)
            task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            told = f"{envelope.signal.name}: {type(error).__name__}: {error}".rstrip(": ")
            if stuck:
                self._note(_MOST_FAILURES, f"does not end when it is told to, at {envelope.signal.name}")
            else:
                self._note(1, f"failed {_MOST_FAILURES} times in a row, the last time at {told}")
            raise
        self._failures = 0
        return returned

    def _note(self, failures: int, why: str) -> None:
        """Count failures, and turn the plugin off once they are too many."""
        if not self.is_off:
            self._failures += failures
            if self.is_off:
                self._turn_off(why)


async def _call_contained(receiver: Middleware | Subscriber, envelope: Envelope) -> Envelope | None:
    """Call a plugin's function; one that wants to end the process only fails: out of a task, that would end it."""
    with contain():
        return await receiver(envelope)
