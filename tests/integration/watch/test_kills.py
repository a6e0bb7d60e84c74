"""A change of health is told exactly once, however often the process is killed between."""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tests.integration.watch.test_watch import bot

pytestmark = pytest.mark.long

_CHILD = """
import asyncio, sys
from pathlib import Path
from kenobot.app.running_channels import ChannelState
from tests.integration.watch.test_watch import bot

async def main() -> None:
    async with bot(Path(sys.argv[1])) as it:
        it.states = (ChannelState("telegram", "serving"), ChannelState("irc", "failed", "no such server"))
        while True:
            print("look", flush=True)
            await it.look()

asyncio.run(main())
"""


async def test_kills_between_tell_a_change_once(tmp_path: Path) -> None:
    """What begins is in the outbox once after five kills, what ends as well; nothing is lost."""
    chance, count = Random(11), "SELECT count(*) FROM outbox WHERE inbox_id IS NULL AND channel = 'telegram'"
    for _ in range(5):
        child = subprocess.Popen(
            [sys.executable, "-c", _CHILD, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert child.stdout is not None
        for _ in range(chance.randint(1, 5)):
            assert child.stdout.readline() == b"look\n"
        child.kill()
        child.wait()
        child.stdout.close()
    async with bot(tmp_path) as it:
        assert await it.scene.rows(count) == [(1,)]
        await it.look(5)  # without what was wrong
        told = await it.scene.rows(count)
        assert told == [(2,)]
    async with bot(tmp_path) as it:
        await it.look(5)
        assert await it.scene.rows(count) == told
