"""Scheduler: run jobs at intervals, by APScheduler."""

import asyncio
import importlib
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC
from typing import Any

from kenobot.ports.errors import StoreError

_log = logging.getLogger(__name__)

Job = Callable[[], Awaitable[None]]


class Scheduler:
    """Run jobs while started: a late one once, however late; a failing one is logged and runs again.

    A full disk is logged once a job until the job succeeds again: the log may lie on the same disk.
    """

    def __init__(self) -> None:
        self._jobs: list[tuple[str, float, Job]] = []  # bounded: the jobs there are; start
        self._running: set[asyncio.Task[Any]] = set()  # bounded: the jobs there are; turn
        # bounded: the jobs there are; test_a_full_disk_is_logged_once_until_it_works_again
        self._hindered: set[str] = set()
        self._scheduler: Any = None

    def every(self, seconds: float, name: str, job: Job) -> None:
        """Run `job` every `seconds` after `start`."""
        self._jobs.append((name, seconds, job))

    async def start(self) -> None:
        """Begin. The import comes only now, and in another thread, so that start-up is short."""
        module = await asyncio.to_thread(importlib.import_module, "apscheduler.schedulers.asyncio")
        self._scheduler = module.AsyncIOScheduler(
            timezone=UTC, job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
        )
        for name, seconds, job in self._jobs:
            self._scheduler.add_job(self._run, "interval", seconds=seconds, args=(name, job), id=name)
        self._scheduler.start()

    async def run_all_now(self) -> None:
        """Run every job now, one after the other: for a clock that is moved by hand."""
        for name, _, job in self._jobs:
            await self._run(name, job)

    async def stop(self) -> None:
        """Start no more jobs and await those at work: the scheduler itself would cancel them."""
        if self._scheduler is None:
            return
        self._scheduler.pause()
        await asyncio.gather(*self._running, return_exceptions=True)
        self._scheduler.shutdown(wait=False)
        self._scheduler = None
        await asyncio.sleep(0)  # it shuts down in the loop's next round

    async def _run(self, name: str, job: Job) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        try:
            await job()
            self._hindered.discard(name)
        except StoreError as error:
            if name not in self._hindered:
                self._hindered.add(name)
                _log.warning("scheduled job %s has to wait: %s", name, error)
        except Exception:
            _log.exception("scheduled job %s failed", name)
        finally:
            self._running.discard(task)
