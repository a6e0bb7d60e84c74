"""Talk to the bots of a cell while its workers, ingresses and database are killed, stopped and cut off; then compare.

What must hold: nothing lost, nothing doubled, the order of a chat, no commit of a worker that has lost its home, each
working copy equal to the rows of its version, and memory as in a run in one process that nobody disturbed.
"""

import asyncio
import contextlib
import shutil
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from signal import SIGCONT, SIGKILL, SIGSTOP

from kenobot.storage.capture import read_rows, read_sequences, read_tables
from kenobot_host.connections import Connections
from kenobot_host.home_store import HomeStore, read_version
from tests.crash.checker import compare
from tests.crash.world import Model, tag_in, until_still
from tests.hosting.chaos.cell import BotOf, Cell, Process
from tests.hosting.chaos.platform import Platform
from tests.hosting.proxy import Proxy, once
from tests.hosting.server import PostgresServer, find_binaries

_WORDS = ("apples", "peras", "the harbour", "la montaña", "a red bicycle", "el tren de las nueve", "mañana")
_STILL_SECONDS = 60.0  # without any new answer, after which no more will come
_BURST = 8
_STOP_SECONDS = 11.0  # longer than a worker may be silent


@dataclass(frozen=True, slots=True)
class Story:
    """How large a play is, and what happens in it.

    homes: of each bot. chats: of each home. kill_seconds: between two kills of a worker; 0 for none.
    """

    bots: int = 2
    homes: int = 3
    chats: int = 2
    messages: int = 120
    workers: int = 2
    ingresses: int = 1
    kill_seconds: float = 3.0
    stops: int = 0
    ingress_kills: int = 0
    server_kills: int = 0
    cuts: int = 0
    old_copies: int = 0
    idle_seconds: float = 5.0
    pause_seconds: float = 0.2
    seed: int = 20261129


@dataclass
class Outcome:
    """What came of a play. broken: each promise that did not hold, in words. memory: by home, what is remembered."""

    messages: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    repeated_parts: int = 0
    posted_again: int = 0
    copies: int = 0
    seconds: float = 0.0
    broken: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    memory: dict[str, Counter[str]] = field(default_factory=dict)


@dataclass
class Stage:
    """A cell that plays: its server, platform and model, and what was said. asked: by chat, in order."""

    story: Story
    server: PostgresServer
    proxy: Proxy
    cell: Cell
    platform: Platform
    model: Model
    rng: Random
    outcome: Outcome = field(default_factory=Outcome)
    asked: dict[str, list[str]] = field(default_factory=dict)
    progress: Callable[[str], None] = lambda _: None

    @property
    def workers(self) -> list[Process]:
        return [each for each in self.cell.processes if each.kind == "worker"]

    @property
    def ingresses(self) -> list[Process]:
        return [each for each in self.cell.processes if each.kind == "ingress"]

    def note_ports(self) -> None:
        """Have updates posted to the ingresses that run."""
        self.platform.ingresses = [each.port for each in self.ingresses if each.port]


async def play(story: Story, progress: Callable[[str], None] = lambda _: None) -> Outcome:
    """Play a story to its end and check what came of it."""
    began = time.monotonic()
    async with _set_stage(story) as stage:
        stage.progress = progress
        await asyncio.gather(*(process.start() for process in stage.cell.processes))
        stage.note_ports()
        async with asyncio.TaskGroup() as both:
            both.create_task(_trouble_on(stage))
            both.create_task(_talk(stage))
        await _await_answers(stage)
        await _await_rescue(stage)
        await _end(stage)
        await asyncio.to_thread(_check, stage)
        stage.outcome.log += [f"{each.name} {line}" for each in stage.cell.processes for line in each.log]
        stage.outcome.seconds = time.monotonic() - began
        return stage.outcome


@contextlib.asynccontextmanager
async def _set_stage(story: Story) -> AsyncIterator[Stage]:
    binaries = find_binaries()
    assert binaries is not None
    server = PostgresServer(binaries)
    with tempfile.TemporaryDirectory(prefix="kenobot-cell-", ignore_cleanup_errors=True) as folder:
        try:
            await asyncio.to_thread(server.create)
            async with Platform() as platform, Model() as model:
                proxy = Proxy(server.url)
                cell = Cell(proxy.url, Path(folder), platform.base_url, model.url, server.url)
                posted = story.bots // 2
                await asyncio.to_thread(
                    cell.build, story.bots, story.homes, story.chats, lambda number: number < posted
                )
                for number in range(story.ingresses):
                    cell.add_ingress(f"ingress-{number + 1}")
                for number in range(story.workers):
                    cell.add_worker(f"worker-{number + 1}", idle=story.idle_seconds)
                try:
                    yield Stage(story, server, proxy, cell, platform, model, Random(story.seed))
                finally:
                    await cell.stop()
                    proxy.close()
        finally:
            server.stop()


# ── what happens ─────────────────────────────────────────────────────────────────────────────────────────────────


async def _talk(stage: Stage) -> None:
    """People say something in any chat, in bursts."""
    places = [(bot, chat) for bot in stage.cell.bots for chats in bot.chats.values() for chat in chats]
    rng = Random(f"{stage.story.seed} talk")
    for number in range(stage.story.messages):
        bot, chat = rng.choice(places)
        text = f"m{number:05d} {rng.choice(_WORDS)}"
        stage.asked.setdefault(chat, []).append(text)
        await stage.platform.tell(text, chat, bot.token, posted=bot.is_posted)
        if number % _BURST == _BURST - 1:
            await asyncio.sleep(stage.story.pause_seconds)
            stage.progress(f"{number + 1} said, {len(stage.platform.sent)} sent, {dict(stage.outcome.kills)}")
    stage.outcome.messages = stage.story.messages


async def _await_answers(stage: Stage) -> None:
    """Wait until each message has its answer, or none comes any more."""

    def count() -> int:
        stage.progress(f"{len(stage.platform.sent)} sent, {dict(stage.outcome.kills)}")
        return len({tag_in(item.text) for item in stage.platform.sent})

    await until_still(lambda: count() >= stage.story.messages, count, _STILL_SECONDS)


async def _await_rescue(stage: Stage) -> None:
    """Wait until only workers that live hold jobs: the last one that was killed is silent for some seconds first."""
    import psycopg

    with psycopg.connect(stage.server.url, autocommit=True) as connection:
        (began,) = connection.execute("SELECT now()").fetchone() or (None,)

        def count() -> int:
            row = connection.execute(
                "SELECT count(*) FROM procrastinate_jobs AS job LEFT JOIN procrastinate_workers AS worker "
                "ON worker.id = job.worker_id WHERE job.status = 'doing' AND "
                "(worker.last_heartbeat IS NULL OR worker.last_heartbeat < %s)",
                (began,),
            ).fetchone()
            return int(row[0]) if row is not None else 0

        await until_still(lambda: count() == 0, count, _STILL_SECONDS)


async def _trouble_on(stage: Stage) -> None:
    """Bring trouble, each of its kind as often as the story says, and kills of workers for as long as people talk."""
    story, rng, kills = stage.story, Random(f"{stage.story.seed} trouble"), stage.outcome.kills
    if not story.kill_seconds:
        return
    others = ["stop"] * story.stops + ["ingress"] * story.ingress_kills + ["server"] * story.server_kills
    others += ["cut"] * story.cuts + ["old copy"] * story.old_copies
    rng.shuffle(others)
    while others or stage.outcome.messages == 0:
        await asyncio.sleep(story.kill_seconds)
        other = others.pop() if others and rng.random() < 0.5 else "kill"
        kills[other] += 1
        match other:
            case "kill":
                await _kill(rng.choice(stage.workers))
            case "ingress":
                await _kill(rng.choice(stage.ingresses))
                stage.note_ports()
            case "stop":
                await _stop_for_long(rng.choice(stage.workers))
            case "cut":
                stage.proxy.after = once()
            case "old copy":
                await _put_back(rng.choice(stage.workers), stage)
            case "server":
                await asyncio.to_thread(_restart, stage.server)


async def _kill(process: Process) -> None:
    if process.runs:
        await process.end(SIGKILL)
    await process.start()


async def _stop_for_long(process: Process) -> None:
    """Stop a process until it has lost everything, then let it go on as if nothing had been."""
    process.send(SIGSTOP)
    await asyncio.sleep(_STOP_SECONDS)
    process.send(SIGCONT)


async def _put_back(worker: Process, stage: Stage) -> None:
    """Kill a worker twice; the second time its working copies are again as they were the first time."""
    await worker.end(SIGKILL)
    copies, saved = stage.cell.folder / worker.name, stage.cell.folder / f"{worker.name}.saved"
    shutil.copytree(copies, saved)
    await worker.start()
    await asyncio.sleep(stage.story.kill_seconds)
    await worker.end(SIGKILL)
    shutil.rmtree(copies)
    saved.rename(copies)
    await worker.start()


def _restart(server: PostgresServer) -> None:
    server.kill()
    server.start()


async def _end(stage: Stage) -> None:
    """Let everything that runs end in good order."""
    for process in (*stage.ingresses, *stage.workers):
        if not process.runs:
            stage.outcome.broken.append(f"{process.name} has ended by itself:\n{''.join(process.log[-10:])}")
        elif code := await process.end():
            stage.outcome.broken.append(f"{process.name} ended with {code}:\n{''.join(process.log[-10:])}")


# ── what came of it ──────────────────────────────────────────────────────────────────────────────────────────────


def _check(stage: Stage) -> None:
    outcome = stage.outcome
    outcome.posted_again = stage.platform.posted_again
    store = HomeStore(Connections(stage.server.url).open())
    try:
        for bot in stage.cell.bots:
            for home, chats in bot.chats.items():
                loaded = stage.cell.folder / "checked" / str(home)
                loaded.mkdir(parents=True)
                version = store.load(home, loaded / "kenobot.db").version
                _check_home(stage, bot, home, chats, loaded)
                outcome.broken += _compare_copies(stage, home, version, loaded / "kenobot.db")
        outcome.broken += _find_left(stage)
    finally:
        store.connections.close()
    outcome.broken += _find_disorder(stage)


def _check_home(stage: Stage, bot: BotOf, home: int, chats: tuple[str, ...], loaded: Path) -> None:
    outcome = stage.outcome
    asked = {f"telegram-{chat}": stage.asked.get(chat, []) for chat in chats}
    sent = [(f"telegram-{item.chat}", item.text) for item in stage.platform.sent if item.chat in chats]
    verdict = compare(loaded, asked, sent, has_files=False)
    outcome.repeated_parts += verdict.repeated_parts
    outcome.log += [f"repeated {times - 1} times: {each}\n" for each, times in Counter(sent).items() if times > 1]
    if not verdict.holds:
        outcome.broken.append(f"home {home} of bot {bot.account}: {verdict}")
    with closing(sqlite3.connect(loaded / "kenobot.db")) as connection:
        rows = connection.execute(
            "SELECT scope, form, category, subject, text, trust, status, mentions FROM record "
            "WHERE form NOT IN ('summary', 'box')"  # which name answers by number, and end by the clock
        ).fetchall()
    outcome.memory[f"home {home}"] = Counter(map(repr, rows))


def _compare_copies(stage: Stage, home: int, version: int, loaded: Path) -> Iterator[str]:
    """Compare each worker's copy of a home that says to be of the newest version with the rows."""
    for worker in stage.workers:
        copy = stage.cell.folder / worker.name / str(home) / "kenobot.db"
        if not copy.exists():
            continue
        with closing(sqlite3.connect(copy)) as mine, closing(sqlite3.connect(loaded)) as rows:
            if read_version(mine) > version:
                yield f"the copy of home {home} at {worker.name} is ahead of PostgreSQL: a commit was not kept"
            if read_version(mine) != version:
                continue
            stage.outcome.copies += 1
            for table in read_tables(rows):
                here, there = (Counter(map(repr, read_rows(each, table))) for each in (mine, rows))
                if here != there:
                    differing = [*(here - there), *(there - here)][:2]
                    yield f"home {home}, {table.name}: copy and rows differ, such as {differing}"
            if read_sequences(mine) != read_sequences(rows):
                yield f"home {home}: ids may come back: {read_sequences(mine)} is kept as {read_sequences(rows)}"


def _find_left(stage: Stage) -> Iterator[str]:
    """Find mail that no home took, and jobs that nobody does."""
    import psycopg

    with psycopg.connect(stage.server.url) as connection:
        for table, where in (("kenobot.mail", "true"), ("procrastinate_jobs", "status = 'doing'")):
            (count,) = connection.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone() or (0,)
            if count:
                yield f"{count} rows are left in {table}"


def _find_disorder(stage: Stage) -> Iterator[str]:
    """Find chats whose first answers came in another order than their messages."""
    for chat, texts in stage.asked.items():
        asked = [tag_in(text) for text in texts]
        answered = list(dict.fromkeys(tag_in(item.text) for item in stage.platform.sent if item.chat == chat))
        if answered != asked:
            yield f"chat {chat} was answered out of order, or not all: {answered[:6]} for {asked[:6]}"


def compare_memory(disturbed: Mapping[str, Counter[str]], calm: Mapping[str, Counter[str]]) -> list[str]:
    """Compare what two plays of a story remember."""
    return [
        f"{home} remembers otherwise: {[*(disturbed[home] - calm[home]), *(calm[home] - disturbed[home])][:3]}"
        for home in calm
        if disturbed.get(home) != calm[home]
    ]


def calm_down(story: Story) -> Story:
    """Return a story as it goes in one process that nobody disturbs."""
    return replace(
        story, workers=1, ingresses=1, kill_seconds=0.0, stops=0, ingress_kills=0, server_kills=0, cuts=0, old_copies=0
    )
