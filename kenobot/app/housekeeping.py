"""Prune rows that are over: those of each table whose module says how long its rows are kept."""

from datetime import datetime

from kenobot.storage import api_keys, approvals, attachments, keyboards, model_calls, tasks, tool_runs, turn_steps
from kenobot.storage.database import Database


async def prune_tables(database: Database, now: datetime) -> None:
    """Delete what is done and old of all that goes with messages. Raises StoreError."""
    for dated in (turn_steps, tool_runs, model_calls, approvals, keyboards, api_keys):
        await dated.prune(database, now)
    await attachments.prune(database)
    await tasks.prune(database)
