"""Random seeded `kill -9` while chats talk."""

import asyncio

from tests.crash.checker import check
from tests.crash.table import Line
from tests.crash.tools import side_by_side
from tests.crash.world import Lab, World, until
from tests.integration.process import execute

_CHATS = 7
_LONGEST_LIFE = 0.9  # seconds after `ready`
_LONG = 8  # one life in so many may last
_LONGEST_LONG_LIFE = 5.0
_LONGEST_CAUTION = 20  # seconds that a message under suspicion may have to wait for its turn
_GIVES_UP = 12  # kills, after which the deadly message should long be in the dead-letter box
_EARLY = 10  # one life in so many ends before it is ready
_FRESH = 20  # one life in so many is a new interpreter, not a fork of the nursery's


async def play(lab: Lab, kills: int = 200, messages: int = 10_000, worlds: int = 2) -> Line:
    """Talk in bursts in `worlds` homes at a time, and kill each bot after a random moment, again and again."""
    line = Line("`kill -9` at seeded random moments while seven chats talk in each home")
    done = 0

    async def one(number: int) -> None:
        nonlocal done
        deaths = kills // worlds + (number < kills % worlds)
        burst, rest = divmod(messages // worlds + (number < messages % worlds), max(1, deaths))
        async with lab.world(f"kills {number}", _CHATS) as world:
            for life in range(deaths):
                await world.say(burst + (life < rest))
                await live_and_die(world, life)
                done += 1
                lab.progress(f"{done} of {kills} kills")
            await _end(world, line, deaths)

    await side_by_side(range(worlds), one, worlds)
    line.times = done
    line.notes.append("never more than one part a chat and kill")
    return line


async def live_and_die(world: World, life: int) -> None:
    """Start, live for a random moment, be killed."""
    world.bot.starter, usual = (execute if life % _FRESH == 7 else world.bot.starter), world.bot.starter
    if life % _EARLY == 3:
        await world.bot.spawn()
        await asyncio.sleep(world.rng.uniform(0.0, 0.25))
    else:
        await world.bot.start()
        await asyncio.sleep(world.rng.uniform(0.0, _LONGEST_LONG_LIFE if life % _LONG == 5 else _LONGEST_LIFE))
    await world.bot.kill()
    world.bot.starter = usual


async def _end(world: World, line: Line, deaths: int) -> None:
    """Let it answer what is left, stop it in good order, and look at what came of it all."""
    await world.bot.start()
    if not await world.settles(300):
        line.broken.append(f"no answer to {sorted(world.unanswered())[:3]} … {''.join(world.bot.log[-5:])}")
    if code := await world.bot.terminate():
        line.broken.append(f"exit code {code} after SIGTERM")
    verdict = await asyncio.to_thread(check, world)
    line.add(verdict)
    if verdict.repeated_parts > _CHATS * deaths:
        line.broken.append(f"{verdict.repeated_parts} parts repeated by {deaths} kills")


async def a_deadly_message(lab: Lab) -> Line:
    """Kill the bot whenever it asks the model about one certain message: that one is given up, and no other."""
    line = Line("a message that kills the process each time it is tried, while four chats talk")
    async with lab.world("deadly", 4) as world:
        poison = world.rng.choice(await world.say(8))
        world.model.script = [{"match": poison, "delay": 60}]
        await world.bot.start()
        while line.times < _GIVES_UP:
            if not await until(lambda: world.model.calls[poison] > line.times, _LONGEST_CAUTION):
                break
            await world.bot.kill()
            line.times += 1
            await world.say(4)
            await world.bot.start()
        settled = await until(lambda: world.unanswered() <= {poison}, 60)
        code = await world.bot.terminate()
        verdict = await asyncio.to_thread(check, world, True)
    line.add(verdict)
    if not settled or code:
        line.broken.append(f"exit code {code}, no answer to {sorted(world.unanswered())}")
    if verdict.told != [poison]:
        line.broken.append(f"given up: {verdict.told}, deadly: {poison}")
    line.notes.append(f"given up and told after {line.times} kills")
    return line
