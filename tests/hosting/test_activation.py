"""Activation of homes by Procrastinate, against a real PostgreSQL: the traps that the design names."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
import pytest_asyncio
from procrastinate import App
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager

from kenobot_host import activation_rows as rows
from kenobot_host.activation import HOMES, Activation, LeasedJobs, open_engine, rescue
from kenobot_host.intake import pool_of
from kenobot_host.schema_rows import upgrade_schema

HOME = 7


@pytest_asyncio.fixture
async def engine(database_url: str) -> AsyncIterator[App]:
    """The engine on a new database."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        upgrade_schema(connection)
        connection.execute("INSERT INTO kenobot.home (home, name, schema) VALUES (%s, 'ana', 1)", (HOME,))
    engine = open_engine(database_url, 8)
    async with engine.open_async():
        yield engine


async def _request(engine: App, home: int = HOME) -> None:
    async with pool_of(engine).connection() as connection:
        await rows.request_activation(connection, home)


async def _fetch(engine: App, worker: int) -> Job | None:
    return await engine.job_manager.fetch_job(queues=[HOMES], worker_id=worker)


async def _execute(engine: App, sql: str, *values: object) -> list[tuple[object, ...]]:
    async with pool_of(engine).connection() as connection:
        done = await connection.execute(sql, values)
        return [] if done.description is None else await done.fetchall()


async def _fall_silent(engine: App, worker: int) -> None:
    """Let the heartbeat of another process's worker be long ago."""
    assert isinstance(engine.job_manager, LeasedJobs)
    engine.job_manager.own = None
    await _silence(engine, worker)


async def _silence(engine: App, worker: int) -> None:
    """Let a worker's heartbeat be long ago."""
    await _execute(
        engine, "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 min' WHERE id = %s", worker
    )


async def _activations(engine: App) -> list[tuple[object, ...]]:
    return await _execute(engine, "SELECT status::text, attempts FROM procrastinate_jobs ORDER BY id")


async def _holds(engine: App, job: Job) -> bool:
    held = Activation.of(HOME, job)
    async with pool_of(engine).connection() as connection:
        return await rows.holds(connection, held.job, held.worker, held.attempts)


async def test_one_activation_waits_however_often_it_is_requested(engine: App) -> None:
    """Requests for a home that waits to be opened add nothing; one for a home that is open adds the next."""
    await asyncio.gather(*(_request(engine) for _ in range(8)))
    assert await _activations(engine) == [("todo", 0)]
    worker = await engine.job_manager.register_worker()
    assert await _fetch(engine, worker) is not None
    await asyncio.gather(*(_request(engine) for _ in range(8)))
    assert await _activations(engine) == [("doing", 0), ("todo", 0)]
    assert await _fetch(engine, worker) is None, "a home was opened twice"


async def test_a_stalled_activation_gives_way_to_one_that_waits(engine: App) -> None:
    """Queued anew, it would have the queueing lock of the waiting one: it is deleted, and the home is not stuck."""
    await _request(engine)
    worker = await engine.job_manager.register_worker()
    assert await _fetch(engine, worker) is not None
    await _request(engine)
    await _fall_silent(engine, worker)
    assert await rescue(engine) == 1
    assert await _activations(engine) == [("todo", 0)]
    assert await _fetch(engine, await engine.job_manager.register_worker()) is not None


async def test_a_stalled_activation_is_tried_again_where_none_waits(engine: App) -> None:
    """A worker that is silent loses the home to the next one, and may not act for it after that."""
    await _request(engine)
    worker = await engine.job_manager.register_worker()
    lost = await _fetch(engine, worker)
    assert lost is not None
    assert await _holds(engine, lost)
    await _fall_silent(engine, worker)
    assert await rescue(engine) == 1
    assert not await _holds(engine, lost)
    taken = await _fetch(engine, await engine.job_manager.register_worker())
    assert taken is not None
    assert (taken.id, taken.attempts) == (lost.id, 1)
    assert await _holds(engine, taken)
    await engine.job_manager.finish_job(lost, Status.SUCCEEDED, delete_job=True)
    await engine.job_manager.retry_job(lost)
    assert await _holds(engine, taken), "a worker that woke ended the job of the worker that holds the home"
    await engine.job_manager.finish_job(taken, Status.SUCCEEDED, delete_job=True)
    assert await _activations(engine) == []


async def test_a_job_that_was_rescued_meanwhile_is_not_rescued_twice(engine: App) -> None:
    """Two rescues that found the same stalled job queue it once: the second would take it from its new worker."""
    await _request(engine)
    worker = await engine.job_manager.register_worker()
    assert await _fetch(engine, worker) is not None
    await _fall_silent(engine, worker)
    (stalled,) = await engine.job_manager.get_stalled_jobs(queue=HOMES, seconds_since_heartbeat=8)
    await rescue(engine)
    taken = await _fetch(engine, await engine.job_manager.register_worker())
    assert taken is not None
    await engine.job_manager.retry_job(stalled)
    assert await _holds(engine, taken)


async def test_a_worker_that_was_busy_for_long_does_not_rescue_from_itself(engine: App) -> None:
    """Who looks for silent workers is not silent: it beats first, so that its own homes stay with it."""
    await _request(engine)
    worker = await engine.job_manager.register_worker()
    job = await _fetch(engine, worker)
    assert job is not None
    await _silence(engine, worker)
    assert await rescue(engine) == 0
    assert await _holds(engine, job)


async def test_a_worker_that_beats_again_is_not_rescued_from(engine: App) -> None:
    """Between the look for silent workers and the rescue of a job seconds may pass: its worker is asked after again."""
    manager = engine.job_manager
    assert isinstance(manager, LeasedJobs)
    await _request(engine)
    worker = await manager.register_worker()
    job = await _fetch(engine, worker)
    assert job is not None
    await _silence(engine, worker)
    (stalled,) = await manager.get_stalled_jobs(queue=HOMES, seconds_since_heartbeat=8)
    await _request(engine)
    await manager.update_heartbeat(worker)
    assert not await manager.rescue_job(stalled)
    assert await _holds(engine, job)


async def test_a_job_that_was_broken_off_is_queued_anew(engine: App) -> None:
    """Such as of a worker that had to end before its home was put away: nobody else would ask for it."""
    await _request(engine)
    job = await _fetch(engine, await engine.job_manager.register_worker())
    assert job is not None
    await engine.job_manager.finish_job(job, Status.ABORTED, delete_job=True)
    assert await _activations(engine) == [("todo", 1)]
    again = await _fetch(engine, await engine.job_manager.register_worker())
    assert again is not None
    await _request(engine)
    await engine.job_manager.finish_job(again, Status.ABORTED, delete_job=True)
    assert await _activations(engine) == [("todo", 0)], "the job that waits does the work"


async def test_a_job_whose_fetching_was_not_answered_is_queued_anew(
    engine: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker lives and would hold it for ever; what it has begun stays with it."""
    answers = iter([False, True])
    fetch = JobManager.fetch_job

    async def lose_answer(manager: JobManager, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        job = await fetch(manager, queues, worker_id)
        if next(answers, False):
            raise ConnectorException("the line is cut") from psycopg.OperationalError("cut")
        return job

    monkeypatch.setattr(JobManager, "fetch_job", lose_answer)
    manager = engine.job_manager
    assert isinstance(manager, LeasedJobs)
    worker = await manager.register_worker()
    await _request(engine)
    begun = await _fetch(engine, worker)
    assert begun is not None
    assert begun.id is not None
    manager.list_running = lambda: [begun.id]  # type: ignore[list-item]
    await _request(engine, HOME + 1)
    assert await _fetch(engine, worker) is None
    assert await _activations(engine) == [("doing", 0), ("doing", 0)]
    job = await _fetch(engine, worker)
    assert job is not None
    assert job.task_kwargs == {"home": HOME + 1}
    assert await _holds(engine, begun)


async def test_a_worker_that_was_taken_for_dead_ends_when_it_fetches(engine: App) -> None:
    """Its row is gone, so it can hold nothing any more: it says so, and another one begins."""
    manager = engine.job_manager
    assert isinstance(manager, LeasedJobs)
    ended: list[bool] = []
    manager.tell_failure = lambda: ended.append(True)
    worker = await manager.register_worker()
    await _silence(engine, worker)
    await manager.prune_stalled_workers(1.0)
    await _request(engine)
    with pytest.raises(ConnectorException):
        await _fetch(engine, worker)
    assert ended == [True]


async def test_a_timer_does_not_hold_up_its_home(engine: App) -> None:
    """What is due next month waits without the lock, so that mail of today opens the home."""
    due = datetime.now(UTC) + timedelta(days=30)
    async with pool_of(engine).connection() as connection:
        await rows.set_timer(connection, HOME, due + timedelta(days=1))
        await rows.set_timer(connection, HOME, due)
    await _request(engine)
    found = await _fetch(engine, await engine.job_manager.register_worker())
    assert found is not None
    assert found.task_name == rows.ACTIVATE
    timers = await _execute(engine, "SELECT scheduled_at, lock FROM procrastinate_jobs WHERE task_name = 'wake'")
    assert timers == [(due, None)]


async def test_mail_of_a_transaction_that_ends_later_is_seen_by_the_job_that_waits(
    engine: App, database_url: str
) -> None:
    """A job that mail relies on is not fetched before that mail is there, so it cannot find nothing and end."""
    await _request(engine)
    worker = await engine.job_manager.register_worker()
    async with await psycopg.AsyncConnection.connect(database_url) as late:
        await rows.request_activation(late, HOME)
        await late.execute(
            "INSERT INTO kenobot.mail (bot, update_id, home, chat, raw) VALUES ('1', 1, %s, '', '{}')", (HOME,)
        )
        assert await _fetch(engine, worker) is None
        await late.commit()
    assert await _fetch(engine, worker) is not None
    async with pool_of(engine).connection() as connection:
        assert await rows.note_opened(connection, HOME)


async def test_a_home_without_anything_to_do_is_not_opened(engine: App) -> None:
    """An activation that finds neither mail nor work that is due ends at once; one that was broken off does not."""
    async with pool_of(engine).connection() as connection:
        assert not await rows.note_opened(connection, HOME)
        await connection.execute(
            "INSERT INTO kenobot.mail (bot, update_id, home, chat, raw) VALUES ('1', 1, %s, '', '{}')", (HOME,)
        )
        assert await rows.note_opened(connection, HOME)
        await connection.execute("DELETE FROM kenobot.mail")
        assert await rows.note_opened(connection, HOME), "what was broken off is not taken up"
        await rows.note_put_away(connection, HOME, None, is_unfinished=False)
        assert not await rows.note_opened(connection, HOME)
        await rows.note_put_away(connection, HOME, datetime.now(UTC) - timedelta(seconds=1), is_unfinished=False)
        assert await rows.note_opened(connection, HOME), "a reminder that is due is not told"
