"""A result's waiter goes on in the step that sets it."""

import asyncio
from collections.abc import Callable
from contextvars import Context, ContextVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.storage.result import Result, ResultQueue


def _result() -> Result[int]:
    return Result(loop=asyncio.get_running_loop())


async def _wait(result: Result[int]) -> int:
    return await result


async def _settle(result: Result[int], value: int, error: Exception | None = None) -> list[bool]:
    """Settle in a step of its own; whether a waiter of that step is done afterwards."""
    waiter = asyncio.create_task(_wait(result))
    await asyncio.sleep(0)
    seen: list[bool] = []

    def settle() -> None:
        result.settle(value, error)
        seen.append(waiter.done())

    asyncio.get_running_loop().call_soon(settle)
    await asyncio.gather(waiter, return_exceptions=True)
    return seen


async def test_a_waiter_goes_on_in_the_step_that_sets_the_result() -> None:
    """It is done when `settle` returns, with the value or the error."""
    fine, broken = _result(), _result()
    assert await _settle(fine, 5) == [True]
    assert await _settle(broken, 0, ValueError("no")) == [True]
    assert fine.result() == 5
    assert isinstance(broken.exception(), ValueError)


async def test_a_task_whose_context_was_empty_goes_on_in_its_own() -> None:
    """What it sets there before it waits it can set back afterwards."""
    variable: ContextVar[int] = ContextVar("variable", default=0)
    first, second = _result(), _result()

    async def work() -> int:
        await first
        token = variable.set(1)
        await second
        variable.reset(token)
        return variable.get()

    loop = asyncio.get_running_loop()
    task = loop.create_task(work(), context=Context())
    await asyncio.sleep(0)
    for result in (first, second):
        loop.call_soon(result.settle, 1, None)
    async with asyncio.timeout(60):
        assert await task == 0


async def test_a_cancelled_result_takes_no_value() -> None:
    """Whoever waits is cancelled with it, and a value that comes later is dropped."""
    result = _result()
    waiter = asyncio.create_task(_wait(result))
    await asyncio.sleep(0)
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    assert result.cancelled()
    result.settle(5, None)
    assert result.cancelled()


async def test_a_result_serves_what_asyncio_makes_of_futures() -> None:
    """Several waiters, a shield, a deadline, and one who comes when it is set."""
    result, late = _result(), _result()
    asyncio.get_running_loop().call_soon(result.settle, 3, None)
    assert [*await asyncio.gather(asyncio.shield(result), result, asyncio.wait_for(result, 60))] == [3, 3, 3]
    assert await result == 3
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(late, 0)
    assert late.cancelled()


async def test_a_callback_that_fails_does_not_stop_whoever_sets_the_result() -> None:
    """The event loop is told, and `settle` returns."""
    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["exception"]))
    result, error = _result(), ValueError("no")

    def broken(_: object) -> None:
        raise error

    result.add_done_callback(broken)
    result.settle(5, None)
    assert (result.result(), told) == (5, [error])


async def test_a_callback_that_is_taken_away_is_not_called() -> None:
    """Neither the first one nor a later one."""
    called: list[object] = []
    result = _result()
    result.add_done_callback(called.append)
    assert result.remove_done_callback(called.append) == 1
    result.settle(5, None)
    await asyncio.sleep(0)
    assert called == []


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.integers(0, 3))
def test_results_are_set_in_the_order_in_which_they_came(sizes: list[int], steps: int) -> None:
    """Also when a small group comes while a large one is still being told."""
    assert asyncio.run(_told(sizes, steps)) == [(group, at) for group, size in enumerate(sizes) for at in range(size)]


async def _told(sizes: list[int], steps: int) -> list[tuple[int, int]]:
    """Hand in groups of these sizes, with some steps of the event loop between, and return the order of the results."""
    results, told, loop = ResultQueue(), [], asyncio.get_running_loop()

    def setting(place: tuple[int, int]) -> Callable[[], None]:
        return lambda: told.append(place)

    for group, size in enumerate(sizes):
        results.tell(loop, [setting((group, at)) for at in range(size)])
        for _ in range(steps):
            await asyncio.sleep(0)
    while len(told) < sum(sizes):
        await asyncio.sleep(0)
    return told
