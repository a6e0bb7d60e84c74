"""The homes of a play as any machine runs them: no host, no PostgreSQL, one process that nobody disturbs.

Also what a play is compared by: a home's records, and what it recalls, once all that was said has been read.
"""

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from random import Random
from typing import Any

from kenobot.app.app import App
from kenobot.app.plugin_instances import load_plugins
from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.channels.telegram.updates import CHANNEL, BotUser
from kenobot.cognitive.memory import MemoryQuery, Transfers
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot.gateway.channel_supervisor import keep_running
from kenobot.ports.clock import SystemClock
from kenobot.ports.messages import Outbound
from kenobot.storage import migrate
from kenobot.storage.connection import Connection
from kenobot_host.home_store import write_copy
from tests.crash.world import until_still
from tests.hosting.chaos.cell import ENVIRON, HomeOf
from tests.hosting.chaos.platform import FIRST_NAME
from tests.hosting.chaos.talk import Line

_HOMES_AT_ONCE = 6
_SECONDS = 120.0  # without any new answer of a home
_NUMBER = re.compile(r"answer \d+ to")  # which no two answers share
# Summaries are not compared: how many turns one takes in depends on when what makes them comes to look.
_RECORDS = """
SELECT form, scope, category, subject, text, trust, status, source, mentions, lifecycle FROM record
WHERE form NOT IN ('summary', 'box')
"""
_BOXES = """
SELECT box.id, box.scope, member.text FROM record AS box JOIN link ON dst = box.id AND type = 'member'
JOIN record AS member ON member.id = src WHERE box.form = 'box'
"""
_LINKS = """
SELECT type, one.text, other.text, weight, link.confidence, seen FROM link
JOIN record AS one ON one.id = src JOIN record AS other ON other.id = dst WHERE type NOT IN ('member', 'trace')
"""
_MOST_RECALLED = 100


@dataclass
class Remembered:
    """What a home has kept. boxes: what each stretch of talk told of, which ends by topic and by the clock.

    recalls: the texts that each question brings up: those of turns, best first, then what was read in them afterwards,
    whose age depends on when that was.
    """

    records: Counter[str] = field(default_factory=Counter)
    boxes: Counter[str] = field(default_factory=Counter)
    links: Counter[str] = field(default_factory=Counter)
    recalls: dict[str, list[str]] = field(default_factory=dict)


class _Updates:
    """Updates that wait for a channel, all at once."""

    def __init__(self, updates: Sequence[dict[str, Any]]) -> None:
        self._updates = list(updates)
        self.server_time: datetime | None = None

    async def get_me(self) -> BotUser:
        return BotUser(100_000_000, "cell_bot")

    async def get_updates(self, offset: int | None) -> Sequence[object]:
        given = [each for each in self._updates if offset is None or each["update_id"] >= offset][:100]
        if not given:
            await asyncio.Event().wait()
        return given


class _Channel(TelegramChannel):
    """Telegram, which takes everything."""

    def __init__(self, settings: TelegramSettings, updates: Sequence[dict[str, Any]]) -> None:
        super().__init__(settings, SystemClock(), _Updates(updates))
        self.sent: list[tuple[str, str]] = []

    async def send(self, outbound: Outbound) -> str:
        self.sent.append((outbound.chat, outbound.part.text))
        return str(len(self.sent))


def make_home(home: Home, of: HomeOf, model_url: str, *, is_new: bool = True) -> None:
    """Make the folder of a home, or complete one that has a database."""
    home.prepare()
    home.seed_identity()
    home.config_file.write_text(of.write_settings(model_url), "utf-8")
    (home.identity / "preferences.md").write_text(of.person, "utf-8")
    if is_new:
        migrate.migrate(home.database, home.backups)


def complete(home: Home) -> None:
    """Make in a database that was loaded from rows what these do not have."""
    with write_copy(home.database) as connection:
        Transfers.complete_copy(connection)


@dataclass(frozen=True, slots=True)
class Hearing:
    """What a home is told, and asked afterwards. at: the moment of the questions, the same for every run."""

    home: Home
    of: HomeOf
    lines: Sequence[Line]
    questions: Sequence[tuple[str, str]]
    at: datetime


@contextlib.asynccontextmanager
async def _open(hearing: Hearing, updates: Sequence[dict[str, Any]]) -> AsyncIterator[tuple[App, _Channel]]:
    home, of = hearing.home, hearing.of
    loaded = load_settings(home, {**ENVIRON, "TELEGRAM_BOT_TOKEN": of.token})
    clock = SystemClock()
    parts = load_plugins(home, loaded, clock, (CHANNEL,))
    channel = _Channel(loaded.plugin_settings("kenobot.channels", CHANNEL, TelegramSettings), updates)
    app = App(home, loaded, clock, replace(parts, channels={CHANNEL: channel}), Random(1))
    try:
        await app.start()
        yield app, channel
    finally:
        await app.stop()


async def run_undisturbed(
    hearings: Sequence[Hearing], model_url: str, progress: Callable[[int], None]
) -> dict[int, Remembered]:
    """Have homes answer what was said to them; returns what each has kept. Raises AssertionError."""
    found: dict[int, Remembered] = {}
    waiting = list(hearings)[::-1]

    async def work() -> None:
        while waiting:
            hearing = waiting.pop()
            await asyncio.to_thread(make_home, hearing.home, hearing.of, model_url)
            found[hearing.of.number] = await _answer(hearing)
            progress(len(waiting))

    async with asyncio.TaskGroup() as group:
        for _ in range(_HOMES_AT_ONCE):
            group.create_task(work())
    return found


async def _answer(hearing: Hearing) -> Remembered:
    lines = hearing.lines
    updates = [_write_update(number, line) for number, line in enumerate(lines, 1)]
    async with _open(hearing, updates) as (app, channel):
        taking = asyncio.create_task(keep_running(channel, app.loop, app.bus, app.clock))
        try:
            await until_still(lambda: len(channel.sent) >= len(lines), lambda: len(channel.sent), _SECONDS)
            await app.wait_drained()
        finally:
            taking.cancel()
            await asyncio.gather(taking, return_exceptions=True)
        assert len(channel.sent) == len(lines), f"home {hearing.of.number}: {len(channel.sent)} of {len(lines)} answers"
        return await _read(app, hearing)


def _write_update(number: int, line: Line) -> dict[str, Any]:
    message = {
        "message_id": number,
        "date": int(SystemClock().now().timestamp()),
        "chat": {"id": int(line.chat), "type": "private"},
        "from": {"id": int(line.chat), "is_bot": False, "first_name": FIRST_NAME},
        "text": line.text,
    }
    return {"update_id": number, "message": message}


async def read_memory(hearing: Hearing) -> Remembered:
    """Read what a home has kept that was told everything already."""
    async with _open(hearing, ()) as (app, _):
        return await _read(app, hearing)


async def _read(app: App, hearing: Hearing) -> Remembered:
    """Read what a home has kept, once all that was said in it has been read for memories."""
    await app.background.extraction.drain()
    await app.indexer.index_all()
    records, links = [await app.database.read(partial(_read_rows, sql)) for sql in (_RECORDS, _LINKS)]
    boxes = await app.database.read(_read_boxes)
    recalls: dict[str, list[str]] = {}
    for chat, text in hearing.questions:
        owner = hearing.of.chats[0]
        reach = ("owner" if chat == owner else f"user:telegram-{chat}", f"chat:telegram-{chat}")
        query = MemoryQuery(text, reach, hearing.at, budget=1_000_000, limit=_MOST_RECALLED, force=True)
        report = await app.database.read(partial(app.memory.recall, query=query))
        texts = [(memory.record.source, _clean(memory.record.text)) for memory in report.memories]
        told = [text for source, text in texts if source == "tag"]
        recalls[f"{chat}: {text}"] = [*told, *sorted(text for source, text in texts if source != "tag")]
    return Remembered(records, boxes, links, recalls)


def _read_rows(sql: str, connection: Connection) -> Counter[str]:
    return Counter(_clean(repr(row)) for row in connection.execute(sql))


def _read_boxes(connection: Connection) -> Counter[str]:
    boxes: dict[tuple[int, str], list[str]] = {}
    for box, scope, text in connection.execute(_BOXES):
        boxes.setdefault((box, scope), []).append(text)
    return Counter(f"{scope}: {sorted(texts)}" for (_, scope), texts in boxes.items())


def _clean(text: str) -> str:
    return _NUMBER.sub("answer to", text)
