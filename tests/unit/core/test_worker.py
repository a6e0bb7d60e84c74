"""What workers in the background have in common."""

import asyncio
import contextlib

from kenobot.core.worker import BackgroundTask


class Digger(BackgroundTask):
    """Digs until it is let go."""

    def __init__(self) -> None:
        super().__init__("digger")
        self.begun = 0
        self.ended = 0
        self.free = asyncio.Event()

    def dig(self) -> None:
        self._begin(self._dig)

    async def _dig(self) -> None:
        self.begun += 1
        try:
            await self.free.wait()
        finally:
            self.ended += 1


async def test_one_piece_of_work_at_a_time() -> None:
    """What is begun meanwhile is not begun; afterwards there is the next one."""
    digger = Digger()
    assert digger.idle
    digger.dig()
    digger.dig()
    assert not digger.idle
    digger.free.set()
    await digger.wait_idle()
    assert (digger.begun, digger.ended, digger.idle) == (1, 1, True)
    digger.dig()
    await digger.wait_idle()
    assert digger.begun == 2


async def test_stopped_it_breaks_off_and_begins_nothing_more() -> None:
    """And whoever waits for it is let go."""
    digger = Digger()
    digger.dig()
    await asyncio.sleep(0)
    waiting = asyncio.create_task(digger.wait_idle())
    await digger.stop()
    await waiting
    assert (digger.begun, digger.ended, digger.idle) == (1, 1, True)
    digger.dig()
    assert digger.idle


async def test_work_that_fails_does_not_keep_it_busy() -> None:
    """The next piece can begin."""

    class Clumsy(BackgroundTask):
        tries = 0

        async def fall(self) -> None:
            self.tries += 1
            raise ValueError("fell")

        def work(self) -> "asyncio.Task[None] | None":
            self._begin(self.fall)
            return self._task

    clumsy = Clumsy("clumsy")
    for _ in range(2):
        task = clumsy.work()
        assert task is not None
        with contextlib.suppress(ValueError):
            await task
    assert (clumsy.tries, clumsy.idle) == (2, True)


async def test_work_broken_off_before_its_first_step_is_not_waited_for() -> None:
    """Such a task never says itself that it is over."""
    digger = Digger()
    digger.dig()
    await digger.stop()
    async with asyncio.timeout(60):
        await digger.wait_idle()
    assert (digger.begun, digger.idle) == (0, True)
