"""Tasks are rows beside the inbox rows that do their work."""

from datetime import UTC, datetime, timedelta

import pytest

from kenobot.ports.messages import Inbound
from kenobot.storage import erasure, inbox, tasks
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.tasks import Task

_AT = datetime(2026, 2, 14, 9, tzinfo=UTC)


def _begin(connection: Connection, origin: int = 1, sender: str = "1", session: str = "1") -> Task:
    inbound = Inbound("telegram", f"task:{origin}", session, sender, "count the apples", _AT, kind="task")
    message = inbox.add_task_message(connection, inbound, origin, f"task-{origin}", _AT)
    assert message is not None
    task = tasks.get_task(connection, tasks.add_task(connection, message, origin, "count the apples", "en"))
    assert task is not None
    return task


@pytest.mark.parametrize(
    ("inbox_state", "asked", "state"),
    [
        ("pending", 0, "queued"),
        ("claimed", 0, "running"),
        ("pending", 7, "waiting"),
        ("claimed", 7, "waiting"),
        ("answered", 0, "done"),
        ("answered", 7, "done"),
        ("failed", 0, "failed"),
        ("expired", 0, "failed"),
        ("dead", 0, "failed"),
        ("dropped", 7, "cancelled"),
    ],
)
async def test_the_state_of_a_task_is_that_of_its_message(
    database: Database, inbox_state: str, asked: int, state: str
) -> None:
    """So no crash can part them; what is over cannot be cancelled."""

    def work(connection: Connection) -> tuple[Task, bool]:
        task = _begin(connection)
        connection.execute("UPDATE inbox SET state = ?", (inbox_state,))
        connection.execute("UPDATE task SET asked = ?", (asked,))
        found = tasks.get_task(connection, task.id)
        assert found is not None
        return found, tasks.cancel(connection, found, _AT)

    task, cancelled = await database.write(work)
    assert (task.state, task.is_open, cancelled) == (state, state in ("queued", "running", "waiting"), task.is_open)


async def test_chats_do_not_take_up_a_task(database: Database) -> None:
    """Nor does it wait in their counts; a message begins one task at most."""

    def work(connection: Connection) -> object:
        task = _begin(connection)
        inbound = Inbound("telegram", "task:1", "1", "1", "again", _AT, kind="task")
        return task, inbox.add_task_message(connection, inbound, 1, "t", _AT)

    assert (await database.write(work))[1] is None  # type: ignore[index]
    box = inbox.Inbox(database, _Clock())
    assert await box.open_sessions() == {}
    assert await box.load_pending_after("telegram-1", 0, 10) == []
    assert await box.open_short(100) == []


async def test_a_consent_is_for_one_call_once(database: Database) -> None:
    """It is used up by the call that it is for."""

    def work(connection: Connection) -> list[bool]:
        task = _begin(connection)
        tasks.go_on(connection, task, 'do {"word": "a"}')
        return [tasks.take_consent(connection, task.id, call) for call in ("", "do {}", 'do {"word": "a"}') * 2]

    assert await database.write(work) == [False, False, True, False, False, False]


async def test_a_task_is_dropped_with_its_message(database: Database) -> None:
    """A week after its end."""

    def work(connection: Connection) -> None:
        first, _ = _begin(connection, 1), _begin(connection, 2)
        tasks.cancel(connection, first, _AT - timedelta(days=8))

    await database.write(work)
    await inbox.Inbox(database, _Clock()).prune()
    await tasks.prune(database)
    assert [each.origin for each in await database.read(tasks.open_tasks)] == [2]
    assert await database.read(lambda connection: connection.execute("SELECT count(*) FROM task").fetchone()) == (1,)


@pytest.mark.parametrize("turns", [[1], [2], []])
async def test_a_purge_takes_its_title(database: Database, turns: list[int]) -> None:
    """With the message that asked for it, with its own, or because it says what is erased."""

    def work(connection: Connection) -> str:
        task = _begin(connection, 2 if turns == [2] else 1)
        erasure.erase_turns(connection, turns, [] if turns else ["count the apples"], "owner")
        found = tasks.get_task(connection, task.id)
        assert found is not None
        return found.title

    assert await database.write(work) == ""


class _Clock:
    def now(self) -> datetime:
        return _AT

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing here waits")
