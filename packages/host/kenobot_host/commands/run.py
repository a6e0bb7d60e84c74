"""`kenobot host run`: a worker, which answers, or an ingress, which takes messages in."""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

from kenobot.cli.context import CommandContext
from kenobot.cli.start import limit_malloc_arenas
from kenobot.core import log
from kenobot.gateway.channel_supervisor import stop_signals
from kenobot.ports.errors import ConfigError
from kenobot_host.bot_tokens import BotTokens
from kenobot_host.cell_address import find_address
from kenobot_host.connections import Connections
from kenobot_host.home_store import HomeStore
from kenobot_host.ingress import IngressOptions, run_ingress
from kenobot_host.schema_rows import check_schema
from kenobot_host.sealing import Sealer
from kenobot_host.worker import WorkerOptions, run_worker
from kenobot_host.working_copies import WorkingCopies


def run_worker_command(context: CommandContext) -> int:
    """Open homes until told to end. Returns the exit code."""
    args, url, sealer = context.args, find_address(os.environ), Sealer.find(os.environ)
    options = WorkerOptions(url, find_folder(args.folder), args.homes, args.idle_minutes * 60.0, _name(args.name))
    connections = Connections(url, min(args.homes, 16)).open()
    try:
        _begin(context, connections)
        copies = WorkingCopies(HomeStore(connections), sealer)
        return _run(lambda stop: run_worker(options, copies, BotTokens(sealer), stop))
    finally:
        connections.close()


def run_ingress_command(context: CommandContext) -> int:
    """Take updates in until told to end. Returns the exit code."""
    args, url, tokens = context.args, find_address(os.environ), BotTokens(Sealer.find(os.environ))
    host, _, port = args.listen.rpartition(":")
    if not port.isdecimal() or not 0 <= int(port) <= 65_535:
        raise ConfigError("host.bad_listen", given=args.listen)
    if args.public and not args.public.startswith(("https://", "http://127.0.0.1:", "http://localhost:")):
        raise ConfigError("telegram.no_tls")
    connections = Connections(url, 1).open()
    try:
        _begin(context, connections)
    finally:
        connections.close()
    options = IngressOptions(url, host.strip("[]") or "127.0.0.1", int(port), args.public, args.bots, _name(args.name))
    return _run(lambda stop: run_ingress(options, tokens, stop))


def _begin(context: CommandContext, connections: Connections) -> None:
    """Begin to log, and check that the tables are there. Raises ConfigError and StoreError."""
    log.configure("info", "json" if context.args.json else "plain", ())
    log.install_exception_hooks()
    limit_malloc_arenas()
    connections.require_sessions()
    with connections.open_long() as connection:
        check_schema(connection)


def _run(serve: Callable[[asyncio.Event], Awaitable[None]]) -> int:
    async def run() -> int:
        stop = asyncio.Event()
        with stop_signals(stop):
            await serve(stop)
        return 0

    return asyncio.run(run())


def _name(given: str) -> str:
    return given or f"{socket.gethostname()}-{os.getpid()}"


def find_folder(given: str) -> Path:
    """Return the folder of the working copies: caches, which may go at any time."""
    if given:
        return Path(given).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "kenobot-host").absolute()
