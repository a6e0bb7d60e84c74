"""Queues, caches and tables in memory stay within their limits, and what a turn needs goes with it."""

import asyncio
import gc
import importlib
import threading
from collections.abc import Sequence
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

import pytest

from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.cognitive.mirror.lists.list_files import ListFiles
from kenobot.cognitive.recall.prompt import full_load
from kenobot.cognitive.recall.results.memory import MemoryPack
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.core.bus import Bus
from kenobot.core.pacing import Rank, run_at_rank
from kenobot.core.sized_cache import SizedCache
from kenobot.gateway.access import Roster
from kenobot.gateway.bot_messages import HourlyOnce
from kenobot.gateway.delivery import Delivery
from kenobot.identity.identity_files import Identity
from kenobot.ports.channel import Sink
from kenobot.ports.errors import StoreError
from kenobot.ports.memory import Candidate
from kenobot.ports.messages import MessagePart, Outbound
from kenobot.ports.signals import STARTED, Envelope
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.outbox import Destination, Outbox, enqueue
from kenobot_testing.clock import START, ManualClock
from tests.bounds.registry import LIFETIMES, find_caches, list_in_memory
from tests.cases import each
from tests.memory_rows import full_load_query
from tests.samples import rows
from tests.scene import Scene

_ZONE = ZoneInfo("UTC")


# ── the whole house ──────────────────────────────────────────────────────────────────────────────────────────────


def _sizes(lifetime: str) -> dict[str, int]:
    """How much the containers of a lifetime hold, over all the objects there are."""
    places = [row.what.rsplit(".", 1) for row in list_in_memory() if row.test == LIFETIMES[lifetime]]
    names: dict[type, list[str]] = {}
    for path, name in places:
        module, kind = path.rsplit(".", 1)
        names.setdefault(getattr(importlib.import_module(module), kind), []).append(name)
    sizes = {f"{path}.{name}": 0 for path, name in places}
    for thing in gc.get_objects():
        owner = type(thing)
        for name in names.get(owner, ()):
            held = getattr(thing, name, None)
            sizes[f"{owner.__module__}.{owner.__qualname__}.{name}"] += len(held or ())
    return sizes


async def test_nothing_of_a_turn_stays_when_it_is_over(tmp_path: Path) -> None:
    """After 120 turns of 30 chats, some of them floods, the containers hold what they held before."""
    reply = "**Bold** `code`\n> quoted <memory>a fact</memory> https://example.org"
    async with Scene(tmp_path, [reply], owners=("1",), environ={"IntakePolicy.chat_backlog": 3}) as scene:
        await scene.say("hello")
        gc.collect()
        before = _sizes("turn")
        for _ in range(4):
            await asyncio.gather(*(scene.put(f"hello {chat}", str(chat)) for chat in range(1, 31)))
            await asyncio.gather(*(scene.put("one of many", "1") for _ in range(10)))
            await scene.app.wait_drained()
        gc.collect()
        assert _sizes("turn") == before
    assert len(before) > 15


async def test_what_is_wired_up_at_the_start_does_not_grow(tmp_path: Path) -> None:
    """Turns register nothing."""
    async with Scene(tmp_path, ["ok"]) as scene:
        gc.collect()
        before = _sizes("start")
        for number in range(30):
            await scene.say("hello", str(number))
        gc.collect()
        assert _sizes("start") == before
    assert len(before) > 5


@each("what", find_caches)
def test_a_cache_forgets(what: str) -> None:
    """Asked for more than it holds, it holds no more than that."""
    module, name = what.rsplit(".", 1)
    cached = getattr(importlib.import_module(module), name)
    limit = cached.cache_info().maxsize
    assert limit is not None
    for number in range(limit + 50):
        text = chr(0x4E00 + number)
        asked = {
            "_scanner": ((("tag", f"{number}"),),),
            "holds_kind": (text, "place"),
            "_markup_pattern": ((text,), "x"),
            "session_id": ("telegram", text),
            "_states": (text, "hospital"),
            "_readable": (text, "states"),
            "states_value": (text, "place", ""),
            "_hot_paths": ("2026-03-02", text),
            "_recent_folders": ("2026-03-02", 3, text),
            "_find_named": (text, date(2026, 3, 2)),
            "_in_clause": (text, date(2026, 3, 2)),
            "_parse": (f"FREQ=DAILY;COUNT={number + 1}",),
            "_names_day": (text, date(2026, 3, 2)),
            "_tell_member": (text, "2026-03-02T00:00:00+00:00", ZoneInfo("UTC")),
        }.get(name, (text,))
        named = {"turn_weights": {"by_meaning": True}}.get(name, {})
        cached(*asked, **named)
    assert cached.cache_info().currsize == limit


# ── the database's queues ────────────────────────────────────────────────────────────────────────────────────────


async def test_a_disk_that_stands_still_fills_no_queue(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit a write is refused and one that nobody waits for left undone; then all goes on."""
    monkeypatch.setattr("kenobot.storage.database._QUEUED", 20)
    held = threading.Event()
    first = database.submit(lambda connection: held.wait(20))
    while database._jobs.qsize():
        await asyncio.sleep(0)
    written = database.submit(lambda c: c.execute("INSERT INTO key_value VALUES ('written', 'in the end')"))
    waiting = [database.submit(lambda connection: None) for _ in range(19)]
    for _ in range(500):
        database.write_nowait(lambda connection: None)
        with pytest.raises(StoreError, match="too slow"):
            await database.write(lambda connection: None)
    assert database._jobs.qsize() == 20
    held.set()
    await asyncio.gather(first, written, *waiting)
    await database.write(lambda connection: None)
    assert len(await rows(database, "SELECT * FROM key_value")) == 1


@pytest.mark.parametrize(("rank", "threads"), [(Rank.TURN, 2), (Rank.SOON, 1), (Rank.LATER, 1)])
async def test_readers_that_stand_still_fill_no_queue(
    database: Database, monkeypatch: pytest.MonkeyPatch, rank: Rank, threads: int
) -> None:
    """So it is with reading, for turns and behind them."""
    monkeypatch.setattr("kenobot.storage.database._QUEUED", 20)
    held = threading.Event()
    with run_at_rank(rank):
        busy = [asyncio.create_task(database.read(lambda connection: held.wait(20))) for _ in range(threads)]
        await asyncio.sleep(0)
        while database._reads.qsize() or database._later.qsize():
            await asyncio.sleep(0)
        waiting = [asyncio.create_task(database.read(lambda connection: 1)) for _ in range(20)]
        await asyncio.sleep(0)
        with pytest.raises(StoreError, match="too slow"):
            await database.read(lambda connection: 1)
    held.set()
    assert await asyncio.gather(*waiting) == [1] * 20
    await asyncio.gather(*busy)


# ── mail ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_chat_with_much_mail_holds_little_of_it(tmp_path: Path) -> None:
    """Of two hundred messages of a chat at work at most sixteen are in memory."""
    async with Scene(tmp_path, ["ok"], environ={"IntakePolicy.chat_backlog": 1000}) as scene:
        largest = 0
        for number in range(200):
            await scene.put(f"message {number}")
            largest = max([largest, *(len(lane.ready) for lane in scene.app.loop._lanes._lines.values())])
        await scene.app.wait_drained()
        assert 1 < largest <= 16
        assert len(scene.texts) == 200


class _Stuck:
    """A channel that takes nothing until told to."""

    name = "fake"

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.sent: list[str] = []

    async def run(self, sink: Sink) -> None: ...

    def render(self, text: str) -> Sequence[MessagePart]:
        return (MessagePart(text),)

    async def send(self, outbound: Outbound) -> str:
        await self.open.wait()
        self.sent.append(outbound.part.text)
        return "1"


async def test_a_chat_that_takes_nothing_holds_few_parts(database: Database, clock: ManualClock) -> None:
    """Of two hundred parts at most thirty-two are in memory; all go out, in order, once the chat takes them."""
    channel, bus = _Stuck(), Bus(clock)
    delivery = Delivery({"fake": channel}, Outbox(database, clock), bus, clock, Random(1))
    texts = [f"part {number}" for number in range(200)]
    for number, text in enumerate(texts):
        letter = Destination("fake", "1", inbox_id=number)
        parts = [MessagePart(text)]
        delivery.dispatch(await database.write(lambda c, w=letter, p=parts: enqueue(c, w, p, START)))  # type: ignore[misc]
    assert [len(line.ready) <= 32 for line in delivery.queue._lines.values()] == [True]
    channel.open.set()
    await delivery.queue.wait_idle()
    assert channel.sent == texts
    assert delivery.queue.idle


async def test_strangers_leave_little_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty strangers with a hundred messages: three codes, no mail, no person, and few of them remembered."""
    monkeypatch.setattr("kenobot.gateway.admission._NOTICED", 20)
    async with Scene(tmp_path, ["never"], roster=Roster.of(("1",))) as scene:
        for number in range(100):
            assert not await scene.put("let me in", str(1000 + number % 60))
        await scene.app.wait_drained()
        assert len(scene.app.admission._noticed._seen) == 20
        for table, count in (
            ("pairing", 3),
            ("outbox", 3),
            ("inbox", 0),
            ("approved_person", 0),
            ("message", 0),
            ("turn", 0),
        ):
            assert await scene.rows(f"SELECT count(*) FROM {table}") == [(count,)], table


def test_notices_of_an_hour_are_limited(clock: ManualClock) -> None:
    """Each subject once, so many subjects in all, and an hour later there is room again."""
    hour = HourlyOnce(clock, 20)
    assert [hour.is_news(f"subject {number % 50}") for number in range(100)].count(True) == 20
    assert len(hour._seen) == 20
    clock.advance(timedelta(hours=1).total_seconds())
    assert hour.is_news("subject 1")
    assert len(hour._seen) == 1


async def test_a_receiver_that_leaves_leaves_nothing_behind(clock: ManualClock) -> None:
    """A plugin may come and go as often as it likes."""
    bus = Bus(clock)

    async def ear(envelope: Envelope) -> None: ...

    for _ in range(200):
        leave = bus.subscribe(STARTED, ear)
        await bus.emit(STARTED, "test", "")
        await bus.drain()
        leave()
    assert not bus._subscriptions
    assert not bus._signals[STARTED.name].receivers
    await bus.close()


async def test_updates_without_a_number_are_remembered_up_to_a_hundred(clock: ManualClock) -> None:
    """Each is set aside once however often it comes, as long as it is among the newest hundred."""
    aside: list[str] = []

    class Box:
        async def __call__(self, inbound: object) -> bool:
            raise AssertionError

        async def dead_letter(self, channel: str, external_id: str, raw: str, reason: str) -> None:
            aside.append(raw)

        async def report(self, channel: str, problem: str) -> None: ...

    settings = TelegramSettings(token="12345678:" + "A" * 35, owners=[1])
    channel = TelegramChannel(settings, clock)
    for number in (*range(300), 299, 299):
        await channel._set_aside(None, {"odd": number}, "odd", Box())
    assert len(aside) == 300
    assert len(channel._unnumbered) == 100


async def test_every_new_field_is_warned_of_once_and_a_flood_of_them_is_not(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says why words count as forwarded, and no sender can fill it."""
    channel = TelegramChannel(TelegramSettings(token="12345678:" + "A" * 35, owners=[1]), clock)
    for number in range(300):
        channel._warn_of_new(["written_by_assistant", f"field_{number}"])
    assert len(channel._new_fields) == 50
    assert sum("'written_by_assistant'" in message for message in caplog.messages) == 1
    assert len(caplog.messages) == 50


# ── memory ───────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_what_is_known_of_memory_files_goes_with_them(tmp_path: Path, database: Database) -> None:
    """Files that cannot be used, and files that are taken away, are forgotten with their rows."""
    clock = ManualClock()
    root = tmp_path / "memory"
    root.mkdir()
    mirror = ListFiles(root, database, clock, _ZONE)
    for number in range(1, 10):
        (root / f"2026-01-0{number}.md").write_text("## 10:00 — a fact\n")
        (root / f"2026-02-0{number}.md").write_bytes(b"\xff not text")
    (root / "2026-02-14-garden.md").write_text("- a topic\n")
    await mirror.sync_in()
    await mirror.sync_out()
    # The topic stands in its day's log as well.
    assert (len(mirror._seen), len(mirror._known), len(mirror.problems)) == (20, 11, 9)
    assert len(mirror._topics) == 1
    for path in (*root.glob("2026-01-*.md"), *root.glob("2026-02-14*.md")):
        path.write_text("")
    for sweep in ("2026-02-*.md", "2026-01-*.md"):
        clock.advance(60)
        await mirror.sync_in()
        await mirror.sync_out()
        for path in root.glob(sweep):
            path.unlink()
    clock.advance(60)
    await mirror.sync_in()
    await mirror.sync_out()
    held = (mirror._seen, mirror._known, mirror._topics, mirror._problems, mirror._emptied, mirror._again)
    assert [len(each) for each in held] == [0] * 6
    assert await rows(database, "SELECT * FROM list_file") == []
    assert list(root.rglob("*.md")) == []


def test_cached_values_are_kept_within_a_number_and_a_size() -> None:
    """Neither many values nor large ones make a cache grow without end; those made last stay."""
    cache = SizedCache[int, str](64, 10_000, len)
    for key in range(100):
        cache.get(key, lambda key: f"{key} {'x' * 10}")
    assert [*cache._values] == [*range(36, 100)]
    assert cache._used == sum(map(len, cache._values.values()))
    for key in range(100, 110):
        cache.get(key, lambda _: "y" * 3000)
    assert cache._used == sum(map(len, cache._values.values())) <= 10_000
    cache.get(200, lambda _: "z" * 20_000)
    assert list(cache._values) == [200] and cache._used == 20_000


async def test_the_days_of_an_unchanged_memory_are_read_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next prompt takes them from the cache."""

    def learn(connection: Connection) -> None:
        for number in range(20):
            admit(
                connection,
                Candidate("note", "owner", f"fact {number} {'x' * 100}"),
                AdmitContext(START, "2026-02-14", "t"),
            )

    await database.write(learn)
    loader = full_load.FullLoader()

    def ask(chat: int, connection: Connection) -> MemoryPack:
        return loader.load(connection, full_load_query(("owner", f"chat:{chat}"), f"chat:{chat}", "2026-02-14", 6000))

    first = await database.read(partial(ask, 0))
    monkeypatch.setattr(full_load, "_notes", lambda *_: pytest.fail("the days were read again"))
    assert (await database.read(partial(ask, 0)))["recent"] == first["recent"] != ""


def test_the_identity_folder_is_read_by_four_names(tmp_path: Path) -> None:
    """Whatever else lies there is not remembered."""
    identity = Identity(tmp_path)
    for number in range(50):
        (tmp_path / f"file {number}.md").write_text("x")
    for name in ("core.md", "rules.json", "preferences.md", "BOOTSTRAP.md"):
        (tmp_path / name).write_text("" if name.endswith("json") else "x")
        identity.read()
    assert len(identity._seen) == 4
