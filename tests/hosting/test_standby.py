"""A standby that takes over: what was answered for is there, and what was under way is found out."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kenobot.storage.connection import connect
from kenobot.storage.migrate import migrate
from kenobot_host.home_store import HomeLost
from kenobot_host.keeper import PostgresKeeper
from tests.crash.world import Model
from tests.hosting.cell import Cell
from tests.hosting.chaos.platform import Platform
from tests.hosting.server import PostgresServer
from tests.hosting.standby import Standby
from tests.hosting.talk import Talk


@pytest.fixture
def standby(own_postgres: PostgresServer) -> Iterator[Standby]:
    made = Standby(own_postgres)
    yield made
    made.stop()


@pytest.mark.long
def test_a_commit_that_the_standby_has_not_is_not_answered_for(
    own_postgres: PostgresServer, standby: Standby, tmp_path: Path
) -> None:
    """A standby that falls silent keeps commits waiting: the worker gives up, tells nobody, and drops its copy."""
    cell = Cell(own_postgres.url, patience=15.0)
    migrate(tmp_path / "new.db", tmp_path / "backups")
    home = cell.store.add("ana", tmp_path / "new.db")
    held = cell.take(home)
    cell.store.load(home, tmp_path / "copy.db")
    standby.start()
    copy = connect(tmp_path / "copy.db")
    keeper = PostgresKeeper(cell.store, held)
    keeper.watch(copy)
    standby.stop_following()
    copy.execute("BEGIN")
    copy.execute("INSERT INTO author VALUES (1, 'x')")
    began = time.monotonic()
    with pytest.raises(HomeLost):
        keeper.keep(copy)
    assert time.monotonic() - began > 10
    standby.follow_again()
    copy.close()
    deadline = time.monotonic() + 60  # it happens after all, and is nobody's to tell
    while not cell.execute("SELECT 1 FROM kenobot_home.author"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    cell.close()


@pytest.mark.long
async def test_a_standby_takes_over_while_people_talk(
    own_postgres: PostgresServer, standby: Standby, tmp_path: Path
) -> None:
    """Workers and ingresses find it by themselves: every message has one answer, in its chat's order."""
    await asyncio.to_thread(standby.start)
    async with Platform() as platform, Model() as model:
        talk = Talk(platform, model, tmp_path)
        await asyncio.to_thread(talk.build, own_postgres.url, 2, 1)
        for name in ("worker-1", "worker-2"):
            talk.add_worker(name, standby.both)
        talk.add_ingress("ingress", standby.both)
        try:
            await talk.start(*talk.processes)
            await talk.say(12)
            await asyncio.gather(asyncio.to_thread(own_postgres.kill), talk.say(4))
            await asyncio.gather(asyncio.to_thread(standby.promote), talk.say(12))
            await talk.end()
            counts = await asyncio.to_thread(talk.check, standby.url)
        finally:
            await talk.stop()
        assert counts["copies"] > 0
