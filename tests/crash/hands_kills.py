"""`kill -9` between what a shipped tool did and its result: nothing is done twice, and what nobody knows is told."""

import asyncio
import signal
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.crash import effects, tool_kills
from tests.crash.checker import check
from tests.crash.effects import Effect, Site
from tests.crash.table import Line
from tests.crash.world import Lab, World, until

_MOST = 9  # tools, each of which is called in a chat of its own
_STOPPED = "It may have happened."
_LONGEST = 20.0  # seconds until a call has its effect
_AFTER = (0.0, 0.0, 0.02)  # seconds between the effect and the kill


async def play(lab: Lab, rounds: int = 2, only: Sequence[str] = ()) -> Line:
    """Have each tool called once in a life that ends as soon as what it does can be seen, and then the bot go on."""
    line = Line("`kill -9` between what each shipped tool did and its result")
    with tempfile.TemporaryDirectory(dir=lab.folder) as folder, Site() as site:
        work, notes = Path(folder) / "work", Path(folder) / "notes.txt"
        work.mkdir()
        settings = effects.write_settings(site, work, notes if not only or "mcp" in only else None)
        async with lab.world("hands", rounds * _MOST, extra=settings) as world:
            tool_kills.install(world.home / "plugins" / "posting")
            known = _list_effects(site, work, notes, world.home)
            chosen = {name: effect for name, effect in known.items() if not only or name in only}
            tried, late = await _kill_all(world, lab, chosen, rounds)
            line.broken += late
            if not await world.settles(60):
                line.broken.append(f"no answer to {sorted(world.unanswered())} … {''.join(world.bot.log[-5:])}")
            if code := await world.bot.terminate():
                line.broken.append(f"exit code {code} after SIGTERM")
            line.times = len(tried)
            line.add(await asyncio.to_thread(check, world))
            line.broken += await asyncio.to_thread(_judge, world, tried)
            line.notes.append(f"{len(world.model.told_unknown)} of {len(tried)} calls broken off and told as such")
    return line


def _list_effects(site: Site, work: Path, notes: Path, home: Path) -> Mapping[str, Effect]:
    """The tools by name, without those that this machine can confine nothing for."""
    found: dict[str, Effect] = {
        "web_fetch": effects.Fetch(site),
        "http_request": effects.Post(site),
        "write_file": effects.Write(work),
        "edit_file": effects.Edit(work),
        "mcp": effects.Note(notes),
        "remind": effects.Remind(home),
        "memory_forget": effects.Forget(home),
    }
    if not effects.no_sandbox():
        found |= {"shell": effects.Run(work), "git": effects.Commit(work)}
    return found


async def _kill_all(
    world: World, lab: Lab, chosen: Mapping[str, Effect], rounds: int
) -> tuple[dict[str, Effect], list[str]]:
    """Call each tool in a chat of its own, and kill the bot once that shows.

    Returns the tools by the tags, and what did not show in time.
    """
    world.model.calls_tools = True
    tried, late = dict[str, Effect](), list[str]()
    world.model.call_of = lambda tag: tried[tag].call(tag)
    has_server = any(isinstance(effect, effects.Note) for effect in chosen.values())
    if has_server:
        await effects.trust_notes(world.home)
    await world.bot.start()
    if has_server and not await until((world.home / "cache" / "mcp" / "notes.json").exists, _LONGEST):
        late.append(f"the tools of the MCP server are not known after {_LONGEST:.0f} s")
    chats = iter(world.chats)
    for number in range(rounds):
        for name, effect in chosen.items():
            chat, tag = next(chats), f"m{len(tried):05d}"
            tried[tag] = effect
            if isinstance(effect, effects.Forget):
                await _remember(world, effect.remembered(tag), chat)
            await world.say_this("do it", chat)
            if not await asyncio.to_thread(_kill_once_done, world, effect, tag, world.rng.choice(_AFTER)):
                late.append(f"{name} did not do {tag} within {_LONGEST:.0f} s … {''.join(world.bot.log[-3:])}")
            await world.bot.kill()
            lab.progress(f"{name}, round {number + 1} of {rounds}")
            await world.bot.start()
    return tried, late


def _kill_once_done(world: World, effect: Effect, tag: str, after: float) -> bool:
    """Kill the bot as soon as the effect shows, or anyway in the end; its result is stored milliseconds later.

    Returns whether it showed.
    """
    deadline = time.monotonic() + _LONGEST
    while not (shows := bool(effect.count(tag))) and time.monotonic() < deadline:
        time.sleep(0.0005)
    time.sleep(after)
    world.bot.signal(signal.SIGKILL)
    return shows


async def _remember(world: World, what: str, chat: str) -> None:
    """Have something remembered."""
    before = len(world.telegram.sent)
    await world.telegram.say(f"/remember {what}", chat, chat)
    await until(lambda: len(world.telegram.sent) > before, _LONGEST)


def _judge(world: World, tried: Mapping[str, Effect]) -> list[str]:
    """Compare what happened with what was asked for."""
    wrong, told = list[str](), [item.text for item in world.telegram.sent]
    for tag, effect in tried.items():
        name, times = effect.call(tag)[0], effect.count(tag)
        if times > 1 and effect.once:
            wrong.append(f"{name} did {tag} {times} times")
        if not times and tag not in world.model.told_unknown:
            wrong.append(f"{name} did nothing about {tag}")
        if tag in world.model.told_unknown and not any(tag in text and _STOPPED in text for text in told):
            wrong.append(f"nobody was told that {name} may have done {tag}")
    return wrong
