"""The jobs of a host: homes that are activated, timers that activate them, and bots that are polled."""

import logging
from datetime import timedelta
from functools import partial
from typing import Final

from procrastinate import App, JobContext

from kenobot.ports.clock import Clock
from kenobot_host import activation_rows
from kenobot_host.activation import BOTS, HOMES, Activation, find_release, retry_while_away
from kenobot_host.intake import pool_of
from kenobot_host.polling import BotPoller
from kenobot_host.warm_home import WarmHomes

_log = logging.getLogger(__name__)

_TRY_AGAIN: Final = timedelta(seconds=10)  # after a home could not be opened


def add_home_jobs(engine: App, homes: WarmHomes, clock: Clock) -> None:
    """Add the jobs of a worker: open homes, and request that when it is time."""

    @engine.task(name=activation_rows.ACTIVATE, queue=HOMES, pass_context=True)
    async def open_home(context: JobContext, home: int) -> None:
        try:
            await homes.serve(Activation.of(home, context.job), find_release(context))
        except Exception:
            _log.exception("home %s was not served to its end: it is opened again later", home)
            await retry_while_away(lambda: _try_later(home))

    async def _try_later(home: int) -> None:
        async with pool_of(engine).connection() as connection:
            await activation_rows.set_timer(connection, home, clock.now() + _TRY_AGAIN)

    @engine.task(name=activation_rows.WAKE, queue=HOMES)
    async def wake(home: int) -> None:
        async with pool_of(engine).connection() as connection:
            await activation_rows.request_activation(connection, home)

    del open_home, wake


def add_bot_jobs(engine: App, poller: BotPoller) -> None:
    """Add the job of an ingress: poll bots, each token in one place at a time."""

    @engine.task(name=activation_rows.POLL, queue=BOTS, pass_context=True)
    async def poll(context: JobContext, bot: str) -> None:
        job = context.job
        assert job.id is not None
        assert job.worker_id is not None
        holds = partial(activation_rows.holds, job=job.id, worker=job.worker_id, attempts=job.attempts)
        await poller.poll(bot, find_release(context), holds)

    del poll
