"""Homes that share a process: threads in common, no memory files, nothing that looks often."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kenobot.storage.shared_threads import SharedThreads, ThreadCounts
from tests.scene import Scene

_COUNTS = ThreadCounts(writing=2, reading=2, behind=1)
_REPLIES = ["Noted.<memory>Allergic to walnuts</memory>", "Walnuts."]


@pytest.fixture
def threads() -> Iterator[SharedThreads]:
    """Threads that homes share."""
    made = SharedThreads(_COUNTS)
    yield made
    made.close()


def _count_threads() -> int:
    names = ("kenobot-writer", "kenobot-reader", "kenobot-background", "kenobot-pulse")
    return sum(thread.name.startswith(names) for thread in threading.enumerate())


async def test_each_home_remembers_what_is_its_own(tmp_path: Path, threads: SharedThreads) -> None:
    """Two of them talk in the threads of one process, sleep, and one is stopped and started again, without a file."""
    before = _count_threads()
    replies = ["Noted.<memory>Plays the oboe</memory>", "The oboe."]
    async with (
        Scene(tmp_path / "one", _REPLIES, shared=threads) as one,
        Scene(tmp_path / "two", replies, shared=threads) as two,
    ):
        await one.say("I am allergic to walnuts.")
        await two.say("I play the oboe.")
        await one.app.background.sleep_worker.sleep("command")
        await two.say("What do I play?")
        assert "Plays the oboe" in two.requests[-1]
        assert "walnuts" not in two.requests[-1]
        assert _count_threads() - before <= 5
        threads.close_unused(0.0)
    async with Scene(tmp_path / "one", ["Walnuts."], shared=threads) as again:
        again.channel.number = 100
        await again.say("What am I allergic to?")
        assert "Allergic to walnuts" in again.requests[-1]
    for scene in (one, two):
        assert {path.name for path in scene.home.memory.iterdir()} == {"identity"}


async def test_a_shared_home_looks_at_most_once_a_minute(tmp_path: Path, threads: SharedThreads) -> None:
    """And not at all for what a command line or an editor did; a home of its own does so each second."""
    async with Scene(tmp_path / "one", _REPLIES, shared=threads) as shared, Scene(tmp_path / "two", _REPLIES) as own:
        jobs = {name: seconds for name, seconds, _ in shared.app.scheduler._jobs}
        assert min(jobs.values()) >= 60.0
        assert not jobs.keys() & {"command line", "memory files", "watch"}
        assert min(seconds for _, seconds, _ in own.app.scheduler._jobs) == 1.0
