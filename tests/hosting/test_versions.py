"""Workers of two versions on one PostgreSQL, one step of the schema apart, while people talk."""

import asyncio
import json
import os
import sys
from pathlib import Path
from signal import SIGKILL
from typing import LiteralString

import psycopg
import pytest

from kenobot.storage import migrate
from kenobot_host import tables
from kenobot_host.cell_address import VARIABLE
from tests.crash.world import Model
from tests.hosting.chaos.platform import Platform
from tests.hosting.newer_tree import NUMBER, SCRIPT, make_newer_tree
from tests.hosting.server import PostgresServer
from tests.hosting.talk import Talk


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


@pytest.mark.long
async def test_a_host_is_upgraded_while_people_talk(
    own_postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers of both versions serve side by side; homes of the newer schema wait for one that knows it."""
    (tmp_path / "newer").mkdir()
    newer, url = make_newer_tree(tmp_path / "newer"), own_postgres.url
    async with Platform() as platform, Model() as model:
        talk = Talk(platform, model, tmp_path)
        await asyncio.to_thread(talk.build, url, 3, 1)
        try:
            await _play(talk, url, newer)
            both = [*migrate.migrations(), (NUMBER, SCRIPT)]
            monkeypatch.setattr(tables, "migrations", lambda: both)
            counts = await asyncio.to_thread(talk.check, url)
        finally:
            await talk.stop()
    assert counts["repeated"] <= 2, "more parts came again than homes were taken from a worker that was killed"
    assert counts["copies"] > 0


async def _play(talk: Talk, url: str, newer: dict[str, str]) -> None:
    old = [talk.add_worker(f"old-{number}", url, homes=4, idle=1.0) for number in (1, 2)]
    old_ingress = talk.add_ingress("old-ingress", url)
    await talk.start(*old, old_ingress)
    await talk.say(12)

    made, _ = await asyncio.gather(_upgrade(url, newer), talk.say(12))
    assert made["made"] == [f"homes {NUMBER}"]
    await talk.wait_until(lambda: not talk.find_open(), "answers of the older workers after the upgrade")
    assert not _find_newer(url)

    young = [talk.add_worker(f"new-{number}", url, homes=2, idle=1.0, newer=newer) for number in (1, 2)]
    await talk.start(young[0])
    while not _find_newer(url):
        await talk.say(1)
    await young[0].end(SIGKILL)
    taken = _find_newer(url)
    assert 0 < len(taken) < 6
    theirs = {chat for home in talk.homes if home.number in taken for chat in home.chats}
    await talk.say(12)  # two for each home
    await talk.wait_until(lambda: _find_waiting(url) == taken, "homes that wait for a newer worker")
    await talk.wait_until(lambda: talk.find_open() == theirs, "answers of the older workers for their homes")

    await asyncio.gather(talk.start(*young), talk.say(6))
    new_ingress = talk.add_ingress("new-ingress", url, newer)
    await asyncio.gather(talk.start(new_ingress), talk.say(6))
    for each in (old_ingress, *old):
        code, _ = await asyncio.gather(each.end(), talk.say(6))
        assert code == 0
        talk.processes.remove(each)
        talk.note_ports()
    assert (await _upgrade(url, newer, "--finish"))["unfinished"] == []
    await talk.say(6)
    await talk.end()
    assert len(_find_newer(url)) == 6
    refused = sum("of a newer KenoBot" in line for each in old for line in each.log)
    assert 0 < refused < 40, "the older workers spin on homes that they cannot open"
    assert not any("Traceback" in line for each in (*old, *young, old_ingress, new_ingress) for line in each.log)
