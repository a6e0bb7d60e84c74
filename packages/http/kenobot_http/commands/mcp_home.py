"""The owner's home, kept open for the calls of an MCP client, beside a running bot or without one."""

import asyncio
import logging
from functools import partial

from kenobot.agent.commands.command import CommandContext as ChatCommands
from kenobot.app import embedder_choice
from kenobot.app.bot_services import BotServices
from kenobot.app.wiring import build_ledger
from kenobot.channels.console import CHAT, Console
from kenobot.cli.context import CommandContext
from kenobot.cli.language import language
from kenobot.cli.memory.sync_files import sync_files
from kenobot.cognitive.memory import EmbeddingWorker, Indexer, Memory, Policy, SideIndex
from kenobot.core.status_report import StatusReport
from kenobot.gateway.access import Access, Roster
from kenobot.ledger.embedding import LedgerMeter
from kenobot.ports.errors import KenobotError, Unavailable
from kenobot.ports.messages import Inbound
from kenobot.ports.signals import NoSignals
from kenobot.storage.api_keys import ApiKey
from kenobot.storage.database import Database
from kenobot_http.api.scopes import DEFAULT_SCOPES
from kenobot_http.api.services import Caller
from kenobot_http.channel import HttpChannel
from kenobot_http.settings import CHANNEL, HttpSettings

_log = logging.getLogger(__name__)

_OWNER = "owner"


class OpenHome:
    """The home of a command, opened anew where another database took the place of its own."""

    def __init__(self, context: CommandContext) -> None:
        self._context = context
        self._mirror = _Mirror(context)
        self._file = (0, 0)
        self._parts: _Parts | None = None
        self._opening = asyncio.Lock()

    async def find_caller(self) -> Caller:
        """Return the owner, with memory as it is now. Raises KenobotError where the home cannot be used."""
        await asyncio.to_thread(self._context.require_current_schema)  # an update or a restore may have come meanwhile
        async with self._opening:
            found = self._context.home.database.stat()
            if self._parts is None or self._file != (found.st_dev, found.st_ino):
                await self._close_parts()
                self._parts, self._file = _Parts(self._context, self._mirror), (found.st_dev, found.st_ino)
            parts = self._parts
            await parts.indexer.index_all()
        return parts.caller

    async def close(self) -> None:
        """Finish what is under way."""
        await self._mirror.finish()
        await self._close_parts()

    async def _close_parts(self) -> None:
        parts, self._parts = self._parts, None
        if parts is not None:
            await parts.close()


class _Parts:
    """The parts of a bot that memory and agenda need."""

    def __init__(self, context: CommandContext, mirror: "_Mirror") -> None:
        loaded, clock = context.loaded, context.clock
        self.database = database = Database.open(context.home.database, context.home.backups)
        self.index = index = SideIndex(context.home.index)
        self.indexer = Indexer(database, index)
        ledger = build_ledger(loaded.settings, database, clock)
        embedder = embedder_choice.choose_embedder(loaded, context.plugin_context).embedder
        formers = partial(embedder_choice.previous_embedders, loaded, context.plugin_context)
        self.embedding = EmbeddingWorker(database, index, clock, embedder, formers, meter=LedgerMeter(ledger))
        access = Access({CHANNEL: Roster.of(owners=(_OWNER,))})
        services = BotServices(
            database=database,
            clock=clock,
            zone=context.zone,
            access=access,
            index=index,
            embedding=self.embedding,
            memory_files=mirror,
            budgets=ledger.limits,
            policy=Policy.of(loaded.settings.sleep),
            started=clock.now(),
            channels={},
            unfinished=int,
            begin_sleep=bool,
            sweep=_sweep_nothing,
            state=lambda: "healthy",
            status=_have_no_bot,
            commands=ChatCommands(context.zone, context.home.memory, access, Memory(index)),
            home=context.home,
            loaded=loaded,
            take=_take_nothing,
            note_changes=lambda changes: None,
            language=language,
        )
        key = ApiKey(0, "stdio", _OWNER, frozenset(DEFAULT_SCOPES), clock.now().isoformat())
        channel = HttpChannel(HttpSettings(owners=(_OWNER,)), clock, NoSignals())
        self.caller = Caller(key, services, channel, elsewhere=(Console.name, CHAT))

    async def close(self) -> None:
        await self.embedding.stop()
        await self.database.close()
        self.index.close()


async def _sweep_nothing() -> None:
    """Leave messages to the bot."""


async def _take_nothing(inbound: Inbound) -> bool:
    raise Unavailable("mcp.no_bot")


async def _have_no_bot() -> StatusReport:
    raise Unavailable("mcp.no_bot")


class _Mirror:
    """Brings the Markdown files up to date after changes, one bringing at a time."""

    def __init__(self, context: CommandContext) -> None:
        self._context = context
        self._is_dirty = False
        self._task: asyncio.Task[None] | None = None

    def mark_dirty(self) -> None:
        """Schedule a write of the files."""
        self._is_dirty = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._bring(), name="memory files")

    async def finish(self) -> None:
        """Return once the files are written."""
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _bring(self) -> None:
        while self._is_dirty:
            self._is_dirty = False
            try:
                await asyncio.to_thread(sync_files, self._context)
            except KenobotError as error:
                _log.warning("the files of memory could not be written: %s", error)
