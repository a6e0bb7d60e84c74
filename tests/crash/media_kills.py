"""Random seeded `kill -9` while people send pictures, albums and files."""

import asyncio
import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing

from tests.crash.checker import check
from tests.crash.table import Line
from tests.crash.world import Lab, World

_CHATS = 4
_LONGEST_LIFE = 1.2  # seconds after `ready`
_FILE_SECONDS = 0.15  # so that most kills fall into a download, a reading, or the turn behind it
JPEG = b"\xff\xd8\xff\xe0"


async def play(lab: Lab, kills: int = 50, burst: int = 6) -> Line:
    """Send `burst` messages with attachments in each life, and kill the bot after a random moment, again and again."""
    line = Line("`kill -9` at seeded random moments while four chats send pictures, albums and files")
    async with lab.world("media kills", _CHATS) as world:
        world.telegram.faults.file_seconds = _FILE_SECONDS
        sent = dict[str, list[bytes]]()
        for life in range(kills):
            for _ in range(burst):
                tag, contents = await _send(world)
                sent[tag] = contents
            await world.bot.start()
            await asyncio.sleep(world.rng.uniform(0.0, _LONGEST_LIFE))
            await world.bot.kill()
            lab.progress(f"{life + 1} of {kills} kills with media in flight")
        await world.bot.start()
        if not await world.settles(300):
            line.broken.append(f"no answer to {sorted(world.unanswered())[:3]} … {''.join(world.bot.log[-5:])}")
        if code := await world.bot.terminate():
            line.broken.append(f"exit code {code} after SIGTERM")
        verdict = await asyncio.to_thread(check, world)
        line.times = kills
        line.add(verdict)
        line.broken += await asyncio.to_thread(lambda: list(_wrong(world, sent)))
        if verdict.repeated_parts > _CHATS * kills:
            line.broken.append(f"{verdict.repeated_parts} parts repeated by {kills} kills")
    line.notes.append("never more than one part a chat and kill")
    return line


async def _send(world: World) -> tuple[str, list[bytes]]:
    """Have somebody send a file, a picture or an album; returns its tag, and the bytes of each item."""
    number = len(world.tags)
    tag, where = f"m{number:05d}", world.rng.choice(world.chats)
    text = f"{tag} look"
    world.asked.setdefault(where, []).append(text)
    world.unanswered().add(tag)
    contents, items = attached(world, tag, number % 3)
    for item, fields in enumerate(items):
        caption = {"caption": text} if item == 0 else {}
        update = await world.telegram.say("", where, where, **fields, **caption)
        world.updates.setdefault(tag, update)
    return tag, contents


def attached(world: World, tag: str, kind: int) -> tuple[list[bytes], list[dict[str, object]]]:
    """Have Telegram hold a file (kind 0), a picture (1) or an album (2); returns the bytes of each item, and what
    Telegram tells of it.
    """
    if kind == 0:
        contents = [told_in_file(tag).encode()]
    else:
        contents = [JPEG + f"{tag} {item}".encode() for item in range(1 if kind == 1 else 3)]
    items = list[dict[str, object]]()
    for item, content in enumerate(contents):
        name = f"{tag}-{item}"
        world.telegram.files[name] = content
        album = {"media_group_id": f"album {tag}"} if kind == 2 else {}
        file: dict[str, object] = {"photo": [{"file_id": name, "file_size": len(content)}]}
        items.append({**(file if kind else {"document": {"file_id": name, "file_name": "notes.txt"}}), **album})
    return contents, items


def told_in_file(tag: str) -> str:
    """What stands in the file of a message."""
    return f"This stands in the file of {tag}"


def _wrong(world: World, sent: dict[str, list[bytes]]) -> Iterator[str]:
    """Compare what the conversation and the media folder hold with what was sent."""
    with closing(sqlite3.connect(world.home / "kenobot.db")) as connection:
        rows = connection.execute("SELECT text, pictures FROM message WHERE role = 'user'").fetchall()
        states = connection.execute("SELECT DISTINCT state FROM attachment").fetchall()
    told = {text.split()[0]: (text, pictures.split()[::2]) for text, pictures in rows}
    if states != [("done",)]:
        yield f"attachments are {states}"
    for tag, contents in sent.items():
        text, pictures = told.get(tag, ("", []))
        if contents[0].startswith(JPEG):
            if pictures != [hashlib.sha256(content).hexdigest() for content in contents]:
                yield f"{tag} has {len(pictures)} pictures of {len(contents)}"
        elif f"> {contents[0].decode()}" not in text:
            yield f"{tag} does not tell what stands in its file"
    yield from wrong_files(world)


def wrong_files(world: World) -> Iterator[str]:
    """Compare what each file of the media folder holds with its name, and look for every picture that is told of."""
    with closing(sqlite3.connect(world.home / "kenobot.db")) as connection:
        shown = connection.execute("SELECT pictures FROM message WHERE pictures != ''").fetchall()
    for digest in {each for (pictures,) in shown for each in pictures.split()[::2]}:
        if not (world.home / "media" / digest).exists():
            yield f"there is no file {digest}"
    for file in (world.home / "media").glob("[0-9a-f]*"):
        if hashlib.sha256(file.read_bytes()).hexdigest() != file.name:
            yield f"{file.name} holds something else"
