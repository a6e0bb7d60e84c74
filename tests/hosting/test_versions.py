"""Workers of two versions on one PostgreSQL, one step of the schema apart, while people talk."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
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
from tests.crash.world import Model
from tests.hosting.chaos.cell import Cell, Process
from tests.hosting.chaos.checks import check
from tests.hosting.chaos.platform import Platform
from tests.hosting.chaos.play import end_processes
from tests.hosting.chaos.stage import Stage
from tests.hosting.chaos.story import Story
from tests.hosting.newer_tree import NUMBER, SCRIPT, make_newer_tree
from tests.hosting.proxy import Proxy
from tests.hosting.server import PostgresServer
from tests.hosting.talk import Talk, wait_until


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
    process.flags = ("-P",)
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
        await wait_until(lambda: not talk.find_open(), "answers of the older workers after the upgrade", stage)
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
        await wait_until(lambda: _find_waiting(url) == taken, "homes that wait for a newer worker", stage)
        await wait_until(lambda: talk.find_open() == theirs, "answers of the older workers for their homes", stage)

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
        await wait_until(lambda: not talk.find_open(), "all answers", stage)
        assert len(_find_newer(url)) == 6

        refused = sum("of a newer KenoBot" in line for each in old for line in each.log)
        assert 0 < refused < 40, "the older workers spin on homes that they cannot open"
        assert not any("Traceback" in line for each in (*old, *young, old_ingress, new_ingress) for line in each.log)
        await end_processes(stage)
        both = [*migrate.migrations(), (NUMBER, SCRIPT)]
        monkeypatch.setattr(tables, "migrations", lambda: both)
        await asyncio.to_thread(check, stage)
        assert stage.outcome.broken == []
        assert stage.outcome.counts["parts repeated"] <= len(taken)
        assert stage.outcome.counts["copies"] > 0
