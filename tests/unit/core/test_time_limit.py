"""Code of others that does not come to an end is broken off."""

import asyncio
from collections.abc import Generator

import pytest

from kenobot.core.time_limit import LimitedSteps, TookTooLong


async def test_steps_within_the_limit_are_as_any_others() -> None:
    """Results, errors and cancellation pass through, whatever is awaited."""

    class Odd:
        def __await__(self) -> Generator[None, None, str]:
            yield
            return "odd"

    async def fail() -> str:
        await asyncio.sleep(0)
        raise KeyError("mine")

    async def hang() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "told"
        return ""

    async def both() -> list[str]:
        return [*await asyncio.gather(asyncio.sleep(0, "a"), LimitedSteps(Odd, 1))]

    assert await LimitedSteps(both, 1) == ["a", "odd"]
    with pytest.raises(KeyError, match="mine"):
        await LimitedSteps(fail, 1)
    work = asyncio.ensure_future(_await_work(LimitedSteps(hang, 1)))
    await asyncio.sleep(0)
    work.cancel()
    assert await work == "told"


async def test_a_step_that_computes_without_end_is_broken_off() -> None:
    """Also one that swallows the first break, and one before the first await."""

    async def stubborn() -> str:
        await asyncio.sleep(0)
        while True:
            pass

    def at_once() -> "asyncio.Future[str]":
        while True:
            pass

    with pytest.raises(TookTooLong):
        await LimitedSteps(stubborn, 0.01)
    with pytest.raises(TookTooLong):
        await LimitedSteps(at_once, 0.01)


async def _await_work(work: LimitedSteps[str]) -> str:
    return await work
