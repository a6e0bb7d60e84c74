"""What was told, asked for and taken away between an update and the return from it is so still."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kenobot.core.settings.home import Home
from kenobot.gateway.access import Roster
from kenobot.skills import trust
from kenobot.storage import api_keys, approved_people, browser_sessions, chat_moves, tool_grants
from kenobot.storage.backup.put_back import CARRIED, put_back
from kenobot.storage.connection import Connection
from kenobot.storage.transactions import transaction
from kenobot_testing.clock import START, EagerClock
from tests.integration.update.samples import NEWEST, make_home, migrate_further, newer_version
from tests.scene import Scene

_GOES_BACK = {  # memory, with all that is made of it, the conversation, nights, and what they propose
    *("record", "record_file", "list_file", "event", "link", "vector", "term_index", "author", "open_topic"),
    *("hidden_turn", "tombstone", "message", "prompt_prefix", "turn", "signal", "key_value"),
    *("sleep_answer", "sleep_pass", "sleep_plan", "sleep_run", "proposal"),
}


async def _tell_due(scene: Scene, clock: EagerClock, hours: float) -> list[str]:
    """Let hours pass; return the first line of each message that the bot sent of its own accord."""
    before = len(scene.texts)
    clock.advance(hours * 3600)
    await scene.app.reminders.tick()
    await scene.app.wait_drained()
    return [text.splitlines()[0] for text in scene.texts[before:]]


async def test_reminders_stay_as_they_are(tmp_path: Path) -> None:
    """One that was told is not told again, one that was cancelled not at all, and one that was set since is told."""
    clock, began = EagerClock(), datetime.now(UTC) - timedelta(seconds=1)
    async with Scene(tmp_path, ["Hm."], clock=clock) as scene:
        await scene.say("remind me in 1 hour to buy bread")
        await scene.say("remind me in 5 hours to call Luis")
        await scene.say("every day at 20:00 remind me of the pills")
    with newer_version():
        async with Scene(tmp_path, ["Hm."], clock=clock) as scene:
            scene.channel.number = 10
            assert await _tell_due(scene, clock, 1.1) == ["⏰ buy bread"]
            await scene.say("cancel the reminder about Luis")
            await scene.say("remind me in 4 hours to water the plants")
    assert put_back(scene.home, NEWEST, began, began) is not None
    async with Scene(tmp_path, ["Hm."], clock=clock) as scene:
        scene.channel.number = 20
        assert await _tell_due(scene, clock, 0.1) == []
        assert sorted(await _tell_due(scene, clock, 5)) == ["⏰ the pills", "⏰ water the plants"]


async def test_who_was_put_out_stays_out(tmp_path: Path) -> None:
    """And who was let in since stays in."""
    began = datetime.now(UTC) - timedelta(seconds=1)
    roster = Roster.of(["1"])

    async def write(scene: Scene, change: Callable[[Connection], object]) -> None:
        await scene.app.database.write(change)
        await scene.app.check_external_changes()

    async with Scene(tmp_path, ["Hm."], roster=roster) as scene:
        await write(scene, lambda c: approved_people.approve_person(c, "telegram", "8", "Eve", START))
        assert await scene.say("hello", "8") == "Hm."
    with newer_version():
        async with Scene(tmp_path, ["Hm."], roster=roster) as scene:
            await write(scene, lambda c: approved_people.revoke_person(c, "telegram", "8"))
            await write(scene, lambda c: approved_people.approve_person(c, "telegram", "9", "Ana", START))
    assert put_back(scene.home, NEWEST, began, began) is not None
    async with Scene(tmp_path, ["Hm."], roster=roster) as scene:
        scene.channel.number = 20
        assert await scene.say("hello", "9") == "Hm."
        assert "Hm." not in await scene.say("hello", "8")


def test_keys_grants_and_sessions_that_ended_stay_ended(tmp_path: Path) -> None:
    """Also the trust in a skill; and a group goes on under the id that it has by now."""
    home, began = Home(tmp_path / "home"), datetime.now(UTC) - timedelta(seconds=1)
    make_home(home)

    def change(change: Callable[[Connection], None]) -> None:
        with closing(sqlite3.connect(home.database, isolation_level=None)) as connection, transaction(connection):
            change(connection)

    opened = ""

    def allow(connection: Connection) -> None:
        nonlocal opened
        api_keys.add_key(connection, "phone", "old key", "owner", ("memory",), START)
        tool_grants.add_grant(connection, "shell", "shell rm", "telegram:1", START)
        trust.trust(connection, "weather", "digest", START)
        opened = browser_sessions.open_session(connection, browser_sessions.make_link(connection, START), START) or ""

    def take_away(connection: Connection) -> None:
        assert api_keys.revoke_key(connection, "phone")
        api_keys.add_key(connection, "tablet", "new key", "owner", ("memory",), START)
        assert tool_grants.remove_grant(connection, 1)
        assert trust.withdraw(connection, "weather")
        assert browser_sessions.has_session(connection, opened, START)
        browser_sessions.end_session(connection, opened, START)
        assert chat_moves.add_move(connection, "telegram", "-5", "-1005")

    change(allow)
    migrate_further(home)
    change(take_away)
    assert put_back(home, NEWEST, began, began) is not None
    with closing(sqlite3.connect(home.database)) as connection:
        assert [key.name for key in api_keys.list_keys(connection)] == ["tablet"]
        assert tool_grants.list_grants(connection) == []
        assert trust.read_trusted(connection) == {}
        assert not browser_sessions.has_session(connection, opened, START)
        assert chat_moves.load_moves(connection) == {("telegram", "-1005"): "-5"}


def test_numbers_that_were_given_away_are_not_given_again(tmp_path: Path) -> None:
    """A button of before the return, which names a memory that is gone, never means another one."""
    home, began = Home(tmp_path / "home"), datetime.now(UTC) - timedelta(seconds=1)
    make_home(home)
    migrate_further(home)
    with closing(sqlite3.connect(home.database)) as connection:
        connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('record', 57)")
        connection.commit()
    assert put_back(home, NEWEST, began, began) is not None
    with closing(sqlite3.connect(home.database)) as connection:
        assert connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'record'").fetchall() == [(57,)]


def test_each_table_comes_along_or_goes_back(tmp_path: Path) -> None:
    """A new one is named here or there: what it holds is of the update, or of the people."""
    home = Home(tmp_path / "home")
    make_home(home)
    with closing(sqlite3.connect(home.database)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert tables - {"sqlite_sequence"} == {*CARRIED, *_GOES_BACK}
    assert not _GOES_BACK.intersection(CARRIED)
