"""Run an app until it is asked to stop: its channels, the socket of its home, and the work behind the turns."""

import asyncio
import contextlib
import importlib
import logging
import os
import signal
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import TYPE_CHECKING

from kenobot.app.app import App
from kenobot.app.attach import attach_bot, check_hooks
from kenobot.app.background import run_background
from kenobot.app.plugin_instances import build_channel
from kenobot.app.running_channels import ChannelServices, RunningChannels
from kenobot.app.socket_server import SocketServer
from kenobot.app.socket_services import SocketServices
from kenobot.channels.console import Console, ConsoleOptions
from kenobot.channels.shared_console import SharedConsole
from kenobot.core import log
from kenobot.core.settings.load import load_settings
from kenobot.core.systemd import notify_systemd, start_extended, watchdog_answered
from kenobot.gateway.access import Roster
from kenobot.gateway.channel_supervisor import stop_signals
from kenobot.ports.channel import Channel
from kenobot.ports.plugin import PluginContext
from kenobot.ports.signals import MEMORY_WRITTEN, Envelope

if TYPE_CHECKING:
    from kenobot.core.frames import PluginRow, Status

_log = logging.getLogger(__name__)
_START_BROKEN_OFF_SECONDS = 1.0


async def serve(
    app: App,
    console: ConsoleOptions | None = None,
    console_user: str = "owner",
    begin_end: Callable[[], None] = lambda: None,
) -> int:
    """Run until SIGTERM, SIGINT, or the end of the console conversation. Returns the exit code.

    One question on the command line is answered without the work behind the turns: a longer run takes that up.
    console_user: who speaks in chats that come in by the home's socket. begin_end: called when it is asked to end.
    """
    if console is not None:
        _attach_console(app, console)
    only_answers = console is not None and console.message is not None
    stop = asyncio.Event()
    channels = _running_channels(app)
    async with contextlib.AsyncExitStack() as ending:
        ending.enter_context(stop_signals(stop, begin_end))
        signal.signal(signal.SIGUSR2, signal.SIG_IGN)  # which would end the process, until the watch takes it
        try:
            tried = await _run_trial(app, channels, stop) if console is None else None
            if stop.is_set() or not await _start(app, stop):
                return 0
            _log.info("ready: %s, with %s", ", ".join(app.channels), app.plugins.provider.name)
            notify_systemd("READY=1")
            await ending.enter_async_context(watchdog_answered(app.check_alive))
            if not only_answers:
                await ending.enter_async_context(_socket(app, channels, console_user, stop))
            async with contextlib.nullcontext() if only_answers else _run_background(app, channels):
                await (tried or _watch(app, channels, stop))
        finally:
            begin_end()
            notify_systemd("STOPPING=1")
            await app.stop()
    return 0


async def _run_trial(app: App, channels: RunningChannels, stop: asyncio.Event) -> asyncio.Task[None] | None:
    """Run the trial of an update, if there is one; return the task that runs the channels then."""
    if not app.home.versions.exists():
        return None
    trial = await asyncio.to_thread(importlib.import_module, "kenobot.app.trial")
    running: asyncio.Task[None] | None = None

    def begin() -> asyncio.Task[None]:
        nonlocal running
        running = asyncio.create_task(_watch(app, channels, stop), name="channels on trial")
        return running

    def serving() -> list[str]:
        return [state.name for state in channels.states() if state.state == "serving"]

    try:
        tried: asyncio.Task[None] | None = await trial.run_trial(app, serving, begin, stop)
    except BaseException:
        if running is not None:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        raise
    return tried


async def _start(app: App, stop: asyncio.Event) -> bool:
    """Start; False when asked to stop before that was done."""
    asked = asyncio.create_task(stop.wait(), name="stop")
    starting = asyncio.create_task(app.start_turns(), name="start")
    try:
        with start_extended():
            await asyncio.wait({asked, starting}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
        return starting.done()
    finally:
        for task in (asked, starting):
            task.cancel()
        await asyncio.wait({asked, starting}, timeout=_START_BROKEN_OFF_SECONDS)


@contextlib.asynccontextmanager
async def _run_background(app: App, channels: RunningChannels) -> AsyncIterator[None]:
    """Run the work behind the turns until the end begins."""
    beginning = asyncio.create_task(run_background(app, channels.states), name="background")
    beginning.add_done_callback(_log_failure)
    try:
        yield
    finally:
        beginning.cancel()
        await asyncio.gather(beginning, return_exceptions=True)


def _log_failure(beginning: asyncio.Task[None]) -> None:
    if not beginning.cancelled() and (error := beginning.exception()) is not None:
        _log.error("The work behind the turns could not begin.", exc_info=error)


@contextlib.asynccontextmanager
async def _socket(app: App, channels: RunningChannels, user: str, stop: asyncio.Event) -> AsyncIterator[None]:
    """Let chats of other terminals, and commands, in meanwhile. Leave it after the app has stopped: last answers."""
    opening = asyncio.create_task(_open_socket(app, channels, user, stop), name="socket")
    try:
        yield
    finally:
        opening.cancel()
        for server in await asyncio.gather(opening, return_exceptions=True):
            if isinstance(server, BaseException):
                _log.debug("the socket was not open: %r", server)
            else:
                await server.close()


async def _open_socket(app: App, channels: RunningChannels, user: str, stop: asyncio.Event) -> SocketServer:
    services = SocketServices(
        console=app.console,
        user=user,
        clock=app.clock,
        sink=app.loop,
        signals=app.bus,
        attach=app.open_console,
        detach=app.close_console,
        wait_answered=app.wait_console_answered,
        sync=app.sync_external_changes,
        stop=stop.set,
        channels=channels.carry_out,
        plugins=partial(_list_plugins, app),
        log_level=partial(_read_log_level, app),
        status=partial(_report_status, app, channels),
    )
    server = SocketServer(app.home.socket, services)
    await server.start()
    return server


def _list_plugins(app: App) -> "tuple[PluginRow, ...]":
    from kenobot.app.plugin_report import plugin_rows  # noqa: PLC0415 - with the frames, for who asks

    return plugin_rows(app.settings, app.plugins.catalogue)


async def _read_log_level(app: App) -> str:
    """Log at the level that the settings say now; returns it. Raises ConfigError."""
    level = (await asyncio.to_thread(load_settings, app.home, os.environ)).settings.log.level
    log.set_level(level)
    _log.info("logs at level %s from now on", level)
    return level


async def _report_status(app: App, channels: RunningChannels, stacks: bool) -> "Status":
    """Tell how the bot is. Raises StoreError."""
    report = await asyncio.to_thread(importlib.import_module, "kenobot.app.watch.report")
    file = await app.watch.dump_stacks() if stacks and app.watch is not None else None
    status: Status = await report.build_frame(app, channels.states(), str(file or ""))
    return status


async def _watch(app: App, channels: RunningChannels, stop: asyncio.Event) -> None:
    """Run the channels until asked to stop or none is left. Raises ConfigError or StreamFailed from the last one."""
    try:
        await channels.run(stop)
    finally:
        app.begin_to_stop()
        await channels.close()


def _running_channels(app: App) -> RunningChannels:
    """Prepare the channels of an app to run, and to be built anew by the settings as they are then."""

    catalogue = app.plugins.catalogue

    def names() -> tuple[str, ...]:
        return catalogue.names("kenobot.channels")

    def build(name: str) -> tuple[Channel, Roster]:
        nonlocal catalogue
        loaded = load_settings(app.home, os.environ)
        catalogue = loaded.catalogue
        secrets = tuple(loaded.secrets())
        app.redact.learn(secrets)
        log.redact_also(secrets)
        context = PluginContext(app.home.path, app.clock, loaded.settings.bot.name, app.bus)
        channel, roster = build_channel(loaded, name, context)
        return attach_bot(app, channel), roster

    for channel in app.channels.values():
        attach_bot(app, channel)
    check_hooks(app.channels)
    services = ChannelServices(app.loop, app.bus, app.clock, build, names, app.access.set_roster, app.delivery.sweep)
    return RunningChannels(app.channels, services, fixed=SharedConsole.name)


def _attach_console(app: App, options: ConsoleOptions) -> None:
    channel = app.console.local
    assert isinstance(channel, Console)
    channel.options = options
    channel.wait_drained = app.wait_drained
    if options.trace:

        async def show(envelope: Envelope) -> None:
            told = envelope.payload
            await channel.print_notice(f"  ⋅ {told['action']} in {told['scope']}: {told['text']} ({told['reason']})")

        app.bus.subscribe(MEMORY_WRITTEN, show)
