"""A button gives its command once, in its chat, to those whose decision it is, and cannot be forged."""

from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from kenobot.gateway.access import Access, Roster
from kenobot.gateway.buttons import Choice, PressedButton, Pressers, add_buttons, find_button
from kenobot.ports.messages import Inbound, MessagePart
from kenobot.storage import keyboards
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.keyboards import take_keyboard
from kenobot_testing.clock import START
from tests.memory_rows import open_memory
from tests.samples import scalar

ACCESS = Access({"telegram": Roster.of(["1"], ["2", "3"])})
ROWS = ((Choice("Yes", "answer", "7 yes"), Choice("No", "answer", "7 no")), (Choice("Why", "why", "12"),))
PRESS = Inbound("telegram", "9", "-5", "2", "", START, private=False, kind="action", target="77")


def _put(
    connection: Connection, accounts: tuple[str, ...] = ("2",), *, owner: bool = False, at: datetime = START
) -> list[str]:
    """Store the buttons; returns their values."""
    parts = [MessagePart("first"), MessagePart("last")]
    where = Pressers("telegram", "-5", accounts, owner)
    first, last = add_buttons(connection, parts, ROWS, where, "es", at)
    assert not first.buttons
    assert [[button.label for button in row] for row in last.buttons] == [["Yes", "No"], ["Why"]]
    return [button.value for row in last.buttons for button in row]


def _found(connection: Connection, value: str, access: Access = ACCESS, **more: str) -> PressedButton | None:
    return find_button(connection, replace(PRESS, value=value, **more), access)  # type: ignore[arg-type]


async def test_each_button_gives_its_command_in_its_language(database: Database) -> None:
    """Its value is short, says nothing of it, and stays good in a later run."""
    values = await database.write(_put)
    assert max(len(value.encode()) for value in values) <= 64
    found = await database.read(lambda c: [_found(c, value) for value in values])
    assert found == [
        PressedButton("answer", "7 yes", "es", 1),
        PressedButton("answer", "7 no", "es", 1),
        PressedButton("why", "12", "es", 1),
    ]


async def test_a_press_takes_all_buttons_of_the_message_away(database: Database) -> None:
    """Of two presses the second finds nothing."""
    values = await database.write(_put)
    assert await database.write(lambda c: take_keyboard(c, 1))
    assert not await database.write(lambda c: take_keyboard(c, 1))
    assert await database.read(lambda c: [_found(c, value) for value in values]) == [None] * 3


async def test_only_those_it_is_for_may_press(database: Database) -> None:
    """Another person of the chat may not, nor the owner unless the buttons say so."""
    [mine, *_] = await database.write(_put)
    [ours, *_] = await database.write(lambda c: _put(c, (), owner=True))
    allowed = await database.read(
        lambda c: {(user, value): _found(c, value, user=user) is not None for user in "123" for value in (mine, ours)}
    )
    assert {pair for pair, may in allowed.items() if may} == {("2", mine), ("1", ours)}


async def test_a_button_is_good_in_its_chat_alone(database: Database) -> None:
    """Its value brought from another chat, or another channel, is nothing."""
    [value, *_] = await database.write(_put)
    assert await database.read(lambda c: _found(c, value, chat="-6")) is None
    assert await database.read(lambda c: _found(c, value, channel="fake")) is None


async def test_whoever_may_not_talk_any_more_presses_nothing(database: Database) -> None:
    """Their approval was revoked after the button was sent, or after they pressed it."""
    [value, *_] = await database.write(_put)
    revoked = Access({"telegram": Roster.of(["1"])})
    assert await database.read(lambda c: _found(c, value, revoked)) is None
    revoked.set_approved([("telegram", "2")])
    assert await database.read(lambda c: _found(c, value, revoked)) is not None


async def test_a_button_of_a_time_that_a_backup_undid_is_nothing(database: Database) -> None:
    """Though other buttons stand in its chat under its number now."""
    [old, *_] = await database.write(_put)
    await database.write(lambda c: c.execute("DELETE FROM keyboard"))
    await database.write(lambda c: c.execute("DELETE FROM sqlite_sequence WHERE name = 'keyboard'"))
    [new, *_] = await database.write(lambda c: _put(c, at=START + timedelta(seconds=1)))
    assert old.split(".")[:2] == new.split(".")[:2]
    assert await database.read(lambda c: _found(c, old)) is None
    assert await database.read(lambda c: _found(c, new)) is not None


@given(forged=st.text(max_size=64) | st.from_regex(r"1\.[0-2]\.[A-Za-z0-9_-]{16}", fullmatch=True))
def test_no_value_can_be_forged(forged: str) -> None:
    """Whatever a client sends gives no command but what the bot signed."""
    with open_memory() as connection:
        assert forged in _put(connection) or _found(connection, forged) is None


async def test_a_chat_keeps_its_newest_buttons_and_no_button_a_month(database: Database) -> None:
    """Whoever fills a chat with them takes none from another; what is old goes."""
    first = await database.write(_put)
    for _ in range(60):
        last = await database.write(_put)
    assert await scalar(database, "SELECT count(*) FROM keyboard") == 50
    assert await database.read(lambda c: (_found(c, first[0]), _found(c, last[0]) is not None)) == (None, True)
    await keyboards.prune(database, START + timedelta(days=29))
    assert await scalar(database, "SELECT count(*) FROM keyboard") == 50
    await keyboards.prune(database, START + timedelta(days=31))
    assert await scalar(database, "SELECT count(*) FROM keyboard") == 0
