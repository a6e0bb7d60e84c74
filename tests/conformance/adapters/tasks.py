"""What may become of a task: its work is a message of the inbox, whose states are the task's."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from kenobot.ports.errors import Fenced
from kenobot.ports.messages import Inbound
from kenobot.storage import inbox_rows
from kenobot.storage.database import Database
from kenobot.storage.inbox import Inbox
from kenobot_testing.clock import START, ManualClock
from tests.conformance.cases import Adapter, Case, Compared, Outcome
from tests.scratch import scratch

_STATES = {"pending": "queued", "claimed": "running", "answered": "completed", "dropped": "cancelled"}
_ENDS: dict[str, inbox_rows.FinalState] = {"complete": "answered", "fail": "failed"}


def task_transitions(case: Case) -> Outcome:
    """A step that cannot be taken is refused and changes nothing; the original words that its own way."""
    status, refused = asyncio.run(_play(case.input))
    expected = case.expected
    return Compared(
        {"status": status, "refused": refused}, {"status": expected["status"], "refused": bool(expected["error"])}
    )


async def _play(steps: Sequence[str]) -> tuple[str, bool]:
    with scratch() as folder:
        database = Database.open(Path(folder) / "kenobot.db", Path(folder) / "backups")
        try:
            return await _take(Inbox(database, ManualClock()), database, steps)
        finally:
            await database.close()


async def _take(box: Inbox, database: Database, steps: Sequence[str]) -> tuple[str, bool]:
    stored = await box.store(Inbound("telegram", "1", "1", "1", "do it", START), "trace")
    assert stored is not None
    attempt, refused = 0, False
    for step in steps:
        try:
            if step == "start":
                attempt = await box.claim(stored.id)
            elif step == "cancel":
                await box.end_stopped(stored.id)
            else:
                end = _ENDS[step]
                await database.write(lambda c, end=end, at=attempt: inbox_rows.finish(c, stored.id, at, end, START))  # type: ignore[misc]
        except Fenced:
            refused = True
    [(state,)] = await database.read(lambda c: c.execute("SELECT state FROM inbox").fetchall())
    return _STATES.get(state, state), refused


ADAPTERS: dict[str, Adapter] = {"motor.task_transitions": task_transitions}
