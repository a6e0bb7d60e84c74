"""A stand-in of Slack's wire: the methods of its Web API that a bot of ours calls, and Socket Mode, on loopback."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, cast

from aiohttp import WSMsgType, web

from tests.integration.channels.served import served

BOT, ANA, BOB, ROOM, DIRECT = "U900", "U101", "U102", "C400", "D500"
TOKEN, APP_TOKEN = "bot-token-of-tests", "app-token-of-tests"


class Slack:
    """What the platform keeps, and what tests have people do there."""

    def __init__(self) -> None:
        self.messages: dict[str, list[dict[str, Any]]] = {DIRECT: [], ROOM: []}
        self.posted: list[dict[str, Any]] = []
        self.reactions: list[tuple[str, str]] = []
        self.acknowledged: list[str] = []
        self.files: dict[str, bytes] = {}
        self.told_of_files: dict[str, dict[str, Any]] = {}  # what it says of them beside their address
        self.fail_with: list[tuple[int, dict[str, Any]]] = []
        self.pages: list[web.Response] = []  # what a proxy answers in its place
        self.address = ""
        self.connections = 0
        self._sockets: list[web.WebSocketResponse] = []
        self._unanswered: dict[str, dict[str, Any]] = {}
        self._last = 0  # microseconds

    def new_time(self) -> str:
        self._last = max(self._last + 1, int(datetime.now(UTC).timestamp() * 1_000_000))
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06}"

    async def emit(self, payload: dict[str, Any], kind: str = "events_api", deliver: bool = True) -> str:
        envelope = f"envelope-{self.new_time()}"
        frame = {"envelope_id": envelope, "type": kind, "payload": payload, "accepts_response_payload": False}
        if deliver and self._sockets:
            self._unanswered[envelope] = frame
            await self._sockets[-1].send_str(json.dumps(frame))
        return envelope

    async def say(self, text: str, by: str = ANA, where: str = DIRECT, **more: Any) -> dict[str, Any]:
        deliver = more.pop("deliver", True)
        message = {"type": "message", "user": by, "text": text, "ts": self.new_time()} | more
        self.messages[where].append(message)
        await self.emit({"event": message | {"channel": where, "event_ts": message["ts"]}}, deliver=deliver)
        return message

    async def edit(self, message: dict[str, Any], text: str, where: str = DIRECT) -> None:
        former, now = dict(message), self.new_time()
        message |= {"text": text, "edited": {"user": message["user"], "ts": now}}
        event = {"type": "message", "subtype": "message_changed", "channel": where, "ts": now}
        await self.emit({"event": event | {"message": dict(message), "previous_message": former}})

    async def react(self, ts: str, name: str, author: str = BOT) -> None:
        item = {"type": "message", "channel": DIRECT, "ts": ts}
        event = {"type": "reaction_added", "user": ANA, "item_user": author, "item": item, "reaction": name}
        await self.emit({"event": event | {"event_ts": self.new_time()}})

    async def press(self, ts: str, value: str) -> str:
        action = {"type": "button", "action_id": "0-0", "value": value, "action_ts": self.new_time()}
        about = {"type": "block_actions", "user": {"id": ANA}, "channel": {"id": DIRECT}, "message": {"ts": ts}}
        return await self.emit(about | {"actions": [action]}, "interactive")

    async def disconnect(self) -> None:
        """End the connection, as Slack does every few hours; what is not acknowledged is sent to the next."""
        for socket in list(self._sockets):
            await socket.send_str(json.dumps({"type": "disconnect", "reason": "refresh_requested"}))

    async def socket(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.connections += 1
        self._sockets.append(socket)
        await socket.send_str(json.dumps({"type": "hello"}))
        for frame in list(self._unanswered.values()):
            await socket.send_str(json.dumps(frame))
        async for told in socket:
            if told.type is not WSMsgType.TEXT:
                break
            envelope = json.loads(told.data)["envelope_id"]
            self._unanswered.pop(envelope, None)
            self.acknowledged.append(envelope)
        self._sockets.remove(socket)
        return socket

    async def call(self, request: web.Request) -> web.Response:
        method, login = request.match_info["method"], request.headers.get("Authorization", "")
        if self.pages:
            return self.pages.pop(0)
        if self.fail_with and method.startswith("chat."):
            status, answer = self.fail_with.pop(0)
            return web.json_response(answer, status=status, headers={"Retry-After": "7"})
        if login != f"Bearer {APP_TOKEN if method == 'apps.connections.open' else TOKEN}":
            return web.json_response({"ok": False, "error": "invalid_auth"})
        asked = dict(request.query)
        if request.content_type == "application/json":
            asked |= cast("dict[str, Any]", await request.json())
        return web.json_response({"ok": True} | self._answer(method, asked))

    def _answer(self, method: str, asked: dict[str, Any]) -> dict[str, Any]:
        kept = self.messages.get(asked.get("channel", ""), [])
        match method:
            case "auth.test":
                return {"user_id": BOT}
            case "apps.connections.open":
                return {"url": f"ws{self.address.removeprefix('http')}/socket"}
            case "users.info":
                return {"user": {"profile": {"display_name": {ANA: "Ana", BOB: "Bob"}.get(asked["user"], "")}}}
            case "users.conversations":
                return {"channels": [{"id": channel} for channel in self.messages]}
            case "conversations.history":
                later = [each for each in kept if each["ts"] > asked["oldest"]][::-1]
                at, limit = int(asked.get("cursor", 0)), int(asked["limit"])
                more = str(at + limit) if at + limit < len(later) else ""
                return {"messages": later[at : at + limit], "response_metadata": {"next_cursor": more}}
            case "chat.postMessage" if asked["channel"] in self.messages and asked["text"].strip():
                self.posted.append(asked)
                message = {"type": "message", "user": BOT, "bot_id": "B1", "text": asked["text"], "ts": self.new_time()}
                kept.append(message)
                return {"ts": message["ts"]}
            case "chat.update":
                next(each for each in kept if each["ts"] == asked["ts"]).update(asked)
                return {"ts": asked["ts"]}
            case "reactions.add":
                self.reactions.append((asked["timestamp"], asked["name"]))
                return {}
            case "files.info" if asked["file"] in self.files:
                told = self.told_of_files.get(asked["file"], {})
                return {"file": {"url_private": f"{self.address}/files/{asked['file']}"} | told}
        return {"ok": False, "error": "channel_not_found"}

    async def file(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return web.Response(status=403)
        return web.Response(body=self.files[request.match_info["name"]])


@asynccontextmanager
async def standin() -> AsyncIterator[Slack]:
    """Yield the platform."""
    platform = Slack()
    app = web.Application()
    app.router.add_get("/socket", platform.socket)
    app.router.add_get("/files/{name}", platform.file)
    app.router.add_route("*", "/api/{method}", platform.call)
    async with served(app) as platform.address:
        yield platform
