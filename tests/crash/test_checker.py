"""The checker itself: a doctored history is found out."""

import contextlib
import dataclasses
import sqlite3
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from tests.crash.checker import Verdict, check
from tests.crash.world import Lab, World
from tests.integration.stand_in import Sent

pytestmark = [pytest.mark.crash, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(name="world", scope="module", loop_scope="session")
async def _world(lab: Lab) -> AsyncIterator[World]:
    """A world in which all went well."""
    async with lab.world("doctored", chats=1) as world:
        await world.bot.start()
        await world.say(5)
        assert await world.settles()
        assert await world.bot.terminate() == 0
        yield world


def sql(statement: str) -> Callable[[World], None]:
    """A forger who changes the database."""

    def forge(world: World) -> None:
        with contextlib.closing(sqlite3.connect(world.home / "kenobot.db")) as connection:
            connection.execute("PRAGMA foreign_keys = OFF")
            connection.execute(statement)
            connection.commit()

    return forge


def another_answer(world: World) -> None:
    world.telegram.sent.append(Sent(world.chats[0], "answer 99 to m00001", None))


def no_answer(world: World) -> None:
    world.telegram.sent[:] = [item for item in world.telegram.sent if "m00001" not in item.text]


def another_chat(world: World) -> None:
    world.telegram.sent[1] = dataclasses.replace(world.telegram.sent[1], chat="1")


def forget_the_line(world: World) -> None:
    for path in (world.home / "memory").glob("2*.md"):
        path.write_text("")


FORGERIES: dict[str, tuple[Callable[[World], None], str]] = {
    "an inbox row gone": (sql("DELETE FROM inbox WHERE text LIKE 'm00002%'"), "lost"),
    "a message not done": (sql("UPDATE inbox SET state = 'pending' WHERE text LIKE 'm00002%'"), "lost"),
    "a part not sent": (sql("UPDATE outbox SET state = 'pending' WHERE id = 2"), "lost"),
    "a turn gone": (sql("DELETE FROM turn WHERE inbox_id = 2"), "lost"),
    "no answer at Telegram": (no_answer, "lost"),
    "another answer at Telegram": (another_answer, "doubled"),
    "an answer in another chat": (another_chat, "wrong"),
    "a part twice": (
        sql(
            "INSERT INTO outbox (inbox_id, part, channel, chat, text, trace, state, created_at) "
            "SELECT inbox_id, 7, channel, chat, text, trace, state, created_at FROM outbox WHERE id = 1"
        ),
        "doubled",
    ),
    "the history out of order": (sql("UPDATE message SET id = 1000 + id WHERE id = 1"), "wrong"),
    "a message gone from the history": (sql("DELETE FROM message WHERE id = 3"), "wrong"),
    "a fact forgotten": (sql("UPDATE record SET status = 'forgotten'"), "lost"),
    "a fact believed twice": (sql("UPDATE record SET mentions = 2"), "doubled"),
    "a fact gone from its file": (forget_the_line, "lost"),
}


async def test_a_world_in_which_all_went_well_holds(world: World) -> None:
    """Five messages, one of them with something to remember, and nothing to complain about."""
    assert check(world) == Verdict(messages=5)


@pytest.mark.parametrize("name", FORGERIES)
async def test_a_forgery_is_found_out(world: World, name: str) -> None:
    """Whatever is missing, doubled or in the wrong place is said to be so."""
    forge, kind = FORGERIES[name]
    database = world.home / "kenobot.db"
    before = database.read_bytes()
    files = {path: path.read_bytes() for path in (world.home / "memory").glob("*.md")}
    sent = list(world.telegram.sent)
    try:
        forge(world)
        verdict = check(world)
    finally:
        database.write_bytes(before)
        for path, content in files.items():
            path.write_bytes(content)
        world.telegram.sent[:] = sent
    assert getattr(verdict, kind), verdict
    assert not verdict.holds
