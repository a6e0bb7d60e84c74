"""Attachments are read while their message waits, and a restart goes on where the last run was."""

import asyncio
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.agent.media.intake import MediaIntake, MediaLimits
from kenobot.ledger.ledger import Ledger
from kenobot.ledger.transcription import LedgerTranscriber
from kenobot.storage.attachments import load_rows
from kenobot.storage.conversation import FinishedTurn, append_turn
from kenobot.storage.database import Database
from kenobot.storage.erasure import erase_turns, vacuum_erased
from kenobot.storage.inbox import Inbox
from kenobot.storage.inbox_rows import PendingMessage
from kenobot.storage.media_files import MediaFolder
from kenobot_testing.clock import START, EagerClock
from tests.samples import inbound
from tests.unit.agent.media.media_scene import JPEG, OGG, Listener, MediaChatter, photo, voice


def _intake(database: Database, folder: Path, channel: MediaChatter, listener: Listener) -> MediaIntake:
    clock = EagerClock()
    listens = LedgerTranscriber(listener, Ledger(database, clock, ZoneInfo("UTC")))
    return MediaIntake(database, clock, {"telegram": channel}, MediaFolder(folder / "media"), MediaLimits(), listens)


async def _stored(database: Database) -> PendingMessage:
    sent = replace(inbound("look", 1), channel="telegram", attachments=(voice(), photo()))
    stored = await Inbox(database, EagerClock()).store(sent, "")
    assert stored is not None
    return stored


async def test_what_was_read_before_a_restart_is_not_read_again(database: Database, tmp_path: Path) -> None:
    """A transcript is paid for once, however often the turn begins."""
    channel, listener = MediaChatter({"v": OGG, "p": JPEG}), Listener("Hola")
    pending = await _stored(database)
    channel.gates["p"] = asyncio.Event()
    first = _intake(database, tmp_path, channel, listener)
    first.begin(pending)
    while (await database.read(lambda c: load_rows(c, pending.id)))[0].state != "done":
        await asyncio.sleep(0)
    await first.stop()
    assert [path.name for path in (tmp_path / "media").glob(".part*")] == []

    channel.gates.clear()
    attached = await _intake(database, tmp_path, channel, listener).wait_until_ready(pending)
    assert attached.inbound.text == "look\n\nHola\n\n[sent a picture]"
    assert sorted(channel.fetched) == ["p", "p", "v"] and len(listener.heard) == 1


async def test_a_message_is_read_while_it_waits_for_its_turn(database: Database, tmp_path: Path) -> None:
    """The turn finds it read, and asks for nothing twice."""
    channel, listener = MediaChatter({"v": OGG, "p": JPEG}), Listener("Hola")
    intake, pending = _intake(database, tmp_path, channel, listener), await _stored(database)
    await intake.begin(pending)
    assert len(listener.heard) == 1
    await intake.wait_until_ready(pending)
    assert sorted(channel.fetched) == ["p", "v"] and len(listener.heard) == 1


async def test_an_erasure_takes_what_nothing_refers_to(database: Database, tmp_path: Path) -> None:
    """Bytes of an open message stay; those of a picture as long as the conversation shows it."""
    channel, listener = MediaChatter({"v": OGG, "p": JPEG}), Listener("Hola")
    intake, pending = _intake(database, tmp_path, channel, listener), await _stored(database)
    rows = await intake.begin(pending)
    folder = MediaFolder(tmp_path / "media")

    def left() -> list[bool]:
        vacuum_erased(tmp_path / "kenobot.db")
        return [folder.file(row.digest).exists() for row in rows.values()]

    assert left() == [True, True]
    turn = FinishedTurn("s", pending.id, START, "x", "", "owner", pictures=f"{rows[1].digest} image/jpeg")
    await database.write(lambda c: append_turn(c, turn))
    await database.write(lambda c: c.execute("UPDATE inbox SET state = 'answered', done_at = '2026-02-14'"))
    await intake.remove_unused()
    assert left() == [False, True]
    await database.write(lambda c: erase_turns(c, [pending.id], ["Hola"], "owner"))
    assert left() == [False, False]
    assert await database.read(lambda c: load_rows(c, pending.id)) == {}
