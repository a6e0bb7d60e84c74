"""Gives a home that is not running a long past: 20,000 turns of 50 chats and 10,000 memories over two years."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.quick.process import CHATS
from bench.quick.scene import CHANNEL

TURNS, MEMORIES = 20_000, 10_000


def fill(home: Path, turns: int = TURNS, memories: int = MEMORIES) -> None:
    """Write the rows as the bot would have; half of the turns are of the first chat."""
    now = datetime.now(UTC)
    with closing(sqlite3.connect(home / "kenobot.db")) as connection, connection:
        said = []
        for number in range(turns):
            at = (now - timedelta(minutes=turns - number)).isoformat()
            session = f"{CHANNEL}-0" if number % 2 else f"{CHANNEL}-{number % CHATS}"
            said += [(session, "user", f"question {number}", at), (session, "assistant", f"answer {number}", at)]
        connection.executemany("INSERT INTO message (session, role, text, at) VALUES (?, ?, ?, ?)", said)
        columns = {row[1] for row in connection.execute("PRAGMA table_info(record)")}
        changed = "changed_event" if "changed_event" in columns else "changed"  # as old revisions call it
        rows = []
        for number in range(memories):
            moment = now - timedelta(days=730 * (1 - number / memories))
            at = moment.strftime("%Y-%m-%dT%H:%M:%S.%f+00:00")
            text = f"Fact {number} about a thing worth keeping"
            rows.append((text, at, at, at, at, moment.date().isoformat(), f"k{number}"))
        connection.executemany(
            "INSERT INTO record (form, scope, text, source, trust, confidence, importance, stability, valid_from, "
            f"created, updated, last_seen, day, key, {changed}) "
            "VALUES ('note', 'owner', ?, 'tag', 'owner', .9, .5, 1, ?, ?, ?, ?, ?, ?, 0)",
            rows,
        )
