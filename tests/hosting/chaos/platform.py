"""Telegram for many bots: those that poll ask the emulator, the others have updates posted to several ingresses."""

import asyncio
import itertools
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import aiohttp
from aiohttp import web
from lo_bot_api_emulator import LoBotApiEmulator

from tests.crash.world import tag_in
from tests.integration.stand_in import Telegram

FIRST_NAME = "Adrian"
"""Of everybody, as the stand-in has it."""

_POST_SECONDS = 10.0
_AGAIN_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Posted:
    """An update on its way to a webhook."""

    number: int
    body: dict[str, Any]


class Platform(Telegram):
    """The stand-in, for several tokens. hooks: what bots asked to have posted, by token, with the secret.

    ingresses: the ports that updates are posted to, one after another. arrivals: when each text reached each chat.
    answered: the tags of messages that have an answer.
    """

    def __init__(self) -> None:
        super().__init__()
        self.emulator = LoBotApiEmulator(enable_control=True, max_updates=100_000, max_history=100, max_bots=64)
        self.hooks: dict[str, str] = {}
        self.ingresses: Sequence[int] = ()
        self.posted_again = 0
        self.answered = set[str | None]()
        self.arrivals: dict[tuple[str, str], list[float]] = {}
        self._numbers = Counter[str]()
        self._lines: dict[str, asyncio.Queue[Posted]] = {}
        self._posters: list[asyncio.Task[None]] = []
        self._session: aiohttp.ClientSession | None = None
        self._turn = itertools.count()

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(_POST_SECONDS))
        return await super().__aenter__()

    async def __aexit__(self, *told: object) -> None:
        for poster in self._posters:
            poster.cancel()
        await asyncio.gather(*self._posters, return_exceptions=True)
        assert self._session is not None
        await self._session.close()
        await super().__aexit__(*told)

    async def tell(self, text: str, chat: str, token: str, *, posted: bool) -> None:
        """A person writes to a bot: its update is posted, or waits for a poll. Posts of a chat keep their order."""
        if not posted:
            self.token = token
            await self.say(text, chat, chat)
            return
        self._numbers[token] += 1
        number = self._numbers[token]
        self._number += 1
        message = {
            "message_id": self._number,
            "date": int(self.now()),
            "chat": {"id": int(chat), "type": "private"},
            "from": {"id": int(chat), "is_bot": False, "first_name": FIRST_NAME},
            "text": text,
        }
        line = self._lines.get(chat)
        if line is None:
            line = self._lines[chat] = asyncio.Queue()
            self._posters.append(asyncio.create_task(self._post_on(line, token)))
        line.put_nowait(Posted(number, {"update_id": number, "message": message}))

    async def _post_on(self, line: "asyncio.Queue[Posted]", token: str) -> None:
        """Post the updates of a chat, each until it is confirmed, as Telegram does."""
        assert self._session is not None
        account = token.partition(":")[0]
        while True:
            update = await line.get()
            while True:
                if self.ingresses and token in self.hooks:
                    port = self.ingresses[next(self._turn) % len(self.ingresses)]
                    address = f"http://127.0.0.1:{port}/hooks/telegram/{account}"
                    headers = {"X-Telegram-Bot-Api-Secret-Token": self.hooks[token]}
                    try:
                        async with self._session.post(address, json=update.body, headers=headers) as answer:
                            if answer.status == 200:
                                break
                    except (aiohttp.ClientError, TimeoutError, OSError):
                        pass
                self.posted_again += 1
                await asyncio.sleep(_AGAIN_SECONDS)

    @web.middleware
    async def _watch(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        if request.path.lower().endswith("/setwebhook"):
            fields = dict(await request.post()) or json.loads(await request.read() or b"{}")
            self.hooks[request.path.split("/")[1].removeprefix("bot")] = str(fields["secret_token"])
            return web.json_response({"ok": True, "result": True})
        response = await super()._watch(request, handler)
        if request.path.endswith("/sendMessage") and response.status == 200:
            sent = self.sent[-1]  # nothing was awaited since it was appended
            self.arrivals.setdefault((sent.chat, sent.text), []).append(time.time())
            self.answered.add(tag_in(sent.text))
        return response
