"""Random seeded `kill -9` while reminders come due: each one is told once, and none is lost."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from kenobot.agenda import jobs
from kenobot.agenda.job import NewJob, Place
from kenobot.language.when.meaning import Moment
from kenobot.storage.connection import connect
from tests.crash.table import Line
from tests.crash.world import Lab, World, tag_in, until

_CHATS = 4
_ZONE = ZoneInfo("UTC")
_STARTING = 2.5  # seconds after `ready` in which the bot takes up its schedule
_LONGEST_LIFE = 1.5


async def play(lab: Lab, kills: int = 20, burst: int = 8) -> Line:
    """Have reminders come due around each kill, some of them while the bot is down."""
    line = Line("`kill -9` at seeded random moments while reminders of four chats come due")
    async with lab.world("reminder kills", _CHATS, extra="\n[extraction]\nenabled = false\n") as world:
        told = set[str]()
        await world.bot.start()
        for life in range(kills):
            if life:
                await world.bot.start()
            add_some(world, told, burst, _STARTING + _LONGEST_LIFE)
            await asyncio.sleep(_STARTING + world.rng.uniform(0.0, _LONGEST_LIFE))
            await world.bot.kill()
            lab.progress(f"{life + 1} of {kills} kills with reminders in flight")
        await world.bot.start()
        if not await until(lambda: told <= arrived(world), 120):
            line.broken.append(f"not all was told: {sorted(told - arrived(world))[:5]}, {''.join(world.bot.log[-5:])}")
        if code := await world.bot.terminate():
            line.broken.append(f"exit code {code} after SIGTERM")
        line.times = kills
        line.broken += await asyncio.to_thread(lambda: list(wrong(world, told)))
    line.notes.append(f"{len(told)} reminders")
    return line


def add_some(world: World, told: set[str], count: int, seconds: float) -> None:
    """Add reminders that come due within so many seconds, beside the bot, as the command line does."""
    with closing(connect(world.home / "kenobot.db")) as connection:
        for _ in range(count):
            chat, now = world.rng.choice(world.chats), datetime.now(UTC)
            due = now + timedelta(seconds=world.rng.uniform(0.5, seconds))
            place = Place("telegram", chat, "", True, "en", f"telegram:{chat}", f"user:telegram-{chat}")
            new = NewJob(f"m{len(told):05d} is due", place, Moment(due.replace(tzinfo=None, microsecond=0), exact=True))
            if due.replace(microsecond=0) <= now:
                continue
            connection.execute("BEGIN IMMEDIATE")
            jobs.add_job(connection, new, _ZONE, now)
            connection.execute("COMMIT")
            told.add(new.text.split()[0])


def arrived(world: World) -> set[str]:
    """The reminders that Telegram has seen, a summary's too."""
    return {word for sent in world.telegram.sent for word in sent.text.split() if tag_in(word) == word}


def wrong(world: World, told: set[str]) -> Iterator[str]:
    """Compare jobs, their occurrences and the outbox with what was added."""
    with closing(sqlite3.connect(world.home / "kenobot.db")) as connection:
        states = dict(connection.execute("SELECT state, count(*) FROM job GROUP BY state"))
        often = connection.execute("SELECT count(*), count(DISTINCT job), count(DISTINCT outbox) FROM occurrence")
        occurrences, jobs_told, parts = often.fetchone()
        (sent,) = connection.execute("SELECT count(*) FROM outbox WHERE trace LIKE 'job-%'").fetchone()
        (left,) = connection.execute("SELECT count(*) FROM outbox WHERE state != 'sent'").fetchone()
    if states != {"done": len(told)}:
        yield f"{len(told)} reminders were added, and are {states}"
    if (occurrences, jobs_told) != (len(told), len(told)):
        yield f"{len(told)} reminders came due, {jobs_told} were told, {occurrences} times"
    if parts != sent:
        yield f"{sent} messages tell of reminders, {parts} are known"
    if left:
        yield f"{left} messages were not sent"
