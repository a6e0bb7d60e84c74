"""Define a task in the background that is under way, and what it begins with."""

import contextlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace

from kenobot.agent.prompt.speakers import message_text
from kenobot.agent.turn.pieces import ToolRound
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Inbound
from kenobot.ports.names import Role
from kenobot.storage import message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.tasks import Task


@dataclass(frozen=True, slots=True)
class TaskLimits:
    """Bound the tasks. at_once: that run beside each other. minutes, rounds: of each."""

    at_once: int = 2
    minutes: float = 30.0
    rounds: int = 40


@dataclass(slots=True)
class TaskRun:
    """A task under way. note: that it calls a tool. ends_soon: whether its time is nearly over.

    steps: calls of tools that earlier attempts brought to an end, each of which is good for one more. is_busy: with
    its tools. is_stopping: the process is, and the task goes on at the next start.
    """

    task: Task
    limits: TaskLimits
    note: Callable[[str], Awaitable[None]]
    ends_soon: Callable[[], bool]
    steps: int = 0
    is_busy: bool = False
    is_stopping: bool = False

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Count it as busy with its tools."""
        self.is_busy = True
        try:
            yield
        finally:
            self.is_busy = False

    def words(self, connection: Connection, inbound: Inbound, role: Role) -> str:
        """Return the person's side in the conversation: their words, unless it has these already."""
        task = self.task
        if not message_rows.messages_of_turns(connection, [task.origin]):
            return message_text(inbound, role)
        return message_text(replace(inbound, text=f"[task {task.id}: {task.title}]", quoted=""), role)


@dataclass(frozen=True, slots=True)
class TaskSeed:
    """Hold what a task begins with: the rounds of tools before it was begun."""

    rounds: tuple[ToolRound, ...] = ()
