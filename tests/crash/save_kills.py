"""`kill -9` at the Nth fsync of `kenobot memory sync` over a save of several files, N = 1, 2, … until a clean end.

A person has moved, corrected, copied and deleted lines across the files and saved them together. Wherever the taking in
dies, between two lines or between two files, running it again comes to what one clean run comes to: what stands in some
file lives, what stands in none is over, and every file is as its owner left it.
"""

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kenobot.cognitive.mirror.paths import role_of
from kenobot.language.fingerprint import key_of
from kenobot.storage.connection import Connection
from tests.crash.sleep_kills import Story, build, play_story, run
from tests.crash.table import Line
from tests.crash.world import Lab
from tests.memory_rows import put_record

_SYNC = ("memory", "sync")
_FACTS = 30
_DAYS = 3
_SUBJECTS = ("boiler", "seguro", "茶", "gym", "Ana's dog", "قهوة")
ROOT = Path(__file__).resolve().parents[2]


def _said(number: int) -> str:
    return f"{_SUBJECTS[number % len(_SUBJECTS)]} number {number} stands on page {number * number}"


def _furnish(connection: Connection) -> None:
    """Facts of three days, the first ones of MEMORY.md."""
    now = datetime.now(UTC)
    for number in range(_FACTS):
        at = now - timedelta(days=number % _DAYS, minutes=number)
        tier = "core" if number < _FACTS // 3 else "daily"
        said = _said(number)
        put_record(connection, said, at=at, key=key_of(said), trust="owner", tier=tier, changed_event=number + 1)


def _saved(home: Path) -> None:
    """A home with its files, all of which a person has edited in one save."""
    build(home, _furnish)
    environ = {name: value for name, value in os.environ.items() if not re.match("KENOBOT_|ANTHROPIC_", name)}
    subprocess.run(
        [sys.executable, "-m", "kenobot", "--home", str(home), *_SYNC], cwd=ROOT, env=environ, check=True, timeout=60
    )
    edit_all(home / "memory")


def edit_all(memory: Path) -> None:
    """Every fifth line goes to another file, in the same words or in others; the next are corrected, copied and cut."""
    paths = sorted(path for path in memory.glob("*.md") if role_of(path.name) is not None)
    texts = {path: path.read_text("utf-8") for path in paths}
    moves = {"moved": "{}", "rewritten": "{} now", "copied": "{}"}
    for number in range(_FACTS):
        said = _said(number)
        source = next(path for path, text in texts.items() if said in text)
        other = paths[(paths.index(source) + 1) % len(paths)]
        how = ("moved", "rewritten", "corrected", "copied", "deleted", "kept", "kept")[number % 7]
        if how in ("moved", "rewritten", "deleted"):
            texts[source] = re.sub(rf"^(- |## \d+:\d\d — ){re.escape(said)}\n+", "", texts[source], flags=re.MULTILINE)
        elif how == "corrected":
            texts[source] = texts[source].replace(said, f"{said} today")
        if how in moves:
            line = moves[how].format(said)
            texts[other] += f"\n- {line}\n" if other.name == "MEMORY.md" else f"## 9:05 — {line}\n\n"
    for path, text in texts.items():
        path.write_text(text, "utf-8")


def found(home: Path) -> tuple[list[str], dict[str, str]]:
    """What memory holds of every text, and what its files say."""
    with closing(sqlite3.connect(f"{(home / 'kenobot.db').as_uri()}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT text, status, tier, scope FROM record WHERE form = 'note'").fetchall()
    memory = home / "memory"
    return sorted(map(str, rows)), {
        str(path.relative_to(memory)): path.read_text("utf-8") for path in sorted(memory.glob("*.md"))
    }


async def play(lab: Lab, numbers: Sequence[int] | None = None, workers: int = 3) -> Line:
    """Kill at every sync there is, or at those of `numbers`; run again, and compare with a clean run."""

    async def again(lab: Lab, home: Path) -> int:
        return await run(lab, home, *_SYNC)

    story = Story("`kenobot memory sync` over a save of several files", _saved, _SYNC, again, found)
    return await play_story(lab, story, numbers, workers)
