"""Hold the parts of the bot that the home's socket needs."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from kenobot.app.running_channels import ChannelState
from kenobot.channels.shared_console import SharedConsole
from kenobot.ports.channel import Sink
from kenobot.ports.clock import Clock
from kenobot.ports.frozen import dataclass
from kenobot.ports.signals import Signals

if TYPE_CHECKING:
    from kenobot.core.frames import PluginRow, Status


@dataclass(frozen=True, slots=True)
class SocketServices:
    """Parts of the bot that the socket needs.

    user: the console's. attach: called when the first screen came. sync: follows what a command wrote; returns how many
    facts people's edits touched. stop: begins the end. channels: starts, stops or restarts a channel, and lists them.
    plugins: lists them. log_level: has the bot log as the settings say now; returns the level. status: tells how the
    bot is; with True, stacks are written too.
    """

    console: SharedConsole
    user: str
    clock: Clock
    sink: Sink
    signals: Signals
    attach: Callable[[], Awaitable[None]]
    detach: Callable[[], None]
    wait_answered: Callable[[], Awaitable[None]]
    sync: Callable[[], Awaitable[int]]
    stop: Callable[[], None]
    plugins: "Callable[[], tuple[PluginRow, ...]]"
    channels: Callable[[str, str], Awaitable[tuple[ChannelState, ...]]]
    log_level: Callable[[], Awaitable[str]]
    status: "Callable[[bool], Awaitable[Status]]"
