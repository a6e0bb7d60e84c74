"""Run a worker of a host: it opens the homes whose activations it fetches, many in one process.

Workers come and go: one that is told to end puts its homes away and hands them on, one that is killed loses them after
some seconds of silence.
"""

import asyncio
import fcntl
import gc
import importlib
import logging
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from procrastinate import App

from kenobot.app.background import LOADED_LATER
from kenobot.core.pacing import responsive
from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import ConfigError, Unavailable
from kenobot.storage.keeper import use_keepers
from kenobot.storage.shared_threads import SharedThreads
from kenobot_host import activation_rows
from kenobot_host.activation import UNREACHABLE, open_engine, rescue_on, retry_while_away, work
from kenobot_host.bot_tokens import BotTokens
from kenobot_host.cell_clock import CellClock
from kenobot_host.intake import pool_of
from kenobot_host.jobs import add_home_jobs
from kenobot_host.tables import newest_schema
from kenobot_host.warm_home import HostServices, WarmHomes
from kenobot_host.working_copies import WorkingCopies

_log = logging.getLogger(__name__)

_SPARE: Final = 4  # connections for the worker's own: heartbeat, rescue, mail
_TIDY_SECONDS: Final = 600.0
_MOST_CONNECTIONS: Final = 20


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """url: of the database. folder: of working copies, this worker's alone. homes: at the same time.

    idle_seconds: without mail or work, before a home is put away.
    """

    url: str
    folder: Path
    homes: int
    idle_seconds: float
    name: str


async def run_worker(options: WorkerOptions, copies: WorkingCopies, tokens: BotTokens, stop: asyncio.Event) -> None:
    """Open homes until `stop` is set, then hand them on. Raises ConfigError and Unavailable where it cannot begin."""
    engine = open_engine(options.url, min(_MOST_CONNECTIONS, options.homes + _SPARE))
    with hold_folder(options.folder):
        async with open_pool(engine):
            pool, clock, threads = pool_of(engine), CellClock(SystemClock()), SharedThreads()
            await retry_while_away(lambda: clock.begin(pool))
            services = HostServices(
                *(pool, copies, tokens, options.folder, clock, os.environ),
                options.idle_seconds,
                threads,
            )
            homes = WarmHomes(services)
            add_home_jobs(engine, homes, clock)
            for module in LOADED_LATER:  # or the first home would keep the heartbeat waiting
                await asyncio.to_thread(importlib.import_module, module)
            async with pool.connection() as connection:
                queues = await activation_rows.list_queues(connection, newest_schema())
            gc.freeze()  # what was loaded stays
            _log.info("ready: worker %s, for %d homes", options.name, options.homes)
            beside = (partial(rescue_on, engine), homes.ring_on, partial(_tidy_on, homes), partial(clock.set_on, pool))
            with use_keepers(homes.build_keeper), responsive():
                async with run_beside(*beside):
                    await work(engine, queues, options.homes, options.name, stop)
            await asyncio.to_thread(threads.close)


async def _tidy_on(homes: WarmHomes) -> None:
    """Remove copies that are of no use any more, until cancelled."""
    while True:
        try:
            await homes.remove_stale_copies()
        except UNREACHABLE as error:
            _log.debug("no copies are removed while the database is away: %s", error)
        await asyncio.sleep(_TIDY_SECONDS)


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Hold the folder of working copies for this process. Raises ConfigError where another one has it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / "worker.lock").open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError("host.folder_in_use", folder=folder) from None
        yield


@asynccontextmanager
async def open_pool(engine: App) -> AsyncIterator[None]:
    """Open an engine's connections. Raises Unavailable where the database cannot be reached."""
    try:
        await engine.open_async()
    except UNREACHABLE as error:
        raise Unavailable("host.unreachable", reason=error) from error
    try:
        yield
    finally:
        await engine.close_async()


@asynccontextmanager
async def run_beside(*parts: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Run parts that never end beside the block; one that fails is logged and begins anew."""
    tasks = [asyncio.create_task(_run_again(part)) for part in parts]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _run_again(part: Callable[[], Coroutine[Any, Any, None]]) -> None:
    while True:
        try:
            await part()
        except Exception:
            _log.exception("a part of the host failed, and begins anew")
        await asyncio.sleep(1.0)
