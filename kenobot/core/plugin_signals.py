"""Hand a plugin the signal bus, and take it back from one that fails again and again."""

import functools
from collections.abc import Callable, Iterable

from kenobot.core.bus import require_async
from kenobot.ports.signals import Envelope, Middleware, Signal, Signals, Subscriber, Unsubscribe

_MOST_FAILURES = 5  # in a row


class PluginSignals:
    """The bus as one plugin sees it. turn_off: called once, with the reason, after five failures in a row."""

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
        async def counted(envelope: Envelope) -> None:
            if not self.is_off:
                await self._count(receiver, envelope)

        return self._signals.subscribe(signals, counted)

    def add_middleware(self, middleware: Middleware) -> None:
        """Pass envelopes through `middleware` until the plugin is turned off."""
        require_async(middleware)

        @functools.wraps(middleware)
        async def counted(envelope: Envelope) -> Envelope | None:
            return envelope if self.is_off else await self._count(middleware, envelope)

        self._signals.add_middleware(counted)

    async def _count(self, receiver: Middleware | Subscriber, envelope: Envelope) -> Envelope | None:
        """Call a plugin's function; the bus deals with what it raises."""
        try:
            returned = await receiver(envelope)
        except BaseException as error:  # also the cancellation at the bus's deadline
            self._failures += 1
            if self._failures == _MOST_FAILURES:
                told = f"{type(error).__name__}: {error}".rstrip(": ")
                self._turn_off(
                    f"failed {_MOST_FAILURES} times in a row, the last time at {envelope.signal.name}: {told}"
                )
            raise
        self._failures = 0
        return returned
