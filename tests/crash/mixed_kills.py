"""Random seeded `kill -9` while people do all at once: write, speak, send pictures and files, edit, react and press."""

import asyncio
import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

from tests.crash import edit_kills, media_kills, press_kills
from tests.crash.edit_kills import FORM, NOTE, People, Said
from tests.crash.table import Line
from tests.crash.world import Lab, World, fact_of, tag_in, until
from tests.integration.providers.transcription_standin import SPOKEN, TranscriptionStandIn

_CHATS = 4
_LONGEST_LIFE = 10.0  # seconds after `ready`, where answers are slow to come
_AFTER_PRESSES = 0.3  # seconds
_FILE_SECONDS = 0.1
_LISTEN_SECONDS = 0.15
_SETTINGS = """
[transcriber]
name = "openai"
[transcribers.openai]
base_url = "{url}"
"""


@dataclass
class _Crowd(People):
    """What people said, with what each message shows, and which facts they had remembered and undone by a button."""

    shown: dict[str, list[bytes]] = field(default_factory=dict)
    facts: set[str] = field(default_factory=set)
    pressed: dict[str, press_kills.Message] = field(default_factory=dict)

    async def act(self) -> None:
        """Have somebody write, speak, send a picture, an album or a file, edit, react, or have a fact remembered."""
        rng, telegram = self.world.rng, self.world.telegram
        deed = rng.choice(("words", "words", "words", "words", "voice", "media", "remember"))
        if deed == "words":
            await super().act()
            return
        chat = rng.choice(self.world.chats)
        if deed == "remember":
            tag = f"m0{9000 + len(self.facts)}"
            self.facts.add(tag)
            await telegram.say(press_kills.remember(tag), chat, chat)
            return
        tag = f"m{len(self.everything):05d}"
        if deed == "voice":
            telegram.files[tag] = SPOKEN + f"{tag} v0 spoken".encode()
            voice = {"voice": {"file_id": tag, "duration": 3, "mime_type": "audio/ogg"}}
            await self.write(Said(tag, media=voice, is_spoken=True), chat)
            return
        self.shown[tag], (first, *others) = media_kills.attached(self.world, tag, rng.randrange(3))
        await self.write(Said(tag, media=first), chat)
        for item in others:
            await telegram.say("", chat, chat, **item)


async def play(lab: Lab, kills: int = 50, burst: int = 8) -> Line:
    """Have people do `burst` things in each life, and press buttons, and kill the bot after a random moment."""
    line = Line("`kill -9` at seeded random moments while four chats write, speak, send media, edit, react and press")
    async with TranscriptionStandIn() as listener:
        listener.pause = _LISTEN_SECONDS
        async with lab.world("mixed kills", _CHATS, extra=_SETTINGS.format(url=listener.url)) as world:
            world.telegram.faults.file_seconds = _FILE_SECONDS
            world.bot.fragment_seconds = edit_kills.FRAGMENT_SECONDS
            world.bot.configure(owners=world.chats)
            crowd = _Crowd(world)
            for life in range(kills):
                for _ in range(burst):
                    await crowd.act()
                await world.bot.start()
                # So long that work gets done also on a slow machine: else all would be left to the last life.
                answers = len(world.telegram.sent) + world.rng.randrange(burst)
                await until(partial(_has_sent, world, answers), _LONGEST_LIFE)
                await press_kills.press_some(world, crowd.pressed)
                await asyncio.sleep(world.rng.uniform(0.0, _AFTER_PRESSES))
                await world.bot.kill()
                lab.progress(f"{life + 1} of {kills} kills with all in flight")
            await world.bot.start()
            await press_kills.press_some(world, crowd.pressed)
            settled = await until(lambda: press_kills.is_settled(world, crowd.facts, crowd.pressed), 300)
            if not settled or not await edit_kills.is_quiet(world):
                line.broken.append(f"not all was worked off: {''.join(world.bot.log[-5:])}")
            if code := await world.bot.terminate():
                line.broken.append(f"exit code {code} after SIGTERM")
            line.times, line.messages = kills, len(crowd.everything)
            line.broken += await asyncio.to_thread(lambda: list(_wrong(crowd, kills)))
            spoken = sum(each.is_spoken for each in crowd.everything)
    line.notes.append(
        f"{spoken} voices, {len(crowd.shown)} with pictures or files, {sum(each.edits for each in crowd.everything)} "
        f"edits, {len(crowd.facts)} facts, {len(crowd.pressed)} of them undone by a press"
    )
    return line


def _has_sent(world: World, count: int) -> bool:
    return len(world.telegram.sent) >= count


def _wrong(crowd: _Crowd, kills: int) -> Iterator[str]:
    """Compare all that people said, showed and pressed with the conversation, the memory and Telegram."""
    yield from edit_kills.wrong(crowd, kills)
    yield from press_kills.wrong(crowd.world, crowd.facts, set(crowd.pressed))
    yield from media_kills.wrong_files(crowd.world)
    with closing(sqlite3.connect(crowd.world.home / "kenobot.db")) as connection:
        told = connection.execute("SELECT text, pictures FROM message WHERE role = 'user'").fetchall()
        active = connection.execute("SELECT text FROM record WHERE status = 'active' AND text LIKE 'Fact m%'")
        learned = Counter(text for (text,) in active)
    rows = [(text, pictures) for text, pictures in told if not text.startswith(NOTE)]
    for text, pictures in rows:
        tags = [form.split()[0] for form in FORM.findall(text)]
        shown = [content for tag in tags for content in crowd.shown.get(tag, ())]
        seen = [hashlib.sha256(each).hexdigest() for each in shown if each.startswith(media_kills.JPEG)]
        if pictures.split()[::2] != seen:
            yield f"{tags} has {len(pictures.split()) // 2} pictures of {len(seen)}"
        for content in shown:
            if not content.startswith(media_kills.JPEG) and text.count(f"> {content.decode()}") != 1:
                yield f"{tags} does not tell once what stands in its file"
    final = {message.form for message in crowd.everything}
    taught = {fact_of(tag_in(text) or "") for text, _ in rows if final.issuperset(FORM.findall(text))} - {None}
    if wrong := {fact for fact in taught | learned.keys() if learned[fact or ""] != (fact in taught)}:
        yield f"of {len(taught)} facts {len(wrong)} are remembered wrongly: {sorted(map(str, wrong))[:3]}"
    repeated = sum(times - 1 for times in Counter(each.text for each in crowd.world.telegram.sent).values())
    if repeated > _CHATS * kills:
        yield f"{repeated} parts repeated by {kills} kills"
