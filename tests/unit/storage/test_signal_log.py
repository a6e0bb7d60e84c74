"""The audit trail."""

import asyncio
import json
from typing import Any

import pytest

from kenobot.core.redaction import Redactor
from kenobot.ports.errors import StoreError
from kenobot.ports.signals import (
    ALL_SIGNALS,
    CHANNEL_DOWN,
    MEMORY_WRITTEN,
    MESSAGE_IN,
    MESSAGE_OUT,
    Envelope,
    PayloadValue,
    Signal,
)
from kenobot.storage.database import Database
from kenobot.storage.signal_log import SignalLog
from kenobot_testing.clock import START
from tests.samples import rows, scalar


def _envelope(signal: Signal = MESSAGE_IN, **payload: PayloadValue) -> Envelope:
    return Envelope(signal, payload, "fake", "trace", START)


async def test_people_s_words_are_not_kept(database: Database) -> None:
    """Of what somebody wrote only the length remains; the rest of the payload does."""
    audit = SignalLog(database, keep=100)
    for signal in (MESSAGE_IN, MESSAGE_OUT, MEMORY_WRITTEN):
        audit.append(_envelope(signal, text="mi canario se llama Pío", channel="fake", id=3, record=None))
    await audit.flush()
    found = await rows(database, "SELECT name, payload FROM signal ORDER BY id")
    assert [row[0] for row in found] == ["message:in", "message:out", "memory:written"]
    assert "canario" not in str(found)
    assert json.loads(str(found[0][1])) == {"text": 23, "channel": "fake", "id": 3, "record": None}


async def test_what_an_error_quotes_is_blotted_out(database: Database) -> None:
    """A configured secret and what looks like one never get into the trail, and the rest of the sentence does."""
    audit = SignalLog(database, 100, Redactor(["canary-of-mine"]))
    audit.append(_envelope(CHANNEL_DOWN, channel="irc", error="irc://keno:s3cret@host refused canary-of-mine"))
    await audit.flush()
    told = json.loads(str(await scalar(database, "SELECT payload FROM signal")))
    assert told == {"channel": "irc", "error": "irc://[secret]@host refused [secret]"}


async def test_every_signal_that_carries_words_says_so() -> None:
    """Signals whose payload has a `text`, or the name that a stranger chose, declare it."""
    carriers = {"message:in", "message:out", "memory:written", "pairing:requested"}
    assert {name for name, signal in ALL_SIGNALS.items() if signal.text_keys} == carriers


async def test_the_trail_is_bounded(database: Database) -> None:
    """The newest rows stay, whatever was written before."""
    audit = SignalLog(database, keep=10)
    for number in range(500):
        audit.append(_envelope(number=number))
    await audit.flush()
    payloads = [json.loads(str(row[0])) for row in await rows(database, "SELECT payload FROM signal ORDER BY id")]
    assert [payload["number"] for payload in payloads] == list(range(490, 500))


async def test_what_is_held_in_memory_is_bounded(database: Database) -> None:
    """A full batch is written without being asked for, so that little is ever held."""
    audit = SignalLog(database, keep=1000)
    for _ in range(64):
        audit.append(_envelope())
    await database.write(lambda connection: None)
    assert await scalar(database, "SELECT count(*) FROM signal") == 64


async def test_nothing_is_written_twice_or_out_of_order(database: Database) -> None:
    """Batches and flushes follow one another, also when several flush at once."""
    audit = SignalLog(database, keep=1000)
    for number in range(200):
        audit.append(_envelope(number=number))
        if number % 50 == 7:
            await asyncio.gather(audit.flush(), audit.flush())
    await audit.flush()
    payloads = [json.loads(str(row[0])) for row in await rows(database, "SELECT payload FROM signal ORDER BY id")]
    assert [payload["number"] for payload in payloads] == list(range(200))


async def test_words_that_no_utf8_holds_do_not_cost_the_batch(database: Database) -> None:
    """A lone surrogate in one payload must not lose the other signals."""
    audit = SignalLog(database, keep=100)
    audit.append(_envelope(user="\ud83d"))
    audit.append(_envelope(user="fine"))
    await audit.flush()
    assert await scalar(database, "SELECT count(*) FROM signal") == 2


async def test_a_disk_that_fails_delays_the_trail(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be written is written with the next batch, in order."""
    audit, original, failures = SignalLog(database, keep=100), database.write, [StoreError("full")]

    async def write(*work: Any) -> Any:
        if failures:
            audit.append(_envelope(number=2))  # meanwhile
            raise failures.pop()
        return await original(*work)

    monkeypatch.setattr(database, "write", write)
    audit.append(_envelope(number=1))
    with pytest.raises(StoreError):
        await audit.flush()
    await audit.flush()
    payloads = [json.loads(str(row[0])) for row in await rows(database, "SELECT payload FROM signal ORDER BY id")]
    assert payloads == [{"number": 1}, {"number": 2}]
