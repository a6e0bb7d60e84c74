"""Workers of two versions on one PostgreSQL, one step of the schema apart, while people talk."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from signal import SIGKILL
from typing import LiteralString

import psycopg
import pytest

from kenobot.storage import migrate
from kenobot_host import tables
from kenobot_host.cell_address import VARIABLE
from tests.crash.world import Model, tag_in
from tests.hosting.chaos.cell import Cell, Process
from tests.hosting.chaos.platform import Platform
from tests.hosting.chaos.play import Stage, Story, _check, _end
from tests.hosting.newer_tree import NUMBER, SCRIPT, make_newer_tree
from tests.hosting.proxy import Proxy
from tests.hosting.server import PostgresServer

_SECONDS = 120.0


class Talk:
    """People who talk to the bots of a stage, one after another, for as long as they are not told to stop."""

    def __init__(self, stage: Stage) -> None:
        self._stage, self._rng, self._count = stage, Random(7), 0
        self._places = [(bot, chat) for bot in stage.cell.bots for chats in bot.chats.values() for chat in chats]

    async def say(self, times: int) -> None:
        """Say some things, a moment apart."""
        for _ in range(times):
            bot, chat = self._places[self._count % len(self._places)]
            text = f"m{self._count:05d} {self._rng.choice(('peras', 'apples'))}"
            self._count += 1
            self._stage.asked.setdefault(chat, []).append(text)
            await self._stage.platform.tell(text, chat, bot.token, posted=bot.is_posted)
            await asyncio.sleep(0.1)

    def find_open(self) -> set[str]:
        """The chats in which a message has no answer yet."""
        answered = {tag_in(item.text) for item in self._stage.platform.sent}
        return {
            chat for chat, texts in self._stage.asked.items() if any(tag_in(text) not in answered for text in texts)
        }


@asynccontextmanager
async def _set_stage(server: PostgresServer, folder: Path) -> AsyncIterator[Stage]:
    async with Platform() as platform, Model() as model:
        proxy = Proxy(server.url)
        cell = Cell(server.url, folder, platform.base_url, model.url, server.url)
        await asyncio.to_thread(cell.build, 2, 3, 1, lambda number: number == 0)
        try:
            yield Stage(Story(), server, proxy, cell, platform, model, Random(7))
        finally:
            await cell.stop()
            proxy.close()


def _ask(url: str, query: LiteralString, *values: object) -> set[int]:
    with psycopg.connect(url, autocommit=True) as connection:
        return {number for (number,) in connection.execute(query, values).fetchall()}


def _find_newer(url: str) -> set[int]:
    """The homes whose rows have the newer schema."""
    return _ask(url, "SELECT home FROM kenobot.home WHERE schema = %s", NUMBER)


def _find_waiting(url: str) -> set[int]:
    """The homes whose activations wait for a newer worker."""
    found = "SELECT (args->>'home')::bigint FROM procrastinate_jobs WHERE queue_name = %s AND status = 'todo'"
    return _ask(url, found, f"homes {NUMBER}")


async def _until(found: Callable[[], bool], what: str, stage: Stage) -> None:
    """Wait until something is so."""
    try:
        async with asyncio.timeout(_SECONDS):
            while not await asyncio.to_thread(found):
                await asyncio.sleep(0.1)
    except TimeoutError:
        tails = {each.name: "".join(each.log[-15:]) for each in stage.cell.processes}
        raise AssertionError(f"never came: {what}\n" + "\n".join(map(str, tails.items()))) from None


async def _upgrade(url: str, newer: dict[str, str], *options: str) -> dict[str, list[str]]:
    """Run `kenobot host upgrade` of the newer version."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "kenobot", "host", "upgrade", "--json", *options),
        env={**os.environ, **newer, VARIABLE: url},
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate()
    assert process.returncode == 0
    found: dict[str, list[str]] = json.loads(said)
    return found


def _renew(process: Process, newer: dict[str, str]) -> Process:
    """Have a process that is not started yet be of the newer version."""
    process.environ |= newer
    process.start_by = ("-P", *process.start_by)
    return process


@pytest.mark.long
async def test_a_host_is_upgraded_while_people_talk(
    own_postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers of both versions serve side by side; homes of the newer schema wait for one that knows it."""
    (tmp_path / "newer").mkdir()
    newer, url = make_newer_tree(tmp_path / "newer"), own_postgres.url
    async with _set_stage(own_postgres, tmp_path) as stage:
        cell, talk = stage.cell, Talk(stage)
        old = [cell.add_worker(f"old-{number}", homes=4, idle=1.0) for number in (1, 2)]
        old_ingress = cell.add_ingress("old-ingress")
        await asyncio.gather(*(each.start() for each in (*old, old_ingress)))
        stage.note_ports()
        await talk.say(12)

        made, _ = await asyncio.gather(_upgrade(url, newer), talk.say(12))
        assert made["made"] == [f"homes {NUMBER}"]
        await _until(lambda: not talk.find_open(), "answers of the older workers after the upgrade", stage)
        assert not _find_newer(url)

        young = [_renew(cell.add_worker(f"new-{number}", homes=2, idle=1.0), newer) for number in (1, 2)]
        await young[0].start()
        while not _find_newer(url):
            await talk.say(1)
        await young[0].end(SIGKILL)
        taken = _find_newer(url)
        assert 0 < len(taken) < 6
        theirs = {chat for bot in cell.bots for home, chats in bot.chats.items() if home in taken for chat in chats}
        await talk.say(12)  # two for each home
        await _until(lambda: _find_waiting(url) == taken, "homes that wait for a newer worker", stage)
        await _until(lambda: talk.find_open() == theirs, "answers of the older workers for their homes", stage)

        await asyncio.gather(*(each.start() for each in young), talk.say(6))
        new_ingress = _renew(cell.add_ingress("new-ingress"), newer)
        await asyncio.gather(new_ingress.start(), talk.say(6))
        stage.note_ports()
        for each in (old_ingress, *old):
            code, _ = await asyncio.gather(each.end(), talk.say(6))
            assert code == 0
            cell.processes.remove(each)
            stage.note_ports()
        assert (await _upgrade(url, newer, "--finish"))["unfinished"] == []
        await talk.say(6)
        await _until(lambda: not talk.find_open(), "all answers", stage)
        assert len(_find_newer(url)) == 6

        refused = sum("of a newer KenoBot" in line for each in old for line in each.log)
        assert 0 < refused < 40, "the older workers spin on homes that they cannot open"
        assert not any("Traceback" in line for each in (*old, *young, old_ingress, new_ingress) for line in each.log)
        await _end(stage)
        both = [*migrate.migrations(), (NUMBER, SCRIPT)]
        monkeypatch.setattr(tables, "migrations", lambda: both)
        await asyncio.to_thread(_check, stage)
        assert stage.outcome.broken == []
        assert stage.outcome.repeated_parts <= len(taken)
        assert stage.outcome.copies > 0
