"""`kill -9` at the Nth fsync of `kenobot sleep run`, N = 1, 2, … until a clean end: then it is run again, in peace.

What memory comes to must be what one clean run comes to, record for record, and so must its Markdown files.
"""

import asyncio
import os
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path

from kenobot.cognitive.sleep import run_rows
from kenobot.core.settings.home import Home
from kenobot.ports.nights import PHASES
from kenobot.storage.connection import Connection, connect
from kenobot.storage.migrate import migrate
from kenobot_testing.clock import START
from tests.crash.table import Line
from tests.crash.tools import no_strace, side_by_side
from tests.crash.world import Lab
from tests.memory_rows import put_record

_MOST = 400
_TABLES = ("record", "link", "proposal", "sleep_pass", "sleep_plan", "sleep_answer")
_SLEEP = ("sleep", "run")
_CALLS = "fsync,fdatasync"
_NIGHT = START + timedelta(days=60)
_TALES = (
    "El usuario vive en {city}, y trabaja en Acme",
    "The user prefers {drink} in the morning",
    "Deploy of project {name} failed: timeout error after {number} seconds",
    "Fixed the timeout of project {name}: raised the limit to {number}, it works now",
    "Me encanta {drink}; ya no bebo otra cosa",
    "Decidimos que el proyecto {name} usa Rust",
    "A guess: Ana may like {drink}",
    "Nota suelta número {number} sobre {city}",
)


def furnish(connection: Connection) -> None:
    """Two months of memories of every age, trust and form, and a night that was cut short before its first pass.

    The night is there already so that all runs share its moment: then they must agree to the last digit.
    """
    for number in range(48):
        at = START + timedelta(days=number * 5 // 4, minutes=number)
        text = _TALES[number % len(_TALES)].format(
            city=("Lyon", "Madrid", "Gijón")[number % 3],
            drink=("té", "café", "mate")[number % 3],
            name=("Orion", "Vega")[number % 2],
            number=number % 11,
        )
        guess = text.startswith("A guess")
        put_record(
            *(connection, text),
            at=at,
            key=f"k{number}",
            trust="model" if guess else "owner",
            confidence=0.4 if guess else 0.9,
            importance=0.2 + number % 8 / 10,
            form="scratchpad" if number % 24 == 0 else "note",
            scope="owner" if number % 5 else "chat:telegram-1",
            subject=("Orion", "Vega")[number % 2] if "project" in text or "proyecto" in text else "owner",
            mentions=1 + number % 3,
            expires=(at + timedelta(days=14)).strftime("%Y-%m-%dT%H:%M:%S.%f+00:00") if guess else None,
        )
    run_rows.begin_or_resume(connection, _NIGHT, "hourly", PHASES)


def found(home: Path) -> tuple[list[str], dict[str, str]]:
    """What memory holds, and what its files say; not the numbers of events, which a person's files never show."""
    rows: list[str] = []
    with closing(sqlite3.connect(f"{(home / 'kenobot.db').as_uri()}?mode=ro", uri=True)) as connection:
        for table in _TABLES:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[1] != "changed_event"]
            rows += [f"{table} {row}" for row in connection.execute(f"SELECT {', '.join(columns)} FROM {table}")]
        rows += [
            f"event {row}"
            for row in connection.execute(
                "SELECT at, actor, type, record_id, json_remove(data, '$.part_of') FROM event WHERE actor = 'sleep'"
            )
        ]
        rows += [f"night {row}" for row in connection.execute("SELECT id, at, state FROM sleep_run")]
    memory = home / "memory"
    files = {str(path.relative_to(memory)): path.read_text("utf-8") for path in sorted(memory.rglob("*.md"))}
    return sorted(rows), files


@dataclass(frozen=True)
class Story:
    """A command that is killed. build: makes a home for it. again: runs it to its end after that, or what any start
    does; its exit code. found: what there is then: rows, and files by their paths.
    """

    name: str
    build: Callable[[Path], None]
    command: tuple[str, ...]
    again: Callable[[Lab, Path], Awaitable[int]]
    found: Callable[[Path], tuple[list[str], dict[str, str]]]


async def play(lab: Lab, numbers: Sequence[int] | None = None, workers: int = 3) -> Line:
    """Kill a night at every sync there is, or at those of `numbers`; run again, and compare with a clean run."""
    return await play_story(lab, Story("`kenobot sleep run`", _build, _SLEEP, _again, found), numbers, workers)


async def play_story(lab: Lab, story: Story, numbers: Sequence[int] | None = None, workers: int = 3) -> Line:
    """Kill a command at every sync there is, or at those of `numbers`; run again, and compare with a clean run."""
    name = f"`kill -9` at the Nth fsync and fdatasync of {story.name}, then run again"
    line = Line(name, missing=no_strace())
    if line.missing:
        return line
    folder = Path(tempfile.mkdtemp(prefix="command-", dir=lab.folder))
    template = folder / "template"
    await asyncio.to_thread(story.build, template)
    clean = folder / "clean"
    shutil.copytree(template, clean)
    if code := await run(lab, clean, *story.command):
        line.broken.append(f"a clean run ended with {code}")
        return line
    wanted = story.found(clean)
    waiting = iter(numbers if numbers is not None else count(1))
    over = False

    async def worker(_: int) -> None:
        nonlocal over
        for number in waiting:
            if over or number > _MOST:
                return
            home = folder / f"killed {number}"
            shutil.copytree(template, home)
            killed = await run(lab, home, *story.command, at=number) == -9
            over = over or not killed
            line.times += killed
            if code := await story.again(lab, home):
                line.broken.append(f"N={number}: the second run ended with {code}")
            elif difference := _difference(wanted, story.found(home)):
                line.broken.append(f"N={number}: {difference}")
            lab.progress(f"{line.times} kills")
            shutil.rmtree(home)

    await side_by_side(range(workers), worker, workers)
    return line


def _build(home: Path) -> None:
    build(home, furnish)


def build(home: Path, furnish: Callable[[Connection], None]) -> None:
    """Make a home whose database `furnish` fills."""
    home.mkdir(mode=0o700)
    Home(home).prepare()
    migrate(home / "kenobot.db", home / "backups")
    with closing(connect(home / "kenobot.db")) as connection:
        connection.execute("BEGIN")
        furnish(connection)
        connection.execute("COMMIT")


async def _again(lab: Lab, home: Path) -> int:
    """Go on with the night; if that was over already, have the files written, as any start does."""
    with closing(sqlite3.connect(f"{(home / 'kenobot.db').as_uri()}?mode=ro", uri=True)) as connection:
        open_ = connection.execute("SELECT 1 FROM sleep_run WHERE state = 'running'").fetchone()
    return await run(lab, home, *(_SLEEP if open_ else ("memory", "sync")))


async def run(lab: Lab, home: Path, *arguments: str, at: int = 0) -> int:
    """A command, killed at its `at`-th sync unless that is 0; the exit code, negative for a signal."""
    inject = f"inject={_CALLS}:signal=KILL:when={at}"
    wrap = ("strace", "-f", "-o", "/dev/null", "-e", f"trace={_CALLS}", "-e", inject) if at else ()
    command = [*wrap, sys.executable, "-m", "kenobot", "--home", str(home), *arguments]
    environ = {name: value for name, value in os.environ.items() if not re.match("KENOBOT_|ANTHROPIC_", name)}
    process = await lab.nursery(command, environ)
    assert process.stderr is not None
    async with asyncio.timeout(60):
        while await process.stderr.readline():
            pass
        return await process.wait()


def _difference(wanted: tuple[list[str], dict[str, str]], there: tuple[list[str], dict[str, str]]) -> str:
    rows = sorted(set(wanted[0]) ^ set(there[0]))
    files = sorted(name for name in wanted[1].keys() | there[1].keys() if wanted[1].get(name) != there[1].get(name))
    if not rows and not files and len(wanted[0]) == len(there[0]):
        return ""
    return f"{len(rows)} rows and {len(files)} files differ, such as {(rows or files or ['a row twice'])[0][:300]}"
