"""A worker or an ingress as a process: `python -m tests.hosting.chaos.process worker|ingress NAME OPTIONS…`."""

import asyncio
import logging
import sys
from pathlib import Path

from kenobot.core import log
from kenobot.gateway.channel_supervisor import stop_signals
from kenobot_host.bot_tokens import BotTokens
from kenobot_host.connections import Connections
from kenobot_host.home_store import HomeStore
from kenobot_host.ingress import IngressOptions, run_ingress
from kenobot_host.worker import WorkerOptions, run_worker
from kenobot_host.working_copies import WorkingCopies
from tests.constants import change_by_variable


async def _run(words: list[str]) -> None:
    stop = asyncio.Event()
    kind, name, url, *rest = words
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


if __name__ == "__main__":
    log.configure("info", "plain", ())
    logging.getLogger("procrastinate").setLevel(logging.WARNING)
    change_by_variable()
    asyncio.run(_run(sys.argv[1:]))
