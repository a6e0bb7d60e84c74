"""What has to happen every so often. Ticks are real, of a hundredth of a second; the tests wait for events."""

import asyncio

import pytest

from kenobot.core.worker import Scheduler
from kenobot.ports.errors import StoreFull

_TICK = 0.01


async def test_a_job_comes_again() -> None:
    """After each interval, until the schedule is stopped."""
    schedule, runs, enough = Scheduler(), [], asyncio.Event()

    async def job() -> None:
        runs.append(1)
        if len(runs) == 3:
            enough.set()

    schedule.run_every(_TICK, "tick", job)
    await schedule.start()
    async with asyncio.timeout(60):
        await enough.wait()
    await schedule.stop()
    before = len(runs)
    await asyncio.get_running_loop().run_in_executor(None, lambda: None)
    assert len(runs) == before


async def test_nothing_runs_before_the_start() -> None:
    """Jobs are only noted; stopping what was never started does no harm."""
    schedule, runs = Scheduler(), []

    async def job() -> None:
        runs.append(1)

    schedule.run_every(_TICK, "tick", job)
    await schedule.stop()
    assert runs == []


async def test_by_hand_every_job_runs_once_in_order(caplog: pytest.LogCaptureFixture) -> None:
    """Without a start, and a failing one keeps none of the others from running."""
    schedule, runs = Scheduler(), list[str]()

    async def broken() -> None:
        runs.append("broken")
        raise ValueError("out of order")

    async def sound() -> None:
        runs.append("sound")

    schedule.run_every(3600, "broken", broken)
    schedule.run_every(1, "sound", sound)
    await schedule.run_all_now()
    await schedule.run_all_now()
    assert runs == ["broken", "sound"] * 2
    assert "scheduled job broken failed" in caplog.text


async def test_a_job_that_fails_comes_again(caplog: pytest.LogCaptureFixture) -> None:
    """Its failure is logged and stops neither it nor others."""
    schedule, runs, enough = Scheduler(), [], asyncio.Event()

    async def broken() -> None:
        runs.append(1)
        if len(runs) == 2:
            enough.set()
        raise ValueError("out of order")

    schedule.run_every(_TICK, "broken", broken)
    await schedule.start()
    async with asyncio.timeout(60):
        await enough.wait()
    await schedule.stop()
    assert "scheduled job broken failed" in caplog.text


async def test_a_slow_job_does_not_overlap_itself(caplog: pytest.LogCaptureFixture) -> None:
    """The next run waits for the one at work, while others go on."""
    schedule, at_work, most, ticks = Scheduler(), 0, 0, 0
    release, enough = asyncio.Event(), asyncio.Event()

    async def slow() -> None:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await release.wait()
        at_work -= 1

    async def quick() -> None:
        nonlocal ticks
        ticks += 1
        if ticks == 5:
            enough.set()

    schedule.run_every(_TICK, "slow", slow)
    schedule.run_every(_TICK, "quick", quick)
    await schedule.start()
    async with asyncio.timeout(60):
        await enough.wait()
    release.set()
    await schedule.stop()
    assert most == 1


async def test_stop_lets_a_job_at_work_finish() -> None:
    """It is awaited, not cancelled."""
    schedule, begun, release, ends = Scheduler(), asyncio.Event(), asyncio.Event(), []

    async def job() -> None:
        begun.set()
        try:
            await release.wait()
            ends.append("finished")
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise

    schedule.run_every(_TICK, "job", job)
    await schedule.start()
    async with asyncio.timeout(60):
        await begun.wait()
        stopping = asyncio.create_task(schedule.stop())
        for _ in range(10):
            await asyncio.sleep(0)
        assert not stopping.done()
        release.set()
        await stopping
    assert ends == ["finished"]


async def test_stop_breaks_off_a_job_that_outlasts_its_grace(caplog: pytest.LogCaptureFixture) -> None:
    """Without a traceback: that is how the end is meant."""
    schedule, begun = Scheduler(), asyncio.Event()

    async def job() -> None:
        begun.set()
        await asyncio.Event().wait()

    schedule.run_every(_TICK, "job", job)
    await schedule.start()
    async with asyncio.timeout(60):
        await begun.wait()
        await schedule.stop(_TICK)
    assert "Traceback" not in caplog.text


async def test_a_full_disk_is_logged_once_until_it_works_again(caplog: pytest.LogCaptureFixture) -> None:
    """A job a second would else fill a disk that is full already; without a traceback, and anew after a success."""
    schedule, runs, enough = Scheduler(), 0, asyncio.Event()

    async def job() -> None:
        nonlocal runs
        runs += 1
        if runs == 9:
            enough.set()
        if runs != 5:
            raise StoreFull("The disk is full.")

    schedule.run_every(_TICK, "tick", job)
    await schedule.start()
    async with asyncio.timeout(60):
        await enough.wait()
    await schedule.stop()
    assert [record.getMessage() for record in caplog.records if record.name == "kenobot.core.worker"] == [
        "scheduled job tick has to wait: The disk is full."
    ] * 2
    assert "Traceback" not in caplog.text


async def test_a_start_that_failed_leaves_nothing_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as while no file descriptor is left: the bot still ends in peace, and a later start works."""
    from apscheduler.schedulers.asyncio import AsyncIOScheduler

    schedule = Scheduler()
    with monkeypatch.context() as patched:
        patched.setattr(AsyncIOScheduler, "start", _raise_too_many_files)
        with pytest.raises(OSError, match="Too many open files"):
            await schedule.start()
    await schedule.stop()
    await schedule.start()
    await schedule.stop()


def _raise_too_many_files(_: object) -> None:
    raise OSError(24, "Too many open files")
