"""The jobs of a host: homes that are activated, timers that activate them, and bots that are polled."""

import logging
from datetime import UTC, datetime, timedelta
from typing import Final

from procrastinate import App, JobContext

from kenobot_host import activation_rows
from kenobot_host.activation import BOTS, HOMES, Activation, find_release, insist
from kenobot_host.intake import pool_of
from kenobot_host.polling import BotPoller
from kenobot_host.warm_home import WarmHomes

_log = logging.getLogger(__name__)

_TRY_AGAIN: Final = timedelta(seconds=10)  # after a home could not be opened


def add_home_jobs(engine: App, homes: WarmHomes) -> None:
    """Teach a worker's engine to open homes, and to have them opened when it is time."""

    @engine.task(name=activation_rows.ACTIVATE, queue=HOMES, pass_context=True)
    async def activate(context: JobContext, home: int) -> None:
        try:
            await homes.serve(Activation.of(home, context.job), find_release(context))
        except Exception:
            _log.exception("home %s was not served to its end: it is opened again later", home)
            await insist(lambda: _try_later(home))

    async def _try_later(home: int) -> None:
        async with pool_of(engine).connection() as connection:
            await activation_rows.set_timer(connection, home, datetime.now(UTC) + _TRY_AGAIN)

    @engine.task(name=activation_rows.WAKE, queue=HOMES)
    async def wake(home: int) -> None:
        async with pool_of(engine).connection() as connection:
            await activation_rows.request_activation(connection, home)

    del activate, wake


def add_bot_jobs(engine: App, poller: BotPoller) -> None:
    """Teach an ingress's engine to poll bots, each token in one place at a time."""

    @engine.task(name=activation_rows.POLL, queue=BOTS, pass_context=True)
    async def poll(context: JobContext, bot: str) -> None:
        await poller.poll(bot, find_release(context))

    del poll
