"""Mail that came in: kept once, claimed, fenced, recovered, pruned."""

import asyncio
import dataclasses
import json
from datetime import timedelta
from typing import Any

import pytest

from kenobot.ports.errors import Fenced
from kenobot.ports.messages import Attachment, Inbound, MessagePart
from kenobot.storage import inbox as mail
from kenobot.storage import inbox_rows, message_identity
from kenobot.storage.connection import Connection
from kenobot.storage.conversation import FinishedTurn, append_turn
from kenobot.storage.database import Database
from kenobot.storage.inbox import Inbox
from kenobot.storage.outbox import Destination, Outbox, SentPart, enqueue
from kenobot_testing.clock import START, ManualClock
from tests.samples import inbound, plan, rows, scalar


@pytest.fixture
def inbox(database: Database, clock: ManualClock) -> Inbox:
    """An empty inbox."""
    return Inbox(database, clock)


async def _accepted(inbox: Inbox, message: Inbound) -> int:
    pending = await inbox.store(message, "trace")
    assert pending is not None
    return pending.id


async def _end(database: Database, message: int, attempt: int, end: inbox_rows.FinalState = "answered") -> None:
    await database.write(lambda connection: inbox_rows.finish(connection, message, attempt, end, START))


async def test_a_message_comes_back_as_it_went_in(inbox: Inbox) -> None:
    """Every field survives, whatever is written in it."""
    sent = dataclasses.replace(
        inbound("¿Qué tal? 你好 👩‍👩‍👧 '; DROP TABLE inbox; --", private=False, forwarded=True), chat="-100123"
    )
    pending = await inbox.store(sent, "abc")
    [found] = await inbox.load_pending_after(sent.session, 0, 10)
    assert pending is not None and found == dataclasses.replace(pending, fresh=False)
    assert (found.inbound, found.trace, found.attempts) == (sent, "abc", 0)


async def test_an_album_is_stored_in_a_form_that_an_older_kenobot_reads(inbox: Inbox, database: Database) -> None:
    """It knows no items of albums, and takes no field that it does not know; this one has each back."""
    older = {"kind", "handle", "name", "mime", "size", "digest", "text", "seconds"}
    files = tuple(
        Attachment("image", handle=handle, item=item) for handle, item in [("a", "11"), ("b", ""), ("c", "13")]
    )
    plain = dataclasses.replace(inbound("one"), attachments=(Attachment("image", handle="d"),))
    album = dataclasses.replace(inbound("many"), external_id="album", attachments=files)
    for message in (plain, album):
        await _accepted(inbox, message)
    found = await inbox.load_pending_after(album.session, 0, 10)
    assert [each.inbound for each in found] == [plain, album]
    stored = [json.loads(str(attachments)) for (attachments,) in await rows(database, "SELECT attachments FROM inbox")]
    assert all(each.keys() == older for row in stored for each in row)


async def test_lone_surrogates_cost_themselves_not_the_message(inbox: Inbox) -> None:
    """No UTF-8 holds halves of pairs: they are replaced, and a split pair is joined. NULs go without a trace."""
    sent = dataclasses.replace(inbound("\0half\0 \ud83d whole \ud83d\ude00"), user_name="\udc00")
    pending = await inbox.store(sent, "abc")
    assert pending is not None
    assert pending.inbound.text == "half \ufffd whole 😀"
    assert [found.inbound for found in await inbox.load_pending_after(sent.session, 0, 10)] == [pending.inbound]
    await inbox.dead_letter("fake", "2", "raw \ud83d", "odd \ud83d")


async def test_the_same_message_twice_is_one_message(inbox: Inbox) -> None:
    """It is known by channel and external id, also when both come at the same time."""
    both = await asyncio.gather(inbox.store(inbound("one", 7), "a"), inbox.store(inbound("two", 7), "b"))
    assert [pending is not None for pending in both] == [True, False]
    assert await inbox.store(inbound("three", 7), "c") is None
    assert await inbox.store(inbound("elsewhere", 7, channel="other"), "d") is not None


async def test_a_message_that_may_repeat_is_known_by_its_words_and_time(inbox: Inbox) -> None:
    """Also under another id; at another time it is another message, and so is whatever comes at once.

    RFC 6120, 8.1.3: ids of XMPP may begin anew with each session. Prosody 0.12.3 dates by the second what comes late.
    """
    live = dataclasses.replace(inbound("the door?"), external_id="live 1", platform_id="1")
    late = dataclasses.replace(live, external_id="late 1", may_repeat=True)
    skewed = dataclasses.replace(late, sent_at=live.sent_at - timedelta(seconds=20))
    others = [
        dataclasses.replace(live, external_id="live 2"),
        dataclasses.replace(late, external_id="late 3", sent_at=live.sent_at + timedelta(hours=1)),
        dataclasses.replace(late, external_id="late 4", text="the bike?"),
        dataclasses.replace(late, external_id="late 5", platform_id="2"),
        dataclasses.replace(late, external_id="late 6", user="2"),
    ]
    assert await inbox.store(live, "trace", digest=message_identity.message_digest(live)) is not None
    for again in (late, skewed):
        assert await inbox.store(again, "trace", digest=message_identity.message_digest(again)) is None
    for other in others:
        assert await inbox.store(other, "trace", digest=message_identity.message_digest(other)) is not None


async def test_a_message_stays_known_when_it_is_done(inbox: Inbox, database: Database) -> None:
    """A platform that repeats itself later gets no second answer."""
    number = await _accepted(inbox, inbound())
    await _end(database, number, await inbox.claim(number))
    assert await inbox.store(inbound(), "again") is None


async def test_a_dropped_message_is_done_at_once(inbox: Inbox, database: Database) -> None:
    """It waits for nothing, but is known when it comes again."""
    dropped = await inbox.store(inbound(), "trace", drop_reason="a stranger")
    assert dropped is not None
    assert await inbox.open_sessions() == {}
    assert await inbox.store(inbound(), "again") is None
    with pytest.raises(Fenced):
        await inbox.claim(dropped.id)


async def test_claims_are_counted(inbox: Inbox) -> None:
    """Each claim is one attempt more, and the message stays open until it is finished."""
    number = await _accepted(inbox, inbound())
    assert [await inbox.claim(number) for _ in range(3)] == [1, 2, 3]
    [found] = await inbox.load_pending_after(inbound().session, 0, 10)
    assert found.attempts == 3


async def test_only_the_latest_claim_may_finish(inbox: Inbox, database: Database) -> None:
    """An attempt that was overtaken writes nothing, and neither does one after the end."""
    number = await _accepted(inbox, inbound())
    first, second = await inbox.claim(number), await inbox.claim(number)

    def overtaken(connection: Connection) -> None:
        connection.execute("INSERT INTO key_value VALUES ('written', 'by the overtaken')")
        inbox_rows.finish(connection, number, first, "answered", START)

    with pytest.raises(Fenced):
        await database.write(overtaken)
    assert await rows(database, "SELECT * FROM key_value") == []
    await _end(database, number, second)
    for attempt in (first, second):
        with pytest.raises(Fenced):
            await _end(database, number, attempt, "dead")
    assert await scalar(database, "SELECT state FROM inbox") == "answered"


async def test_a_message_that_was_never_claimed_cannot_be_finished(inbox: Inbox, database: Database) -> None:
    """Without a claim there is nothing to end."""
    number = await _accepted(inbox, inbound())
    with pytest.raises(Fenced):
        await _end(database, number, 0)


async def test_what_is_done_cannot_be_claimed(inbox: Inbox, database: Database) -> None:
    """Neither can what never was."""
    number = await _accepted(inbox, inbound())
    await _end(database, number, await inbox.claim(number))
    for unknown in (number, 999):
        with pytest.raises(Fenced):
            await inbox.claim(unknown)


async def test_a_released_claim_does_not_count(inbox: Inbox) -> None:
    """A stop in the middle of a turn is not the message's fault; only the latest claim can be given back, and once."""
    number = await _accepted(inbox, inbound())
    await inbox.claim(number)
    second = await inbox.claim(number)
    await inbox.release(number, 1)
    await inbox.release(number, second)
    await inbox.release(number, second)
    assert await inbox.claim(number) == second


async def test_releasing_what_is_done_does_not_open_it_again(inbox: Inbox, database: Database) -> None:
    """A stop just after the commit gives nothing back."""
    number = await _accepted(inbox, inbound())
    attempt = await inbox.claim(number)
    await _end(database, number, attempt)
    await inbox.release(number, attempt)
    assert await inbox.open_sessions() == {}


async def test_a_start_finds_what_was_left_behind(inbox: Inbox, database: Database) -> None:
    """Sessions with open messages, oldest first, claimed ones included, with how many each has."""
    for number, chat in enumerate("aabbbc", 1):
        await _accepted(inbox, inbound(str(number), number, chat=chat))
    await inbox.claim(2)
    for done in (1, 6):
        await _end(database, done, await inbox.claim(done))
    assert list((await inbox.open_sessions()).items()) == [("fake-a", 1), ("fake-b", 3)]


async def test_messages_wait_in_the_order_they_came(inbox: Inbox) -> None:
    """Oldest first, after a given one, at most so many, of one session only."""
    for number in range(1, 11):
        await _accepted(inbox, inbound(str(number), number, chat=str(number % 2)))
    found = await inbox.load_pending_after("fake-1", 3, 2)
    assert [pending.inbound.text for pending in found] == ["5", "7"]


async def test_looking_for_waiting_messages_does_not_read_the_rest(database: Database) -> None:
    """However many are done, only the open ones are looked at."""
    await database.write(lambda connection: _many_done(connection, 500))

    def plans(connection: Connection) -> tuple[str, str]:
        return (
            plan(
                connection,
                "SELECT id FROM inbox WHERE session = ? AND id > ? AND state IN ('pending', 'claimed') ORDER BY id",
                "fake-1",
                0,
            ),
            plan(connection, "SELECT session FROM inbox WHERE state IN ('pending', 'claimed') GROUP BY session"),
        )

    for found in await database.read(plans):
        assert "inbox_open" in found
        assert "TEMP B-TREE" not in found


async def test_what_cannot_be_read_goes_to_the_dead_letters(inbox: Inbox, database: Database) -> None:
    """It is kept with its reason, cut to size, and known when it comes again."""
    await inbox.dead_letter("fake", "9", "{" * 1_000_000, "not a message")
    await inbox.dead_letter("fake", "9", "again", "not a message")
    found = await rows(database, "SELECT state, reason, length(text), external_id FROM inbox")
    assert found == [("dead", "not a message", 20_000, "9")]
    assert await inbox.store(inbound("late", 9), "trace") is None
    assert await inbox.open_sessions() == {}


@pytest.mark.parametrize("end", ["answered", "failed", "dropped"])
async def test_ids_are_kept_for_two_days_at_least(
    inbox: Inbox, database: Database, clock: ManualClock, end: inbox_rows.FinalState
) -> None:
    """A platform may repeat a message for 48 hours; after a month it is gone."""
    number = await _accepted(inbox, inbound())
    await _end(database, number, await inbox.claim(number), end)
    clock.advance(days=2)
    await inbox.prune()
    assert await inbox.store(inbound(), "again") is None
    clock.advance(days=30)
    await inbox.prune()
    assert await inbox.store(inbound(), "new") is not None


async def test_what_waits_is_never_pruned(inbox: Inbox, clock: ManualClock) -> None:
    """A message from last year still gets its turn."""
    number = await _accepted(inbox, inbound())
    claimed = await _accepted(inbox, inbound(number=2))
    await inbox.claim(claimed)
    clock.advance(days=400)
    await inbox.prune()
    assert [pending.id for pending in await inbox.load_pending_after(inbound().session, 0, 10)] == [number, claimed]


async def test_a_pruned_number_does_not_come_back(inbox: Inbox, database: Database, clock: ManualClock) -> None:
    """After a quiet week the inbox is empty; the next message must not be taken for the first one."""
    number = await _accepted(inbox, inbound())
    await _end(database, number, await inbox.claim(number))
    clock.advance(days=30)
    await inbox.prune()
    assert await scalar(database, "SELECT count(*) FROM inbox") == 0
    assert await _accepted(inbox, inbound("later", 2)) > number


async def test_dead_letters_are_kept_long_but_not_without_end(
    inbox: Inbox, database: Database, clock: ManualClock
) -> None:
    """The newest thousand stay however old they are."""
    await database.write(lambda connection: _many_done(connection, 1200, "dead"))
    clock.advance(days=400)
    await inbox.prune()
    assert await rows(database, "SELECT count(*), min(id), max(id) FROM inbox") == [(1000, 201, 1200)]


async def test_a_moment_without_microseconds_sorts_like_any_other(
    inbox: Inbox, database: Database, clock: ManualClock
) -> None:
    """Times are compared as text; the horizon is hit exactly with and without a fraction of a second."""
    for number, offset in enumerate((-1, 0, 1), 1):
        await _accepted(inbox, inbound(number=number))
        attempt = await inbox.claim(number)
        at = START + timedelta(microseconds=offset)
        await database.write(
            lambda connection, number=number, attempt=attempt, at=at: inbox_rows.finish(  # type: ignore[misc]
                connection, number, attempt, "answered", at
            )
        )
    clock.advance(days=7)
    await inbox.prune()
    assert await rows(database, "SELECT id FROM inbox ORDER BY id") == [(2,), (3,)]


def _many_done(connection: Connection, count: int, state: str = "answered") -> None:
    at = START.isoformat()
    connection.executemany(
        "INSERT INTO inbox (channel, external_id, chat, session, sender, text, sent_at, received_at, trace, state, "
        "done_at) VALUES ('fake', ?, '1', 'fake-1', '1', '', ?, ?, '', ?, ?)",
        [(f"old {number}", at, at, state, at) for number in range(count)],
    )


async def test_what_a_message_answers_is_put_in_where_its_platform_tells_the_id_alone(
    inbox: Inbox, database: Database, clock: ManualClock
) -> None:
    """In private; of an answer also by its later parts, and never what is forgotten."""

    async def quoted(number: int, reply_to: str, **more: Any) -> tuple[str, str]:
        about = dataclasses.replace(inbound("this one"), external_id=f"r{number}", reply_to=reply_to, **more)
        pending = await inbox.store(about, "trace")
        assert pending is not None
        (kept,) = await inbox.load_pending_after(pending.session, pending.id - 1, 1)
        assert kept.inbound.quoted == pending.inbound.quoted
        return pending.inbound.quoted, pending.inbound.quoted_author

    asked = dataclasses.replace(inbound("when do we eat?"), user_name="Ana", platform_id="p1")
    number = await _accepted(inbox, asked)
    said = FinishedTurn(asked.session, number, clock.now(), asked.text, "At two.", "owner", platform_id="p1")
    await database.write(lambda connection: append_turn(connection, said))
    outbox = Outbox(database, clock)
    letter = Destination(asked.channel, asked.chat, inbox_id=number)
    parts = [MessagePart("At"), MessagePart("two.")]
    sent = await database.write(lambda connection: enqueue(connection, letter, parts, clock.now()))
    for place, part in enumerate(sent, 2):
        await outbox.mark_sent(SentPart(part.id, f"p{place}"))
    assert await quoted(1, "p1", user_name="Ana") == ("when do we eat?", "Ana")
    assert await quoted(2, "p2") == await quoted(3, "p3") == ("At two.", "")
    assert await quoted(4, "p9") == ("", "")
    assert await quoted(5, "p2", private=False) == ("", "")
    assert await quoted(6, "p2", quoted="At", quoted_author="") == ("At", "")
    await database.write(lambda connection: connection.execute("INSERT INTO hidden_turn VALUES (?, 1)", (number,)))
    assert await quoted(7, "p2") == ("", "")


async def test_short_open_messages_are_found_without_those_that_are_done(database: Database) -> None:
    """Each start looks for them before its first answer, however many messages the inbox keeps."""
    sql = f"SELECT * FROM inbox WHERE {mail.OPEN_SHORT}"
    assert "USING INDEX inbox_open" in await database.read(lambda connection: plan(connection, sql, 32))
