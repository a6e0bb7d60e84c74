"""A fresh machine whose person has a bot on Telegram and a key of a model: their terminal, and what it reaches."""

import os
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from kenobot.core.settings.home import Home
from kenobot.providers.openai_compatible import PRESETS
from tests.integration.providers.anthropic_standin import StandIn
from tests.integration.stand_in import KEY, OWNER, Telegram
from tests.tour.screen import Screen
from tests.tour.terminal import Terminal

ROOT = Path(__file__).resolve().parents[3]
BOT = "LaurasKeno_bot"
_CODE = re.compile(r"\b[A-Z0-9]{4}-[A-Z0-9]{4}\b")
_OWN = ("KENOBOT_", "TELEGRAM_", "ANTHROPIC_", "CREDENTIALS_", "LC_", "LANG", "TZ")


class OneBot(Telegram):
    """The emulator with a single bot, which has a name: it refuses every other token.

    refusals: by method, the status and the words with which it is refused as long as it is in there.
    """

    def __init__(self) -> None:
        super().__init__()
        self.refusals: dict[str, tuple[int, str]] = {}

    @web.middleware
    async def _watch(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        method = request.path.rpartition("/")[2]
        status, words = self.refusals.get(method.rstrip("_"), (0, ""))
        if f"/bot{self.token}/" not in request.path and request.path.startswith("/bot"):
            status, words = 401, "Unauthorized"
        if status:
            return web.json_response({"ok": False, "error_code": status, "description": words}, status=status)
        if method == "getMe":
            me = {"id": 7, "is_bot": True, "first_name": "Keno", "username": BOT}
            return web.json_response({"ok": True, "result": me})
        return await super()._watch(request, handler)

    async def laura(self, text: str, user: str = OWNER) -> int:
        """Somebody writes to the bot: Laura, unless it is another user."""
        sender = {"id": int(user), "is_bot": False, "first_name": "Laura" if user == OWNER else "Mallory"}
        return await self.say(text, user, user, **{"from": sender})


@dataclass
class Machine:
    """A person's folder, and what their machine reaches."""

    folder: Path
    telegram: OneBot
    model: StandIn
    environ: Mapping[str, str]

    @property
    def home(self) -> Home:
        return Home(self.folder / ".kenobot")

    @asynccontextmanager
    async def terminal(self, *words: str) -> AsyncIterator["Typist"]:
        """Start a command of `kenobot` in a terminal."""
        command = [sys.executable, "-m", "tests.tour.product", "2026-03-02T08:00:00+00:00", *words]
        terminal = await Terminal.start(command, self.environ, str(ROOT))
        try:
            yield Typist(terminal)
        finally:
            await terminal.close()


@dataclass
class Typist:
    """A person at a terminal, who answers what they are asked."""

    terminal: Terminal

    @property
    def screen(self) -> str:
        return "\n".join(self.terminal.screen.lines)

    async def answers(self, *dialogue: tuple[str, str]) -> None:
        """Type an answer to each question, which must hold the words given."""
        for words, answer in dialogue:
            await self.terminal.asks()
            assert words in "\n".join(self.terminal.screen.lines[-3:]), f"{words}\n---\n{self.screen}"
            self.terminal.type(answer)

    async def sees_code(self, known: Sequence[str] = ()) -> str:
        """Return the code that is shown, once it is."""

        def codes(screen: Screen) -> list[str]:
            return [code for code in _CODE.findall("\n".join(screen.lines)) if code not in known]

        await self.terminal.sees(lambda screen: bool(codes(screen)))
        return codes(self.terminal.screen)[-1]

    async def ends(self, code: int) -> None:
        assert await self.terminal.ends() == code, self.screen


@asynccontextmanager
async def machine(
    folder: Path, locale: str = "en_GB.UTF-8", replies: Sequence[dict[str, Any]] = ({"reply": "yes"},) * 20
) -> AsyncIterator[Machine]:
    """A fresh machine. replies: what its model answers."""
    async with OneBot() as telegram, StandIn([*replies], key=KEY) as model:
        environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith(_OWN)},
            "HOME": str(folder),
            "TZ": "Europe/Madrid",
            "TERM": "xterm-256color",
            "LC_ALL": locale,
            "KENOBOT_MEMORY__EMBEDDER": "none",
            "KENOBOT_CHANNELS__TELEGRAM__BASE_URL": telegram.base_url,
            "KENOBOT_CHANNELS__TELEGRAM__FRAGMENT_SECONDS": "0",
            "KENOBOT_PROVIDERS__ANTHROPIC__BASE_URL": model.url,
            **{f"KENOBOT_PROVIDERS__{name.upper()}__BASE_URL": "https://elsewhere.invalid/v1" for name in PRESETS},
        }
        yield Machine(folder, telegram, model, environ)
