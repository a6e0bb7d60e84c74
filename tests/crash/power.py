"""Power cuts: what the disk holds at one instant of a running bot is all that the next start gets.

The home lies on an ext4 in a file, and that file on an ext4 of its own, the shelf. Freezing the shelf stops every block
on its way to the disk at once, while what the bot and the kernel have not synced is still on theirs: a copy of the file
is what a power cut would have left. The bot lives on until it is killed; what it says meanwhile is held against it.
"""

import asyncio
import contextlib
import shutil
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from tests.crash.checker import check
from tests.crash.table import Line
from tests.crash.tools import mounted, new_image, no_freeze, run, side_by_side
from tests.crash.world import Lab, World, fact_of, tag_in

_CHATS = 5
_BURST = 20  # messages a cut
_LONGEST_LIFE = 0.9  # seconds after `ready`
_EARLY = 4  # one life in so many is cut before it is ready, the very first among them
_HOME_MB, _SHELF_MB = 32, 64
_CANARY = b"not synced" * 400


@dataclass(frozen=True)
class Acknowledged:
    """What the world outside knew when the light went out. Each is a set of tags.

    taken: Telegram was told that they need not come again. answered: a person has read the answer.
    """

    taken: frozenset[str]
    answered: frozenset[str]


@dataclass(frozen=True)
class Disk:
    """A home on a disk whose power can be cut. `where` is the folder it is mounted at."""

    shelf: Path
    where: Path
    stack: contextlib.AsyncExitStack

    @property
    def image(self) -> Path:
        return self.shelf / "disk"

    async def plug_in(self) -> None:
        await self.stack.enter_async_context(mounted("ext4", str(self.image), "loop", self.where))


async def play(lab: Lab, cuts: int = 40, worlds: int = 2) -> Line:
    """Talk, cut the power at a random moment, start from what the disk held; again and again."""
    line = Line(
        "power cut: an image of the disk at a random moment is all that the next start gets", missing=no_freeze()
    )
    if line.missing:
        return line
    told: list[bool] = []

    async def one(number: int) -> None:
        async with _on_a_disk(lab, f"power {number}") as (world, disk):
            for cut in range(cuts // worlds):
                told.append(await _live_and_lose_power(world, disk, cut, line))
                line.times += 1
                lab.progress(f"{line.times} of {cuts} cuts")
            await world.bot.start()
            if not await world.settles():
                line.broken.append(f"no answer to {sorted(world.unanswered())[:3]} … {''.join(world.bot.log[-3:])}")
            if code := await world.bot.terminate():
                line.broken.append(f"exit code {code} after SIGTERM")
            if any(text.startswith("Traceback") for text in world.bot.log):
                line.broken.append(f"a traceback on stderr: {''.join(world.bot.log)[-300:]}")
            line.add(await asyncio.to_thread(check, world), f"home {number}")

    await side_by_side(range(worlds), one, worlds)
    line.notes.append(f"{sum(told)} of {len(told)} cuts lost a file that nobody had synced")
    if not all(told):
        line.broken.append("some cuts lost nothing at all: they prove nothing")
    return line


@contextlib.asynccontextmanager
async def _on_a_disk(lab: Lab, name: str) -> AsyncIterator[tuple[World, Disk]]:
    """A world whose home lies on a disk of its own."""
    base = lab.folder / name.replace(" ", "-")
    base.mkdir()
    shelf_image = await asyncio.to_thread(new_image, base / "shelf.img", _SHELF_MB)
    async with (
        mounted("ext4", str(shelf_image), "loop", base / "shelf") as shelf,
        contextlib.AsyncExitStack() as stack,
        lab.world(name, _CHATS) as world,
    ):
        disk = Disk(shelf, base / "mounted", stack)
        await asyncio.to_thread(new_image, disk.image, _HOME_MB)
        await disk.plug_in()
        home = disk.where / "home"
        home.mkdir(mode=0o700)
        shutil.copyfile(world.home / "kenobot.toml", home / "kenobot.toml")
        world.bot.home = home
        await run("sync", "-f", str(disk.where))
        yield world, disk


async def _live_and_lose_power(world: World, disk: Disk, cut: int, line: Line) -> bool:
    """One life, its sudden end, and a look at what the disk holds; whether the cut lost what was not synced."""
    await world.say(_BURST)
    if cut % _EARLY == 0:
        await world.bot.spawn()
        await asyncio.sleep(world.rng.uniform(0.0, 0.4))
    else:
        await world.bot.start()
        await asyncio.sleep(world.rng.uniform(0.0, _LONGEST_LIFE))
    (disk.where / f"canary-{cut}").write_bytes(_CANARY)
    copy = disk.shelf.with_name("copy")
    await run("fsfreeze", "-f", str(disk.shelf))
    try:
        known = _acknowledged(world)
        await asyncio.to_thread(shutil.copyfile, disk.image, copy)
        known = Acknowledged(known.taken | _acknowledged(world).taken, known.answered | _acknowledged(world).answered)
        world.bot.signal(9)
    finally:
        await run("fsfreeze", "-u", str(disk.shelf))
    await world.bot.ended()
    await disk.stack.aclose()
    await asyncio.to_thread(shutil.copyfile, copy, disk.image)
    copy.unlink()
    await disk.plug_in()
    canary = disk.where / f"canary-{cut}"
    lost = not canary.exists() or canary.read_bytes() != _CANARY
    line.broken += [f"cut {cut}: {what}" for what in await asyncio.to_thread(_missing, world, known)]
    return lost


def _acknowledged(world: World) -> Acknowledged:
    taken = (tag for tag, update in world.updates.items() if update <= world.telegram.acknowledged)
    answered = (tag for item in world.telegram.sent if (tag := tag_in(item.text)))
    return Acknowledged(frozenset(taken), frozenset(answered))


def _missing(world: World, known: Acknowledged) -> list[str]:
    """What the outside knew and the disk does not; looked up in a copy, for SQLite would mend what it reads."""
    files = sorted((world.home / "memory").rglob("[!.]*.*"))  # a draft, which has a dot in front, may be half a file
    found = [f"{path.name} is empty" for path in files if not path.stat().st_size]
    if not (world.home / "kenobot.db").exists():
        return found + [f"{len(known.taken)} messages taken and no database"] * bool(known.taken)
    aside = world.home.parent.parent / "look"
    aside.mkdir(exist_ok=True)
    for name in ("kenobot.db", "kenobot.db-wal"):
        (aside / name).unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(world.home / name, aside / name)
    (aside / "kenobot.db-shm").unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(aside / "kenobot.db")) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'inbox'").fetchone():
            return found + [f"{len(known.taken)} messages taken and no inbox"] * bool(known.taken)
        inbox = {tag_in(text) for (text,) in connection.execute("SELECT text FROM inbox")}
        turns = {
            tag_in(text)
            for (text,) in connection.execute("SELECT text FROM inbox WHERE id IN (SELECT inbox_id FROM turn)")
        }
        facts = {text for (text,) in connection.execute("SELECT text FROM record WHERE status = 'active'")}
    found += [f"{tag} was taken and is gone" for tag in sorted(known.taken - inbox)]
    found += [f"{tag} was answered and its turn is gone" for tag in sorted(known.answered - turns)]
    told = {tag: fact for tag in sorted(known.answered) if (fact := fact_of(tag))}
    return found + [f"what {tag} said to remember is gone" for tag, fact in told.items() if fact not in facts]
