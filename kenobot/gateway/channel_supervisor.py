"""Supervise channels, and turn SIGTERM into an orderly end."""

import asyncio
import contextlib
import logging
import signal
from collections import deque
from collections.abc import Callable, Iterator
from types import FrameType

from kenobot.core.bus import Bus
from kenobot.core.containment import contain
from kenobot.core.retry import Backoff
from kenobot.ports.channel import Channel, ReportsLiveness, Sink
from kenobot.ports.clock import Clock
from kenobot.ports.errors import ConfigError, Rejected, StreamFailed, Unavailable
from kenobot.ports.sentences import Sentence, change_values
from kenobot.ports.signals import CHANNEL_DOWN, HEALTH_DEGRADED

_log = logging.getLogger(__name__)

_INTENSITY = 5
_WINDOW = 60.0
_RESTART = Backoff(2.0, 60.0)
_CHECKS = 8  # times a channel's patience
_STALL_MEMORY = 3600.0
_CLOSE_SECONDS = 5.0


class ChannelStalled(Unavailable):
    """The platform was silent for so long that the connection must be dead."""


async def keep_running(channel: Channel, sink: Sink, bus: Bus, clock: Clock) -> None:
    """Run a channel until it returns; restart it with growing pauses when it fails or stalls.

    Five failures within a minute are announced as `health:degraded`, and it is restarted once a minute from then on; so
    is one failure that only a person can mend, in its own words.
    A run of more than a minute resets the count. A stall is announced when it follows another one within an hour.
    Raises ConfigError and StreamFailed, which no restart can mend.
    """
    failures: deque[float] = deque(maxlen=_INTENSITY)
    stalled: float | None = None
    announced = False
    while True:
        began = clock.monotonic()
        again, trouble = False, ""
        try:
            return await _run(channel, sink)
        except (ConfigError, StreamFailed):
            raise
        except Exception as error:
            _log.error("channel %s stopped: %s", channel.name, error, exc_info=_log.isEnabledFor(logging.DEBUG))
            if clock.monotonic() - began > _WINDOW:
                failures.clear()
                announced = False
            failures.append(clock.monotonic())
            trouble = str(error) if isinstance(error, Rejected) else ""
            if isinstance(error, ChannelStalled):
                again = stalled is not None and clock.monotonic() - stalled < _STALL_MEMORY
                stalled = clock.monotonic()
            await bus.emit(
                CHANNEL_DOWN,
                "supervise",
                "",
                channel=channel.name,
                error=change_values(str(error), lambda text: text[:300]),
            )
        if again:
            silent = Sentence("channels.keeps_silent", name=channel.name)
            await bus.emit(HEALTH_DEGRADED, "supervise", "", reason=silent, cause=f"channel:{channel.name}")
        often = len(failures) == _INTENSITY and failures[-1] - failures[0] < _WINDOW
        if (often or trouble) and not announced:
            announced = True
            reason = trouble or Sentence("channels.keeps_failing", name=channel.name)
            told = {"channel": channel.name, "cause": f"channel:{channel.name}"}
            await bus.emit(HEALTH_DEGRADED, "supervise", "", reason=reason, **told)
        await clock.sleep(_RESTART.longest if announced else _RESTART.pause(len(failures) - 1))


async def _run(channel: Channel, sink: Sink) -> None:
    """Run a channel once. Raises what it raises, and ChannelStalled when it reports liveness and falls silent."""
    if not isinstance(channel, ReportsLiveness):
        return await _run_contained(channel, sink)
    intake = asyncio.create_task(_run_contained(channel, sink), name=f"intake {channel.name}")
    try:
        await _wait_for_silence(intake, channel)
        if not intake.done():
            raise ChannelStalled("channels.stalled", name=channel.name, seconds=channel.stall_seconds)
    finally:
        intake.cancel()
        ended, _ = await asyncio.wait({intake}, timeout=_CLOSE_SECONDS)
        if not ended:
            _log.error("channel %s does not end when it is told to; it is left behind", channel.name)
        elif not intake.cancelled() and (error := intake.exception()):
            _log.debug("channel %s ended with %r", channel.name, error)
    if intake.cancelled():
        raise Unavailable("channels.intake_broken", name=channel.name)  # by itself: we were not told to end
    return intake.result()


async def _run_contained(channel: Channel, sink: Sink) -> None:
    """Run a channel; one that wants to end the process ends only itself."""
    with contain(lambda told: Unavailable("channels.wanted_to_end", name=channel.name, told=told)):
        await channel.run(sink)


async def _wait_for_silence(intake: asyncio.Task[None], channel: ReportsLiveness) -> None:
    """Return when `intake` is done, or when nothing was heard for the channel's patience.

    Checks count, not the clock: a process that was frozen for an hour has checked once in that hour, and gives its
    channel the time to notice.
    """
    last, silences = channel.last_answer_at, 0
    while silences < _CHECKS:
        done, _ = await asyncio.wait({intake}, timeout=channel.stall_seconds / _CHECKS)
        if done:
            return
        heard = channel.last_answer_at
        last, silences = heard, 0 if heard != last else silences + 1


@contextlib.contextmanager
def stop_signals(stop: asyncio.Event, note: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Set `stop` on SIGTERM or SIGINT; a second one ends the process the hard way, as a person would expect.

    note: called by the first one at once, also while the event loop stands still.
    """
    loop = asyncio.get_running_loop()
    is_noted = False

    def hear(number: int, frame: FrameType | None) -> None:
        nonlocal is_noted
        if is_noted:  # and the loop has not come to it
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        is_noted = True
        note()

    def ask_to_stop(number: int) -> None:
        stop.set()
        loop.remove_signal_handler(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ask_to_stop, number)
        signal.signal(number, hear)  # in the place of asyncio's, which does nothing: the loop hears of it as before
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
