"""Keeps channels running, tells systemd how things stand, and turns SIGTERM into an orderly end."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections import deque
from collections.abc import Iterator

from kenobot.bus import Bus
from kenobot.clock import Clock
from kenobot.errors import ConfigError
from kenobot.ports import Channel, Sink
from kenobot.signals import CHANNEL_DOWN, HEALTH_DEGRADED

_log = logging.getLogger(__name__)

_INTENSITY = 5
_WINDOW = 60.0
_LONGEST_PAUSE = 60.0


async def keep_running(channel: Channel, sink: Sink, bus: Bus, clock: Clock) -> None:
    """Run a channel; start it again with growing pauses when it fails. Returns when the channel returns.

    Five failures within a minute are announced as `health:degraded`, and it is tried once a minute from then on: one
    channel that is down never stops another. When it has run for longer than a minute, all is forgotten. ConfigError
    is raised at once: only a person can mend that.
    """
    failures: deque[float] = deque(maxlen=_INTENSITY)
    announced = False
    while True:
        began = clock.monotonic()
        try:
            return await channel.run(sink)
        except ConfigError:
            raise
        except Exception as error:
            _log.error("channel %s stopped: %s", channel.name, error, exc_info=_log.isEnabledFor(logging.DEBUG))
            if clock.monotonic() - began > _WINDOW:
                failures.clear()
                announced = False
            failures.append(clock.monotonic())
            await bus.fire(CHANNEL_DOWN, "supervise", "", channel=channel.name, error=str(error)[:300])
        often = len(failures) == _INTENSITY and failures[-1] - failures[0] < _WINDOW
        if often and not announced:
            announced = True
            await bus.fire(HEALTH_DEGRADED, "supervise", "", reason=f"channel {channel.name} keeps failing")
        await clock.sleep(_LONGEST_PAUSE if announced else min(_LONGEST_PAUSE, 2.0 ** len(failures)))


def notify_systemd(state: str) -> None:
    """Tell systemd "READY=1", "STOPPING=1" and the like; does nothing when it did not ask (sd_notify(3))."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as link:
        link.connect(address)
        link.sendall(state.encode())


@contextlib.contextmanager
def stop_signals(stop: asyncio.Event) -> Iterator[None]:
    """Set `stop` on SIGTERM or SIGINT; a second one ends the process the hard way, as a person would expect."""
    loop = asyncio.get_running_loop()

    def ask_to_stop(number: int) -> None:
        stop.set()
        loop.remove_signal_handler(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ask_to_stop, number)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
