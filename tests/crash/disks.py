"""A disk with no room, with no inodes left, or read-only: the bot says so, stays up, and recovers without a restart."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from tests.crash.checker import check
from tests.crash.nursery import Tracer
from tests.crash.table import Line
from tests.crash.tools import mounted, no_mount, no_strace, run, side_by_side
from tests.crash.world import Lab, World, until

_OUTAGE_SECONDS = 6.0
_RECOVERY_SECONDS = 60.0
_SAID = ("full", "read-only", "saved", "cannot be written", "up to date", "stored", "recorded", "failed")


async def play(lab: Lab) -> list[Line]:
    """Fill a disk, use up its inodes, make it refuse writes; each under a running bot, and then mend it."""
    tmpfs = no_mount("tmpfs")
    lines = {
        "full": Line("disk full under a running bot (tmpfs), then room again", missing=tmpfs),
        "no inodes": Line("no inodes left under a running bot (tmpfs), then some again", missing=tmpfs),
        "read-only": Line(
            "read-only disk under a running bot (EROFS from every write), then writable", missing=no_strace()
        ),
        "read-only at the start": Line("read-only disk at the start (remounted), then writable", missing=tmpfs),
    }

    async def one(name: str) -> None:
        if not lines[name].missing:
            await _one(lab, name, lines[name])
        lab.progress(name)

    await side_by_side(list(lines), one, workers=2)
    return list(lines.values())


async def _one(lab: Lab, name: str, line: Line) -> None:
    match name:
        case "full":
            async with _on_tmpfs(lab, name, "size=8m") as (world, disk):
                await _outage(world, line, _fill, disk)
        case "no inodes":
            async with _on_tmpfs(lab, name, "size=16m,nr_inodes=64") as (world, disk):
                await _outage(world, line, _use_up, disk)
        case "read-only":
            async with lab.world(name) as world:
                await _outage(world, line, _refuse_writes, world.home)
        case _:
            async with _on_tmpfs(lab, name, "size=16m") as (world, disk):
                await _read_only_start(world, line, disk)


@asynccontextmanager
async def _on_tmpfs(lab: Lab, name: str, options: str) -> AsyncIterator[tuple[World, Path]]:
    """A world whose home lies on a small file system of its own."""
    async with (
        mounted("tmpfs", "none", options, lab.folder / f"disk-{name.replace(' ', '-')}") as disk,
        lab.world(name) as world,
    ):
        (disk / "home").mkdir(mode=0o700)
        (disk / "home" / "kenobot.toml").write_bytes((world.home / "kenobot.toml").read_bytes())
        world.bot.home = disk / "home"
        try:
            yield world, disk
        finally:
            if not world.ended:
                await world.bot.kill()


Outage = Callable[[World, Path], AbstractAsyncContextManager[None]]


async def _outage(world: World, line: Line, outage: Outage, disk: Path) -> None:
    """Talk before, during and after an outage of the disk; count what became of it."""
    line.times = 1
    await world.bot.start()
    await world.say(10)
    if not await world.settles():
        line.broken.append("no answers before the outage")
    said = len(world.bot.log)
    async with outage(world, disk):
        await world.say(10)
        await asyncio.sleep(_OUTAGE_SECONDS)
        heard = [text for text in world.bot.log[said:] if any(word in text for word in _SAID)]
    if world.ended:
        line.broken.append(f"it ended: {world.bot.log[-1:]}")
        await world.bot.start()
    if not heard and world.unanswered():
        line.broken.append("it did not answer and did not say why")
    began = time.monotonic()
    await world.say(10)
    if await world.settles(_RECOVERY_SECONDS):
        line.notes.append(f"all answered {time.monotonic() - began:.0f} s after it was mended")
    else:
        line.broken.append(f"no recovery without a restart: {len(world.unanswered())} unanswered")
    facts = world.facts
    if not await until(lambda: facts <= _mirrored(world), _RECOVERY_SECONDS):
        line.broken.append("the memory files did not catch up without a restart")
    if code := await world.bot.terminate():
        line.broken.append(f"exit code {code} after SIGTERM")
    await _no_traceback(world, line)
    line.add(check(world))


def _mirrored(world: World) -> set[str]:
    texts = (path.read_text("utf-8") for path in (world.home / "memory").glob("*.md"))
    return {row.split(" — ", 1)[1] for text in texts for row in text.splitlines() if row.startswith("## ")}


async def _no_traceback(world: World, line: Line) -> None:
    if any(text.startswith("Traceback") for text in world.bot.log):
        line.broken.append(f"a traceback on stderr: {''.join(world.bot.log)[-300:]}")


@asynccontextmanager
async def _fill(_: World, disk: Path) -> AsyncIterator[None]:
    """Not a byte is free, and what the bot gives back is taken at once."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:

        def pour() -> None:
            try:
                while file.write(b"\0" * 4096):
                    pass
            except OSError:
                pass

        pour()
        more = asyncio.create_task(_again_and_again(pour))
        try:
            yield
        finally:
            more.cancel()
            await asyncio.gather(more, return_exceptions=True)
            filler.unlink()


@asynccontextmanager
async def _use_up(_: World, disk: Path) -> AsyncIterator[None]:
    """No file can be created any more."""
    made: list[Path] = []

    def create() -> None:
        try:
            while True:
                path = disk / f"file-{len(made)}"
                path.touch()
                made.append(path)
        except OSError:
            pass

    create()
    more = asyncio.create_task(_again_and_again(create))
    try:
        yield
    finally:
        more.cancel()
        await asyncio.gather(more, return_exceptions=True)
        for path in made:
            path.unlink()


async def _again_and_again(work: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(0.05)
        work()


@asynccontextmanager
async def _refuse_writes(world: World, _: Path) -> AsyncIterator[None]:
    """As a file system answers that its driver has made read-only: a busy one cannot be remounted."""
    assert world.bot.process is not None
    calls = "pwrite64,fdatasync,fsync,ftruncate,?rename,?renameat,renameat2,?mkdir,mkdirat"
    tracer = await Tracer.attach(
        world.bot.process.pid,
        ("strace", "-f", "-o", "/dev/null", "-e", f"trace={calls}", "-e", f"inject={calls}:error=EROFS"),
    )
    try:
        yield
    finally:
        await tracer.detach()


async def _read_only_start(world: World, line: Line, disk: Path) -> None:
    """It refuses with a sentence, and starts once the disk takes writes."""
    line.times = 2
    await world.say(5)
    await run("mount", "-o", "remount,ro", str(disk))
    await world.bot.spawn()
    if await world.bot.comes_up():
        line.broken.append("it started on a read-only disk")
        await world.bot.terminate()
    elif (code := await world.bot.ended()) != 1 or len(world.bot.log) != 1:
        line.broken.append(f"a new home: exit code {code}: {world.bot.log[-2:]}")
    await run("mount", "-o", "remount,rw", str(disk))
    await world.bot.start()
    await world.settles()
    await world.bot.terminate()
    await run("mount", "-o", "remount,ro", str(disk))
    before = len(world.bot.log)
    await world.bot.spawn()
    if await world.bot.comes_up():
        line.broken.append("it started on a read-only disk")
        await world.bot.terminate()
    elif (code := await world.bot.ended()) != 1 or len(world.bot.log) != before + 1:
        line.broken.append(f"a used home: exit code {code}: {world.bot.log[before:][-2:]}")
    await run("mount", "-o", "remount,rw", str(disk))
    await world.say(5)
    await world.bot.start()
    if not await world.settles():
        line.broken.append("no answers after the disk was writable again")
    if code := await world.bot.terminate():
        line.broken.append(f"exit code {code} after SIGTERM")
    await _no_traceback(world, line)
    line.add(check(world))
