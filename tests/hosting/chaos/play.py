"""Talk to the bots of a cell while its workers, ingresses and database are killed, stopped and cut off; then compare.

What must hold: nothing lost, nothing doubled, the order of a chat, no commit of a worker that has lost its home, each
working copy equal to the rows of its version, no word of one home in another, and memory as in a run in one process
that nobody disturbed.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copyfile

import psycopg

from kenobot.core.settings.home import Home
from tests.constants import constants_changed
from tests.crash.world import until_still
from tests.hosting.chaos.canary import find_strangers
from tests.hosting.chaos.cell import HomeOf
from tests.hosting.chaos.checks import LOADED, check
from tests.hosting.chaos.single import Hearing, Remembered, complete, make_home, read_memory, run_undisturbed
from tests.hosting.chaos.stage import Outcome, Stage, set_stage
from tests.hosting.chaos.story import Story
from tests.hosting.chaos.talk import HomesModel, write_questions
from tests.hosting.chaos.trouble import trouble_on

_STILL_SECONDS = 180.0  # without any new answer, after which no more will come
_BURST = 8
_MOST_OPEN = 400  # messages without an answer, at which people wait


async def play(story: Story, progress: Callable[[str], None] = lambda _: None, *, is_compared: bool = True) -> Outcome:
    """Play a story to its end and check what came of it. is_compared: with an undisturbed run as well."""
    async with set_stage(story, progress) as stage:
        outcome = stage.outcome
        with _timed(outcome, "start"):
            await asyncio.gather(*(process.start() for process in stage.cell.processes))
            stage.note_ports()
        with _timed(outcome, "talk"):
            async with asyncio.TaskGroup() as both:
                both.create_task(trouble_on(stage))
                both.create_task(_talk(stage))
            await _await_answers(stage)
            await _await_rescue(stage)
        with _timed(outcome, "end"):
            await end_processes(stage)
        with _timed(outcome, "check"):
            await asyncio.to_thread(check, stage)
            outcome.broken += await asyncio.to_thread(find_strangers, stage)
        if is_compared:
            with _timed(outcome, "undisturbed"):
                await _compare_memory(stage)
        outcome.log += [f"{at:.1f} {what}\n" for at, what in stage.happened]
        outcome.log += [f"{each.name} {line}" for each in stage.cell.processes for line in each.log]
        return outcome


@contextlib.contextmanager
def _timed(outcome: Outcome, name: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    outcome.seconds[name] = round(time.monotonic() - began, 1)


async def _talk(stage: Stage) -> None:
    """People say what there is to say, in bursts, and wait where too much is not answered."""
    story = stage.story
    pause = story.seconds * _BURST / max(1, len(stage.lines))
    for number, line in enumerate(stage.lines, 1):
        stage.asked.setdefault(line.chat, []).append(line.text)
        await stage.platform.tell(line.text, line.chat, line.token, posted=line.is_posted)
        if number % _BURST == 0:
            stage.tell_progress()
            await asyncio.sleep(pause)
            while number - stage.count_answered() > _MOST_OPEN:
                await asyncio.sleep(0.1)
    stage.outcome.messages = len(stage.lines)


async def _await_answers(stage: Stage) -> None:
    """Wait until each message has its answer, or none comes any more."""

    def count() -> int:
        stage.tell_progress()
        return stage.count_answered()

    await until_still(lambda: count() >= len(stage.lines), count, _STILL_SECONDS)


async def _await_rescue(stage: Stage) -> None:
    """Wait until only workers that live hold jobs: the last one that was killed is silent for some seconds first."""
    with psycopg.connect(stage.cell.own_url, autocommit=True) as connection:
        (began,) = connection.execute("SELECT now()").fetchone() or (None,)

        def count() -> int:
            row = connection.execute(
                "SELECT count(*) FROM procrastinate_jobs AS job LEFT JOIN procrastinate_workers AS worker "
                "ON worker.id = job.worker_id WHERE job.status = 'doing' AND "
                "(worker.last_heartbeat IS NULL OR worker.last_heartbeat < %s)",
                (began,),
            ).fetchone()
            return int(row[0]) if row is not None else 0

        await until_still(lambda: count() == 0, count, _STILL_SECONDS)


async def end_processes(stage: Stage) -> None:
    """Let everything that runs end in good order."""
    for processes in (stage.cell.ingresses, stage.cell.workers):
        for process in processes:
            if not process.runs:
                stage.outcome.broken.append(f"{process.name} has ended by itself:\n{''.join(process.log[-10:])}")
            elif code := await process.end():
                stage.outcome.broken.append(f"{process.name} ended with {code}:\n{''.join(process.log[-10:])}")


# ── one process that nobody disturbs ─────────────────────────────────────────────────────────────────────────────


async def _compare_memory(stage: Stage) -> None:
    """Have the same said to the same homes in this process, without a host, and compare what both have kept."""
    homes = {line.tag: line.home for line in stage.lines}
    lines, questions = stage.group_lines(), write_questions(stage.lines, stage.story.recalls)
    talked = [home for home in stage.cell.homes if home.number in lines]
    at = datetime.now(UTC) + timedelta(days=1)

    def hear(folder: str, home: HomeOf) -> Hearing:
        path = Home(stage.cell.folder / folder / str(home.number))
        return Hearing(path, home, lines[home.number], questions[home.number], at)

    def tell(left: int) -> None:
        stage.progress(f"{left} homes are left to the undisturbed run")

    async with HomesModel(homes.__getitem__) as model:
        with constants_changed({"IntakePolicy.chat_backlog": 10_000}):
            calm = await run_undisturbed([hear("alone", home) for home in talked], model.url, tell)
            for home in talked:
                loaded = stage.cell.folder / LOADED / str(home.number) / "kenobot.db"
                hosted = hear("hosted", home)
                await asyncio.to_thread(_take_in, loaded, hosted.home, home, model.url)
                _compare(stage.outcome, home.number, await read_memory(hosted), calm[home.number])
                stage.progress(f"memory of home {home.number} is compared")


def _take_in(loaded: Path, home: Home, of: HomeOf, model_url: str) -> None:
    """Make a home of rows that were loaded, which any machine could go on with."""
    make_home(home, of, model_url, is_new=False)
    copyfile(loaded, home.database)
    complete(home)


def _compare(outcome: Outcome, home: int, disturbed: Remembered, calm: Remembered) -> None:
    outcome.counts["records"] += disturbed.records.total()
    outcome.counts["recalls"] += len(disturbed.recalls)
    outcome.counts["recalls that found something"] += sum(map(bool, disturbed.recalls.values()))
    outcome.counts["boxes"] += disturbed.boxes.total()
    outcome.counts["links"] += disturbed.links.total()
    for name in ("records", "boxes", "links"):
        mine, wanted = getattr(disturbed, name), getattr(calm, name)
        if mine != wanted:
            differing = f"{list(mine - wanted)[:3]} in the place of {list(wanted - mine)[:3]}"
            outcome.broken.append(f"home {home} has {name} {differing}")
    for question, texts in calm.recalls.items():
        if disturbed.recalls[question] != texts:
            outcome.broken.append(
                f"home {home}, asked {question}, recalls {disturbed.recalls[question]} in the place of {texts}"
            )
