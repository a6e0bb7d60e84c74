"""Damaged state of every kind: each kind of file in a home × each kind of damage.

A start works, or it refuses with plain sentences and exit code 78. Never a traceback, and what is damaged is never
written over: it stays as it is, or it is set aside.
"""

import asyncio
import contextlib
import shutil
import sqlite3
import stat
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from random import Random

from tests.crash.nursery import OBEY_MODES
from tests.crash.table import Line
from tests.crash.tools import side_by_side
from tests.crash.world import Lab, World, until
from tests.integration.stand_in import KEY, TOKEN

_SECONDS = 20
_MESSAGES = 12

FILES: Mapping[str, str] = {
    "database": "kenobot.db",
    "write-ahead log": "kenobot.db-wal",
    "shared memory of the database": "kenobot.db-shm",
    "settings": "kenobot.toml",
    "bot token": "credentials/telegram_token",
    "lock": "kenobot.lock",
    "core.md": "memory/identity/core.md",
    "preferences.md": "memory/identity/preferences.md",
    "BOOTSTRAP.md": "memory/identity/BOOTSTRAP.md",
    "rules.json": "memory/identity/rules.json",
    "MEMORY.md": "memory/MEMORY.md",
    "daily log": "memory/{day}",
    "working memory": "memory/working/{session}.md",
    "folder of memory files": "memory",
    "folder of identity files": "memory/identity",
    "folder of credentials": "credentials",
}
_FOLDERS = ("folder of memory files", "folder of identity files", "folder of credentials")
TEXTS = tuple(name for name, path in FILES.items() if path.startswith("memory/") and name not in _FOLDERS)
_SQLITE = ("database", "write-ahead log", "shared memory of the database")
_REWRITTEN = ("lock", *_SQLITE)  # each start writes these, damaged or not

Damage = Callable[[Path, Random], None]


def _truncated(path: Path, _: Random) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _empty(path: Path, _: Random) -> None:
    path.write_bytes(b"")


def _zeroed(path: Path, _: Random) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


def _flipped(path: Path, rng: Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(max(1, len(content) // 2000)):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def _bom(path: Path, _: Random) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


def _linked(path: Path, _: Random) -> None:
    home = next(folder for folder in path.parents if folder.name == "home")
    elsewhere = home.with_name(f"elsewhere-{path.name}")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def _dangling(path: Path, _: Random) -> None:
    _remove(path)
    path.symlink_to(path.parent / "nowhere" / "at-all")


def _directory(path: Path, _: Random) -> None:
    _remove(path)
    path.mkdir(mode=0o700)
    (path / "kept.txt").write_text("somebody put me here")


def _plain_file(path: Path, _: Random) -> None:
    _remove(path)
    path.write_text("I used to be a folder")


def _unreadable(path: Path, _: Random) -> None:
    path.chmod(0)


def _wide_open(path: Path, _: Random) -> None:
    path.chmod(0o777 if path.is_dir() else 0o666)


def _missing(path: Path, _: Random) -> None:
    _remove(path)


OF_FILES: Mapping[str, Damage] = {
    "truncated": _truncated,
    "empty": _empty,
    "zeroed": _zeroed,
    "flipped bits": _flipped,
    "with a BOM": _bom,
    "a link to elsewhere": _linked,
    "a dangling link": _dangling,
    "a directory": _directory,
    "unreadable": _unreadable,
    "open to all": _wide_open,
    "missing": _missing,
}
OF_FOLDERS: Mapping[str, Damage] = {
    "a link to elsewhere": _linked,
    "a dangling link": _dangling,
    "a file": _plain_file,
    "unreadable": _unreadable,
    "open to all": _wide_open,
    "missing": _missing,
}


@dataclass(frozen=True)
class Case:
    """`files` are keys of FILES, `damage` is one of OF_FILES or OF_FOLDERS."""

    files: tuple[str, ...]
    damage: str

    def __str__(self) -> str:
        return f"{self.files[0] if len(self.files) == 1 else 'every memory file'} {self.damage}"

    @property
    def harms(self) -> Damage:
        return (OF_FOLDERS if self.files[0] in _FOLDERS else OF_FILES)[self.damage]


def cases() -> list[Case]:
    """Every damage of every file and folder; of memory files, which nothing stops at, all at once."""
    alone = [(name,) for name in FILES if name not in (*_FOLDERS, *TEXTS)]
    plain = [Case(*pair) for pair in product([*alone, TEXTS], OF_FILES)]
    plain.remove(Case(("bot token",), "flipped bits"))  # the emulator takes any token; the channel's own tests refuse
    return plain + [Case(*pair) for pair in product([(name,) for name in _FOLDERS], OF_FOLDERS)]


async def play(lab: Lab, chosen: Sequence[Case] | None = None, workers: int = 3) -> Line:
    """Damage one thing in a copy of a home that was killed, and start from it; then the next."""
    line = Line("damaged state: each kind of file × truncated, emptied, zeroed, bits flipped, BOM, links, wrong mode …")
    outcomes: Counter[str] = Counter()
    wanted = cases() if chosen is None else list(chosen)
    async with lab.world("template", chats=1) as template:
        await _furnish(template)

        async def one(case: Case) -> None:
            async with lab.world(f"damage {case}", chats=1) as world:
                await _try(world, template, case, line, outcomes)
            line.times += 1
            lab.progress(f"{line.times} of {len(wanted)}, {case}")

        await side_by_side(wanted, one, workers)
    line.notes.append(f"{outcomes['works']} started and answered, {outcomes['refused']} refused with exit code 78")
    if outcomes["folded"]:
        line.notes.append(f"{outcomes['folded']} refused after SQLite had folded its log into the damaged database")
    if outcomes["shorter"]:
        line.notes.append(f"{outcomes['shorter']} lost the newest of a damaged write-ahead log")
    return line


async def _furnish(template: World) -> None:
    """Talk until there is a file of every kind, and be killed: so the write-ahead log is there too."""
    credentials = template.home / "credentials"
    credentials.mkdir(mode=0o700)
    for name, secret in (("telegram_token", TOKEN), ("anthropic_api_key", KEY)):
        (credentials / name).write_text(secret)
        (credentials / name).chmod(0o600)
    await template.bot.start()
    (template.home / "memory" / "MEMORY.md").write_text("- Adrian sails on Sundays\n")
    template.model.script = [{"match": "m00001", "aside": "<working-memory>the boat needs paint</working-memory>"}]
    await template.say(_MESSAGES)
    assert await template.settles()
    assert await until(lambda: not _lacking(template), 20), f"the bot did not make {_lacking(template)}"
    await template.bot.kill()


def _lacking(world: World) -> list[str]:
    return [path for path in _paths(world).values() if not (world.home / path).exists()]


def _paths(world: World) -> dict[str, str]:
    """Where each kind of file stands in this home."""
    days = sorted((world.home / "memory").glob("2*.md"))
    names = {"day": days[0].name if days else "no day", "session": f"telegram-{world.chats[0]}"}
    return {name: path.format(**names) for name, path in FILES.items()}


async def _try(world: World, template: World, case: Case, line: Line, outcomes: Counter[str]) -> None:
    config = (world.home / "kenobot.toml").read_bytes()
    shutil.rmtree(world.home)
    await asyncio.to_thread(
        partial(shutil.copytree, ignore=shutil.ignore_patterns("*.sock")), template.home, world.home
    )
    (world.home / "kenobot.toml").write_bytes(config)
    paths = [world.home / _paths(template)[name] for name in case.files]
    for path in paths:
        case.harms(path, Random(f"{case} {path.name}"))
    world.bot.environ = {"TELEGRAM_BOT_TOKEN": "", "ANTHROPIC_API_KEY": ""}
    if case.damage == "unreadable":
        world.bot.environ[OBEY_MODES] = "1"
    before = [_seen(path) for path in paths]
    await world.bot.spawn()
    if await world.bot.comes_up():
        outcomes["works"] += 1
        await _serves(world, case, line)
        _nothing_forgotten(world, case, line, outcomes)
    else:
        outcomes["refused"] += 1
        code = await world.bot.ended()
        if code != 78 or not all(text.startswith("kenobot: ") for text in world.bot.log) or not world.bot.log:
            line.broken.append(f"{case}: exit code {code}: {world.bot.log[-1:]}")
        if [_seen(path) for path in paths] == before:
            pass
        elif case.files[0] in _SQLITE:
            outcomes["folded"] += 1
        else:
            line.broken.append(f"{case}: refused, but it was changed")
    if any(text.startswith("Traceback") for text in world.bot.log):
        line.broken.append(f"{case}: a traceback on stderr: {world.bot.log[-1:]}")
    for name, path, seen in zip(case.files, paths, before, strict=True):
        if seen is None or name in _REWRITTEN or _seen(path) == seen or _set_aside(world.home, seen):
            continue
        line.broken.append(f"{case}: {path.name} was written over")


async def _serves(world: World, case: Case, line: Line) -> None:
    """It is up: it answers, and stops in good order."""
    world.telegram.next_update = 1000  # the home has seen the first ones already
    await world.say(2)
    line.messages += 2
    if not await world.settles(_SECONDS, patient=False):
        line.lost += len(world.unanswered())
        line.broken.append(f"{case}: up, but no answer: {world.bot.log[-1:]}")
    if code := await world.bot.terminate():
        line.broken.append(f"{case}: exit code {code} after SIGTERM: {world.bot.log[-1:]}")


def _nothing_forgotten(world: World, case: Case, line: Line, outcomes: Counter[str]) -> None:
    """What was said before the damage is still there."""
    try:
        with contextlib.closing(sqlite3.connect(f"{(world.home / 'kenobot.db').as_uri()}?mode=ro", uri=True)) as opened:
            (found,) = opened.execute("SELECT count(*) FROM message WHERE role = 'user'").fetchone()
    except sqlite3.Error as error:
        line.broken.append(f"{case}: the database cannot be read afterwards: {error}")
        return
    if found >= _MESSAGES:
        return
    if case.files == ("write-ahead log",):
        outcomes["shorter"] += 1
    else:
        line.broken.append(f"{case}: only {found} messages are left, and it went on")


def _seen(path: Path) -> tuple[str, object] | None:
    """What is at `path`, down to its bytes; None when there is nothing."""
    with contextlib.suppress(FileNotFoundError):
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode):
            return "link", str(path.readlink())
        if stat.S_ISDIR(found.st_mode):
            return "directory", (path / "kept.txt").exists()
        return "file", path.read_bytes()
    return None


def _set_aside(home: Path, before: tuple[str, object]) -> bool:
    """Whether the damaged thing lies elsewhere in the home now."""
    return any(_seen(path) == before for path in home.rglob("*"))


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
