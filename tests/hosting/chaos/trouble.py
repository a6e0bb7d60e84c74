"""Trouble of a cell: its workers, ingresses and database are killed, stopped, cut off and misled while people talk."""

import asyncio
import contextlib
import shutil
import time
from signal import SIGCONT, SIGKILL, SIGSTOP

import psycopg

from tests.crash.tools import no_mount
from tests.hosting.chaos.cell import Process
from tests.hosting.chaos.stage import Stage
from tests.hosting.chaos.story import list_troubles
from tests.hosting.proxy import once
from tests.hosting.server import PostgresServer

_STOP_SECONDS = 11.0  # longer than a worker may be silent
_FULL_SECONDS = 6.0
_CLAIMED = 3  # homes that are given to another holder at once

# As a rescue does that takes a living worker for dead: two hold the home, until the first one finds out.
_CLAIM = """
SELECT procrastinate_retry_job_v2(id, now(), NULL, NULL, NULL) FROM (
  SELECT id FROM procrastinate_jobs AS job
  WHERE task_name = 'activate' AND status = 'doing' AND NOT EXISTS (
    SELECT 1 FROM procrastinate_jobs AS other WHERE other.queueing_lock = job.queueing_lock AND other.status = 'todo'
  ) ORDER BY random() LIMIT %s FOR UPDATE SKIP LOCKED
) AS held
"""


async def trouble_on(stage: Stage) -> None:
    """Bring trouble: each kind as often as the story says, spread over the talk, and kills of workers all the while."""
    story, rng = stage.story, stage.rng
    others = list_troubles(story)
    rng.shuffle(others)
    if story.full_disks and (missing := no_mount("tmpfs")):
        others = [each for each in others if each != "full disk"]
        stage.outcome.skipped.append(f"full disk: {missing}")
    total, beside = len(others), set[asyncio.Task[None]]()
    began = time.monotonic()
    while others or stage.is_talking:
        await asyncio.sleep(max(0.0, began + story.kill_seconds - time.monotonic()))
        began = time.monotonic()
        if stage.outcome.troubles["kill"] < story.kills:
            await _happen(stage, "kill")  # to its next life: on a busy machine kills come less often
        while others and (stage.said >= len(stage.lines) * (total - len(others) + 0.5) / total or not stage.is_talking):
            task = asyncio.create_task(_happen(stage, others.pop()))
            beside.add(task)
            await asyncio.sleep(rng.uniform(0.2, 1.0))
        for task in [each for each in beside if each.done()]:
            beside.remove(task)
            task.result()
    await asyncio.gather(*beside)


async def _happen(stage: Stage, name: str) -> None:
    """Have something happen, and note when it did."""
    stage.outcome.troubles[name] += 1
    stage.happened.append((time.time(), name))
    rng, cell = stage.rng, stage.cell
    match name:
        case "kill":
            await _kill(_choose(stage, cell.workers))
        case "ingress":
            await _kill(_choose(stage, cell.ingresses))
            stage.note_ports()
        case "stop":
            await _stop_for_long(_choose(stage, cell.workers))
        case "cut":
            stage.proxy.after = once()
        case "old copy":
            await _put_back(_choose(stage, cell.workers), stage)
        case "claim":
            await asyncio.to_thread(_claim, cell.own_url)
        case "full disk":
            await _fill(rng.choice(cell.workers), stage)
        case "server":
            await asyncio.to_thread(_restart, stage.server)
        case _:
            raise AssertionError(name)


def _choose(stage: Stage, processes: list[Process]) -> Process:
    """Choose a process that nothing else happens to just now, if there is one."""
    free = [each for each in processes if not each.is_busy] or processes
    return stage.rng.choice(free)


async def _kill(process: Process) -> None:
    async with process.alone:
        if process.runs:
            await process.end(SIGKILL)
        await process.start()


async def _stop_for_long(process: Process) -> None:
    """Stop a process until it has lost everything, then let it go on as if nothing had been."""
    async with process.alone:
        process.send(SIGSTOP)
        await asyncio.sleep(_STOP_SECONDS)
        process.send(SIGCONT)


async def _put_back(worker: Process, stage: Stage) -> None:
    """Kill a worker twice; the second time its working copies are again as they were the first time."""
    copies = stage.cell.folder_of(worker.name)
    saved = stage.cell.folder / f"{worker.name}.saved"
    async with worker.alone:
        await worker.end(SIGKILL)
        await asyncio.to_thread(shutil.copytree, copies, saved)
        await worker.start()
        await asyncio.sleep(max(1.0, stage.story.kill_seconds))
        await worker.end(SIGKILL)
        await asyncio.to_thread(shutil.rmtree, copies)
        await asyncio.to_thread(shutil.move, saved, copies)
        await worker.start()


async def _fill(worker: Process, stage: Stage) -> None:
    """Let the disk of a worker's copies have not a byte free for a while, and take at once what is given back."""
    filler = stage.cell.folder_of(worker.name).parent / "filler"

    def pour() -> None:
        with filler.open("ab", buffering=0) as file:
            for size in (1 << 20, 4096):
                try:
                    while file.write(b"\0" * size):
                        pass
                except OSError:
                    pass

    ends = time.monotonic() + _FULL_SECONDS
    try:
        while time.monotonic() < ends:
            await asyncio.to_thread(pour)
            await asyncio.sleep(0.05)
    finally:
        filler.unlink()


def _claim(url: str) -> None:
    """Give homes that are held to whoever fetches them next, while their holders go on."""
    while True:
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(url, autocommit=True) as connection:
            connection.execute(_CLAIM, (_CLAIMED,))
            return
        time.sleep(0.2)


def _restart(server: PostgresServer) -> None:
    server.kill()
    server.start()
