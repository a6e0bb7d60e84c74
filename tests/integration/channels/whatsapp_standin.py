"""A stand-in of WhatsApp's wire: the requests to Meta's Graph API that a bot of ours makes, and what Meta posts."""

import asyncio
import hmac
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import httpx
from aiohttp import web

from tests.integration.channels.served import served

ANA, BOB, BOT = "34600000001", "34600000002", "15550783881"
ANA_SCOPED = "ES.1502576394655843"
PHONE_ID, TOKEN, SECRET, VERIFY = "106540352242922", "token-of-tests", "secret-of-the-app", "words of mine"


class WhatsApp:
    """What the platform keeps, and what tests have people do there. Each post is repeated until it is confirmed.

    fail_with: status and code with which the next messages are refused. pages: status and words of a proxy that answers
    the next ones in Meta's place. faults: the same for the messages that come
    after so many were taken. hold_after: after so many the next message is not answered until `release`; held: it has
    come. takes_held: whether it is taken all the same.
    """

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.ids: list[str] = []
        self.read: list[str] = []
        self.typed: list[str] = []
        self.reactions: list[tuple[str, str]] = []
        self.files: dict[str, bytes] = {}
        self.uploads: list[dict[str, Any]] = []
        self.fail_with: list[tuple[int, int]] = []
        self.pages: list[tuple[int, str]] = []
        self.faults: dict[int, list[tuple[int, int]]] = {}
        self.hold_after = -1
        self.takes_held = False
        self.held, self.release = asyncio.Event(), asyncio.Event()
        self.media_address = ""
        self.answers: list[int] = []
        self.address = ""
        self.hook = ""
        self._count = 0
        self._posts: asyncio.Queue[bytes] = asyncio.Queue()
        self._changed = asyncio.Event()

    def new_id(self) -> str:
        self._count += 1
        return f"wamid.HBgL{self._count:08}"

    # ── people ───────────────────────────────────────────────────────────────────────────────────────────────────

    def say(self, text: str, by: str = ANA, **more: Any) -> str:
        return self.message("text", {"body": text}, by, **more)

    def message(self, kind: str, content: object, by: str = ANA, **more: Any) -> str:
        said = {
            "from": by,
            "id": self.new_id(),
            "timestamp": str(int(datetime.now(UTC).timestamp())),
            "type": kind,
            kind: content,
        }
        said |= more
        self.post({"messages": [said]}, by)
        return str(said["id"])

    def press(self, message: str, value: str, kind: str = "button_reply", by: str = ANA) -> str:
        content = {"type": kind, kind: {"id": value, "title": "Yes"}}
        return self.message("interactive", content, by, context={"from": BOT, "id": message})

    def fail(self, message: str, code: int, by: str = ANA) -> None:
        """Have a message that was taken fail on its way."""
        stamp = str(int(datetime.now(UTC).timestamp()))
        failed = {"id": message, "status": "failed", "timestamp": stamp, "recipient_id": by}
        self.post({"statuses": [failed | {"errors": [{"code": code, "title": "It failed"}]}]}, by)

    def post(self, value: dict[str, Any], by: str = ANA) -> None:
        about = {
            "messaging_product": "whatsapp",
            "metadata": {"display_phone_number": BOT, "phone_number_id": PHONE_ID},
            "contacts": [{"profile": {"name": {ANA: "Ana", BOB: "Bob"}.get(by, "")}, "wa_id": by}],
        }
        change = {"field": "messages", "value": about | value}
        body = {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [change]}]}
        self._posts.put_nowait(json.dumps(body).encode())

    async def deliver(self) -> None:
        """Post to the bot until cancelled, as Meta does: what is not confirmed comes again."""
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            while True:
                body = await self._posts.get()
                while not await self._is_confirmed(client, body):
                    await asyncio.sleep(0.01)

    async def _is_confirmed(self, client: httpx.AsyncClient, body: bytes) -> bool:
        try:
            answer = await client.post(self.hook, content=body, headers={"X-Hub-Signature-256": signed(body)})
        except httpx.HTTPError:
            return False
        self.answers.append(answer.status_code)
        self._changed.set()
        return answer.status_code == 200

    async def until_sent(self, count: int) -> list[dict[str, Any]]:
        """Wait until the bot sent so many messages."""
        while len(self.sent) < count:
            self._changed.clear()
            await self._changed.wait()
        return self.sent

    async def until_answered(self, count: int) -> list[int]:
        """Wait until the bot answered so many posts."""
        while len(self.answers) < count:
            self._changed.clear()
            await self._changed.wait()
        return self.answers

    # ── the Graph API ────────────────────────────────────────────────────────────────────────────────────────────

    async def call(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return _error(401, 190)
        path = request.match_info["path"]
        if request.method == "GET":
            return self._show(path)
        if path == f"{PHONE_ID}/media":
            return await self._take_file(request)
        if path != f"{PHONE_ID}/messages":
            return _error(400, 100)
        body: dict[str, Any] = await request.json()
        if body.get("status") == "read":
            (self.typed if "typing_indicator" in body else self.read).append(body["message_id"])
            return web.json_response({"success": True})
        if self.pages:
            status, page = self.pages.pop(0)
            return web.Response(status=status, text=page)
        if faults := self.fail_with or self.faults.get(len(self.sent)):
            return _error(*faults.pop(0))
        if problem := _problem(body):
            return _error(400, problem)
        if is_held := len(self.sent) == self.hold_after:
            self.hold_after = -1
            self.held.set()
        if is_held and not self.takes_held:
            await self.release.wait()
            return _error(500, 131000)
        message = self._keep(body)
        if is_held:
            await self.release.wait()
        return web.json_response({"messaging_product": "whatsapp", "messages": [{"id": message}]})

    def _keep(self, body: dict[str, Any]) -> str:
        message = self.new_id()
        if body["type"] == "reaction":
            self.reactions.append((body["reaction"]["message_id"], body["reaction"]["emoji"]))
        else:
            self.sent.append(body)
            self.ids.append(message)
        self._changed.set()
        return message

    def _show(self, path: str) -> web.Response:
        if path == PHONE_ID:
            return web.json_response({"display_phone_number": "+1 555-078-3881", "verified_name": "Keno", "id": path})
        if path in self.files:
            url = self.media_address or f"{self.address}/media/{path}"
            return web.json_response({"url": url, "mime_type": "image/jpeg", "id": path})
        return _error(400, 100)

    async def _take_file(self, request: web.Request) -> web.Response:
        form = await request.post()
        file = form["file"]
        assert isinstance(file, web.FileField)
        media = f"media{len(self.uploads) + 1}"
        self.uploads.append({"id": media, "name": file.filename, "type": form["type"], "content": file.file.read()})
        return web.json_response({"id": media})

    async def media(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return web.Response(status=401)
        return web.Response(body=self.files[request.match_info["name"]])


def signed(body: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, "sha256").hexdigest()


def _error(status: int, code: int) -> web.Response:
    if status >= 500 and not code:
        return web.Response(status=status, text="<html>Bad gateway</html>")
    return web.json_response({"error": {"message": f"(#{code}) Refused", "code": code}}, status=status)


def _problem(body: dict[str, Any]) -> int:
    """Return the code of what Meta refuses in a message; 0 for a good one."""
    if not re.fullmatch(r"\d{7,15}", body.get("to", "")) and "recipient" not in body:
        return 131009
    match body["type"]:
        case "text":
            words = body["text"]["body"]
            return 0 if words.strip() and _units(words) <= 4096 else 131009
        case "document":
            return 0 if _units(body["document"].get("caption", "")) <= 1024 else 131009
        case "interactive":
            return _interactive_problem(body["interactive"])
        case "reaction":
            return 0
    return 131051


def _interactive_problem(asked: dict[str, Any]) -> int:
    text, action = asked["body"]["text"], asked["action"]
    if asked["type"] == "button":
        replies = [button["reply"] for button in action["buttons"]]
        titles = [reply["title"] for reply in replies]
        fits = 1 <= len(replies) <= 3 and _units(text) <= 1024 and len(set(titles)) == len(titles)
        return 0 if fits and all(0 < _units(title) <= 20 for title in titles) and text.strip() else 131009
    rows = [row for section in action["sections"] for row in section["rows"]]
    fits = 1 <= len(rows) <= 10 and _units(text) <= 1024 and _units(action["button"]) <= 20
    small = all(0 < _units(row["title"]) <= 24 and _units(row.get("description", "")) <= 72 for row in rows)
    return 0 if fits and small and text.strip() else 131009


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@asynccontextmanager
async def standin() -> AsyncIterator[WhatsApp]:
    """Yield the platform, which posts once its `hook` is set and `deliver` runs."""
    platform = WhatsApp()
    app = web.Application(client_max_size=10_000_000)
    app.router.add_get("/media/{name}", platform.media)
    app.router.add_route("*", "/v26.0/{path:.+}", platform.call)
    async with served(app) as platform.address:
        yield platform
