"""A Telegram on loopback that keeps Telegram's own rules, and breaks them when it is told to.

The rules: an update comes again until a later one is asked for, at most a hundred come at once, a poll waits, and a
message counts as sent when `sendMessage` was answered. It looks at what it is sent as Telegram does: no message is
blank or longer than 4096 UTF-16 units, and no formatting reaches beyond its text.
"""

import asyncio
import json
import unicodedata
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Self

from aiohttp import web

from kenobot.channels.telegram.updates import update_id

TOKEN = "123456789:" + "canary-" * 5
MOST_UNITS = 4096
_BATCH = 100
_BLANK = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
_ME = {"id": 7, "is_bot": True, "first_name": "Keno", "username": "KenoBot"}
_DEADLINE = 60  # seconds; far more than it takes, however busy the machine is

Answer = Callable[[], Awaitable[web.Response]]
Fault = Callable[[web.Request, Answer], Awaitable[web.StreamResponse]]
"""What happens to one request instead of its answer; the second argument does what was asked and gives the answer."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that Telegram took."""

    chat: str
    text: str


class TelegramServer:
    """Use as `async with TelegramServer() as telegram`. `sent` is what it took, `refused` what broke its rules.

    faults: for each method, in lower case, what happens to the next requests.
    """

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self.refused: list[str] = []
        self.calls: Counter[str] = Counter()
        self.offsets: list[int | None] = []
        self.faults: defaultdict[str, deque[Fault]] = defaultdict(deque)
        self.base_url = ""
        self._mail: list[object] = []
        self._changed = asyncio.Condition()
        self._waiting_polls = 0
        app = web.Application(client_max_size=16 * 1024 * 1024)
        app.router.add_post("/bot{token}/{method}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/bot"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def deliver(self, *updates: object) -> None:
        """Have these updates fetched; returns when all have been confirmed and the bot asks for more.

        What has no number cannot be confirmed: it is gone once it was fetched.
        """
        async with asyncio.timeout(_DEADLINE), self._changed:
            self._mail.extend(updates)
            self._changed.notify_all()
            await self._changed.wait_for(lambda: not self._mail and self._waiting_polls > 0)

    def to(self, chat: str) -> list[str]:
        """What was sent to `chat`, in order."""
        return [item.text for item in self.sent if item.chat == chat]

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        assert request.match_info["token"] == TOKEN
        method = request.match_info["method"].lower().rstrip("_")
        fields = {name: str(value) for name, value in (await request.post()).items()}
        self.calls[method] += 1
        if self.faults[method]:
            return await self.faults[method].popleft()(request, lambda: self._answer(method, fields))
        return await self._answer(method, fields)

    async def _answer(self, method: str, fields: dict[str, str]) -> web.Response:
        match method:
            case "getupdates":
                return told(await self._updates(fields))
            case "getme":
                return told(_ME)
            case "sendmessage":
                return self._take(fields)
            case _:
                return told(True)

    async def _updates(self, fields: dict[str, str]) -> list[object]:
        offset = int(fields["offset"]) if "offset" in fields else None
        self.offsets.append(offset)
        async with self._changed:
            if offset is not None:
                self._mail = [raw for raw in self._mail if (number := update_id(raw)) is None or number >= offset]
            idle = not self._mail
            self._waiting_polls += idle
            self._changed.notify_all()
            try:
                async with asyncio.timeout(float(fields["timeout"])):
                    await self._changed.wait_for(lambda: bool(self._mail))
            except TimeoutError:
                return []
            finally:
                self._waiting_polls -= idle
            batch = self._mail[:_BATCH]
            self._mail = [raw for raw in self._mail if update_id(raw) is not None or raw not in batch]
            return batch

    def _take(self, fields: dict[str, str]) -> web.Response:
        complaint = _complaint(fields["text"], json.loads(fields.get("entities", "[]")))
        if complaint:
            self.refused.append(f"{complaint}: {fields['text'][:40]!r}")
            return failed(400, f"Bad Request: {complaint}")
        self.sent.append(Sent(fields["chat_id"], fields["text"]))
        return told({"message_id": len(self.sent), "date": 1, "chat": {"id": 1, "type": "private"}})


def told(result: object) -> web.Response:
    """An answer as Telegram gives it. ASCII, so that lone surrogates travel as the escapes that people can send."""
    body = json.dumps({"ok": True, "result": result})
    return web.Response(body=body.encode(), content_type="application/json")


def failed(status: int, description: str, **parameters: object) -> web.Response:
    """A refusal as Telegram gives it."""
    content: dict[str, Any] = {"ok": False, "error_code": status, "description": description}
    if parameters:
        content["parameters"] = parameters
    return web.Response(status=status, body=json.dumps(content).encode(), content_type="application/json")


def _complaint(text: str, entities: list[dict[str, Any]]) -> str:
    """What Telegram would say against this message; empty when it would take it."""
    units = len(text.encode("utf-16-le")) // 2
    if all(unicodedata.category(char) in _BLANK for char in text):
        return "message text is empty"
    if units > MOST_UNITS:
        return "message is too long"
    if any(entity["offset"] < 0 or entity["offset"] + entity["length"] > units for entity in entities):
        return "can't parse entities"
    return ""
