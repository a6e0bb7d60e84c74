"""A task of a plugin that never ends does not keep the process of a bot that has stopped."""

import asyncio
import contextlib

import pytest

from kenobot.cli import start


@pytest.mark.parametrize("stubborn", [True, False])
async def test_only_a_task_that_swallows_its_end_ends_the_process(
    monkeypatch: pytest.MonkeyPatch, stubborn: bool
) -> None:
    """With the exit code of the bot; others are told to end, and do."""
    ended: list[int] = []
    monkeypatch.setattr(start, "_REST_SECONDS", 0.01)
    monkeypatch.setattr("os._exit", ended.append)
    monkeypatch.setattr("logging.shutdown", lambda: None)
    released = asyncio.Event()

    async def left() -> None:
        while not released.is_set():
            with contextlib.suppress(*([asyncio.CancelledError] if stubborn else [])):
                await released.wait()

    task = asyncio.create_task(left())
    await asyncio.sleep(0)
    await start._end_rest(3)
    assert ended == ([3] if stubborn else [])
    released.set()
    await asyncio.wait({task})
