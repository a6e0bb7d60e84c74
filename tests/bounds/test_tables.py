"""Tables stay within their limits, whatever comes in, and housekeeping takes only what it should."""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from kenobot.ports.messages import Attachment
from kenobot.ports.provider import Reply
from kenobot.storage import api_keys, attachments, turn_steps
from kenobot.storage import inbox as mail
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox import Inbox
from kenobot_testing.clock import START, EagerClock, ManualClock
from tests.samples import inbound, plan, rows, scalar
from tests.scene import Scene

_REPLY = Reply("an answer that was paid for", "end_turn")


async def _caught_up(database: Database) -> None:
    """Wait for writes that nobody waits for."""
    await database.write(lambda connection: None)


# ── what comes faster than housekeeping ──────────────────────────────────────────────────────────────────────────


async def test_a_flood_of_dropped_messages_keeps_its_newest(
    database: Database, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit holds between two rounds of housekeeping, and for what an earlier run left; no words are kept."""
    monkeypatch.setattr(mail, "_DROPPED_KEPT", 50)
    box = Inbox(database, clock)
    for number in range(300):
        assert await box.store(inbound("x" * 4000, number), "", drop_reason="flood") is not None
    await _caught_up(database)
    newest = [(str(number), "") for number in range(250, 300)]
    assert await rows(database, "SELECT external_id, text FROM inbox ORDER BY id") == newest
    assert await box.store(inbound("again", 299), "") is None

    restarted = Inbox(database, clock)
    for number in range(300, 330):
        await restarted.store(inbound("y", number), "", drop_reason="flood")
    await _caught_up(database)
    assert await scalar(database, "SELECT count(*) FROM inbox") == 80
    await restarted.prune()
    assert await scalar(database, "SELECT count(*) FROM inbox") == 50
    assert await scalar(database, "SELECT min(external_id) FROM inbox") == "280"


async def test_a_flood_of_unreadable_updates_keeps_its_newest(
    database: Database, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it is with what cannot be read; a dead letter that was put back to be tried again is left alone."""
    monkeypatch.setattr(mail, "_DEAD_KEPT", 20)
    box = Inbox(database, clock)
    await box.dead_letter("fake", "first", "{}", "odd")
    await database.write(lambda c: c.execute("UPDATE inbox SET state = 'pending', done_at = NULL"))
    for number in range(100):
        await box.dead_letter("fake", str(number), "{}", "odd")
    await _caught_up(database)
    assert await scalar(database, "SELECT count(*) FROM inbox WHERE state = 'dead'") == 20
    assert await rows(database, "SELECT external_id FROM inbox WHERE state = 'pending'") == [("first",)]


async def test_an_update_that_comes_again_and_again_pushes_nothing_out(
    database: Database, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what is new takes room."""
    monkeypatch.setattr(mail, "_DEAD_KEPT", 5)
    box = Inbox(database, clock)
    for number in (1, 2, 3, *[4] * 50):
        await box.dead_letter("fake", str(number), "{}", "odd")
    await _caught_up(database)
    assert await scalar(database, "SELECT count(*) FROM inbox") == 4


# ── housekeeping ─────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_reply_is_dropped_a_month_after_it_had_its_effects(database: Database, clock: ManualClock) -> None:
    """Once its message has left the inbox; a reply without effects stays until its turn ends, however old."""
    box = Inbox(database, clock)

    def paid(connection: Connection, message: int, at: datetime, *, committed: bool) -> None:
        turn_steps.append_step(connection, message, 0, _REPLY, at)
        if committed:
            turn_steps.finish_turn(connection, message, "fake-1", "trace", at, "")

    waiting = await box.store(inbound(number=1), "trace")
    assert waiting is not None
    old, recent = START - timedelta(days=31), START - timedelta(days=29)
    await database.write(lambda c: paid(c, waiting.id, old, committed=False))
    for number, at, committed in ((101, old, True), (103, recent, True)):
        await database.write(lambda c, n=number, a=at, d=committed: paid(c, n, a, committed=d))  # type: ignore[misc]
    await turn_steps.prune(database, START)
    assert await rows(database, "SELECT inbox_id FROM turn ORDER BY inbox_id") == [(103,)]
    assert await database.read(lambda c: turn_steps.load_steps(c, waiting.id)) == {0: _REPLY}


async def test_housekeeping_leaves_what_is_meant_to_stay(tmp_path: Path) -> None:
    """Forty days on, a start has cleared mail and replies away; the conversation and memory are whole."""
    clock = EagerClock()
    async with Scene(tmp_path, ["Noted. <memory>Ana likes tea</memory>"], clock=clock) as scene:
        for number in range(3):
            await scene.say(f"message {number}")
        for table, count in (("inbox", 3), ("outbox", 3), ("turn", 3), ("message", 6), ("record", 1)):
            assert await scene.rows(f"SELECT count(*) FROM {table}") == [(count,)], table
    clock.advance(days=40)
    async with Scene(tmp_path, clock=clock) as scene:
        for table, count in (("inbox", 0), ("outbox", 0), ("turn", 0), ("message", 6), ("record", 1)):
            assert await scene.rows(f"SELECT count(*) FROM {table}") == [(count,)], table


async def test_pruning_goes_in_steps(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much there is to drop, no transaction takes more than its share, so that nobody waits for long."""
    monkeypatch.setattr("kenobot.storage.database._PRUNED", 100)
    left = [1010]
    write = database.write

    async def counted(work: object) -> None:
        await write(work)  # type: ignore[arg-type]
        left.append(int(str(await scalar(database, "SELECT count(*) FROM outbox"))))

    ends = [("2026-01-01" if number < 950 else "2026-02-14",) for number in range(1010)]
    await database.write(
        lambda c: c.executemany(
            "INSERT INTO outbox (part, channel, chat, text, trace, created_at, done_at) "
            "VALUES (0, 'fake', '1', 'x', '', '', ?)",
            ends,
        )
    )
    monkeypatch.setattr(database, "write", counted)
    await database.prune("outbox", "done_at < ?", "2026-02-01")
    assert left[-1] == 60
    assert max(before - after for before, after in pairwise(left)) == 100


async def test_housekeeping_finds_its_rows_by_an_index(database: Database) -> None:
    """It does not read what is to stay."""
    aside = "state IN ('dead', 'dropped')"

    def plans(connection: Connection) -> list[str]:
        return [
            plan(connection, "SELECT rowid FROM inbox WHERE done_at < ? AND state != 'dead' LIMIT 9", ""),
            plan(connection, f"SELECT id FROM inbox WHERE {aside} AND state = ? ORDER BY id DESC LIMIT 9", "dead"),
            plan(connection, f"SELECT rowid FROM inbox WHERE {aside} AND state = ? AND id < ? LIMIT 9", "dead", 1),
            plan(connection, "SELECT rowid FROM outbox WHERE done_at < ? LIMIT 9", ""),
            plan(connection, "SELECT rowid FROM turn WHERE replied_at < ? LIMIT 9", ""),
        ]

    for found in await database.read(plans):
        assert "SEARCH" in found and "SCAN" not in found, found


# ── one a chat ───────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_chat_has_one_frame_and_one_state(tmp_path: Path) -> None:
    """Thirty turns of three chats, each with memories and onboarding, leave no more rows than three turns do."""
    clock = EagerClock()
    async with Scene(
        tmp_path, ["ok <memory>a fact</memory>"], clock=clock, bootstrap=True, owners=list("123")
    ) as scene:
        counts = []
        for _ in range(10):
            for chat in "123":
                clock.advance(3700)  # a new frame each time
                await scene.say("hello", chat)
            [(frames, states)] = await scene.rows(
                "SELECT (SELECT count(*) FROM prompt_prefix), (SELECT count(*) FROM key_value)"
            )
            counts.append((frames, states))
        assert counts[0][0] == 3
        assert set(counts[1:]) == {counts[1]}


async def test_attachments_go_with_their_messages(database: Database) -> None:
    """Those of a message that left the inbox are dropped, those of one that waits are not."""
    box = Inbox(database, ManualClock())
    for number in range(30):
        stored = await box.store(replace(inbound("x", number), attachments=(Attachment("image", handle="p"),) * 2), "")
        assert stored is not None
    await database.write(lambda c: c.execute("UPDATE inbox SET done_at = '2020', state = 'answered' WHERE id > 10"))
    await box.prune()
    await attachments.prune(database)
    assert await scalar(database, "SELECT count(*) FROM attachment") == 20


async def test_keys_and_what_they_did_are_few(database: Database) -> None:
    """What a key did is kept for a week, and goes with the key."""
    clock = ManualClock()
    before, now = clock.now() - timedelta(days=8), clock.now()

    def write(connection: Connection) -> None:
        for name in ("one", "two"):
            key = api_keys.add_key(connection, name, f"secret {name}", "owner", ("memory",), now)
            assert key is not None
            for number in range(10):
                reply = api_keys.StoredReply("digest", 200, "{}")
                api_keys.store_reply(connection, key.id, str(number), reply, before if number < 5 else now)

    await database.write(write)
    await api_keys.prune(database, now)
    assert await scalar(database, "SELECT count(*) FROM idempotent_request") == 10
    await database.write(lambda connection: api_keys.revoke_key(connection, "one"))
    assert await scalar(database, "SELECT count(*) FROM idempotent_request") == 5
    assert await scalar(database, "SELECT count(*) FROM api_key") == 1
