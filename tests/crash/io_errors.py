"""Each kind of system call fails, with EIO or ENOSPC, once or for good, at the start or while the bot serves.

At the start: the bot comes up all the same, or ends with a plain sentence. While it serves: it stays up, and when the
disk works again it recovers by itself, without a restart. Either way, nothing is lost or doubled.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from tests.crash.checker import check
from tests.crash.nursery import Tracer
from tests.crash.table import Line
from tests.crash.tools import no_strace, side_by_side
from tests.crash.world import Lab, World

FAULT_SECONDS = 2.5
_RECOVERY_SECONDS = 60
CALLS = {
    "fsync": "fsync",
    "fdatasync": "fdatasync",
    "pwrite64": "pwrite64",
    "pread64": "pread64",
    "write": "write",
    "openat": "openat",
    "rename": "?rename,?renameat,renameat2",
    "unlink": "?unlink,unlinkat",
    "ftruncate": "ftruncate",
    "mkdir": "?mkdir,mkdirat",
    "chmod": "?chmod,fchmodat,fchmod",
    "utimensat": "utimensat",
    "getdents64": "getdents64",
    "stat": "?stat,?lstat,newfstatat,fstat,statx",
    "flock": "flock",
    "lseek": "lseek",
}
# Only where they touch the home: the program's own files and the event loop's pipes must stay whole.
_OURS_ONLY = ("write", "openat", "lseek", "stat", "getdents64")
_PLACES = ("", "kenobot.db", "kenobot.db-wal", "kenobot.db-journal", "kenobot.lock", "memory", "memory/identity")
_EARLY_CALLS = ("flock",)  # made at the start only
_LATE_CALLS = ("utimensat",)  # made while serving only


@dataclass(frozen=True)
class Case:
    """`call` fails with `error`, as `when` says in strace's words."""

    call: str
    error: str
    when: str
    serving: bool

    def __str__(self) -> str:
        return f"{self.call} {self.error} when={self.when} {'while serving' if self.serving else 'at the start'}"


def cases(calls: Sequence[str] = tuple(CALLS), errors: Sequence[str] = ("EIO", "ENOSPC")) -> list[Case]:
    """Every call with every error: at the start its first and its third, while serving once and until it passes."""
    found = []
    for call, error in product(calls, errors):
        if call not in _LATE_CALLS:
            found += [Case(call, error, when, False) for when in ("1", "3+")]
        if call not in _EARLY_CALLS:
            found += [Case(call, error, when, True) for when in ("1", "1+")]
    return found


async def play(lab: Lab, chosen: Sequence[Case] | None = None, workers: int = 4) -> list[Line]:
    """Play the cases; one line for the starts, one for the running bot."""
    starts = Line("EIO and ENOSPC from each kind of system call, at the start", missing=no_strace())
    serving = Line("EIO and ENOSPC from each kind of system call, while serving, then none", missing=no_strace())
    if starts.missing:
        return [starts, serving]
    outcomes: Counter[str] = Counter()
    done = 0
    wanted = cases() if chosen is None else list(chosen)

    async def one(case: Case) -> None:
        nonlocal done
        line = serving if case.serving else starts
        async with lab.world(str(case), chats=2) as world:
            try:
                await (_serving if case.serving else _starting)(world, case, line, outcomes)
            except (TimeoutError, AssertionError) as error:
                line.broken.append(f"{case}: {type(error).__name__} {error}, log: {''.join(world.bot.log[-5:])}")
        line.times += 1
        done += 1
        lab.progress(f"{done} of {len(wanted)}, {case}")

    await side_by_side(wanted, one, workers)
    starts.notes.append(f"{outcomes['came up']} came up, {outcomes['refused']} ended with a plain sentence")
    serving.notes.append(f"{outcomes['served on']} served on and recovered by themselves")
    return [starts, serving]


def strace(world: World, case: Case) -> tuple[str, ...]:
    """The command that makes `case` happen to a process."""
    calls = CALLS[case.call]
    paths: list[str] = []
    if case.call in _OURS_ONLY:
        for place in _PLACES:
            paths += ["-P", str(world.home / place)]
    return (
        *("strace", "-f", "-o", "/dev/null", "-e", f"trace={calls}", *paths),
        *("-e", f"inject={calls}:error={case.error}:when={case.when}"),
    )


async def _starting(world: World, case: Case, line: Line, outcomes: Counter[str]) -> None:
    world.bot.wrap = strace(world, case)
    await world.say(4)
    await world.bot.spawn()
    if await world.bot.comes_up():
        await world.settles(FAULT_SECONDS, patient=False)
        world.bot.signal(15)
        code = await world.bot.ended()
        outcomes["came up"] += 1
    else:
        code = await world.bot.ended()
        outcomes["refused"] += 1
        if code == 0 or not world.bot.log or not world.bot.log[-1].startswith("kenobot: "):
            line.broken.append(f"{case}: exit code {code} without a plain sentence: {world.bot.log[-1:]}")
    if code not in (0, 1, 78):
        line.broken.append(f"{case}: exit code {code}")
    world.bot.wrap = ()
    await world.say()
    await world.bot.start()
    await _finish(world, case, line)


async def _serving(world: World, case: Case, line: Line, outcomes: Counter[str]) -> None:
    await world.bot.start()
    await world.say(2)
    await world.settles()
    assert world.bot.process is not None
    tracer = await Tracer.attach(world.bot.process.pid, strace(world, case))
    try:
        await world.say(4)
        await asyncio.sleep(FAULT_SECONDS)
    finally:
        await tracer.detach()
    if world.ended:
        line.broken.append(f"{case}: it ended with {world.bot.process.returncode}: {world.bot.log[-1:]}")
        await world.bot.start()
    else:
        outcomes["served on"] += 1
    began = time.monotonic()
    await world.say()
    if not await world.settles(_RECOVERY_SECONDS):
        line.broken.append(f"{case}: did not recover by itself: {sorted(world.unanswered())}")
        await world.bot.terminate()
        await world.bot.start()
    elif time.monotonic() - began > 35:
        line.broken.append(f"{case}: took {time.monotonic() - began:.0f} s to recover")
    await _finish(world, case, line)


async def _finish(world: World, case: Case, line: Line) -> None:
    if not await world.settles():
        line.broken.append(f"{case}: no answer to {sorted(world.unanswered())}")
    if code := await world.bot.terminate():
        line.broken.append(f"{case}: exit code {code} after SIGTERM")
    if traces := [text for text in world.bot.log if text.startswith("Traceback")]:
        line.broken.append(f"{case}: {len(traces)} tracebacks on stderr: {_last_line(world.bot.log)}")
    line.add(check(world), str(case))


def _last_line(log: Sequence[str]) -> str:
    at = max(number for number, text in enumerate(log) if text.startswith("Traceback"))
    after = (text for text in log[at + 1 :] if not text.startswith(" "))
    return next(after, "").strip()
