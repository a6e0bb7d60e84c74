"""Whatever characters a platform sends, what is written of a message can be held by any database."""

import asyncio
import dataclasses
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kenobot.ports.messages import Inbound
from kenobot.storage.capture import read_rows, read_tables
from kenobot.storage.connection import Connection, make_storable
from kenobot.storage.database import Database
from kenobot.storage.inbox import Inbox
from kenobot.storage.message_identity import has_bad_ids
from kenobot_testing.clock import ManualClock
from tests.replay import replay_all

_text = st.text(st.one_of(st.characters(), st.sampled_from("\0\ud83d\ude00")), max_size=8)
_FREE = ("text", "user_name", "quoted", "quoted_author")
_NAMES = ("chat", "user", "thread", "platform_id", "reply_to", "target", "value")
_messages = st.lists(
    st.tuples(st.fixed_dictionaries(dict.fromkeys(_FREE, _text)), st.sampled_from(_NAMES), _text), max_size=8
)


def _texts(connection: Connection) -> list[str]:
    return [
        value
        for table in read_tables(connection)
        for row in read_rows(connection, table)
        for value in row
        if isinstance(value, str)
    ]


async def _store(messages: list[Inbound], folder: Path) -> list[str]:
    clock = ManualClock()
    database = Database.open(folder / "kenobot.db", folder / "backups")
    try:
        inbox = Inbox(database, clock)
        for message in messages:
            if has_bad_ids(message):
                await inbox.dead_letter(message.channel, message.external_id, message.text, repr(message))
            else:
                assert await inbox.store(message, "trace") is not None
        return await database.read(_texts)
    finally:
        await database.close()


def _replace(message: Inbound, texts: dict[str, Any]) -> Inbound:
    return dataclasses.replace(message, **texts)


@given(_messages)
def test_a_message_of_any_characters_is_stored(given_messages: list[tuple[dict[str, str], str, str]]) -> None:
    """Its words without NULs and halves of letters; one whose ids hold such is set aside, whole."""
    at = ManualClock().now()
    messages = [
        _replace(Inbound("fake", str(number), "1", "1", "", at + timedelta(hours=number)), {**free, name: value})
        for number, (free, name, value) in enumerate(given_messages)
    ]
    with replay_all() as differences, tempfile.TemporaryDirectory() as folder:
        texts = asyncio.run(_store(messages, Path(folder)))
    assert all(text == make_storable(text) for text in texts)
    assert differences == []


@given(_text)
def test_a_text_that_was_made_storable_stays_as_it_is(text: str) -> None:
    """And one that a database can hold is not touched."""
    storable = make_storable(text)
    assert make_storable(storable) == storable == storable.encode().decode() and "\0" not in storable
    if "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text):
        assert storable == text
