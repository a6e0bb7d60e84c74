"""Where the process stands is written down: when it is asked, and by itself when the event loop stands still."""

import asyncio
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kenobot.app.watch.pulse import Pulse
from kenobot.core.stacks import StackDumps, ask_process
from tests.waiting import until

pytestmark = pytest.mark.long


@contextmanager
def pulse(folder: Path, pause: float) -> Iterator[Pulse]:
    """A pulse that beats a hundred times a second."""
    found = Pulse(StackDumps(folder, asyncio.get_running_loop()), pause, beat=0.01)
    found.start()
    try:
        yield found
    finally:
        found.stop()


def dumps(folder: Path) -> list[Path]:
    return sorted(folder.glob("stacks-*.txt"))


async def hold_up_everything(over: threading.Event) -> None:
    """What a plugin does that waits where it should await."""
    password = "hunter2-in-a-local"  # noqa: F841 - must not show up
    over.wait(60)


async def test_a_loop_that_stands_still_is_written_down_while_it_does(tmp_path: Path) -> None:
    """With the line that holds it up and the other tasks, but no values. Afterwards its length is known."""
    over = threading.Event()
    seen: list[str] = []

    def release() -> None:
        while not (found := [path for path in dumps(tmp_path) if path.read_text("utf-8").endswith("\n")]):
            over.wait(0.01)
        seen.append(found[0].read_text("utf-8"))
        over.set()

    with pulse(tmp_path, pause=0.2) as it:
        other = asyncio.create_task(asyncio.Event().wait(), name="somebody else")
        thread = threading.Thread(target=release)
        thread.start()
        await hold_up_everything(over)
        thread.join()
        assert "hold_up_everything" in seen[0]
        assert "'somebody else'" in seen[0]
        assert "hunter2" not in seen[0]
        assert it.take_longest() >= 0.2
        assert it.take_longest() == 0
        other.cancel()
    assert stat.S_IMODE(dumps(tmp_path)[0].stat().st_mode) == 0o600
    assert len(dumps(tmp_path)) == 1


async def test_a_signal_has_all_threads_and_tasks_written_down(tmp_path: Path) -> None:
    """The process goes on; after the end the signal does nothing."""
    with pulse(tmp_path, pause=0):
        os.kill(os.getpid(), signal.SIGUSR2)
        await until(lambda: bool(dumps(tmp_path)) and dumps(tmp_path)[0].read_text("utf-8").endswith("\n"))
        text = dumps(tmp_path)[0].read_text("utf-8")
        assert "SIGUSR2" in text
        assert "most recent call first" in text
        assert "test_a_signal_has_all_threads_and_tasks_written_down" in text
    os.kill(os.getpid(), signal.SIGUSR2)


def test_a_process_that_does_not_listen_is_not_ended(tmp_path: Path) -> None:
    """As another command that holds the home where a bot was killed, whose file is left."""
    (tmp_path / "raw.txt").touch()
    child = subprocess.Popen(
        [sys.executable, "-c", "print(flush=True); input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdout.readline()
    assert ask_process(tmp_path, child.pid, 0.1) is None
    child.communicate(b"\n")
    assert child.returncode == 0


async def test_the_newest_dumps_are_kept(tmp_path: Path) -> None:
    """Ten of them."""
    with pulse(tmp_path, pause=0) as it:
        written = [await it.dump("asked for") for _ in range(14)]
    assert dumps(tmp_path) == written[-10:]


async def test_the_end_waits_for_a_dump_that_is_under_way(tmp_path: Path) -> None:
    """It never writes into a file that was opened since under the number of its own."""
    other = tmp_path / "other.txt"
    dumps = StackDumps(tmp_path / "stacks", asyncio.get_running_loop())
    for _ in range(30):
        dumps.open()
        writer = asyncio.create_task(asyncio.to_thread(dumps.dump, "asked for"))
        await asyncio.sleep(0)
        await asyncio.to_thread(dumps.close)
        with other.open("w+") as file:
            file.write("mine")
            file.flush()
            await writer
            assert other.read_text() == "mine"
