"""Chats whose output fails: each ends by itself, frees the home, and the next one prints what it could not."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from tests.crash.table import Line
from tests.crash.world import Lab

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 30.0  # seconds, with the start of an interpreter on a busy machine
MESSAGES = 3  # of each chat


def _no_reader() -> int:
    read, write = os.pipe()
    os.close(read)
    return write


FAILURES: dict[str, Callable[[], int]] = {
    "no reader": _no_reader,
    "a full disk": lambda: os.open("/dev/full", os.O_WRONLY),
    "opened for reading": lambda: os.open(os.devnull, os.O_RDONLY),
}


async def play(lab: Lab, rounds: int = 3) -> list[Line]:
    """Break the output of one chat after another in the same home, then read all the answers."""
    line = Line("a chat whose output has no reader, is full, or cannot be written")
    home = lab.folder / "outputs"
    for number in range(rounds):
        for name, failure in FAILURES.items():
            if name == "a full disk" and not Path("/dev/full").exists():
                continue
            await asyncio.to_thread(_break, home, f"{number} {name}", failure, line)
            lab.progress(f"{number + 1}: {name}")
    done = await asyncio.to_thread(_chat, home, b"", subprocess.PIPE)
    _settle(home, done, line)
    return [line]


def _break(home: Path, name: str, failure: Callable[[], int], line: Line) -> None:
    """Say something to a chat whose output fails."""
    words = "".join(f"remember that box {name.replace(' ', '-')}-{each} is blue\n" for each in range(MESSAGES))
    output = failure()
    try:
        done = _chat(home, words.encode(), output)
    except subprocess.TimeoutExpired:
        line.broken.append(f"{name}: the chat did not end")
        return
    finally:
        os.close(output)
    line.times += 1
    if done.returncode != 1 or done.stderr.count(b"\n") != 1:
        line.broken.append(f"{name}: exit code {done.returncode}, {done.stderr[-200:]!r}")


def _settle(home: Path, done: "subprocess.CompletedProcess[bytes]", line: Line) -> None:
    """Hold what the last chat printed against what was taken in."""
    with closing(sqlite3.connect(home / "kenobot.db")) as connection:
        taken = [str(text) for (text,) in connection.execute("SELECT text FROM inbox ORDER BY id")]
        sent = connection.execute("SELECT count(*) FROM outbox WHERE state = 'sent'").fetchone()[0]
        (unsent,) = connection.execute("SELECT count(*) FROM outbox WHERE state != 'sent'").fetchone()
        (unanswered,) = connection.execute("SELECT count(*) FROM inbox WHERE state != 'answered'").fetchone()
    line.messages, line.lost = len(taken), unsent + unanswered
    if done.returncode or done.stderr:
        line.broken.append(f"the last chat: exit code {done.returncode}, {done.stderr[-200:]!r}")
    if line.lost or len(set(taken)) != len(taken) or sent != len(taken):
        line.broken.append(f"{len(taken)} messages, {unanswered} unanswered, {sent} printed, {unsent} not printed")


def _chat(home: Path, words: bytes, output: int) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-m", "kenobot", "--home", str(home), "chat"],
        cwd=ROOT,
        env={**os.environ, "KENOBOT_MEMORY__EMBEDDER": "none"},
        input=words,
        stdout=output,
        stderr=subprocess.PIPE,
        timeout=LONGEST,
        check=False,
    )
