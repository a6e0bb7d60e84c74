"""A stand-in for Telegram: an emulator that nobody here wrote, with what it lacks."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Self

from aiohttp import web
from lo_bot_api_emulator import LoBotApiEmulator
from lo_bot_api_emulator import updates as emulator_updates

from tests.integration.faults import Faults

TOKEN = "123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
KEY = "sk-ant-api03-canary-canary-canary-canary"
OWNER = "123456789"


emulator_updates.KINDS |= {"edited_message", "message_reaction"}  # which the emulator would refuse to bring


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that the bot sent, as Telegram got it."""

    chat: str
    text: str
    entities: Any


class Telegram:
    """The emulator on a loopback port of its own. `sent` is what the bot sent, in order, and `drafts` what it showed of
    that before: the emulator knows none.

    stands: the text of each message that the bot sent, as it is now: by chat and number.
    acknowledged: the highest update id that the bot has confirmed by asking for later ones, 0 before the first.
    last_update: the newest update id.
    next_update: the number to go on with, 0 for the one that is due. token: of the bot that people write to. files: by
    their ids. faults: what it does wrong or late.
    """

    def __init__(self) -> None:
        self.emulator = LoBotApiEmulator(enable_control=True, max_updates=10_000, max_history=100)
        self.sent: list[Sent] = []
        self.drafts: list[Sent] = []
        self.stands: dict[tuple[str, int], str] = {}
        self.buttons: dict[tuple[str, int], dict[str, str]] = {}
        self.faults = Faults()
        self.now: Callable[[], float] = time.time
        self.acknowledged = 0
        self.next_update = self.last_update = 0
        self.token = TOKEN
        self.files: dict[str, bytes] = {}
        self._changed = asyncio.Condition()
        self._number = 0
        self._runner: web.AppRunner | None = None
        self.port = 0

    async def __aenter__(self) -> Self:
        app = self.emulator.app()
        app.middlewares.append(self._watch)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        server = site._server
        assert isinstance(server, asyncio.Server)
        self.port = server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/bot"

    async def say(self, text: str, chat: str = OWNER, user: str = OWNER, **extra: Any) -> int:
        """A person writes to the bot; returns the update's id."""
        self._number += 1
        message = {
            "message_id": self._number,
            "date": int(self.now()),
            "chat": {"id": int(chat), "type": "private" if not chat.startswith("-") else "supergroup"},
            "from": {"id": int(user), "is_bot": False, "first_name": "Adrian"},
            "text": text,
            **extra,
        }
        update: dict[str, Any] = {"message": message}
        if self.next_update:
            update["update_id"], self.next_update = self.next_update, 0
        identity: int = await self.emulator.enqueue_update(update, token=self.token)
        self.last_update = identity
        return identity

    async def press(self, chat: str, message: int, label: str, user: str = "") -> int:
        """A person presses a button below a message of the bot's; returns the update's id."""
        self._number += 1
        chat_type = "private" if not chat.startswith("-") else "supergroup"
        below = {"message_id": message, "date": 1, "chat": {"id": int(chat), "type": chat_type}}
        query = {
            "id": f"q{self._number}",
            "from": {"id": int(user or chat), "is_bot": False, "first_name": "Adrian"},
            "message": below,
            "chat_instance": "1",
            "data": self.buttons[chat, message][label],
        }
        identity: int = await self.emulator.enqueue_update({"callback_query": query}, token=self.token)
        self.last_update = identity
        return identity

    @property
    def newest(self) -> int:
        """Return the number of the message that was said last."""
        return self._number

    async def edit(self, message: int, text: str, chat: str = OWNER, **extra: Any) -> None:
        """A person edits what they wrote in their private chat, or the caption of what they sent there."""
        now, user = int(self.now()), {"id": int(chat), "is_bot": False, "first_name": "Adrian"}
        body = {"message_id": message, "date": now, "edit_date": now, "from": user, "text": text, **extra}
        body["chat"] = {"id": int(chat), "type": "private"}
        self.last_update = await self.emulator.enqueue_update({"edited_message": body}, token=self.token)

    async def react(self, emoji: str, message: int, chat: str = OWNER) -> None:
        """A person puts an emoji to a message in their private chat, in place of the one that was there."""
        body = {
            "chat": {"id": int(chat), "type": "private"},
            "user": {"id": int(chat), "is_bot": False, "first_name": "Adrian"},
            "message_id": message,
            "date": int(self.now()),
            "old_reaction": [],
            "new_reaction": [{"type": "emoji", "emoji": emoji}],
        }
        self.last_update = await self.emulator.enqueue_update({"message_reaction": body}, token=self.token)

    async def until(self, happy: Callable[[list[Sent]], bool], seconds: float = 60) -> list[Sent]:
        """Wait until what was sent makes `happy` true."""
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(lambda: happy(self.sent))
        return self.sent

    async def shows(self, text: str, seconds: float = 60) -> None:
        """Wait until the last draft is `text`."""
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(lambda: bool(self.drafts) and self.drafts[-1].text == text)

    async def replies(self, count: int, seconds: float = 60) -> list[str]:
        """Wait for `count` messages and return their texts."""
        return [item.text for item in await self.until(lambda sent: len(sent) >= count, seconds)]

    def counted(self) -> Counter[tuple[str, str]]:
        """How often each text reached each chat."""
        return Counter((item.chat, item.text) for item in self.sent)

    @web.middleware
    async def _watch(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        try:
            body = await request.read()
        except ConnectionResetError:  # the bot was killed in the middle of asking
            return web.Response(status=400)
        if (refusal := await self.faults.meet(request.path)) is not None:
            return refusal
        if request.path.endswith("/sendMessageDraft"):
            fields = await _fields(request, body)
            async with self._changed:
                self.drafts.append(Sent(str(fields["chat_id"]), str(fields["text"]), fields.get("entities")))
                self._changed.notify_all()
            return web.json_response({"ok": True, "result": True})
        if request.path.endswith("/getFile"):
            name = str((await _fields(request, body))["file_id"])
            file = {"file_id": name, "file_unique_id": name, "file_path": name}
            return web.json_response({"ok": True, "result": file})
        if request.path.startswith("/file/bot"):
            return web.Response(body=self.files[request.path.rpartition("/")[2]])
        if request.path.endswith("/editMessageText"):
            return await self._edit(await _fields(request, body))
        if "getupdates" in request.path.lower():  # also by a bot that is killed before it has the answer
            self.acknowledged = max(self.acknowledged, int((await _fields(request, body)).get("offset") or 0) - 1)
        response = await handler(request)
        if request.path.endswith("/sendMessage") and response.status == 200:
            fields = await _fields(request, body)
            async with self._changed:
                self.sent.append(Sent(str(fields["chat_id"]), str(fields["text"]), fields.get("entities")))
                assert isinstance(response, web.Response)
                number = json.loads(response.text or "")["result"]["message_id"]
                place = str(fields["chat_id"]), number
                self.stands[place], self.buttons[place] = str(fields["text"]), _buttons(fields)
                self._changed.notify_all()
        return response

    async def _edit(self, fields: dict[str, Any]) -> web.Response:
        place = str(fields["chat_id"]), int(fields["message_id"])
        if "text" not in fields:  # as servers do that know no rich messages
            refusal = {"ok": False, "error_code": 400, "description": "Bad Request: message text is empty"}
            return web.json_response(refusal, status=400)
        if place not in self.stands:
            refusal = {"ok": False, "error_code": 400, "description": "Bad Request: message to edit not found"}
            return web.json_response(refusal, status=400)
        async with self._changed:
            self.stands[place], self.buttons[place] = str(fields["text"]), _buttons(fields)
            self._changed.notify_all()
        chat = {"id": int(place[0]), "type": "supergroup"}
        return web.json_response({"ok": True, "result": {"message_id": place[1], "date": 1, "chat": chat}})

    async def has(self, text: str, seconds: float = 60) -> None:
        """Wait until a message of the bot's is `text`."""
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(lambda: text in self.stands.values())


def _buttons(fields: dict[str, Any]) -> dict[str, str]:
    """Return the values of the buttons that a request puts below its message, by their labels."""
    markup = fields.get("reply_markup", {})
    rows = (json.loads(markup) if isinstance(markup, str) else markup).get("inline_keyboard", ())
    return {button["text"]: button["callback_data"] for row in rows for button in row}


async def _fields(request: web.Request, body: bytes) -> dict[str, Any]:
    if request.content_type == "application/json":
        fields: dict[str, Any] = json.loads(body)
        return fields
    return dict(await request.post())
