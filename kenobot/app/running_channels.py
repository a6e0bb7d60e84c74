"""Start, stop and restart the channels of a running bot, each by itself."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from kenobot.core import plugins
from kenobot.core.bus import Bus
from kenobot.core.containment import contain
from kenobot.core.worker import TaskSet
from kenobot.gateway.access import Roster
from kenobot.gateway.channel_supervisor import keep_running
from kenobot.ports.channel import Channel, Sink
from kenobot.ports.clock import Clock
from kenobot.ports.errors import ConfigError, KenobotError, PluginError, Unavailable
from kenobot.ports.frozen import dataclass
from kenobot.ports.sentences import Sentence
from kenobot.ports.signals import HEALTH_DEGRADED

_log = logging.getLogger(__name__)

_BUILD_SECONDS = 20.0  # of a plugin's own code, when a channel is started beside the others
_CLOSE_SECONDS = 6.0  # of the ten that the end of the bot has
_END_SECONDS = 8.0  # more than supervision gives an intake

State = Literal["serving", "stopped", "ended", "failed", "off"]


@dataclass(frozen=True, slots=True)
class ChannelState:
    """A channel of this bot, or an installed one that is off. reason: of a state that nobody asked for."""

    name: str
    state: State
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ChannelServices:
    """Services that running channels need.

    build: builds a channel by the settings as they are now; runs in a thread.
    names: of the channels there are. let_in: replaces a channel's roster.
    send_waiting: sends the answers that waited for a channel.
    """

    sink: Sink
    bus: Bus
    clock: Clock
    build: Callable[[str], tuple[Channel, Roster]]
    names: Callable[[], Sequence[str]]
    let_in: Callable[[str, Roster], None]
    send_waiting: Callable[[], Awaitable[None]]


class RunningChannels:
    """The channels of one run. channels: shared with delivery, which keeps the answers of a channel that is not there.

    fixed: a channel that belongs to this process's terminal, and cannot be stopped by itself.
    """

    def __init__(self, channels: dict[str, Channel], services: ChannelServices, fixed: str) -> None:
        self._channels = channels
        self._services = services
        self._fixed = fixed
        self._tasks: dict[str, asyncio.Task[None]] = {}  # bounded: the channels there are; start
        self._others: dict[str, ChannelState] = {}  # bounded: the channels there are; start
        self._over: asyncio.Future[None] | None = None
        self._turn = asyncio.Lock()
        self._alerts = TaskSet("channel alerts")

    async def run(self, stop: asyncio.Event) -> None:
        """Run the channels until asked to stop, or until all have ended by themselves.

        Raises ConfigError or StreamFailed from the last one that runs.
        """
        self._over = asyncio.get_running_loop().create_future()
        for name, channel in tuple(self._channels.items()):
            self._begin(name, channel)
        asked = asyncio.create_task(stop.wait(), name="stop")
        try:
            ends: set[asyncio.Future[Any]] = {asked, self._over}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if self._over.done():
                self._over.result()
        finally:
            self._over.cancel()
            asked.cancel()

    async def close(self) -> None:
        """Stop every intake. Channels stay for the last answers."""
        intakes = tuple(self._tasks.values())
        self._tasks.clear()
        for task in intakes:
            task.cancel()
        if intakes:
            _, late = await asyncio.wait(intakes, timeout=_CLOSE_SECONDS)
            for task in late:
                _log.error("%s does not end when it is told to; it is left behind", task.get_name())
        await self._alerts.stop()

    # ── commands ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def carry_out(self, action: str, name: str = "") -> tuple[ChannelState, ...]:
        """Start, stop or restart a channel, or nothing for "list"; return all channels. Raises KenobotError."""
        if action == "list":
            return self.states()
        async with self._turn:
            if name == self._fixed:
                raise ConfigError("channels.needs_terminal", name=name)
            if name not in {state.name for state in self.states()}:
                raise ConfigError(plugins.unknown_plugin("kenobot.channels", name, self._services.names()))
            if action == "stop":
                await self._stop(name)
            else:
                await self._start(name, anew=action == "restart")
        return self.states()

    def states(self) -> tuple[ChannelState, ...]:
        """List the channels by name: of this run, and the installed ones that are off."""
        known = dict.fromkeys((*self._services.names(), *self._channels, *self._others))
        return tuple(self._state(name) for name in sorted(known))

    def _state(self, name: str) -> ChannelState:
        if name in self._tasks or (name == self._fixed and name in self._channels):
            return ChannelState(name, "serving")
        return self._others.get(name, ChannelState(name, "off"))

    async def _start(self, name: str, *, anew: bool) -> None:
        """Build a channel and run it. What runs is stopped only once the new one is built."""
        if name in self._tasks and not anew:
            raise ConfigError("channels.already_running", name=name)
        try:
            with contain():
                async with asyncio.timeout(_BUILD_SECONDS):
                    channel, roster = await asyncio.to_thread(self._services.build, name)
        except TimeoutError:
            raise PluginError("channels.built_late", name=name, seconds=_BUILD_SECONDS) from None
        except KenobotError:
            raise
        except Exception as error:  # a plugin's own code
            raise PluginError("channels.unbuilt", name=name, kind=type(error).__name__, reason=error) from error
        await self._stop(name)
        self._services.let_in(name, roster)
        self._channels[name] = channel
        self._begin(name, channel)
        await self._services.send_waiting()
        _log.info("channel %s was started", name)

    async def _stop(self, name: str) -> None:
        task = self._tasks.pop(name, None)
        if task is None:
            return
        task.cancel()
        ended, _ = await asyncio.wait({task}, timeout=_END_SECONDS)
        self._channels.pop(name, None)
        self._others[name] = ChannelState(name, "stopped")
        if not ended:
            raise Unavailable("channels.does_not_end", name=name)
        _log.info("channel %s was stopped", name)

    # ── their end ────────────────────────────────────────────────────────────────────────────────────────────────

    def _begin(self, name: str, channel: Channel) -> None:
        intake = keep_running(channel, self._services.sink, self._services.bus, self._services.clock)
        task = asyncio.create_task(intake, name=f"channel {name}")
        self._tasks[name] = task
        self._others.pop(name, None)
        task.add_done_callback(lambda ended: self._note_end(name, ended))

    def _note_end(self, name: str, task: asyncio.Task[None]) -> None:
        """Note that an intake ended by itself, and end the run after the last one."""
        if self._tasks.get(name) is not task:
            if not task.cancelled() and (error := task.exception()) is not None:
                _log.debug("channel %s ended with %r", name, error)
            return
        del self._tasks[name]
        error = None if task.cancelled() else task.exception()
        self._others[name] = ChannelState(name, "failed" if error else "ended", str(error or ""))
        goes_on = bool(self._tasks) or any(other.state == "stopped" for other in self._others.values())
        if error is not None and goes_on:
            _log.error("%s The channel %s is off; the others run on.", error, name)
            self._channels.pop(name, None)
            told = Sentence("channels.is_off", name=name, reason=str(error))
            self._alerts.begin(self._tell(name, told))
        if goes_on or self._over is None or self._over.done():
            return
        if error is None:
            self._over.set_result(None)
        else:
            self._over.set_exception(error)

    async def _tell(self, name: str, reason: str) -> None:
        await self._services.bus.emit(HEALTH_DEGRADED, "channels", "", reason=reason, cause=f"channel:{name}")
