"""Outputs that fail, and that cannot show a character, as real processes."""

import fcntl
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path

import pytest

from tests.crash.nursery import Nursery
from tests.integration.test_bad_starts import ROOT, environment

pytestmark = pytest.mark.long

FULL = Path("/dev/full")
VERBS = ("version", "--help", "memory --help", "config", "memory list", "memory log", "memory stats", "signals")


@contextmanager
def no_reader() -> Iterator[int]:
    """A pipe whose reader has left."""
    read, write = os.pipe()
    os.close(read)
    yield write
    os.close(write)


@contextmanager
def full() -> Iterator[int]:
    """A disk without space."""
    descriptor = os.open(FULL, os.O_WRONLY)
    yield descriptor
    os.close(descriptor)


@contextmanager
def unread() -> Iterator[int]:
    """A full pipe that nobody reads."""
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETFL, os.O_NONBLOCK)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(write, b" " * 4096)
    fcntl.fcntl(write, fcntl.F_SETFL, 0)
    yield write
    os.close(write)
    os.close(read)


def command(home: Path, words: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "kenobot", "--home", str(home), *words]


def run(
    home: Path, *words: str, stdout: int = subprocess.PIPE, encoding: str = "utf-8", start: str = ""
) -> "subprocess.CompletedProcess[bytes]":
    """Run a command to its end. start: of a shell line, such as a redirection, before it."""
    line = command(home, words)
    return subprocess.run(
        ["/bin/sh", "-c", f'{start}; exec "$@"', "sh", *line] if start else line,
        cwd=ROOT,
        env=environment({"PYTHONIOENCODING": encoding, "KENOBOT_MEMORY__EMBEDDER": "none"}),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that remembers something outside of ASCII."""
    home: Path = tmp_path_factory.mktemp("lived") / "home"
    assert run(home, "chat", "-m", "Recuerda que la niña se llama Begoña ✓ 小林").returncode == 0
    return home


@pytest.mark.parametrize("output", [no_reader, full, None], ids=["no reader", "full", "closed"])
def test_a_chat_whose_output_fails_ends_with_1_and_keeps_the_answer(
    tmp_path: Path, output: Callable[[], AbstractContextManager[int]] | None
) -> None:
    """In one plain line, with the home free afterwards: the next chat brings both answers."""
    home = tmp_path / "home"
    if output is full and not FULL.exists():
        pytest.skip("this system has no /dev/full")
    if output is None:
        done = run(home, "chat", "-m", "hi", start="exec >&-")
    else:
        with output() as descriptor:
            done = run(home, "chat", "-m", "hi", stdout=descriptor)
    assert done.returncode == 1
    assert done.stderr.startswith(b"kenobot: The output cannot be written: ")
    assert done.stderr.count(b"\n") == 1
    again = run(home, "chat", "-m", "remember that the boiler is blue")
    assert (again.returncode, again.stderr) == (0, b"")
    assert again.stdout.count(b"What is your name?") == 1
    assert b"boiler" in again.stdout


def answers(home: Path) -> int:
    """How many answers lie in the outbox."""
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(home / "kenobot.db")) as connection:
        return int(connection.execute("SELECT count(*) FROM outbox").fetchone()[0])
    return 0


def test_a_chat_whose_reader_takes_nothing_ends_on_sigterm(tmp_path: Path) -> None:
    """Waiting for a pager is no failure, and holds up neither a stop nor the next start."""
    home = tmp_path / "home"
    with unread() as descriptor:
        process = subprocess.Popen(
            command(home, ["chat", "-m", "hi"]), cwd=ROOT, env=environment({}), stdout=descriptor, stderr=-1
        )
        try:
            deadline = time.monotonic() + 120
            while not answers(home) and process.poll() is None and time.monotonic() < deadline:
                os.sched_yield()
            assert process.poll() is None
            process.send_signal(signal.SIGTERM)
            _, complaints = process.communicate(timeout=120)
        finally:
            process.kill()
    assert (process.returncode, complaints) == (0, b"")
    assert run(home, "chat", "-m", "hi").returncode == 0


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("ascii", rb"Bego\xf1a \u2713 \u5c0f\u6797"), ("latin-1", b"Bego\xf1a \\u2713"), ("cp1251", rb"Bego\xf1a \u2713")],
)
def test_a_chat_escapes_what_the_output_cannot_show(lived_in: Path, encoding: str, shown: bytes) -> None:
    """The answer comes whole, in the characters that there are."""
    done = run(lived_in, "chat", "-m", "¿Cómo se llama la niña?", encoding=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert shown in done.stdout


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("words", VERBS)
async def test_a_command_whose_output_fails_ends_with_1(lived_in: Path, nursery: Nursery, words: str) -> None:
    """In one plain line; one whose reader has seen enough ends well and quietly."""
    for output, code in ((full, 1), (no_reader, 0)):
        with output() as descriptor:
            done = await nursery.run(["--home", str(lived_in), *words.split()], environment({}), descriptor)
        assert (done.returncode, done.stderr.count("\n")) == (code, code), (words, done.stderr)


def test_lists_escape_what_the_output_cannot_show(lived_in: Path) -> None:
    """A memory in any script is listed in ASCII."""
    done = run(lived_in, "memory", "list", encoding="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"Bego\xf1a \u2713 \u5c0f\u6797" in done.stdout
