"""A worker or an ingress as a process, which the nursery may fork: `worker|ingress NAME URL CLOCK_HOURS …`."""

import asyncio
import logging
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from kenobot.app.background import LOADED_LATER
from kenobot.core import log
from kenobot.gateway.channel_supervisor import stop_signals
from kenobot.ports.clock import SystemClock
from kenobot_host.bot_tokens import BotTokens
from kenobot_host.connections import Connections
from kenobot_host.home_store import HomeStore
from kenobot_host.ingress import IngressOptions, run_ingress
from kenobot_host.worker import WorkerOptions, run_worker
from kenobot_host.working_copies import WorkingCopies
from tests.constants import change_by_variable

IMPORTS = (
    *LOADED_LATER,
    "psycopg_binary",
    "uvicorn.protocols.http.h11_impl",
)
"""What a process imports later, and the nursery for all of them."""


def _set_clock(hours: float) -> None:
    """Have the machine's clock go wrong by some hours in this process."""
    right = SystemClock.now

    def now(self: SystemClock) -> datetime:
        return right(self) + timedelta(hours=hours)

    SystemClock.now = now  # type: ignore[method-assign]


async def _run(kind: str, name: str, url: str, rest: Sequence[str]) -> None:
    stop = asyncio.Event()
    with stop_signals(stop):
        if kind == "ingress":
            options = IngressOptions(url, "127.0.0.1", 0, "http://127.0.0.1:1", 100, name)
            await run_ingress(options, BotTokens(None), stop)
            return
        folder, homes, idle = rest
        connections = Connections(url, 8).open()
        try:
            own = WorkerOptions(url, Path(folder), int(homes), float(idle), name)
            await run_worker(own, WorkingCopies(HomeStore(connections), None), BotTokens(None), stop)
        finally:
            connections.close()


def main(words: Sequence[str]) -> int:
    """Run until SIGTERM."""
    kind, name, url, hours, *rest = words
    log.configure("info", "plain", ())
    logging.getLogger("procrastinate").setLevel(logging.WARNING)
    _set_clock(float(hours))
    asyncio.run(_run(kind, name, url, rest))
    return 0


if __name__ == "__main__":  # of another tree, which the nursery has not loaded
    change_by_variable()
    sys.exit(main(sys.argv[1:]))
