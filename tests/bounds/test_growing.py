"""What is meant to grow, conversation and memory, costs neither memory nor time in a turn."""

import sqlite3
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.agent.prompt.context_builder import ContextBuilder
from kenobot.agent.prompt.prompt_context import PromptLimits, PromptRequest
from kenobot.gateway.access import Access, Roster
from kenobot.identity.identity_files import Identity
from kenobot.ports.messages import Inbound
from kenobot.storage.connection import Connection
from kenobot.storage.inbox_rows import PendingMessage
from tests.scene import Scene

_TICK = 100  # steps of SQLite's virtual machine


def _grow(connection: Connection, start: int, end: int, status: str) -> None:
    """Give a chat and its owner a past, as turns would have left it, with memories of this status."""
    numbers = range(start, end)
    connection.executemany(
        "INSERT INTO message (session, role, text, at) VALUES (?, ?, ?, ?)",
        [
            ("telegram-1", role, f"{role} {n}", "2026-02-14T14:00:00+00:00")
            for n in numbers
            for role in ("user", "assistant")
        ],
    )
    at = "2026-01-01T00:00:00.000000+00:00"
    for n in numbers:
        event = connection.execute(
            "INSERT INTO event (at, actor, type, record_id) VALUES (?, 'model', 'created', ?)", (at, n)
        ).lastrowid
        connection.execute(
            "INSERT INTO record (form, scope, text, source, trust, confidence, importance, stability, status, "
            "valid_from, created, updated, last_seen, day, key, changed_event) "
            "VALUES ('note', 'owner', ?, 'tag', 'owner', .9, .5, 1, ?, ?, ?, ?, ?, '2026-01-01', ?, ?)",
            (f"fact {n}", status, at, at, at, at, f"k{n}", event),
        )
    connection.executemany(
        "INSERT INTO link (src, dst, type, first_at, last_at) VALUES (?, ?, 'supersedes', '', '')",
        [(n, n - 1) for n in numbers if n > start],
    )


class _Builder:
    """Builds the prompt of one chat, each time as if it had rested for long, and counts SQLite's steps."""

    def __init__(self, scene: Scene) -> None:
        home = scene.home
        self._clock = scene.clock
        self._access = Access({"telegram": Roster.of(("1",))})
        self._builder = ContextBuilder(Identity(home.identity), ZoneInfo("UTC"), PromptLimits())

    def __call__(self, connection: sqlite3.Connection) -> tuple[int, int]:
        """Steps, and the characters of memory that are shown."""
        ticks = 0

        def tick() -> int:
            nonlocal ticks
            ticks += 1
            return 0

        inbound = Inbound("telegram", "9", "1", "1", "and now?", self._clock.now())
        connection.set_progress_handler(tick, _TICK)
        context = self._builder.build(
            connection,
            PromptRequest(
                PendingMessage(9, inbound, "t"),
                self._access.principal(inbound),
                self._clock.now() + timedelta(hours=2),
            ),
        )
        connection.set_progress_handler(None, 0)
        return ticks * _TICK, len(context.request.system[1].text)


async def test_a_prompt_costs_the_same_however_long_the_past_is(tmp_path: Path) -> None:
    """Twenty times the conversation, the events, the links and the memories of old change nothing."""
    async with Scene(tmp_path, ["ok"]) as scene:
        database, build = scene.app.database, _Builder(scene)
        await database.write(lambda c: _grow(c, 1, 1001, "active"))
        few, short = await database.read(build)
        await database.write(lambda c: _grow(c, 1001, 20_001, "superseded"))
        many, long = await database.read(build)
        assert many < 1.2 * few
        assert long == short


async def test_a_prompt_shows_no_more_of_a_large_memory(tmp_path: Path) -> None:
    """Ten times the live memories: as much is shown, and the rest costs only the few steps of counting it."""
    async with Scene(tmp_path, ["ok"]) as scene:
        database, build = scene.app.database, _Builder(scene)
        await database.write(lambda c: _grow(c, 1, 1001, "active"))
        few, short = await database.read(build)
        await database.write(lambda c: _grow(c, 1001, 10_001, "active"))
        many, long = await database.read(build)
        assert many - few < 10 * 9000
        assert long < 1.1 * short
