"""`kenobot chat` with the model that ships, as a process of its own: killed while it places, started again, ended."""

import asyncio
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from kenobot.app.embedder_choice import auto_embedders
from kenobot.app.machine import this_machine
from kenobot_local import both

pytestmark = pytest.mark.long

SECONDS = 60
TOLD = ["Recuerda que mi hermana Lucía es alérgica a los frutos secos", "Remember that the rent is due on the fifth",
        "Recuerda que el coche pasa la ITV en marzo"]  # fmt: skip


async def _chat(home: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kenobot", "chat", "--home", str(home)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "KENOBOT_MEMORY__EMBEDDER": "auto"},
        cwd=Path(__file__).resolve().parents[3],
    )


def _count(home: Path, sql: str) -> int:
    try:
        with closing(
            sqlite3.connect(f"{(home / 'kenobot.db').as_uri()}?mode=ro", uri=True, isolation_level=None)
        ) as connection:
            return int(connection.execute(sql).fetchone()[0])
    except sqlite3.Error:
        return 0  # not yet


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not holds():
            await asyncio.sleep(0.05)


async def test_what_was_told_is_placed_whatever_happens(tmp_path: Path) -> None:
    """After kill -9 in the middle the next start places the rest, and the end is a clean one while the model works."""
    if why := both.unavailable_reason():
        pytest.skip(why)
    home = tmp_path / "home"
    first = await _chat(home)
    assert first.stdin is not None
    first.stdin.write("".join(f"{line}\n" for line in TOLD).encode())
    await first.stdin.drain()
    notes = "SELECT count(*) FROM record WHERE status = 'active' AND form = 'note'"
    await _until(lambda: _count(home, notes) >= len(TOLD))
    first.kill()
    await first.wait()
    assert _count(home, notes) >= len(TOLD)

    second = await _chat(home)
    placed = "SELECT count(*) FROM vector"
    await _until(lambda: _count(home, placed) >= len(TOLD))
    of_auto = f"SELECT count(*) FROM vector WHERE model LIKE '{auto_embedders(this_machine())[0]}:%'"
    assert _count(home, of_auto) == _count(home, placed)
    assert second.stdin is not None
    second.stdin.write(b"Remember that the dog is called Toby\n/exit\n")
    _, said = await asyncio.wait_for(second.communicate(), SECONDS)
    assert second.returncode == 0, said.decode()
    assert b"Traceback" not in said
