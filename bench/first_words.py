"""`python -m bench.first_words`: from a model's first word to the first words of its reply that a Telegram chat sees.

The real `kenobot run` with its real clients, between an emulator of Telegram and a stand-in for Anthropic's API that
says a reply word by word, at paces from a fast model's to that of one on a small machine. In private chats the first
words are a draft, in groups a message that is edited from then on. Each request to Telegram takes as long as one takes
over the internet.
"""

import asyncio
import itertools
import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from bench import report
from bench.report import Report
from kenobot.cli.options import parse_up_to, show_progress
from kenobot.ports.json_value import Json
from tests.integration.process import Bot
from tests.integration.providers.anthropic_standin import Entry, StandIn, drip, last_words
from tests.integration.stand_in import Telegram

_AIM_SECONDS = 1.2
_TELEGRAM_SECONDS = 0.1  # that a request takes over the internet, there and back
_REPLY = "This is what I know of it, said in a few words: the answer has a beginning, a middle and an end."
_SHOWING = ("/sendMessage", "/sendMessageDraft", "/editMessageText")
_QUESTION = re.compile(r"question \d+ of \d+")


@dataclass(frozen=True, slots=True)
class Scene:
    """Chats that ask at the same time. Seconds: pause: between two words of their replies. reply: that one takes."""

    name: str
    chats: tuple[str, ...]
    pause: float
    reply: float = 3.0


SCENES = (
    Scene("private chat, a fast model", ("1",), 0.01),
    Scene("private chat, a usual model", ("1",), 0.05),
    Scene("private chat, a slow model", ("1",), 0.3),
    Scene("five private chats at once", ("1", "2", "3", "4", "5"), 0.05),
    Scene("group, a fast model", ("-1001",), 0.01),
    Scene("group, a usual model", ("-1001",), 0.05),
    Scene("group, a slow model", ("-1001",), 0.3),
)


class SlowModel(StandIn):
    """Says a reply a word at a time. said_at: when the first word of each was, by its question."""

    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self.said_at: dict[str, float] = {}
        self._scene = scene

    async def answer(self, request: web.Request, entry: Entry, body: Entry) -> web.StreamResponse:
        found = _QUESTION.search(last_words(body))
        question = found.group() if found else ""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for event in _BEGIN:
            await _write(response, event)
        self.said_at[question] = time.perf_counter()
        ends = time.perf_counter() + self._scene.reply
        for word in itertools.cycle(_REPLY.split()):
            is_last = time.perf_counter() > ends
            delta = {"type": "text_delta", "text": f"That was {question}" if is_last else f"{word} "}
            await _write(response, {"type": "content_block_delta", "index": 0, "delta": delta})
            if is_last:
                break
            await asyncio.sleep(self._scene.pause)
        for event in _END:
            await _write(response, event)
        await response.write_eof()
        return response


_USAGE = {"input_tokens": 1, "output_tokens": 1}
_MESSAGE = {"id": "msg", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": _USAGE}
_BEGIN: tuple[Entry, ...] = (
    {"type": "message_start", "message": {**_MESSAGE, "stop_reason": None, "stop_sequence": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
)
_END: tuple[Entry, ...] = (
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": _USAGE},
    {"type": "message_stop"},
)


async def _write(response: web.StreamResponse, event: Entry) -> None:
    await drip(response, {}, f"event: {event['type']}\ndata: {json.dumps(event)}\n\n")


class DistantTelegram(Telegram):
    """As far away as Telegram is. shown_at: when the first words of the latest reply reached it, by chat."""

    def __init__(self) -> None:
        super().__init__()
        self.shown_at: dict[str, float] = {}

    @web.middleware
    async def _watch(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        if not request.path.endswith(_SHOWING):
            return await super()._watch(request, handler)
        await asyncio.sleep(_TELEGRAM_SECONDS / 2)
        response = await super()._watch(request, handler)
        if response.status == 200:
            self.shown_at.setdefault(str((await request.post())["chat_id"]), time.perf_counter())
        await asyncio.sleep(_TELEGRAM_SECONDS / 2)
        return response

    async def ask(self, question: str, chat: str) -> None:
        """Ask in a chat, where it is a group by a reply to the bot; returns once the answer stands there."""
        self.shown_at.pop(chat, None)
        extra: dict[str, Any] = {}
        if chat.startswith("-"):
            bot = {"id": 7, "is_bot": True, "first_name": "KenoBot"}  # as the emulator calls it
            group = {"id": int(chat), "type": "supergroup"}
            extra["reply_to_message"] = {"message_id": 900, "date": 1, "chat": group, "from": bot, "text": "Hello"}
        await self.say(question, chat, chat.removeprefix("-"), **extra)
        await self.until(lambda _: any(text.endswith(question) for text in self.stands.values()))


async def delays(folder: Path, scene: Scene, replies: int) -> list[float]:
    """Return the seconds to the first words of each reply; the first ones, which load what a turn needs, are left out.

    replies: how often each chat asks.
    """
    found: list[float] = []
    async with SlowModel(scene) as model, DistantTelegram() as telegram:
        bot = Bot(folder, telegram, model.url)
        bot.configure(owners=tuple(chat.removeprefix("-") for chat in scene.chats))
        await bot.start()
        try:
            for number in range(replies + 1):
                asked = {chat: f"question {number} of {chat.removeprefix('-')}" for chat in scene.chats}
                await asyncio.gather(*(telegram.ask(question, chat) for chat, question in asked.items()))
                if number:
                    found += [telegram.shown_at[chat] - model.said_at[question] for chat, question in asked.items()]
        finally:
            await bot.terminate()
    return found


async def _measure(replies: int) -> Report:
    rows, records, failures = [], list[dict[str, Json]](), []
    for scene in SCENES:
        show_progress(scene.name)
        with tempfile.TemporaryDirectory(prefix="kenobot-bench-") as folder:
            found = await delays(Path(folder) / "home", scene, replies)
        median, longest = statistics.median(found), max(found)
        rows.append((scene.name, f"{median:.2f}", f"{longest:.2f}"))
        records.append({"scene": scene.name, "replies": len(found), "median": median, "longest": longest})
        if longest > _AIM_SECONDS:
            failures.append(f"{scene.name}: {longest:.2f} s until the first words, {_AIM_SECONDS} at most are aimed at")
    show_progress()
    return Report(("seconds", "median", "longest"), rows, failures, records, names_first=True)


def main(argv: Sequence[str] | None = None) -> int:
    parser = report.make_parser("first_words", str(__doc__), plot=False)
    parser.add_argument("--replies", type=parse_up_to(1000), default=10, metavar="N", help="to each chat (10)")
    return report.run(parser, argv, lambda given: (asyncio.run(_measure(given.replies)), None))


if __name__ == "__main__":
    sys.exit(main())
