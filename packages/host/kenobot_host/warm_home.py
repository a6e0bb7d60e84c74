"""Run a home in the process of a worker: the app of any KenoBot, over a working copy, with a channel fed from the mail.

1. A job `activate(home)` was fetched: its row is the lease. A home with neither mail, nor a broken-off run, nor a due
   reminder ends the job at once.
2. `activity.is_unfinished` is set, so that whoever comes after a crash takes up turns and parts without mail.
3. The working copy is brought up to the rows of the home; its texts, such as kenobot.toml, are written beside it.
4. Writing connections get a keeper by their path, so that each commit is in PostgreSQL first, fenced by the job's row.
5. The app is built from the home's settings as on any machine, with a channel whose updates come from the mail and
   whose sending asks for the lease and for the bot's pace. Providers, tools and memory know of nothing.
6. Its turns are started, which takes up what an earlier run left, then the channel and the work behind the turns.
7. It stays open while mail comes, something is at work, or a reminder comes up soon.
8. Idle for long enough, released by a worker that ends, or lost to another, it is stopped as any app is.
9. Then its next due time becomes a timer, and where anything is left another activation is requested.
10. The job returns, which ends the lease.
"""

import asyncio
import contextlib
import ctypes
import gc
import logging
import shutil
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final
from weakref import WeakValueDictionary

from psycopg import AsyncConnection

from kenobot.agenda.job_rows import find_next_due
from kenobot.app.app import App
from kenobot.app.background import run_background
from kenobot.app.plugin_instances import PluginInstances, load_plugins
from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.channels.telegram.updates import CHANNEL
from kenobot.cognitive.memory import Nights
from kenobot.core import log
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import ResolvedSettings, load_settings
from kenobot.gateway.channel_supervisor import keep_running
from kenobot.ports.clock import Clock
from kenobot.ports.errors import ConfigError, Fenced, StoreError
from kenobot.storage.connection import Connection
from kenobot.storage.keeper import Keeper
from kenobot.storage.mail_counts import count_mail, find_next_part
from kenobot.storage.shared_threads import SharedThreads
from kenobot_host import activation_rows, mail_rows
from kenobot_host.activation import UNREACHABLE, Activation
from kenobot_host.bot_tokens import BotTokens
from kenobot_host.copy_check import list_places
from kenobot_host.hosted_telegram import HostedTelegram, Lease, MailSource, Pool
from kenobot_host.tables import newest_schema
from kenobot_host.working_copies import WorkingCopies, read_version_of

_log = logging.getLogger(__name__)

_LOOK_SECONDS: Final = 0.25
_PROBE_SECONDS: Final = 2.0
_COLLECT_SECONDS: Final = 60.0  # between two times that memory is given back
_COLLECTED_SHARE: Final = 4
_REST_SECONDS: Final = 30.0  # after which a connection that nobody uses is closed
_FAILURES: Final = 3
_RECORD_SECONDS: Final = 60.0
_RECORD_PAUSE: Final = 0.5
_TOKEN: Final = "TELEGRAM_BOT_TOKEN"  # noqa: S105 - the name of a variable
_ADDRESS: Final = "KENOBOT_CHANNELS__TELEGRAM__BASE_URL"


@dataclass(frozen=True, slots=True)
class HostServices:
    """Services that all homes of a worker share. idle_seconds: without mail or work, before a home is put away.

    folder: of the working copies. environ: of the settings that all homes have, such as the key of a provider.
    threads: that do the work of their databases.
    """

    pool: Pool
    copies: WorkingCopies
    tokens: BotTokens
    folder: Path
    clock: Clock
    environ: Mapping[str, str]
    idle_seconds: float
    threads: SharedThreads


class WarmHomes:
    """The homes that are open in this process, by number, with the keepers of their databases."""

    def __init__(self, services: HostServices) -> None:
        self._services = services
        self._open: dict[int, WarmHome] = {}  # bounded: the worker's concurrency; start
        self._locks = WeakValueDictionary[int, asyncio.Lock]()  # of homes at work or waiting, for as long as they are
        self._put_away = 0  # since their memory was given back
        self._collects_at = 0.0

    def build_keeper(self, database: Path) -> Keeper | None:
        """Build the keeper of a connection that is to write to a database; None where it is none of an open home."""
        for home in tuple(self._open.values()):
            if home.is_copied and home.home.database == database:
                return self._services.copies.build_keeper(home.activation, home.note_behind)
        return None

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return the numbers of the open homes."""
        return tuple(self._open)

    async def serve(self, activation: Activation, released: asyncio.Event) -> None:
        """Open a home until it is idle, released or lost. Raises KenobotError where it cannot be opened."""
        async with self._lock(activation.home):  # one that was lost closes its copy before the next one takes it
            await self._serve(activation, released)

    def _lock(self, home: int) -> asyncio.Lock:
        return self._locks.setdefault(home, asyncio.Lock())

    async def _serve(self, activation: Activation, released: asyncio.Event) -> None:
        pool = self._services.pool
        async with pool.connection() as connection:
            if released.is_set():  # it was fetched at the last moment
                await activation_rows.request_activation(connection, activation.home)
                return
            if not await self._may_open(connection, activation.home):
                return
            if not await activation_rows.note_opened(connection, activation.home):
                return
            bot = await mail_rows.find_bot_of(connection, activation.home)
        if bot is None:  # whoever sets one has the home opened
            _log.warning("%s", ConfigError("host.no_bot", home=activation.home))
            return
        home = WarmHome(self._services, activation, bot)
        self._open[activation.home] = home
        try:
            await home.run(released)
        finally:
            del self._open[activation.home]
            self._put_away += 1

    async def _may_open(self, connection: AsyncConnection, home: int) -> bool:
        """Return whether a home may be opened by this worker; one that a newer version wrote is passed on."""
        state = await activation_rows.find_state(connection, home)
        if state is None or not state.is_here:  # whoever moves it has it opened again
            return False
        if state.schema > newest_schema():
            _log.info("home %d is of a newer KenoBot: it is left to workers of that version", home)
            await activation_rows.request_newer(connection, home, state.schema)
            return False
        return True

    async def remove_stale_copies(self) -> None:
        """Remove copies of homes that were committed to elsewhere since, moved away, or are gone, and unfinished ones.

        They are of no use, and hold what was erased since, also on a machine that never opens the home again.
        """
        found = await asyncio.to_thread(list_places, self._services.folder)
        versions = {home: await asyncio.to_thread(read_version_of, path) for home, path in found}
        async with self._services.pool.connection() as connection:
            current = await activation_rows.load_versions(connection, list(versions))
        for home, version in versions.items():
            is_current = version is not None and current.get(home) == version
            if is_current or home in self._open or home in self._locks:
                continue
            async with self._lock(home):
                await asyncio.to_thread(shutil.rmtree, self._services.folder / str(home))

    async def ring_on(self) -> None:
        """Look after all open homes, until cancelled: tell them of mail and of leases that have passed on.

        What none of them did for a while is closed. They have no timers of their own for any of that.
        """
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            self._services.threads.close_unused(_REST_SECONDS)
            await self._give_back_memory()
            if not self._open:
                continue
            for home in tuple(self._open.values()):
                home.look()
            try:
                async with self._services.pool.connection() as connection:
                    await self._ring(connection)
            except UNREACHABLE as error:
                _log.debug("no mail is looked for while the database is away: %s", error)

    async def _give_back_memory(self) -> None:
        """Collect what homes leave behind that were put away; after many of them, for it keeps everybody waiting."""
        now = self._services.clock.monotonic()
        if self._put_away > len(self._open) // _COLLECTED_SHARE and now > self._collects_at:
            self._put_away, self._collects_at = 0, now + _COLLECT_SECONDS
            gc.collect()
            await asyncio.to_thread(_trim_heap)

    async def _ring(self, connection: AsyncConnection) -> None:
        homes = dict(self._open)
        for number in await mail_rows.find_homes_with_mail(connection, homes.keys()):
            homes[number].rung.set()
        held = await activation_rows.find_held(connection, [home.activation.job for home in homes.values()])
        for home in homes.values():
            if (home.activation.job, home.activation.worker, home.activation.attempts) not in held:
                home.lost.set()


class WarmHome:
    """A home that is open.

    rung: there may be mail. lost: the home is another worker's by now, or is to move away. is_copied: commits of its
    copy are kept. is_behind: the copy takes no commits any more, and has to be made anew.
    """

    def __init__(self, services: HostServices, activation: Activation, bot: mail_rows.Bot) -> None:
        self.activation = activation
        self.home = Home(services.folder / str(activation.home))
        self.rung, self.lost, self._is_over = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.is_copied = self.is_behind = False
        self._app: App | None = None
        self._ends = self._probes_at = 0.0
        self._failures = 0
        self._probing: asyncio.Task[None] | None = None
        self._services = services
        self._bot = bot
        self._source = MailSource(services.pool, bot, activation.home, self.rung)

    def note_behind(self) -> None:
        """Note that the copy takes no commits any more. May be called from any thread."""
        self.is_behind = True

    def look(self) -> None:
        """Look whether the home has been idle for long enough, or its copy has fallen behind."""
        app = self._app
        if app is None:
            return
        now = app.clock.monotonic()
        if self.rung.is_set() or not self._source.is_empty or not _is_idle(app):
            self._ends = now + self._services.idle_seconds
            if now > self._probes_at and self._probing is None:
                self._probes_at = now + _PROBE_SECONDS
                self._probing = asyncio.create_task(self._probe(app), name=f"copy of home {self.activation.home}")
        if self.is_behind or app.database.is_behind or now > self._ends:
            self._is_over.set()

    async def holds(self, connection: AsyncConnection) -> bool:
        """Return whether the home is still this worker's."""
        held = self.activation
        return await activation_rows.holds(connection, held.job, held.worker, held.attempts)

    async def renew(self, connection: AsyncConnection) -> bool:
        """Return whether the home is still this worker's, and see to it that it stays so for some seconds."""
        held = self.activation
        return await activation_rows.renew_lease(connection, held.job, held.worker, held.attempts)

    async def run(self, released: asyncio.Event) -> None:
        """Open, serve and put away; end where the home is lost. Raises KenobotError where it cannot be opened."""
        try:
            await self._run(released)
        except Fenced as error:
            _log.warning("home %d was lost: %s", self.activation.home, error)
            await self._note_put_away(None, is_unfinished=True)  # where it is still ours, it is opened anew

    async def _run(self, released: asyncio.Event) -> None:
        await asyncio.to_thread(self._services.copies.bring_up, self.activation, self.home)
        self.is_copied = True
        self.home.seed_identity()
        app = await asyncio.to_thread(self._build_app)  # other homes go on meanwhile, and so does the heartbeat
        due: datetime | None = None
        is_unfinished = True
        try:
            await app.start_turns()
            _log.info("home %d is open", self.activation.home)
            await self._serve(app, released)
        finally:
            with contextlib.suppress(StoreError):
                due, is_unfinished = await app.database.read(partial(self._find_rest, app))
            await app.stop()
            self.is_copied = False
            await finish_also_when_cancelled(self._record_sent(app))
        await asyncio.to_thread(self._services.copies.put_away, self.activation, self.home)
        await self._note_put_away(due, is_unfinished=is_unfinished or self.is_behind)

    async def _record_sent(self, app: App) -> None:
        """Record the parts that were sent while the home was open and are not recorded: the next run would repeat them.

        Where PostgreSQL is away, or the disk is full, it is tried for as long as that may last.
        """
        ends = app.clock.monotonic() + _RECORD_SECONDS
        while sent := app.delivery.list_unrecorded():
            try:
                await asyncio.to_thread(
                    self._services.copies.record_sent, self.activation, self.home, sent, app.clock.now()
                )
                return
            except (StoreError, OSError) as error:
                _log.warning("%d sent parts of home %d are not recorded: %s", len(sent), self.activation.home, error)
                if app.clock.monotonic() > ends or (isinstance(error, Fenced) and not await self._is_ours()):
                    return
            await asyncio.sleep(_RECORD_PAUSE)

    async def _is_ours(self) -> bool:
        """Return whether the home is still this worker's, as far as anybody can tell."""
        try:
            async with self._services.pool.connection() as connection:
                return await self.holds(connection)
        except UNREACHABLE:
            return True

    async def _note_put_away(self, due: datetime | None, *, is_unfinished: bool) -> None:
        home = self.activation.home
        async with self._services.pool.connection() as connection:
            if await self.holds(connection):
                await activation_rows.note_put_away(connection, home, due, is_unfinished=is_unfinished)
                _log.info("home %d is put away%s", home, ", with work left" if is_unfinished else "")
            else:
                _log.warning("home %d was lost to another worker", home)

    def _build_app(self) -> App:
        """Build the app of the home by its settings. Raises ConfigError and StoreError."""
        own = {_TOKEN: self._services.tokens.open(self._bot.account, self._bot.token)}
        own |= {_ADDRESS: self._bot.base_url} if self._bot.base_url else {}
        loaded = load_settings(self.home, {**self._services.environ, **own})
        log.redact_also(tuple(loaded.secrets()))
        parts = self._build_parts(loaded)
        rng, shared = Random(), self._services.threads  # noqa: S311 - trace ids and jitter
        return App(self.home, loaded, self._services.clock, parts, rng, shared=shared)

    def _build_parts(self, loaded: ResolvedSettings) -> PluginInstances:
        """Build the plugins of the home, its channel fed from the mail."""
        services = self._services
        parts = load_plugins(self.home, loaded, services.clock, (CHANNEL,))
        if others := set(loaded.settings.channels.enabled) - {CHANNEL}:
            _log.warning(
                "home %d has channels that no host serves: %s", self.activation.home, ", ".join(sorted(others))
            )
        settings: TelegramSettings = loaded.plugin_settings("kenobot.channels", CHANNEL, TelegramSettings)
        settings = settings.model_copy(update={"webhook_url": ""})  # the host's ingress takes these in
        lease = Lease(services.pool, self._bot.account, self.renew)
        channel = HostedTelegram(settings, services.clock, self._source, lease)
        return replace(parts, channels={CHANNEL: channel})

    async def _serve(self, app: App, released: asyncio.Event) -> None:
        """Serve the channel until the home is idle, released or lost."""
        channel = app.channels[CHANNEL]
        intake = asyncio.create_task(
            keep_running(channel, app.loop, app.bus, app.clock), name=f"mail {self.home.path.name}"
        )
        behind = asyncio.create_task(run_background(app, tuple), name=f"background {self.home.path.name}")
        try:
            await self._await_end(app, released)
        finally:
            app.begin_to_stop()
            for task in (intake, behind):
                task.cancel()
            await asyncio.gather(intake, behind, return_exceptions=True)

    async def _await_end(self, app: App, released: asyncio.Event) -> None:
        self._ends = app.clock.monotonic() + self._services.idle_seconds
        self._app = app
        try:
            while True:
                await _await_first(released, self.lost, self._is_over)
                self.is_behind = self.is_behind or app.database.is_behind
                if released.is_set() or self.lost.is_set() or self.is_behind or await self._may_rest(app):
                    return
                self._ends = app.clock.monotonic() + self._services.idle_seconds
                self._is_over.clear()
        finally:
            self._app = None
            if self._probing is not None:
                self._probing.cancel()

    async def _probe(self, app: App) -> None:
        """Find out, while something is at work, that the copy takes no commits any more."""
        try:
            await app.database.write(lambda connection: None)
            self._failures = 0
        except StoreError as error:
            self._failures += 1
            _log.warning("the copy of home %d takes no commit: %s", self.activation.home, error)
        finally:
            self._probing = None
        self.is_behind = self.is_behind or self._failures >= _FAILURES

    async def _may_rest(self, app: App) -> bool:
        """Return whether nothing comes up before the home would be put away and opened anew."""
        due, is_unfinished = await app.database.read(partial(self._find_rest, app))
        soon = app.clock.now() + timedelta(seconds=self._services.idle_seconds)
        return not is_unfinished and (due is None or due > soon)

    def _find_rest(self, app: App, connection: Connection) -> tuple[datetime | None, bool]:
        """Return when the home has work of its own next, and whether anything is not answered or not sent."""
        now, timezone = app.clock.now(), app.settings.bot.timezone
        night = Nights.next_time(app.settings.sleep, Nights.last_full_at(connection), now, timezone)
        found = find_next_due(connection, CHANNEL), find_next_part(connection, now), night
        times = [at for at in found if at is not None]
        counts = count_mail(connection, now)
        return min(times, default=None), bool(counts.waiting or counts.undelivered)


def _trim_heap() -> None:
    """Give what is free of the heap back to the machine, where the C library can."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _is_idle(app: App) -> bool:
    """Return whether nothing is at work in a home."""
    is_quiet = app.loop.idle and app.delivery.queue.idle and app.background.sleep_worker.idle
    return is_quiet and (app.tasks is None or app.tasks.idle)


async def finish_also_when_cancelled(work: Coroutine[Any, Any, None]) -> None:
    """Do work to its end, and only then be cancelled."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


async def _await_first(*events: asyncio.Event) -> None:
    """Return when one of some events is set."""
    tasks = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
