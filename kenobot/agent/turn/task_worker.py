"""Run tasks in the background, each as a turn of its own beside the chats, and tell how far they are.

A task is an inbox row that no chat takes up, so it goes on after a restart from its last stored step, ends in one
transaction with its result, and is a dead letter when it kills the process again and again.
"""

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence, Set
from datetime import datetime
from functools import partial
from typing import Protocol

from kenobot.agent.commands.command import Command, CommandCall, CommandContext
from kenobot.agent.commands.tasks import tell_did
from kenobot.agent.prompt.shown_message import PersonText
from kenobot.agent.turn import background, tool_consent
from kenobot.agent.turn.background import TaskWaits
from kenobot.agent.turn.background_words import asks_for_background, is_only_background
from kenobot.agent.turn.pieces import ToolRound
from kenobot.agent.turn.task_run import TaskLimits, TaskRun, TaskSeed
from kenobot.agent.turn.tool_refusals import INTERRUPTED
from kenobot.agent.turn.turn_data import TurnData
from kenobot.core import texts
from kenobot.core.attachment_words import without_attachments
from kenobot.core.redaction import Redactor
from kenobot.core.retry import Backoff
from kenobot.core.worker import TaskSet, finish_or_cancel, was_cancelled
from kenobot.gateway.access import Access
from kenobot.gateway.bot_messages import BotMessenger
from kenobot.ports.channel import Channel, capabilities_of
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.ports.messages import Inbound, Outbound
from kenobot.storage import approvals, tasks, tool_runs
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox_rows import PendingMessage
from kenobot.storage.outbox import Destination
from kenobot.storage.tasks import Task

_log = logging.getLogger(__name__)

_APART_SECONDS = 5.0  # between two changes of a task's message
_ENDING = 0.9  # of its time, from which on a task runs no more tools
_CUT_SHORT = 2  # attempts that came to no end, after which a task may be what kills the process
_CAUTION = Backoff(0.25, 16.0, factor=4.0)
_PARKED = Backoff(5.0, 60.0)
_END_PART = 2000  # of the work of a task: why it came to no end
_TOO_LONG = "it took longer than a task may"
_UNANSWERED = "its question was not answered"


class TaskTurns(Protocol):
    """Runs the turn of a task."""

    async def run_task(self, pending: PendingMessage, run: TaskRun) -> bool:
        """Run it; returns whether it is done with, or waits for its person. If not, no model could be reached."""
        ...

    async def wait_for_model(self, longest: float) -> None:
        """Return when a model that did not answer may do so again."""
        ...


class TaskWorker:
    """Holds the tasks under way. `attach` the turns before use; `look` at the start, and `stop` at the end."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        messenger: BotMessenger,
        access: Access,
        redact: Redactor,
        limits: TaskLimits,
    ) -> None:
        self._database = database
        self._clock = clock
        self._messenger = messenger
        self._access = access
        self._redact = redact
        self.limits = limits
        self._turns: TaskTurns | None = None
        self._one_look = asyncio.Lock()
        self._looks = TaskSet("tasks")
        self._running: dict[int, asyncio.Task[None]] = {}  # bounded: 2 tasks; turn
        self._guests_at_work: set[int] = set()  # bounded: the same; turn
        self._runs: dict[int, TaskRun] = {}  # bounded: the same; turn
        # Whether each has waited long enough.
        self._suspects: dict[int, bool] = {}  # bounded: the open tasks; turn
        self._deferrals: dict[int, int] = {}  # bounded: the same; turn
        self._stopping = False

    def attach(self, turns: TaskTurns) -> None:
        """Take what runs the turns."""
        self._turns = turns

    @property
    def _channels(self) -> Mapping[str, Channel]:
        return self._messenger.channels

    # ── for turns ────────────────────────────────────────────────────────────────────────────────────────────────

    def may_begin(self, data: TurnData) -> bool:
        """Return whether a turn may begin a task: none does of its own, nor one of a program that waits for answers."""
        return data.task is None and self._has_tasks(data.pending.inbound.channel)

    def _has_tasks(self, name: str) -> bool:
        channel = self._channels.get(name)
        return channel is not None and not capabilities_of(channel).keeps_answers

    def find_seed(self, rounds: Sequence[ToolRound]) -> TaskSeed | None:
        """Return what the task begins with that the model of a turn wants; None where it wants none."""
        return background.find_seed(rounds, self._redact)

    def begin(self, connection: Connection, data: TurnData, at: datetime) -> list[Outbound]:
        """Begin the task of a turn in the transaction that commits it; return the message that shows it."""
        if data.seed is None:
            return []
        return background.begin_task(connection, data, data.seed, self._channels, at)

    async def find_command(self, data: TurnData) -> tuple[Command, str] | None:
        """Return what obeys a message that wants something done in the background, or that answers a task's question.

        Raises StoreError.
        """
        inbound = data.pending.inbound
        if (answer := tool_consent.read_answer(data)) is not None:
            at = self._clock.now()
            asked = await self._database.read(lambda connection: tool_consent.find_asked(connection, data, at))
            if asked is None or "task" not in asked.payload:
                return None
            told = Command(
                (),
                lambda connection, call, _: background.answer_for_task(connection, data, answer, call.at),
                changes=frozenset({"tasks"}),
            )
            return told, ""
        has_pictures = any(each.kind in ("image", "video") for each in inbound.attachments)
        own_words = PersonText(without_attachments(inbound.text)).own_words
        language = asks_for_background(own_words, has_pictures=has_pictures)
        if language is None or not self.may_begin(data):
            return None
        begins = Command((), partial(self._obey, data), changes=frozenset({"tasks"}), language=language)
        return (begins, "") if begins.is_allowed(data.principal, inbound) else None

    def _obey(self, data: TurnData, connection: Connection, call: CommandCall, _: CommandContext) -> str:
        """Begin the task that a message asks for; the message that shows it is the answer."""
        data.language = call.language
        moved = tasks.find_by_origin(connection, data.pending.id) or self._find_said_twice(connection, data)
        if moved is not None and not moved.is_open:  # it was over before this turn began
            return texts.TASK_DONE(call.language, number=moved.id, title=moved.title)
        if moved is not None:
            data.beside = background.show_task(connection, data, moved, self._channels, call.at)
            return ""
        if tasks.count_open(connection, call.inbound.user) >= background.MOST_OPEN:
            return texts.TASKS_TOO_MANY(call.language, most=background.MOST_OPEN)
        data.beside = background.begin_task(connection, data, TaskSeed(), self._channels, call.at)
        return ""

    @staticmethod
    def _find_said_twice(connection: Connection, data: TurnData) -> Task | None:
        """Return the task that the message before moved to the background, where this one says no more than that."""
        before = tasks.message_before(connection, data.pending.session, data.pending.id)
        task = tasks.find_by_origin(connection, before) if is_only_background(data.pending.inbound.text) else None
        is_own = task is not None and task.is_moved and task.sender == data.pending.inbound.user
        return task if is_own else None

    def moves(self, under_way: Inbound, inbound: Inbound) -> bool:
        """Return whether a message has the turn under way before it go on in the background."""
        is_own = inbound.user == under_way.user and under_way.kind == inbound.kind == "message"
        has_tasks = self._has_tasks(inbound.channel)
        return is_own and has_tasks and not inbound.forwarded and is_only_background(inbound.text)

    async def move(self, data: TurnData, asked_by: int) -> bool:
        """Make the turn under way a task; returns whether it is one.

        It begins when the message that asked for it has shown it.
        """
        move = partial(background.move_turn, data=data, asked_by=asked_by, at=self._clock.now())
        if not await self._database.write(move):
            return False
        await data.calls.release()
        return True

    async def ask(self, data: TurnData, held: Exception) -> bool:
        """Put the call of a task to the owner where that is what ended its turn; False for any other end."""
        if not isinstance(held, TaskWaits):
            return False
        asking = partial(background.ask_for_task, data=data, held=held, channels=self._channels, at=self._clock.now())
        self._messenger.dispatch(await self._database.write(asking))
        await data.calls.release()
        return True

    def note_command(self, changes: Collection[str]) -> None:
        """Follow what a command changed."""
        if "tasks" in changes:
            self.wake()

    # ── under way ────────────────────────────────────────────────────────────────────────────────────────────────

    def wake(self) -> None:
        """Look soon for what is to be done."""
        if not self._stopping:
            self._looks.begin(self._look_safely())

    async def _look_safely(self) -> None:
        try:
            await self.look()
        except StoreError as error:
            _log.warning("tasks have to wait: %s", error)
        except Exception:
            _log.exception("tasks could not be looked after")

    async def look(self) -> None:
        """Begin what waits, break off what was cancelled, end what nobody answered, and tell of ends."""
        async with self._one_look:
            found = await self._database.read(tasks.open_tasks)
            await self._break_off({each.id for each in found})
            for task in found:
                if task.state == "waiting":
                    await self._end_unanswered(task)
                elif task.id not in self._running and not self._stopping and self._may_run(task):
                    self._running[task.id] = asyncio.create_task(self._run(task), name=f"task {task.id}")
                    self._guests_at_work |= set() if self._is_owners(task) else {task.id}
            if await self._database.read(tasks.list_ended_tasks):
                self._messenger.dispatch(await self._database.write(self._show_ends))

    async def _break_off(self, open_ids: Set[int]) -> None:
        """Break off what was cancelled; what came to an end by itself still announces that, and is left alone."""
        for number in self._suspects.keys() - self._running.keys() - open_ids:
            del self._suspects[number]
        for number in self._running.keys() - open_ids:
            task = await self._database.read(partial(tasks.get_task, number=number))
            if (task is None or task.state == "cancelled") and number in self._running:
                self._running[number].cancel()

    def _may_run(self, task: Task) -> bool:
        """Return whether a task may run now.

        One that earlier runs of the process may have died of waits a while first, and takes nobody's place meanwhile.
        Two such tasks never run beside each other, so that neither is given up for what the other does.
        """
        if task.attempts < _CUT_SHORT:
            return self._has_room(task)
        if task.id not in self._suspects:
            self._suspects[task.id] = False
            self._looks.begin(self._wait_with_caution(task))
        is_alone = self._suspects.keys().isdisjoint(self._running)
        return self._suspects[task.id] and is_alone and self._has_room(task)

    async def _wait_with_caution(self, task: Task) -> None:
        await self._clock.sleep(_CAUTION.pause(task.attempts - _CUT_SHORT))
        if task.id in self._suspects:
            self._suspects[task.id] = True
        await self._look_safely()

    def _has_room(self, task: Task) -> bool:
        """Return whether one more may run: of guests there is always one less, so that the owner waits for none."""
        most = self.limits.at_once if self._is_owners(task) else max(1, self.limits.at_once - 1)
        return len(self._running) < self.limits.at_once and len(self._guests_at_work) < most

    def _is_owners(self, task: Task) -> bool:
        return self._access.is_owner(task.channel, task.sender)

    def _show_ends(self, connection: Connection) -> list[Outbound]:
        at = self._clock.now()
        return [
            part
            for task in tasks.list_ended_tasks(connection)
            for part in background.show_end(connection, task, self._channels, at)
        ]

    async def _run(self, task: Task) -> None:
        try:
            await self._run_once(task)
        except StoreError as error:
            _log.warning("task %d has to wait: %s", task.id, error)
            await self._clock.sleep(_PARKED.pause(0))
        except (Exception, asyncio.CancelledError) as error:
            if was_cancelled(error):
                raise
            _log.exception("task %d broke; it is tried again", task.id)
            await self._clock.sleep(_PARKED.pause(0))
        finally:
            del self._running[task.id]
            self._guests_at_work.discard(task.id)
            self._runs.pop(task.id, None)
            self._suspects.pop(task.id, None)
            self.wake()

    async def _run_once(self, task: Task) -> None:
        """Give a task one attempt; where no model answers, wait until one may."""
        assert self._turns is not None
        pending = await self._database.read(lambda connection: tasks.load_message(connection, task))
        if pending is None:
            return
        if self._access.access_level(pending.inbound) == "stranger":
            await self._database.write(lambda c: tasks.cancel(c, task, self._clock.now()))
            return
        run = await self._prepare(task)
        try:
            async with asyncio.timeout(60 * self.limits.minutes):
                done = await self._turns.run_task(pending, run)
        except TimeoutError:
            why = texts.TASK_TOO_LONG(task.language, minutes=f"{self.limits.minutes:g}")
            await self._end(task, _TOO_LONG, why)
            return
        if done or run.is_stopping:
            self._deferrals.pop(task.id, None)
            return
        tries = self._deferrals[task.id] = self._deferrals.get(task.id, 0) + 1
        await self._turns.wait_for_model(_PARKED.pause(tries - 1))

    async def _prepare(self, task: Task) -> TaskRun:
        """Make what a turn knows of its task."""
        runs = await self._database.read(lambda connection: tool_runs.runs_of_turn(connection, task.inbox_id))
        steps, broken_off = len(runs), sum(run.told == INTERRUPTED for run in runs)
        ended = sum(run.outcome != "begun" for run in runs) if broken_off <= _CUT_SHORT else 0
        told = self._clock.monotonic() - _APART_SECONDS
        ends = self._clock.monotonic() + 60 * _ENDING * self.limits.minutes

        async def note(tool: str) -> None:
            nonlocal steps, told
            steps, now = steps + 1, self._clock.monotonic()
            if now - told < _APART_SECONDS:
                return
            told = now
            show = partial(
                background.show_progress,
                number=task.id,
                steps=steps,
                tool=tool,
                channels=self._channels,
                at=self._clock.now(),
            )
            try:
                self._messenger.dispatch(await self._database.write(show))
            except StoreError as error:
                _log.debug("the progress of task %d was not stored: %s", task.id, error)

        run = self._runs[task.id] = TaskRun(task, self.limits, note, lambda: self._clock.monotonic() > ends, ended)
        return run

    async def _end_unanswered(self, task: Task) -> None:
        """End a task whose question nobody answered in time."""
        asked = await self._database.read(lambda connection: approvals.get_approval(connection, task.asked))
        if asked is None or asked.expires <= self._clock.now():
            await self._end(task, _UNANSWERED, texts.TASK_UNANSWERED(task.language))

    async def _end(self, task: Task, reason: str, why: str) -> None:
        """End a task that comes to no result, and say what it did until then."""
        at = self._clock.now()

        def write(connection: Connection) -> list[Outbound]:
            did = tell_did(connection, task, task.language)
            if not tasks.cancel(connection, task, at, reason):
                return []
            words = texts.TASK_ENDED(task.language, number=task.id, title=task.title, why=why)
            to = Destination(task.channel, task.chat, f"task-{task.id}", task.inbox_id, _END_PART, thread=task.thread)
            return self._messenger.enqueue(connection, to, "\n".join(filter(None, (words, did))))

        self._messenger.dispatch(await self._database.write(write))

    @property
    def idle(self) -> bool:
        """Return whether no task is under way."""
        return not self._running and self._looks.idle

    async def wait_idle(self) -> None:
        """Return once no task is under way."""
        while self._running or not self._looks.idle:
            await self._looks.wait_idle()
            if self._running:
                await asyncio.wait(self._running.values())

    async def stop(self, grace: float) -> None:
        """Begin nothing more; break off what is under way, after `grace` seconds also what is at work with a tool."""
        self._stopping = True
        for number, under_way in self._running.items():
            run = self._runs.get(number)
            if run is not None:
                run.is_stopping = True
            if run is None or not run.is_busy:
                under_way.cancel()
        await finish_or_cancel(tuple(self._running.values()), grace)
        await self._looks.stop()
