"""A stand-in of Discord's wire: the REST methods and the gateway that a bot of ours calls, on loopback."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, cast

import discord
import pytest
import yarl
from aiohttp import WSMsgType, web

from kenobot_discord import client as our_client
from tests.integration.channels.served import served

BOT, ANA, BOB, ROLE = 900, 101, 102, 950
GUILD, ROOM, THREAD, DIRECT = 300, 400, 450, 500
TOKEN = "discord-test-token"


def user(number: int) -> dict[str, Any]:
    names = {BOT: "Keno", ANA: "Ana", BOB: "Bob"}
    return {
        "id": str(number),
        "username": names[number].lower(),
        "global_name": names[number],
        "discriminator": "0",
        "avatar": None,
        "bot": number == BOT,
    }


class Discord:
    """What the platform keeps, and what tests have people do there. tokens: that it lets in."""

    def __init__(self) -> None:
        self.messages: dict[int, list[dict[str, Any]]] = {DIRECT: [], ROOM: [], THREAD: []}
        self.reactions: list[tuple[str, str]] = []
        self.typed: list[str] = []
        self.answered: list[str] = []
        self.posted: list[dict[str, Any]] = []
        self.identified: list[dict[str, Any]] = []
        self.resumed = 0
        self.fail_with: list[tuple[int, dict[str, Any]]] = []
        self.pages: list[tuple[int, str]] = []  # what a proxy answers in its place
        self.close_with = 0
        self.files: dict[str, bytes] = {}
        self.address = ""
        self._sockets: list[web.WebSocketResponse] = []
        self._events: list[dict[str, Any]] = []  # of the session, for those who resume it
        self._last = discord.utils.time_snowflake(datetime.now(UTC))

    def new_id(self) -> str:
        self._last += 1 << 22
        return str(self._last)

    async def emit(self, event: str, about: dict[str, Any], deliver: bool = True) -> None:
        """Send an event, or keep it for a session that is resumed."""
        frame = {"op": 0, "s": len(self._events) + 1, "t": event, "d": about}
        self._events.append(frame)
        if deliver:
            for socket in self._sockets:
                await socket.send_str(json.dumps(frame))

    async def say(self, text: str, by: int = ANA, where: int = DIRECT, **more: Any) -> dict[str, Any]:
        deliver = more.pop("deliver", True)
        message = self._message(text, by, where) | more
        self.messages[where].append(message)
        await self.emit("MESSAGE_CREATE", message, deliver)
        return message

    async def edit(self, message: dict[str, Any], text: str) -> None:
        message |= {"content": text, "edited_timestamp": datetime.now(UTC).isoformat()}
        await self.emit("MESSAGE_UPDATE", message)

    async def react(self, message: str, emoji: str, by: int = ANA, author: int = BOT) -> None:
        about = {"user_id": str(by), "channel_id": str(DIRECT), "message_id": message, "type": 0}
        about |= {"emoji": {"id": None, "name": emoji}, "message_author_id": str(author)}
        await self.emit("MESSAGE_REACTION_ADD", about)

    async def press(self, message: str, value: str) -> None:
        number = self.new_id()
        about: dict[str, Any] = {"id": number, "application_id": str(BOT), "type": 3, "token": f"token-{number}"}
        about |= {"channel_id": str(DIRECT), "channel": {"id": str(DIRECT), "type": 1}, "user": user(ANA)}
        found = next(each for each in self.messages[DIRECT] if each["id"] == message)
        about |= {"version": 1, "data": {"component_type": 2, "custom_id": value}, "message": found}
        about |= {"entitlements": [], "authorizing_integration_owners": {}, "attachment_size_limit": 1000}
        await self.emit("INTERACTION_CREATE", about)

    async def drop(self, code: int = 1001) -> None:
        """Break the connections."""
        for socket in list(self._sockets):
            await socket.close(code=code)

    def _message(self, text: str, by: int, where: int) -> dict[str, Any]:
        message = {
            "id": self.new_id(),
            "channel_id": str(where),
            "author": user(by),
            "content": text,
            "timestamp": datetime.now(UTC).isoformat(),
            "edited_timestamp": None,
            "mentions": [user(BOT)] if f"<@{BOT}>" in text else [],
            "mention_roles": [str(ROLE)] if f"<@&{ROLE}>" in text else [],
            "mention_everyone": False,
            "attachments": [],
            "embeds": [],
            "components": [],
            "pinned": False,
            "tts": False,
            "type": 0,
        }
        return message if where == DIRECT else message | {"guild_id": str(GUILD)}

    def guild(self) -> dict[str, Any]:
        room = {"id": str(ROOM), "type": 0, "name": "home", "position": 0, "permission_overwrites": []}
        room["last_message_id"] = self.messages[ROOM][-1]["id"] if self.messages[ROOM] else None
        thread = {"id": str(THREAD), "type": 11, "name": "trip", "parent_id": str(ROOM), "owner_id": str(ANA)}
        thread |= {"guild_id": str(GUILD), "message_count": 0, "member_count": 2, "last_message_id": None}
        archive = {"archived": False, "auto_archive_duration": 60, "archive_timestamp": datetime.now(UTC).isoformat()}
        tags = {"permissions": "0", "color": 0, "colors": {"primary_color": 0}, "hoist": False, "managed": True}
        role = {"id": str(ROLE), "name": "Keno", "position": 1, "mentionable": True, "tags": {"bot_id": str(BOT)}}
        everyone = {"id": str(GUILD), "name": "@everyone", "position": 0, "mentionable": False}
        member = {"user": user(BOT), "roles": [str(ROLE)], "joined_at": None, "deaf": False, "mute": False, "flags": 0}
        return {
            "id": str(GUILD),
            "name": "Family",
            "owner_id": str(ANA),
            "channels": [room],
            "threads": [thread | {"thread_metadata": archive}],
            "roles": [tags | everyone, tags | role],
            "members": [member],
            "member_count": 3,
            "unavailable": False,
        }

    async def gateway(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        if self.close_with:
            await socket.send_str(json.dumps({"op": 10, "d": {"heartbeat_interval": 40_000}}))
            await socket.receive()
            await socket.close(code=self.close_with)
            return socket
        await socket.send_str(json.dumps({"op": 10, "d": {"heartbeat_interval": 40_000}}))
        async for frame in socket:
            if frame.type is not WSMsgType.TEXT:
                break
            told = json.loads(frame.data)
            if told["op"] == 1:
                await socket.send_str(json.dumps({"op": 11}))
            elif told["op"] == 2:
                await self._begin(socket, told["d"])
            elif told["op"] == 6:
                self.resumed += 1
                for event in self._events[told["d"]["seq"] :]:
                    await socket.send_str(json.dumps(event))
                self._sockets.append(socket)
                await self.emit("RESUMED", {})
        if socket in self._sockets:
            self._sockets.remove(socket)
        return socket

    async def _begin(self, socket: web.WebSocketResponse, told: dict[str, Any]) -> None:
        self.identified.append(told)
        self._events.clear()
        self._sockets.append(socket)
        gateway = f"ws{self.address.removeprefix('http')}/gateway"
        ready = {"v": 10, "user": user(BOT), "session_id": "session", "resume_gateway_url": gateway, "shard": [0, 1]}
        guilds = [{"id": str(GUILD), "unavailable": True}]
        ready |= {"guilds": guilds, "application": {"id": str(BOT), "flags": 0}}
        await self.emit("READY", ready)
        await self.emit("GUILD_CREATE", self.guild())

    async def rest(self, request: web.Request) -> web.Response:
        if self.pages:
            status, page = self.pages.pop(0)
            return web.Response(status=status, text=page, content_type="text/html")
        response = await self._answer(request)
        if response.body:
            response.headers["Content-Type"] = "application/json"  # as Discord, without the encoding
        return response

    async def _answer(self, request: web.Request) -> web.Response:  # noqa: PLR0911 (one for each method)
        path, method = request.path.removeprefix("/api"), request.method
        if self.fail_with and path != "/users/@me":
            status, answer = self.fail_with.pop(0)
            return web.json_response(answer, status=status, headers={"Via": "1.1 standin"})
        if request.headers.get("Authorization") != f"Bot {TOKEN}" and "/interactions/" not in path:
            return web.json_response({"message": "401: Unauthorized", "code": 0}, status=401)
        match [method, *path.strip("/").split("/")]:
            case ["GET", "users", "@me"]:
                return web.json_response(user(BOT))
            case ["GET", "oauth2", "applications", "@me"]:
                about: dict[str, Any] = {
                    "id": str(BOT),
                    "name": "Keno",
                    "icon": None,
                    "description": "",
                    "verify_key": "",
                    "flags": 0,
                }
                return web.json_response(
                    about | {"bot_public": False, "bot_require_code_grant": False, "owner": user(ANA)}
                )
            case ["POST", "users", "@me", "channels"]:
                person = int((await request.json())["recipient_id"])
                if person != ANA:
                    return web.json_response({"message": "no", "code": 50007}, status=403)
                return web.json_response({"id": str(DIRECT), "type": 1, "recipients": [user(person)]})
            case ["POST", "interactions", number, _, "callback"]:
                self.answered.append(number)
                return web.json_response({"interaction": {"id": number, "type": 3}})
            case ["POST", "channels", where, "typing"]:
                self.typed.append(where)
                return web.Response(status=204)
            case ["PUT", "channels", _, "messages", number, "reactions", emoji, "@me"]:
                self.reactions.append((number, emoji))
                return web.Response(status=204)
            case [_, "channels", where, "messages", *rest] if int(where) in self.messages:
                return await self._messages(request, int(where), rest)
        return web.json_response({"message": "Unknown", "code": 10003}, status=404)

    async def _messages(self, request: web.Request, where: int, rest: list[str]) -> web.Response:
        kept = self.messages[where]
        if rest:
            found = next((each for each in kept if each["id"] == rest[0]), None)
            if found is None:
                return web.json_response({"message": "Unknown Message", "code": 10008}, status=404)
            if request.method == "PATCH":
                found |= {key: value for key, value in (await request.json()).items() if key != "allowed_mentions"}
            return web.json_response(found)
        if request.method == "GET":
            after, limit = int(request.query.get("after", 0)), int(request.query["limit"])
            return web.json_response([each for each in kept if int(each["id"]) > after][:limit][::-1])
        told = await self._body(request)
        if not (told.get("content") or "").strip() and not told["files"]:
            return web.json_response({"message": "Cannot send an empty message", "code": 50006}, status=400)
        if len(told.get("content") or "") > 2000:
            return web.json_response({"message": "Invalid Form Body", "code": 50035}, status=400)
        for each in kept:
            if told.get("enforce_nonce") and each.get("nonce") == told.get("nonce"):
                return web.json_response(each)
        self.posted.append(told)
        message = self._message(told.get("content") or "", BOT, where)
        message |= {"nonce": told.get("nonce")}
        kept.append(message)
        await self.emit("MESSAGE_CREATE", message)
        return web.json_response(message)

    async def _body(self, request: web.Request) -> dict[str, Any]:
        if request.content_type == "application/json":
            return cast("dict[str, Any]", await request.json()) | {"files": {}}
        form = await request.post()
        files = {part.filename: part.file.read() for part in form.values() if isinstance(part, web.FileField)}
        return cast("dict[str, Any]", json.loads(str(form["payload_json"]))) | {"files": files}

    async def file(self, request: web.Request) -> web.Response:
        return web.Response(body=self.files[request.match_info["name"]])


@asynccontextmanager
async def standin(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Discord]:
    """Yield the platform, with the library pointed at it."""
    platform = Discord()
    app = web.Application()
    app.router.add_get("/gateway/", platform.gateway)
    app.router.add_get("/gateway", platform.gateway)
    app.router.add_get("/files/{name}", platform.file)
    app.router.add_route("*", "/api/{rest:.*}", platform.rest)
    async with served(app) as platform.address:
        gateway = yarl.URL(f"{platform.address}/gateway").with_scheme("ws")
        monkeypatch.setattr(discord.http.Route, "BASE", f"{platform.address}/api")
        monkeypatch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", gateway)
        monkeypatch.setattr(our_client, "_GUILDS_SECONDS", 0.02)
        yield platform
