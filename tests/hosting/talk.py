"""People who talk to the bots of a cell, one message after another, while a test does something to it."""

import asyncio
from collections.abc import Callable
from random import Random

from tests.crash.world import tag_in
from tests.hosting.chaos.stage import Stage

_SECONDS = 120.0


class Talk:
    """People who talk to the bots of a stage, one after another, for as long as they are not told to stop."""

    def __init__(self, stage: Stage) -> None:
        self._stage, self._rng, self._count = stage, Random(7), 0
        self._places = [(bot, chat) for bot in stage.cell.bots for chats in bot.chats.values() for chat in chats]

    async def say(self, times: int) -> None:
        """Say some things, a moment apart."""
        for _ in range(times):
            bot, chat = self._places[self._count % len(self._places)]
            text = f"m{self._count:05d} {self._rng.choice(('peras', 'apples'))}"
            self._count += 1
            self._stage.asked.setdefault(chat, []).append(text)
            await self._stage.platform.tell(text, chat, bot.token, posted=bot.is_posted)
            await asyncio.sleep(0.1)

    def find_open(self) -> set[str]:
        """The chats in which a message has no answer yet."""
        answered = {tag_in(item.text) for item in self._stage.platform.sent}
        return {
            chat for chat, texts in self._stage.asked.items() if any(tag_in(text) not in answered for text in texts)
        }


async def wait_until(found: Callable[[], bool], what: str, stage: Stage) -> None:
    """Wait until something is so."""
    try:
        async with asyncio.timeout(_SECONDS):
            while not await asyncio.to_thread(found):
                await asyncio.sleep(0.1)
    except TimeoutError:
        tails = {each.name: "".join(each.log[-15:]) for each in stage.cell.processes}
        raise AssertionError(f"never came: {what}\n" + "\n".join(map(str, tails.items()))) from None
