"""Mail on its way out: in order within a chat, each part once."""

from datetime import timedelta

import pytest

from kenobot.ports.errors import StoreError
from kenobot.ports.messages import MessagePart, TextEntity
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.outbox import Destination, Outbox, SentPart, enqueue
from kenobot_testing.clock import START, ManualClock
from tests.samples import inbound, plan, rows


@pytest.fixture
def outbox(database: Database, clock: ManualClock) -> Outbox:
    """An empty outbox."""
    return Outbox(database, clock)


async def _put(database: Database, message: int, *texts: str, chat: str = "1", channel: str = "fake") -> None:
    parts = [MessagePart(text) for text in texts]
    sender = inbound(chat=chat, channel=channel)
    await database.write(
        lambda connection: enqueue(connection, Destination(sender.channel, sender.chat, "trace", message), parts, START)
    )


async def _texts(outbox: Outbox, chat: str = "1", limit: int = 20) -> list[str]:
    return [part.part.text for part, _ in await outbox.load_pending_after("fake", chat, limit=limit)]


async def test_a_part_comes_back_as_it_went_in(outbox: Outbox, database: Database) -> None:
    """Text, formatting, address and trace survive."""
    part = MessagePart(
        "👩‍👩‍👧 negrita", (TextEntity("bold", 9, 7), TextEntity("text_link", 0, 2, "https://example.org/ñ"))
    )
    await database.write(lambda connection: enqueue(connection, Destination("fake", "-100", "abc", 5), [part], START))
    [(found, tries)] = await outbox.load_pending_after("fake", "-100")
    assert (found.part, found.channel, found.chat, found.trace, tries) == (part, "fake", "-100", "abc", 0)


async def test_who_alone_may_read_a_part_survives(outbox: Outbox, database: Database) -> None:
    """After a restart it goes to that person, and a secret stays one."""
    to = Destination("fake", "-100", "abc", 5, reader="1", secret=True)
    [sent] = await database.write(lambda connection: enqueue(connection, to, [MessagePart("of you")], START))
    [(found, _)] = await outbox.load_pending_after("fake", "-100")
    assert found == sent
    assert (found.reader, found.secret) == ("1", True)


async def test_an_older_kenobot_finds_no_secret_to_send(outbox: Outbox, database: Database) -> None:
    """It knows no readers, and would show it to the group; this one finds it after a restart."""
    to = Destination("fake", "-100", "abc", 5, reader="1", secret=True)
    await database.write(lambda connection: enqueue(connection, to, [MessagePart("of you")], START))
    by_then = "SELECT id FROM outbox WHERE state = 'pending' AND not_before <= ?"
    assert await rows(database, by_then, (START + timedelta(days=36_500)).isoformat()) == []
    assert await outbox.open_chats("fake") == ["-100"]


async def test_parts_wait_in_order(outbox: Outbox, database: Database) -> None:
    """Parts of one reply in their order, replies in the order they were committed, chats apart."""
    await _put(database, 1, "1a", "1b")
    await _put(database, 2, "other", chat="2")
    await _put(database, 3, "3a", "3b")
    assert await _texts(outbox) == ["1a", "1b", "3a", "3b"]
    assert await _texts(outbox, limit=3) == ["1a", "1b", "3a"]
    assert await _texts(outbox, "2") == ["other"]


async def test_a_reply_enters_once(outbox: Outbox, database: Database) -> None:
    """A second reply to the same message is refused, and with it the transaction that brought it."""
    await _put(database, 1, "first", "second")
    with pytest.raises(StoreError):
        await _put(database, 1, "twice")
    assert await _texts(outbox) == ["first", "second"]


async def test_what_was_sent_is_not_sent_again(outbox: Outbox, database: Database) -> None:
    """It is marked with the platform's id of it."""
    await _put(database, 1, "one", "two")
    (first, _), _ = await outbox.load_pending_after("fake", "1")
    await outbox.mark_sent(SentPart(first.id, "platform 77"))
    assert await _texts(outbox) == ["two"]
    found = await rows(database, "SELECT state, platform_id, attempts FROM outbox WHERE id = ?", first.id)
    assert found == [("sent", "platform 77", 1)]


async def test_a_part_that_was_sent_leaves_its_text_to_the_conversation(outbox: Outbox, database: Database) -> None:
    """A reply stands once in a home; what waits or was given up keeps its own."""
    await _put(database, 1, "sent", "waits", "dead")
    (sent, _), _, (dead, _) = await outbox.load_pending_after("fake", "1")
    await outbox.mark_sent(SentPart(sent.id, "platform 77"))
    await outbox.give_up(dead.id, "no")
    assert await rows(database, "SELECT text, spans, payload FROM outbox ORDER BY id") == [
        ("", "[]", "{}"),
        ("waits", "[]", "{}"),
        ("dead", "[]", "{}"),
    ]


async def test_a_failed_try_is_counted_and_waits_on(outbox: Outbox, database: Database) -> None:
    """Its reason is kept, and its place in the row."""
    await _put(database, 1, "one", "two")
    (first, _), _ = await outbox.load_pending_after("fake", "1")
    await outbox.record_failure(first.id, "Unavailable: down")
    await outbox.record_failure(first.id, "Unavailable: still down")
    (found, tries), _ = await outbox.load_pending_after("fake", "1")
    assert (found.id, tries) == (first.id, 2)
    assert await rows(database, "SELECT reason FROM outbox WHERE id = ?", first.id) == [("Unavailable: still down",)]


async def test_what_was_given_up_lets_the_next_part_pass(outbox: Outbox, database: Database) -> None:
    """It is kept as dead, with the reason."""
    await _put(database, 1, "one", "two")
    (first, _), _ = await outbox.load_pending_after("fake", "1")
    await outbox.give_up(first.id, "Rejected: blocked")
    assert await _texts(outbox) == ["two"]
    assert await rows(database, "SELECT state, reason FROM outbox WHERE id = ?", first.id) == [
        ("dead", "Rejected: blocked")
    ]


async def test_a_start_finds_the_chats_that_wait(outbox: Outbox, database: Database) -> None:
    """Each chat of the channel once, and no other channel's."""
    await _put(database, 1, "a", "b", chat="1")
    await _put(database, 2, "c", chat="2")
    await _put(database, 3, "d", chat="3", channel="other")
    await _put(database, 4, "e", chat="4")
    [(done, _)] = await outbox.load_pending_after("fake", "4")
    await outbox.mark_sent(SentPart(done.id, ""))
    assert sorted(await outbox.open_chats("fake")) == ["1", "2"]


async def test_looking_for_parts_does_not_read_what_was_sent(database: Database) -> None:
    """The open ones have an index of their own."""

    def plans(connection: Connection) -> tuple[str, str]:
        return (
            plan(
                connection,
                "SELECT text FROM outbox WHERE channel = ? AND chat = ? AND state = 'pending' ORDER BY id LIMIT 20",
                "fake",
                "1",
            ),
            plan(connection, "SELECT DISTINCT chat FROM outbox WHERE channel = ? AND state = 'pending'", "fake"),
        )

    for found in await database.read(plans):
        assert "outbox_open" in found
        assert "TEMP B-TREE" not in found


async def test_old_parts_are_pruned_but_not_what_waits(outbox: Outbox, database: Database, clock: ManualClock) -> None:
    """Sent and dead ones go after a while; a part that waits never does."""
    await _put(database, 1, "sent", "dead", "waits")
    (sent, _), (dead, _), _ = await outbox.load_pending_after("fake", "1")
    await outbox.mark_sent(SentPart(sent.id, ""))
    await outbox.give_up(dead.id, "no")
    clock.advance(days=2)
    await outbox.prune()
    assert len(await rows(database, "SELECT id FROM outbox")) == 3
    clock.advance(days=30)
    await outbox.prune()
    assert await rows(database, "SELECT text FROM outbox") == [("waits",)]
