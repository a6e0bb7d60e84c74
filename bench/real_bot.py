"""The real `kenobot run` with its real clients, between an emulator of Telegram and a stand-in for Anthropic."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from bench.process_usage import cpu_seconds, is_at_work, resident_mb
from bench.quick.process import Checkout
from kenobot_evals.recall import datasets
from tests.integration.process import Bot, Running, execute
from tests.integration.providers.anthropic_standin import Entry, StandIn
from tests.integration.stand_in import Telegram

_TELL = "Por favor, apunta / please note: "
_ANSWER = "Claro, aquí va una respuesta de una frase; of course, an answer of usual length."
_WINDOW, _QUIET = 0.1, 0.0015  # seconds; CPU in them of a process that has nothing to do
_CALM = 11  # such windows in a row: work behind the scenes rests for a second at most
_LONGEST = 30.0
_COMES_UP = 120.0  # on a busy machine

Command = Callable[[str, str], list[str]]
"""Builds the command of another bot, from the addresses of Telegram and of the model."""


@dataclass(slots=True)
class Exchange:
    """One message and its answer. times: of the wall clock, by what happened.

    cpu_answered, cpu: seconds of CPU until the answer was sent, and until all was quiet.
    """

    times: dict[str, float] = field(default_factory=dict)  # bounded: what may happen; turn
    cpu_answered: float = 0.0
    cpu: float = 0.0

    @property
    def seconds(self) -> float:
        return self.times["sent"] - self.times["said"]


class _TimedTelegram(Telegram):
    sent_at = 0.0

    def __init__(self) -> None:
        super().__init__()
        self.polled = asyncio.Event()

    @web.middleware
    async def _watch(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        if request.path.casefold().endswith("/getupdates"):
            self.polled.set()
        if request.path.endswith("/sendMessage"):
            self.sent_at = time.time()
        return await super()._watch(request, handler)


class _TimedModel(StandIn):
    asked_at = answered_at = 0.0

    def _entry(self, said: str) -> Entry:
        self.requests.clear()
        self.headers.clear()
        _, told, fact = said.rpartition(_TELL)
        return {"reply": f"{_ANSWER} <memory>{fact}</memory>" if told else _ANSWER}

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        self.asked_at = time.time()
        response = await super()._messages(request)
        self.answered_at = time.time()
        return response


class Line:
    """A bot and the two servers around it. `say` something, and see what came of it."""

    def __init__(self, telegram: _TimedTelegram, model: _TimedModel, bot: Bot) -> None:
        self.bot = bot
        self.longest = _LONGEST  # seconds that quiet is waited for
        self._telegram = telegram
        self._model = model

    @property
    def pid(self) -> int:
        assert self.bot.process is not None
        return self.bot.process.pid

    async def say(self, text: str) -> Exchange:
        """Hand in an update; returns once it is answered and all that it set off is over."""
        count = len(self._telegram.sent)
        found, before = Exchange(), cpu_seconds(self.pid)
        found.times["said"] = time.time()
        await self._telegram.say(text)
        await self._telegram.until(lambda sent: len(sent) > count)
        found.cpu_answered = cpu_seconds(self.pid) - before
        found.times |= {
            "asked": self._model.asked_at,
            "answered": self._model.answered_at,
            "sent": self._telegram.sent_at,
        }
        await self.quiet()
        found.cpu = cpu_seconds(self.pid) - before
        return found

    async def quiet(self) -> None:
        """Return once the process uses next to no CPU for longer than it rests."""
        seen, until, calm = cpu_seconds(self.pid), time.monotonic() + self.longest, 0
        while calm < _CALM and time.monotonic() < until:
            await asyncio.sleep(_WINDOW)
            now = cpu_seconds(self.pid)
            calm = calm + 1 if now - seen < _QUIET and not is_at_work(self.pid) else 0
            seen = now

    async def come_up(self) -> float:
        """Wait until the bot asks for messages and all is quiet; return the seconds of CPU that its start has taken."""
        async with asyncio.timeout(_COMES_UP):
            await self._telegram.polled.wait()
        await self.quiet()
        return cpu_seconds(self.pid)

    async def start_anew(self) -> tuple[float, float]:
        """Stop the bot, leave it a message, and start it: seconds until it has answered, and CPU until all is quiet."""
        await self.bot.terminate()
        count = len(self._telegram.sent)
        await self._telegram.say("hola, ¿sigues ahí? are you there?")
        began = time.time()
        await self.bot.start()
        await self._telegram.until(lambda sent: len(sent) > count)
        answered = self._telegram.sent_at - began
        await self.quiet()
        return answered, cpu_seconds(self.pid)

    @property
    def resident(self) -> float:
        """Resident MB now."""
        return resident_mb(self.pid)


@contextlib.asynccontextmanager
async def open_line(
    folder: Path,
    embedder: str,
    other: Command | None = None,
    checkout: Checkout | None = None,
    *,
    sleeps: bool = True,
) -> AsyncIterator[Line]:
    """A home in `folder` with a bot that runs, or with another command in its place.

    checkout: another commit's bot. sleeps: a new home's first night begins after a minute.
    """
    async with _TimedTelegram() as telegram, _TimedModel() as model:

        async def start(command: list[str], environ: dict[str, str]) -> Running:
            if checkout is not None:
                environ = {**environ, "PYTHONPATH": checkout.environ["PYTHONPATH"]}
                pipe = asyncio.subprocess.PIPE
                return await asyncio.create_subprocess_exec(*command, stderr=pipe, env=environ, cwd=checkout.plugins)
            return await execute(command if other is None else other(telegram.base_url, model.url), environ)

        environ = {"KENOBOT_MEMORY__EMBEDDER": embedder, "KENOBOT_SLEEP__ENABLED": str(sleeps).lower()}
        bot = Bot(folder / "home", telegram, model.url, environ=environ, starter=start)
        bot.configure()
        await bot.start()
        try:
            yield Line(telegram, model, bot)
        finally:
            await bot.terminate()


def conversation(count: int) -> list[str]:
    """So many messages of the people of the notes that ship: one told, then one asked, in both languages in turn."""
    homes = [each for each in datasets.load("own") if each.name in ("es", "en")]
    found: list[str] = []
    for at in range(count):
        home, number = homes[at // 2 % len(homes)], at // 4
        passage, question = home.passages[number % len(home.passages)], home.questions[number % len(home.questions)]
        found.append(question.text if at % 2 else f"{_TELL}{passage.text}")
    return found
