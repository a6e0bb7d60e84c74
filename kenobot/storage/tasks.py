"""Store tasks in the background: a row each, beside the inbox row of kind "task" whose turn does the work.

The state of a task is that of its inbox row, so that both change in one transaction. A task that waits for a yes is an
open row with a question.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Literal

from kenobot.core.i18n import Language
from kenobot.ports.frozen import dataclass
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox_rows import PendingMessage, join_message, load_pending
from kenobot.storage.turn_steps import drop_steps

TaskState = Literal["queued", "running", "waiting", "done", "failed", "cancelled"]

CANCELLED = "cancelled by a person"
_OPEN = "inbox.state IN ('pending', 'claimed')"
_COLUMNS = (
    "task.id, task.inbox_id, origin, title, language, shown, last, button, asked, consent, inbox.session, "
    "inbox.channel, inbox.chat, inbox.thread, inbox.sender, inbox.private, inbox.received_at, inbox.done_at, "
    "inbox.attempts, CASE WHEN inbox.state IN ('pending', 'claimed') AND asked THEN 'waiting' "
    "WHEN inbox.state = 'pending' THEN 'queued' WHEN inbox.state = 'claimed' THEN 'running' "
    "WHEN inbox.state = 'answered' THEN 'done' WHEN inbox.state = 'dropped' THEN 'cancelled' ELSE 'failed' END"
)
_FROM = "FROM task JOIN inbox ON inbox.id = task.inbox_id"


@dataclass(frozen=True, slots=True)
class Task:
    """A task. inbox_id, origin, shown, last, button, asked, consent: as the table of this name has them.

    attempts: claims of its work that were not given back.
    """

    id: int
    inbox_id: int
    origin: int
    title: str
    language: Language
    shown: int
    last: int
    button: str
    asked: int
    consent: str
    session: str
    channel: str
    chat: str
    thread: str
    sender: str
    private: bool
    begun: datetime
    ended: datetime | None
    attempts: int
    state: TaskState

    @property
    def is_moved(self) -> bool:
        """Return whether it was begun as a turn of its chat, and a later message made a task of it."""
        return self.origin > self.inbox_id

    @property
    def is_open(self) -> bool:
        return self.state in ("queued", "running", "waiting")


def add_task(connection: Connection, inbox_id: int, origin: int, title: str, language: Language) -> int:
    """Store a task inside the transaction of the turn that begins it; return its number."""
    cursor = connection.execute(
        "INSERT INTO task (inbox_id, origin, title, language) VALUES (?, ?, ?, ?)", (inbox_id, origin, title, language)
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def move_message(connection: Connection, message: int, attempt: int) -> bool:
    """Make a message whose turn is under way, with its fragments, one that no chat takes up; its steps stay.

    False where `attempt` is not its latest claim.
    """
    moved = connection.execute(
        "UPDATE inbox SET kind = 'task', state = 'pending', attempts = attempts - 1 "
        "WHERE id = ? AND attempts = ? AND state = 'claimed'",
        (message, attempt),
    )
    if moved.rowcount:
        connection.execute("UPDATE inbox SET kind = 'task' WHERE joined_to = ? AND done_at IS NULL", (message,))
    return bool(moved.rowcount)


def note_shown(connection: Connection, number: int, shown: int, button: str = "") -> None:
    """Note which part of the outbox shows a task, 0 for none any more, and the value of its button."""
    connection.execute("UPDATE task SET shown = ?, button = ? WHERE id = ?", (shown, button, number))


def note_change(connection: Connection, number: int, part: int) -> None:
    """Note which part of the outbox changed the message of a task last."""
    connection.execute("UPDATE task SET last = ? WHERE id = ?", (part, number))


def follow_shown(connection: Connection, task: Task) -> tuple[int, bool]:
    """Return the part whose message shows a task, and whether it may be changed now: no change is on its way.

    Where its message is gone, the platform got a new one for the last change: that shows the task from then on.
    """
    rows = connection.execute(
        "SELECT id, state, platform_id FROM outbox WHERE id IN (?, ?) ORDER BY id", (task.shown, task.last)
    ).fetchall()
    if not rows or rows[0][0] != task.shown:
        return task.shown, False
    shown, (last, state, platform_id) = rows[0], rows[-1]
    if state == "sent" and platform_id and platform_id != shown[2]:
        connection.execute("UPDATE task SET shown = ? WHERE id = ?", (last, task.id))
        return int(last), True
    return task.shown, state == "sent" and bool(shown[2])


def get_task(connection: Connection, number: int) -> Task | None:
    """Return a task by its number."""
    return next(_load(connection, "task.id = ?", number), None)


def find_by_origin(connection: Connection, origin: int) -> Task | None:
    """Return the task that a message began."""
    return next(_load(connection, "origin = ?", origin), None)


def message_before(connection: Connection, session: str, message: int) -> int:
    """Return the message of a session before this one; 0 without any."""
    before: int = connection.execute(
        "SELECT coalesce(max(id), 0) FROM inbox WHERE session = ? AND id < ? AND kind = 'message'", (session, message)
    ).fetchone()[0]
    return before


def open_tasks(connection: Connection) -> list[Task]:
    """Return the tasks that are not over, in their order."""
    return list(_load(connection, f"{_OPEN} ORDER BY task.id"))


def list_ended_tasks(connection: Connection) -> list[Task]:
    """Return the tasks that are over and whose message does not say so yet."""
    return list(_load(connection, f"shown AND NOT {_OPEN}"))


def tasks_of(connection: Connection, channel: str, sender: str, session: str, most: int) -> list[Task]:
    """Return the newest tasks of a channel. sender: whose; "" for everybody. session: of this one alone; "" for all."""
    where = "inbox.channel = ? AND ? IN ('', inbox.sender) AND ? IN ('', inbox.session) ORDER BY task.id DESC LIMIT ?"
    return list(_load(connection, where, channel, sender, session, most))


def newest_tasks(connection: Connection, most: int) -> list[Task]:
    """Return the newest tasks of all channels, the newest first."""
    return list(_load(connection, "1 ORDER BY task.id DESC LIMIT ?", most))


def load_message(connection: Connection, task: Task) -> PendingMessage | None:
    """Load the inbox row that is the work of a task, with its fragments."""
    where = "id = ? OR (joined_to = ? AND kind = 'task') ORDER BY id"
    found = tuple(load_pending(connection, where, task.inbox_id, task.inbox_id))
    return join_message(found) if found else None


def count_open(connection: Connection, sender: str) -> int:
    """Count the tasks of an account that are not over."""
    counted: int = connection.execute(
        f"SELECT count(*) {_FROM} WHERE {_OPEN} AND inbox.sender = ?", (sender,)
    ).fetchone()[0]
    return counted


def wait_for(connection: Connection, task: Task, question: int) -> None:
    """Let a task wait for the answer to a question; its claim is given back."""
    connection.execute("UPDATE task SET asked = ? WHERE id = ?", (question, task.id))
    connection.execute(
        "UPDATE inbox SET state = 'pending', attempts = max(0, attempts - 1) WHERE id = ? AND state = 'claimed'",
        (task.inbox_id,),
    )


def go_on(connection: Connection, task: Task, consent: str = "") -> None:
    """End the wait of a task. consent: the call that may run."""
    connection.execute("UPDATE task SET asked = 0, consent = ? WHERE id = ?", (consent, task.id))


def take_consent(connection: Connection, number: int, call: str) -> bool:
    """Use up the consent to a call; False where there is none to this one."""
    return (
        connection.execute(
            "UPDATE task SET consent = '' WHERE id = ? AND consent = ? AND consent != ''", (number, call)
        ).rowcount
        == 1
    )


def cancel(connection: Connection, task: Task, at: datetime, reason: str = CANCELLED) -> bool:
    """End a task that is not over; False for one that is. Its steps go with it."""
    ended = connection.execute(
        "UPDATE inbox SET state = ?, reason = ?, done_at = ? WHERE id = ? AND state IN ('pending', 'claimed')",
        ("dropped" if reason == CANCELLED else "failed", reason, at.isoformat(), task.inbox_id),
    )
    if ended.rowcount:
        connection.execute("UPDATE approval SET state = 'denied' WHERE id = ? AND state != 'approved'", (task.asked,))
        drop_steps(connection, task.inbox_id)
    return bool(ended.rowcount)


def cancel_replaced(connection: Connection, origins: Sequence[int], at: datetime) -> None:
    """Cancel the tasks that these messages began, inside a transaction: another answer takes the place of theirs."""
    for task in list(_load(connection, f"origin IN (SELECT value FROM json_each(?)) AND {_OPEN}", json.dumps(origins))):
        if not task.is_moved and cancel(connection, task, at):
            note_shown(connection, task.id, 0)


def list_begun_calls(connection: Connection, inbox_id: int) -> list[str]:
    """Return the names of the tools that a task called to change something, each once."""
    rows = connection.execute(
        "SELECT DISTINCT json_extract(payload, '$.name') FROM turn_step WHERE inbox_id = ? AND kind = 'call'",
        (inbox_id,),
    )
    return [str(name) for (name,) in rows]


async def prune(database: Database) -> None:
    """Drop the tasks whose messages have left the inbox. Raises StoreError."""
    await database.prune("task", "NOT EXISTS (SELECT 1 FROM inbox WHERE inbox.id = task.inbox_id)")


def _load(connection: Connection, where: str, *values: int | str) -> Iterator[Task]:
    for row in connection.execute(f"SELECT {_COLUMNS} {_FROM} WHERE {where}", values):
        *head, private, begun, ended, attempts, state = row
        moments = datetime.fromisoformat(begun), datetime.fromisoformat(ended) if ended else None
        columns: tuple[Any, ...] = (*head, bool(private), *moments, attempts, state)
        yield Task(*columns)
