"""App: the composition root. Construct every part of a bot, start them, run their scheduled jobs, and stop them."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from random import Random
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from kenobot.agent.commands.command import Change, CommandContext
from kenobot.agent.commands.order_patterns import prepare_to_read
from kenobot.agent.commands.registry import CommandRegistry
from kenobot.agent.experts.build import build_query_expander, build_reranker
from kenobot.agent.intake_policy import IntakePolicy
from kenobot.agent.loop import AgentLoop
from kenobot.agent.prompt.context_builder import ContextBuilder
from kenobot.agent.prompt.prompt_service import PromptService
from kenobot.agent.turn.fragments import Fragments
from kenobot.agent.turn.runner import TurnRunner
from kenobot.agent.turn.turn_services import TurnServices
from kenobot.app.housekeeping import prune_tables
from kenobot.app.plugin_instances import PluginInstances
from kenobot.app.wiring import (
    build_ledger,
    build_media,
    build_models,
    build_toolbox,
    prompt_limits,
    reply_language,
    turn_policy,
)
from kenobot.channels.console import CHAT, Console
from kenobot.channels.shared_console import SharedConsole
from kenobot.cognitive.memory import (
    EmbeddingWorker,
    Indexer,
    Memory,
    MemoryFiles,
    Policy,
    ProposalAnnouncer,
    SideIndex,
    Telling,
)
from kenobot.core.bus import Bus
from kenobot.core.i18n import Language
from kenobot.core.pacing import responsive
from kenobot.core.plugins import close as close_plugins
from kenobot.core.quiet_hours import QuietHours
from kenobot.core.quiet_spell import QuietSpell
from kenobot.core.redaction import Redactor
from kenobot.core.retry import CircuitBreaker
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import ResolvedSettings, Settings
from kenobot.core.worker import Scheduler
from kenobot.gateway.access import Access
from kenobot.gateway.admission import AdmissionControl
from kenobot.gateway.bot_messages import BotMessenger
from kenobot.gateway.delivery import Delivery
from kenobot.gateway.owner_alerts import OwnerAlerts
from kenobot.gateway.personal_settings import PersonalSettings
from kenobot.identity.identity_files import Identity
from kenobot.ledger.embedding import LedgerMeter
from kenobot.ledger.models import ReplyModel
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.ports.identity import session_id
from kenobot.ports.memory_files import IntakeNotice, Mirror
from kenobot.ports.signals import (
    MEMORY_INTAKE_FINISHED,
    MEMORY_INTAKE_STARTED,
    STARTED,
    STOPPING,
)
from kenobot.ports.tool import BACKGROUND
from kenobot.postprocessors.pipeline import Pipeline
from kenobot.skills.library import READER, SkillLibrary
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox import Inbox
from kenobot.storage.outbox import Outbox
from kenobot.storage.shared_threads import SharedThreads
from kenobot.storage.signal_log import SignalLog

if TYPE_CHECKING:
    from kenobot.agenda.delivery import ReminderDelivery
    from kenobot.agenda.job import Job
    from kenobot.agenda.overdue import OverdueAsker
    from kenobot.agent.turn.memory_report import MemoryReporter
    from kenobot.agent.turn.task_worker import TaskWorker
    from kenobot.agent.turn.tool_stage import ToolStage
    from kenobot.agent.turn.toolbox import Toolbox
    from kenobot.app.running_channels import ChannelState
    from kenobot.app.watch.watch import Watch
    from kenobot.cognitive.memory import MemoryWorkers

_log = logging.getLogger(__name__)

_GRACE_SECONDS = 5.0
_TASK_SECONDS = 30.0  # between looks for tasks whose question nobody answers
_CLOSE_SECONDS = 1.0
_SHARED_SECONDS = 60.0  # between two runs of a scheduled job, where many homes have theirs in one process
_FINISHED_BY, _SENT_BY, _CLOSED_BY = 6.0, 8.0, 8.5  # seconds after the end was begun; then the database is closed


class App:
    """All parts of a running bot, wired up. `start` before use, `stop` after."""

    def __init__(
        self,
        home: Home,
        loaded: ResolvedSettings,
        clock: Clock,
        plugins: PluginInstances,
        rng: Random,
        default_language: Language = "en",
        shared: SharedThreads | None = None,
    ) -> None:
        """Open the database and construct every part. Raises ConfigError or StoreCorrupt when that fails.

        default_language: of the bot's own sentences where the message does not tell.
        shared: threads of a process that serves many homes. Nobody else looks into this one then: its memory has no
        files, nothing is looked for that a command line did, and whoever runs the process watches over it.
        """
        if shared is None:
            MemoryFiles.require_database(home.memory, home.database)
        self.shared, self._default_language = shared, default_language
        settings, language = loaded.settings, reply_language(loaded.settings)
        zone = self.zone = ZoneInfo(settings.bot.timezone)
        redact = self.redact = Redactor(loaded.secrets())
        self.home, self.settings, self.loaded = home, settings, loaded
        self.clock, self.plugins, self.channels = clock, plugins, plugins.channels
        self.started = clock.now()
        self.console = self._share_console()
        database = self.database = Database.open(home.database, home.backups, shared)
        bus = self.bus = plugins.bus or Bus(clock)
        self.audit = SignalLog(database, redact=redact)
        self.scheduler = Scheduler() if shared is None else Scheduler(_SHARED_SECONDS)
        self.quiet, self.quiet_for_files = QuietSpell(), QuietSpell()

        self.inbox, self.outbox = Inbox(database, clock), Outbox(database, clock)
        self.delivery = Delivery(self.channels, self.outbox, bus, clock, rng)
        messenger = self._messenger = BotMessenger(database, clock, self.channels, self.delivery)
        access = self.access = Access(plugins.access_lists)
        pairs = settings.access.pairing
        self.admission = AdmissionControl(
            access, database, bus, clock, self.delivery, pairing_enabled=pairs, language=language
        )
        quiet = QuietHours.parse(settings.messages.quiet_hours, zone)
        self.personal = PersonalSettings(database, zone, quiet)
        self.owner_alerts = OwnerAlerts(database, clock, messenger, access, redact, language, self.personal)

        self.memory_files = self._build_memory_files()
        index = self.index = SideIndex(home.index)
        database.close_beside = index.close_unused
        self.memory = Memory(index)
        self.indexer = Indexer(database, index)
        self.ledger = build_ledger(settings, database, clock, bus)
        embedders, meter = (plugins.embedder, plugins.previous_embedders), LedgerMeter(self.ledger)
        self.embedding = EmbeddingWorker(database, index, clock, *embedders, meter=meter)

        self._stop_began: float | None = None
        self.skills = SkillLibrary(home.skills)
        router, self._background_model = build_models(settings, plugins, clock)
        self._model = ReplyModel(router, self.ledger)
        self._background: MemoryWorkers | None = None
        self._reminders: ReminderDelivery | None = None
        self.channel_states: Callable[[], Sequence[ChannelState]] = tuple
        self.watch: Watch | None = None  # until the work behind the turns has begun
        self.media = build_media(settings, home, database, clock, plugins, self.ledger)
        self._responsive = contextlib.ExitStack()
        self.proposal_announcer = ProposalAnnouncer(database, bus)
        self.loop = self._build_loop(home, settings, rng)

    @property
    def background(self) -> "MemoryWorkers":
        """The workers behind the turns. Their modules are imported at the first use: answers need none of them."""
        if self._background is None:
            from kenobot.cognitive.memory import MemoryWorkers, WorkerContext

            context = WorkerContext(
                database=self.database,
                bus=self.bus,
                clock=self.clock,
                zone=self.zone,
                files=self.memory_files,
                ledger=self.ledger,
                index=self.index,
                embedding=self.embedding,
                quiet=self.quiet,
            )
            window = prompt_limits(self.settings).window
            self._background = MemoryWorkers(
                self.home, self.settings, context, self.indexer, self._background_model, window
            )
        return self._background

    @property
    def reminders(self) -> "ReminderDelivery":
        """Return the delivery of reminders, whose modules are imported at its first use."""
        if self._reminders is None:
            from kenobot.agenda.delivery import ReminderDelivery

            self._reminders = ReminderDelivery(
                self.database,
                self.clock,
                self.zone,
                self._messenger,
                self.access,
                compose={"morning": self._compose_morning},
                find_home=self.owner_alerts.find_home,
            )
        return self._reminders

    def _compose_morning(self, connection: Connection, job: "Job", at: datetime) -> str | None:
        from kenobot.agenda.morning import compose_morning  # which reads times out of texts, once a day

        return compose_morning(connection, job, at, self.zone)

    def build_overdue_asker(self) -> "OverdueAsker":
        """Construct what asks the owner about promises that are overdue."""
        from kenobot.agenda.overdue import OverdueAsker

        return OverdueAsker(self.database, self.clock, self.zone, self._messenger, self.owner_alerts)

    def _build_loop(self, home: Home, settings: Settings, rng: Random) -> AgentLoop:
        """Construct the loop and its turns."""
        database, clock, zone, language = self.database, self.clock, self.zone, reply_language(settings)
        identity, index = Identity(home.identity), self.index
        reads_skills = any(tool.name == READER for tool in self.plugins.tools) and self._calls_tools
        skills = self.skills if reads_skills else None
        builder = ContextBuilder(identity, zone, prompt_limits(settings), index, skills)
        asked = (settings, self._background_model, self.ledger, clock)
        reranker, expander = build_reranker(*asked), build_query_expander(*asked)
        prompts = PromptService(database, builder, self.memory_files, clock, self.embedding, reranker, expander)
        toolbox = build_toolbox(settings, self.plugins)
        self.tasks = self._build_tasks()
        services = TurnServices(
            database=database,
            bus=self.bus,
            clock=clock,
            zone=zone,
            access=self.access,
            prompt_service=prompts,
            embedding=self.embedding,
            mirror=self.memory_files,
            model=self._model,
            pipeline=Pipeline(self.plugins.processors, self.redact),
            channels=self.channels,
            redact=self.redact,
            rng=rng,
            commands=self._build_commands(toolbox),
            command_listeners=(self.note_changes,),
            identity=identity,
            delivery=self.delivery,
            personal=self.personal,
            language=language,
            default_language=self._default_language,
            shows_drafts=settings.messages.drafts,
            media=self.media,
            tools=None if toolbox is None else self._build_tool_stage(toolbox, prompts),
            tasks=self.tasks,
            policy=turn_policy(self._model.provider_count, 0 if toolbox is None else toolbox.limits.rounds),
            memory_reporter=self._build_memory_reporter if self._reports_memory else None,
        )
        joins = Fragments(self.inbox, clock, self.channels)
        intake = IntakePolicy(
            self.admission, self._messenger, language, fragments=joins, prepare_to_read=prepare_to_read
        )
        turns = TurnRunner(services)
        if self.tasks is not None:
            self.tasks.attach(turns)
        return AgentLoop(self.inbox, self.bus, clock, turns, self._model, rng, intake)

    def _build_commands(self, toolbox: "Toolbox | None") -> CommandRegistry:
        """Construct the commands of a chat."""
        context = self.command_context = CommandContext(
            zone=self.zone,
            folder=self.home.memory,
            access=self.access,
            memory=self.memory,
            language=reply_language(self.settings),
            budgets=self.ledger.limits,
            skills=self.skills,
            bot_name=self.settings.bot.name,
            activity=lambda: self.loop.activity(),  # noqa: PLW0108 - the loop is built later
            causes=lambda: () if self.watch is None else self.watch.causes,
            without_model=self._model.reports_memory(0),
            tools=() if toolbox is None else toolbox.own_names,
            tools_off=self._list_unusable,
            servers=lambda: () if self.plugins.mcp is None else self.plugins.mcp.states,
        )
        return CommandRegistry(context, self.personal)

    def _build_tool_stage(self, toolbox: "Toolbox", prompts: PromptService) -> "ToolStage":
        """Build what runs tools. Imported where any is enabled."""
        from kenobot.agent.turn.tool_stage import ToolStage

        if not self._calls_tools:
            _log.warning("Tools are enabled, but no provider that is set can call any.")
        parts = (self.database, self.bus, self.clock, self.zone, self.redact)
        rules = self.settings.tools.rules
        return ToolStage(toolbox, *parts, prompts.search, rules, self.skills, self.channels)

    def _build_tasks(self) -> "TaskWorker | None":
        """Build what runs tasks in the background, where a tool begins them. Imported where it is enabled."""
        tool = next((each for each in self.plugins.tools if each.name == BACKGROUND), None)
        if tool is None or not self._calls_tools:
            return None
        from kenobot.agent.turn.task_run import TaskLimits
        from kenobot.agent.turn.task_worker import TaskWorker

        limits = TaskLimits(**dict(getattr(tool, "settings", {})))
        return TaskWorker(self.database, self.clock, self._messenger, self.access, self.redact, limits)

    def _list_unusable(self) -> list[tuple[str, str]]:
        """List which tools, workspaces and MCP servers of the settings are off, and why."""
        from kenobot.app.tool_report import find_unusable

        return list(find_unusable(self.loaded))

    @property
    def _calls_tools(self) -> bool:
        """Return whether a provider can call tools."""
        return any(map(self._model.calls_tools, range(self._model.provider_count)))

    @property
    def _reports_memory(self) -> bool:
        """Return whether a provider answers from a report of memory."""
        return any(map(self._model.reports_memory, range(self._model.provider_count)))

    def _build_memory_reporter(self) -> "MemoryReporter":
        """Build what reports memory to a provider without a language model. Imported at the first need."""
        from kenobot.agent.turn.change_question import ChangeAsker
        from kenobot.agent.turn.memory_report import MemoryReporter

        asker = ChangeAsker(self.zone, self.settings.memory.ask_changes, self.index)
        return MemoryReporter(
            self.database,
            self.clock,
            self.zone,
            self.index,
            self.embedding,
            self.memory_files,
            final=self._background_model is None,
            asker=asker,
        )

    def _build_memory_files(self) -> Mirror:
        """Build the mirror of memory in Markdown files, or one without files."""
        if self.shared is not None:
            from kenobot.app.no_memory_files import NoMemoryFiles

            return NoMemoryFiles()
        return MemoryFiles(
            self.home.memory,
            self.database,
            self.clock,
            self.zone,
            policy=Policy.of(self.settings.sleep),
            announce=self._announce_intake,
            quiet=self.quiet_for_files,
        )

    def _share_console(self) -> SharedConsole:
        """Make room for more screens beside the console of this process, if there is one."""
        local = self.channels.get(SharedConsole.name)
        if not isinstance(local, Console):
            return SharedConsole()
        shared = SharedConsole(local)
        self.channels[shared.name] = shared
        return shared

    async def start(self) -> None:
        """Take up what an earlier run left behind, then be ready for new messages, and work behind the turns."""
        await self.start_turns()
        await self.start_background()

    async def hold_turns(self) -> None:
        """Be ready to take messages in, and answer none before `start_turns`."""
        await self.admission.refresh()
        await self.personal.refresh()
        await self.loop.hold()

    async def start_turns(self) -> None:
        """Take up the messages that an earlier run left behind, then be ready for new ones."""
        if self.shared is None:
            self._responsive.enter_context(responsive())
        await self._keep_house()
        self.scheduler.run_every(3600.0, "housekeeping", self._keep_house)
        self.scheduler.run_every(2.0, "audit", self.audit.flush)
        if self.shared is None:
            self.scheduler.run_every(1.0, "command line", self.check_external_changes)
            self.scheduler.run_every(10.0, "memory files", self.memory_files.scan)
        self.scheduler.run_every(60.0, "sweep", self.sweep)
        self.scheduler.run_every(15.0, "memory index", self.indexer.tick)
        self.scheduler.run_every(60.0, "whole memory index", self.indexer.index_all)
        self.scheduler.run_every(60.0, "memory by meaning", self.embedding.tick)
        await self.admission.refresh()
        await self.personal.refresh()
        self.owner_alerts.attach(self.bus)
        await self.owner_alerts.send_kept()
        self.audit.attach(self.bus)
        self.memory_files.begin()
        await self.delivery.sweep()
        await self.loop.start()
        if self.tasks is not None:
            self.scheduler.run_every(_TASK_SECONDS, "tasks", self.tasks.look)
            self.tasks.wake()
        await self.proposal_announcer.start(self.scheduler)
        await self.bus.emit(STARTED, "app", "", channels=" ".join(self.channels), provider=self.plugins.provider.name)

    async def start_background(self) -> None:
        """Begin the work behind the turns."""
        await self.background.start(self.scheduler)

    def note_changes(self, changes: Collection[Change]) -> None:
        """Hand on what a command or a request changed; it is on disk.

        The work behind the turns is told once it has begun: before, it looks by itself.
        """
        self.admission.note_command(changes)
        self.proposal_announcer.note_command(changes)
        self.personal.note_command(changes)
        if self._background is not None:
            self._background.sleep_worker.note_command(changes)
        if self.tasks is not None:
            self.tasks.note_command(changes)

    async def _keep_house(self) -> None:
        await self.owner_alerts.save_owner_chat()
        await self.inbox.prune()
        await self.outbox.prune()
        at = self.clock.now()
        await prune_tables(self.database, at)
        if await self.database.write(lambda connection: Telling.close_idle_boxes(connection, at)):
            self.memory_files.mark_dirty(())

    async def _announce_intake(self, notice: IntakeNotice) -> None:
        signal = MEMORY_INTAKE_FINISHED if notice.is_done else MEMORY_INTAKE_STARTED
        at = self.clock.now().isoformat()
        await self.bus.emit(signal, "memory", "", path=notice.path, changes=notice.changes, at=at)

    def circuits(self) -> Sequence[tuple[str, CircuitBreaker]]:
        """Return the name of each provider that answers people, and the breaker in front of it."""
        return self._model.circuits

    async def check_alive(self) -> None:
        """Return when the database has answered. Raises StoreError."""
        await self.database.read(lambda connection: connection.execute("SELECT 1").fetchone())

    async def check_external_changes(self) -> None:
        """Follow what the command line changed meanwhile: people, messages and memory."""
        if await self.database.has_changed_elsewhere() or self.admission.stale:
            await self.admission.refresh()
            self.memory_files.mark_dirty(())  # memory may have changed as well
            self.embedding.wake()
            await self.sweep()

    async def sync_external_changes(self) -> int:
        """Follow what a command wrote, and what people did to the files, until the files say so too.

        Returns how many facts people's edits touched. Raises StoreError.
        """
        await self.check_external_changes()
        await self.memory_files.wait_caught_up()
        touched = await self.memory_files.sync_in()
        await self.memory_files.sync_out()
        return touched

    async def open_console(self) -> None:
        """Send the console's answers, those that wait for a screen first."""
        self.channels[self.console.name] = self.console
        await self.delivery.sweep()

    def close_console(self) -> None:
        """Leave the console's answers in the outbox once no screen shows them."""
        if not self.console.is_seen:
            self.channels.pop(self.console.name, None)

    async def wait_console_answered(self) -> None:
        """Return once every message of the console is answered, and every answer was sent."""
        session, chat = session_id(self.console.name, CHAT), (self.console.name, CHAT)
        while True:
            await self.loop.wait_chat_idle(session)
            await self.delivery.queue.wait_free(chat)
            if self.delivery.queue.is_free(chat) and self.loop.is_chat_idle(session):
                return

    async def sweep(self) -> None:
        """Queue what nothing works on, so that every accepted message ends and every part leaves."""
        await self.loop.sweep()
        await self.delivery.sweep()

    async def wait_drained(self) -> None:
        """Return once every accepted message is answered, every answer sent and every file written."""
        while True:
            await self.loop.wait_idle()
            await self.admission.wait_refreshed()
            await self.personal.wait_refreshed()
            await self.delivery.queue.wait_idle()
            await self.proposal_announcer.wait_idle()
            await self.bus.drain()
            await self.owner_alerts.under_way.wait_idle()
            if self.tasks is not None:
                await self.tasks.wait_idle()
            if self.delivery.queue.idle and self.loop.idle:
                break
        await self.memory_files.wait_caught_up()
        await self.memory_files.sync_out()

    async def stop(self) -> None:
        """Finish or defer what is under way, then close everything, within ten seconds in all."""
        began = self.begin_to_stop()
        for step, seconds in ((self._finish, _FINISHED_BY), (self._send_last, _SENT_BY), (self._close, _CLOSED_BY)):
            try:
                async with asyncio.timeout_at(began + seconds):
                    await step()
            except TimeoutError:
                _log.warning("Something did not end in time: what it was at is left to the next start.")
        await self.database.close(_CLOSE_SECONDS / 2)
        self.index.close()
        self._responsive.close()

    def begin_to_stop(self) -> float:
        """Note, once, when the end was begun: what is done from then on counts towards its ten seconds."""
        if self._stop_began is None:
            self._stop_began = asyncio.get_running_loop().time()
        return self._stop_began

    async def _finish(self) -> None:
        """Begin nothing more, and give turns and jobs under way some seconds."""
        await self.bus.emit(STOPPING, "app", "")
        if self._background is not None:
            await self._background.sleep_worker.stop()
        if self.watch is not None:
            await self.watch.stop()
        tasks = () if self.tasks is None else (self.tasks.stop(_GRACE_SECONDS),)
        await asyncio.gather(self.scheduler.stop(_GRACE_SECONDS), self.loop.stop(_GRACE_SECONDS), *tasks)

    async def _send_last(self) -> None:
        """Send what is on its way, and stop what works beside the turns."""
        self.database.hurry()
        if self._background is not None:
            await self._background.stop_extracting()
        if self._reminders is not None:
            await self._reminders.stop()
        for worker in (self.media, self.proposal_announcer, self.indexer, self.embedding):
            await worker.stop()
        await self._drain()
        await self.owner_alerts.under_way.stop()
        await self.delivery.queue.stop(2 * _CLOSE_SECONDS)

    async def _close(self) -> None:
        """Bring files and logs up to date as far as there is time, and close the plugins."""
        await self._drain()
        await self.bus.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.memory_files.stop()
        with contextlib.suppress(StoreError):  # a full disk is no reason to end badly
            await self.audit.flush()
        await close_plugins(self.plugins.closable)

    async def _drain(self) -> None:
        """Give observers a moment for the signals that were sent."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.bus.drain()
