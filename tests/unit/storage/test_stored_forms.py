"""What messages carry beside their text comes back from the database as it went in."""

from datetime import UTC, datetime
from pathlib import Path

from kenobot.ports.messages import Attachment, Button, Inbound, MessagePart, TextEntity
from kenobot.storage import outbox
from kenobot.storage.database import Database
from kenobot.storage.inbox import Inbox
from kenobot.storage.outbox import Destination, Outbox
from kenobot_testing.clock import ManualClock
from tests.scene import Scene

_AT = datetime(2026, 2, 14, tzinfo=UTC)
_PHOTO = Attachment("image", "image/jpeg", "cat.jpg", 9, "file-1", "ab" * 32, "a cat on a wall")


async def test_an_inbox_row_keeps_what_a_person_did(database: Database) -> None:
    """Kind, target, value, thread, the message answered, and files."""
    box = Inbox(database, ManualClock())
    stored = [
        Inbound("fake", "1", "5", "7", "look", _AT, attachments=(_PHOTO,), reply_to="0", thread="3", platform_id="77"),
        Inbound("fake", "2", "5", "7", "", _AT, kind="reaction", target="1", value="👍", thread="3"),
    ]
    for inbound in stored:
        assert await box.store(inbound, "t") is not None
    assert [each.inbound for each in await box.load_pending_after(stored[0].session, 0, 9)] == stored


async def test_an_outbox_row_keeps_files_and_buttons(database: Database) -> None:
    """Formatting, files and rows of buttons; a row older than the column has none."""
    part = MessagePart("hi", (TextEntity("bold", 0, 2),), (_PHOTO,), ((Button("Yes", "yes:1:x"), Button("No", "no")),))
    await database.write(lambda c: outbox.enqueue(c, Destination("fake", "5"), [part, MessagePart("plain")], _AT))
    waiting = await Outbox(database, ManualClock()).load_pending_after("fake", "5")
    assert [each.part for each, _ in waiting] == [part, MessagePart("plain")]


async def test_an_outbox_row_keeps_where_it_belongs(database: Database) -> None:
    """The thread, the message it answers, and the one it replaces; those read back are those just committed."""
    to = Destination("fake", "5", "t", reply_to="77", replaces="78", thread="3")
    committed = await database.write(lambda c: outbox.enqueue(c, to, [MessagePart("hi")], _AT))
    [(waiting, _)] = await Outbox(database, ManualClock()).load_pending_after("fake", "5")
    assert [waiting] == committed
    assert (waiting.reply_to, waiting.replaces, waiting.thread) == ("77", "78", "3")


async def test_the_conversation_keeps_the_platforms_ids(tmp_path: Path) -> None:
    """Of what came in, and of the first part that went out: later answers, edits and reactions name them."""
    async with Scene(tmp_path, ["Hola."]) as scene:
        await scene.say("hola", platform_id="501", thread="9")
        sent = await scene.rows("SELECT platform_id FROM outbox")
        assert await scene.rows("SELECT role, platform_id FROM message ORDER BY id") == [
            ("user", "501"),
            ("assistant", sent[0][0]),
        ]
        assert sent[0][0]
        assert scene.channel.sent[-1].thread == "9"
