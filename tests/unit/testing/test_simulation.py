"""A simulated bot, which a script talks to."""

import asyncio
from datetime import timedelta
from pathlib import Path

from kenobot_testing.provider import ScriptedProvider
from kenobot_testing.simulation import Simulation


async def test_all_is_quiet_once_the_files_hold_what_was_noted(tmp_path: Path) -> None:
    """Also what a worker noted while the files of memory were just being written."""
    async with Simulation(tmp_path, ScriptedProvider(["Oh."], repeat_last=True)) as bot:
        files, extraction = bot.app.memory_files, bot.app.background.extraction
        write = files.sync_out

        async def write_and_let_extract() -> None:
            await write()
            await asyncio.sleep(0)
            await extraction.wait_idle()

        files.sync_out = write_and_let_extract  # type: ignore[method-assign]
        await bot.ask("I keep bees.")
        bot.clock.advance(timedelta(hours=1).total_seconds())
        await bot.ask("Thanks!")
        noted = [text for _, _, _, text in await bot.records()]
        assert any("bees" in text for text in noted)
        assert any("bees" in text for text in bot.files().values())
