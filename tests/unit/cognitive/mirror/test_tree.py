"""The tree's writer: it writes along in the background, in rounds, and outlives what goes wrong in one of them."""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable

import pytest

from kenobot.ports.errors import StoreError
from kenobot.storage import disk
from tests.unit.cognitive.mirror.house import ENTRY, LOG
from tests.unit.cognitive.mirror.records.record_files_house import CardHouse


async def test_a_burst_of_marks_is_one_round_of_writing(cards: CardHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often something is marked before the writer wakes, it writes once."""
    await cards.tree.start()
    rounds = 0
    flush = cards.tree.sync_out
    done = asyncio.Event()

    async def counted() -> None:
        nonlocal rounds
        rounds += 1
        await flush()
        done.set()

    monkeypatch.setattr(cards.tree, "sync_out", counted)
    records = [await cards.learn(f"fact {number}") for number in range(5)]
    for record in records:
        cards.tree.mark_dirty([record])
    async with asyncio.timeout(60):
        await done.wait()
    assert rounds == 1
    assert cards.text(LOG) == "".join(ENTRY(f"fact {number}") for number in range(5))


async def test_the_writer_outlives_a_failure(
    cards: CardHouse, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A round that fails is logged; the next one does its work too."""
    await cards.tree.start()
    flush = cards.tree.sync_out
    failures: list[Exception] = [StoreError("the disk is gone"), RuntimeError("a bug of ours")]
    failed, done = asyncio.Event(), asyncio.Event()

    async def shaky() -> None:
        if failures:
            failed.set()
            raise failures.pop()
        await flush()
        done.set()

    monkeypatch.setattr(cards.tree, "sync_out", shaky)
    async with asyncio.timeout(60):
        for _ in range(2):
            cards.tree.mark_dirty([])
            await failed.wait()
            failed.clear()
        cards.tree.mark_dirty([await cards.learn("one")])
        await done.wait()
    assert cards.text(LOG) == ENTRY("one")
    assert [record.levelno for record in caplog.records] == [logging.ERROR, logging.WARNING]


async def test_the_round_that_runs_at_the_end_is_not_cut_short(
    cards: CardHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that writes cannot be called back: nothing else writes the same card beside it."""
    await cards.tree.start()
    loop, writing, go_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
    real, written = disk._write_one, []

    def slow(target: str, draft: disk.PendingFile) -> disk.FileStamp | None:
        loop.call_soon_threadsafe(writing.set)
        go_on.wait(10)
        written.append(draft.path)
        return real(target, draft)

    monkeypatch.setattr(disk, "_write_one", slow)
    number = await cards.learn("tea is served at five")
    async with asyncio.timeout(60):
        cards.tree.mark_dirty([number])
        await writing.wait()
        stopping = asyncio.create_task(cards.tree.stop())
        await asyncio.wait([stopping], timeout=0)
        go_on.set()
        await stopping
    assert sorted(written) == sorted(set(written)) and number in cards.cards()


async def test_a_turn_that_changes_no_memory_sets_off_one_look_at_what_happened(
    cards: CardHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No kind of file looks by itself; a change that comes later is written all the same."""
    tree, database = cards.tree, cards.database
    await cards.learn("one", flush=True)
    await tree.sync_out()
    jobs: list[str] = []
    for name in ("read", "write", "write_soon"):
        monkeypatch.setattr(database, name, noted(getattr(database, name), jobs, name))
    tree.mark_dirty()
    await tree.sync_out()
    assert jobs == ["read"]
    await cards.learn("two", flush=True)
    await tree.sync_out()
    assert ENTRY("two") in cards.text(LOG)


def noted(function: Callable[[object], Awaitable[object]], names: list[str], name: str) -> Callable[..., object]:
    """Note each call of a function."""

    async def call(work: object) -> object:
        names.append(name)
        return await function(work)

    return call
