"""A Telegram server that misbehaves on purpose, and what hears and speaks through the channel to it."""

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.ports.errors import RateLimited, Rejected, Unavailable
from kenobot.ports.messages import Inbound, MessagePart, Outbound, TextEntity
from kenobot_testing.clock import ManualClock
from tests.constants import with_constants

TOKEN = "123456789:" + "canary-" * 5

CHAT = "1"

DEADLINE = 60


def update(number: object, text: object = "hi", user: int = 1) -> dict[str, Any]:
    sender = {"id": user, "is_bot": False, "first_name": "Alice"}
    chat = {"id": user, "type": "private", "first_name": "Alice"}
    message = {"message_id": 3, "date": 1_700_000_000, "chat": chat, "from": sender, "text": text}
    return {"update_id": number, "message": message}


def press(number: object, value: str = "1.0.mac", message: int = 77, user: int = 1, **chat: object) -> dict[str, Any]:
    """A person presses a button below a message of the bot's."""
    sender = {"id": user, "is_bot": False, "first_name": "Alice", "language_code": "es"}
    below = {"message_id": message, "date": 1_700_000_000, "chat": {"id": user, "type": "private"} | chat}
    query = {"id": f"query {number}", "from": sender, "message": below, "chat_instance": "1", "data": value}
    return {"update_id": number, "callback_query": query}


class Box:
    """A sink that remembers, and fails when told to."""

    def __init__(self) -> None:
        self.inbounds: list[Inbound] = []
        self.aside: list[tuple[str, str]] = []
        self.reports: list[str] = []
        self.failures: deque[Exception] = deque()
        self.refused: set[str] = set()
        self.watch: Callable[[Inbound], None] = lambda inbound: None
        self._changed = asyncio.Condition()

    async def __call__(self, inbound: Inbound) -> bool:
        self.watch(inbound)
        if self.failures:
            raise self.failures.popleft()
        if inbound.user in self.refused:
            return False
        async with self._changed:
            new = all(seen.external_id != inbound.external_id for seen in self.inbounds)
            if new:
                self.inbounds.append(inbound)
            self._changed.notify_all()
        return new

    async def dead_letter(self, channel: str, external_id: str, raw: str, reason: str) -> None:
        async with self._changed:
            self.aside.append((external_id, reason))
            self._changed.notify_all()

    async def report(self, channel: str, problem: str) -> None:
        async with self._changed:
            self.reports.append(problem)
            self._changed.notify_all()

    @property
    def ids(self) -> list[str]:
        return [inbound.external_id for inbound in self.inbounds]

    async def holds(self, count: int) -> None:
        """Return once there are `count` messages and updates set aside."""
        async with asyncio.timeout(DEADLINE), self._changed:
            await self._changed.wait_for(lambda: len(self.inbounds) + len(self.aside) >= count)


@dataclass
class Answer:
    """One HTTP answer; `cut` drops the connection instead, `hang` never answers, and `until` answers once it is set."""

    result: object = None
    status: int = 200
    body: bytes | None = None
    error: str = ""
    parameters: dict[str, int] = field(default_factory=dict)
    cut: bool = False
    hang: bool = False
    until: asyncio.Event | None = None

    def response(self) -> web.Response:
        content: dict[str, object] = {"ok": self.status == 200, "result": self.result}
        if self.status != 200:
            content = {"ok": False, "error_code": self.status, "description": self.error}
        if self.parameters:
            content["parameters"] = self.parameters
        body = json.dumps(content).encode() if self.body is None else self.body
        return web.Response(status=self.status, body=body, content_type="application/json")


HTML = b"<html>502 for /bot" + TOKEN.encode() + b"/getUpdates</html>"
OTHER = b'{"message": "Forbidden"}'

SENT = {"message_id": 77, "date": 1, "chat": {"id": 1, "type": "private"}}


class FakeTelegram:
    """Gives the scripted answers of each method in turn; then getUpdates waits for ever, as a long poll may.

    webhook: where it posts updates, which nobody can ask for then. webhook_failure: what it tells of that beside.
    knows_rich: it is of the Bot API that has rich messages.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, str]]] = []
        self.script: defaultdict[str, deque[Answer]] = defaultdict(deque)
        self.idle = asyncio.Event()
        self.base_url = ""
        self.files: dict[str, bytes] = {}
        self.knows_rich = False
        self.webhook = ""
        self.webhook_set = asyncio.Event()
        self.webhook_failure: dict[str, object] = {}

    async def hand_over(self, request: web.Request) -> web.Response:
        """Hand over the bytes of a file; `getFile` says which path a file has: its id."""
        self.calls.append(("file", {"path": request.match_info["path"]}))
        if self.script["file"]:
            return self.script["file"].popleft().response()
        return web.Response(body=self.files[request.match_info["path"]])

    def answers(self, method: str, *answers: Answer) -> None:
        self.script[method].extend(answers)

    def offsets(self) -> list[str | None]:
        return [fields.get("offset") for method, fields in self.calls if method == "getUpdates"]

    async def handle(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        assert request.match_info["token"] == TOKEN
        posted = await request.post()
        self.calls.append((method, {key: _posted(value) for key, value in posted.items()}))
        if self.script[method]:
            answer = self.script[method].popleft()
            if answer.until is not None:
                await answer.until.wait()
            if answer.hang:
                await asyncio.Event().wait()
            if answer.cut:
                assert request.transport is not None
                request.transport.close()
            return answer.response()
        if method in ("setWebhook", "deleteWebhook"):
            self.webhook = str(posted.get("url", ""))
            self.webhook_set.set()
        if method == "getWebhookInfo":
            info = {"url": self.webhook, "has_custom_certificate": False, "pending_update_count": 0}
            return Answer(info | self.webhook_failure).response()
        if method == "getUpdates" and self.webhook:
            return Answer(status=409, error="Conflict: can't use getUpdates method while webhook is active").response()
        if method == "getUpdates":
            self.idle.set()
            await asyncio.Event().wait()
        if method == "getFile":
            name = str(posted["file_id"])
            if name not in self.files:
                return Answer(status=400, error="Bad Request: wrong file_id").response()
            return Answer({"file_id": name, "file_unique_id": name, "file_path": name}).response()
        if "RichMessage" in method and not self.knows_rich:
            return Answer(status=404, error="Not Found").response()
        me = {"id": 7, "is_bot": True, "first_name": "Keno", "username": "KenoBot"}
        is_message = method in ("sendMessage", "sendDocument", "editMessageText", "sendRichMessage")
        return Answer(SENT if is_message else me if method == "getMe" else True).response()


@asynccontextmanager
async def serve(fake: FakeTelegram) -> AsyncIterator[None]:
    """Serve the stand-in on a loopback port of its own."""
    app = web.Application()
    app.router.add_post("/bot{token}/{method}", fake.handle)
    app.router.add_get("/file/bot{token}/{path}", fake.hand_over)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    fake.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/bot"
    yield
    await runner.cleanup()


def _posted(value: str | bytes | bytearray | web.FileField) -> str:
    """Return what was posted in a field; of a file its name and, after a line break, its content."""
    return f"{value.filename}\n{value.file.read().decode()}" if isinstance(value, web.FileField) else str(value)


def channel_at(base_url: str, clock: ManualClock, **more: object) -> TelegramChannel:
    settings = {"token": TOKEN, "owners": [1], "base_url": base_url, "poll_seconds": 1, "request_seconds": 10}
    return TelegramChannel(with_constants(TelegramSettings, **(settings | more)), clock)


@asynccontextmanager
async def running(channel: TelegramChannel, box: Box) -> AsyncIterator[None]:
    task = asyncio.create_task(channel.run(box))
    try:
        yield
    finally:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def until_idle(channel: TelegramChannel, telegram: FakeTelegram, box: Box) -> None:
    """Run the channel until the server has nothing more to say."""
    async with running(channel, box), asyncio.timeout(DEADLINE):
        await telegram.idle.wait()


def outbound(text: str = "hi", *spans: TextEntity) -> Outbound:
    return Outbound(id=1, channel="telegram", chat=CHAT, part=MessagePart(text, spans), trace="t")


FAULTS = {
    "500": Answer(status=500, error="Internal"),
    "502 with a page": Answer(status=502, body=HTML),
    "403 with a page": Answer(status=403, body=HTML),
    "403 of another API": Answer(status=403, body=OTHER),
    "200 with a page": Answer(body=HTML),
    "200 with a list": Answer(body=b"[]"),
    "200 without a result": Answer(body=b'{"ok": true}'),
    "not a list": Answer({"a": 1}),
    "a thousand brackets": Answer(body=b"[" * 100_000),
    "cut": Answer(cut=True),
}

REFUSALS = [
    (Answer(status=400, error="Bad Request: chat not found"), Rejected),
    (Answer(status=403, error="Forbidden: bot was blocked by the user"), Rejected),
    (Answer(status=401, error="Unauthorized"), Unavailable),
    (Answer(status=429, error="Too Many Requests", parameters={"retry_after": 3}), RateLimited),
    (Answer(status=429, error="Too Many Requests"), Unavailable),
    (Answer(status=500, error="Internal"), Unavailable),
    (Answer(status=413, body=HTML), Unavailable),
    (Answer(status=403, body=OTHER), Unavailable),
    (Answer(status=409, error="Conflict"), Unavailable),
    (Answer(body=HTML), Unavailable),
    (Answer({"no": "message"}), Unavailable),
    (Answer(cut=True), Unavailable),
]
