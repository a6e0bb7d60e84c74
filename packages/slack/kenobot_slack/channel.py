"""Keep one connection of Slack's Socket Mode: take messages in, and send replies."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import aiohttp
import yarl
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from kenobot.channels.intake import Acknowledge, Intake
from kenobot.channels.markup import render_parts
from kenobot.core.worker import run_until_first
from kenobot.ports.channel import Capabilities, Sink
from kenobot.ports.clock import Clock
from kenobot.ports.errors import RateLimited, Rejected, RemoteError, Unavailable
from kenobot.ports.messages import Attachment, Inbound, MessagePart, Outbound
from kenobot.ports.sentences import Sentence
from kenobot.storage import disk
from kenobot_slack.events import (
    NAME,
    emoji_name,
    read_message,
    read_press,
    read_reaction,
    write,
    write_blocks,
)
from kenobot_slack.settings import SlackSettings

logger = logging.getLogger(__name__)

_LONGEST: Final = 3000  # UTF-16 units: of a section of blocks
_PING_SECONDS: Final = 20.0
_MISSED: Final = 2000  # messages of one channel
_PAGE: Final = 200
_PEOPLE: Final = 1000
_PIECE: Final = 65_536  # bytes
_SLACKS: Final = (".slack.com", ".slack-gov.com")
_REFUSAL: Final = "slack.not_let_in"
_NOT_LET_IN: Final = frozenset(
    {"invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive", "not_allowed_token_type"}
)
_PASSES: Final = frozenset({"internal_error", "fatal_error", "service_unavailable", "request_timeout"})


class SlackChannel:
    """A bot on Slack.

    An event is acknowledged once it is stored; Slack brings others again. What was said while the bot was away is
    asked for, from the time of the message on that was stored last, which is kept in the home.
    """

    name = NAME
    capabilities = Capabilities(
        longest=_LONGEST,
        receives=frozenset({"image", "audio", "video", "document"}),
        edits=True,
        reactions=True,
        buttons=True,
        threads=True,
    )

    def __init__(self, settings: SlackSettings, clock: Clock, home: Path) -> None:
        self._settings = settings
        self._clock = clock
        self._home = home / "channels"
        self._place = self._home / "slack"
        self._intake = Intake(clock)
        self._web = AsyncWebClient(
            settings.token.get_secret_value(), settings.api.rstrip("/") + "/", int(settings.request_seconds) + 1
        )
        self._me = ""
        self._seen = 0.0
        self._names: dict[str, str] = {}  # bounded: _PEOPLE people; test_the_names_of_so_many_people_are_kept

    def render(self, text: str) -> Sequence[MessagePart]:
        """Cut a Markdown reply into messages."""
        return render_parts(text, _LONGEST, lambda part: len(write(part).encode("utf-16-le")) <= 2 * _LONGEST)

    async def send(self, outbound: Outbound) -> str:
        """Send one message, and return its id. Raises RemoteError; after Unavailable it may have arrived."""
        part = outbound.part
        body: dict[str, Any] = {"channel": outbound.chat, "text": write(part), "blocks": write_blocks(part)}
        if outbound.replaces:
            await self._call("chat.update", body | {"ts": outbound.replaces})
            return outbound.replaces
        thread = {"thread_ts": outbound.thread} if outbound.thread else {}
        unfurled = {"unfurl_links": False} | ({} if part.has_previews else {"unfurl_media": False})
        return str((await self._call("chat.postMessage", body | thread | unfurled))["ts"])

    async def react(self, chat: str, target: str, emoji: str) -> None:
        """Put a reaction below a message."""
        if not (name := emoji_name(emoji)):
            raise Rejected("slack.no_such_reaction")
        await self._call("reactions.add", {"channel": chat, "timestamp": target, "name": name})

    async def fetch(self, attachment: Attachment) -> AsyncIterator[bytes]:
        """Yield the file in pieces."""
        file = (await self._call("files.info", {"file": attachment.handle}))["file"]
        address = str(file.get("url_private", ""))
        if file.get("is_external") or not self._is_slacks(address):  # the token goes there
            raise Rejected("slack.foreign_file")
        seconds = self._settings.request_seconds
        limit = aiohttp.ClientTimeout(total=None, sock_connect=seconds, sock_read=seconds)
        login = {"Authorization": f"Bearer {self._settings.token.get_secret_value()}"}
        with _translate_errors():
            async with aiohttp.ClientSession(timeout=limit) as session, session.get(address, headers=login) as response:
                if response.status >= 400:
                    raise Unavailable("slack.file_refused", status=response.status)
                async for piece in response.content.iter_chunked(_PIECE):
                    yield piece

    def _is_slacks(self, address: str) -> bool:
        try:  # as it is read for the request itself
            asked, own = yarl.URL(address), yarl.URL(self._settings.api)
            if asked.origin() == own.origin():
                return True
        except ValueError:
            return False
        host = asked.host or ""
        return asked.scheme == "https" and asked.explicit_port is None and f".{host}".endswith(_SLACKS)

    async def _call(self, method: str, body: Mapping[str, Any], token: str = "") -> Mapping[str, Any]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        given, web = dict(body), self._web
        writes = method.startswith(("chat.", "reactions."))
        async with self._deadline():
            try:
                if writes:
                    found: Any = await web.api_call(method, headers=headers, json=given)
                else:
                    found = await web.api_call(method, headers=headers, params=given)
            except AttributeError:  # the library takes every answer for a table
                raise Unavailable("slack.not_slack") from None
        return found.data if isinstance(found.data, dict) else {}

    @asynccontextmanager
    async def _deadline(self) -> AsyncIterator[None]:
        with _translate_errors():
            async with asyncio.timeout(self._settings.request_seconds):
                yield

    async def run(self, sink: Sink) -> None:
        """Connect, and take messages in until cancelled. Raises RemoteError when the connection ends."""
        try:
            self._me = str((await self._call("auth.test", {}))["user_id"])
            opened = await self._call("apps.connections.open", {}, self._settings.app_token.get_secret_value())
        except Rejected as error:
            await sink.report(self.name, str(error))
            raise
        await asyncio.to_thread(self._load)
        with _translate_errors():
            async with (
                aiohttp.ClientSession() as session,
                session.ws_connect(str(opened["url"]), heartbeat=_PING_SECONDS) as socket,
            ):
                await run_until_first(self._read(socket, sink), self._intake.run(sink))

    async def _read(self, socket: aiohttp.ClientWebSocketResponse, sink: Sink) -> None:
        """Take in what was missed, then what comes. Slack ends a connection now and then."""
        known = set[str]()
        async for frame in socket:
            told = frame.json() if frame.type is aiohttp.WSMsgType.TEXT else {}
            if told.get("type") == "hello":
                logger.info("on Slack as %s", self._me)
                known = await self._take_missed(sink)
            elif told.get("type") == "disconnect":
                break
            elif envelope := told.get("envelope_id"):
                await self._take(told, sink, _answering(socket, envelope), known)
        raise Unavailable("slack.ended")

    async def _take(self, told: Mapping[str, Any], sink: Sink, answer: Acknowledge, known: set[str]) -> None:
        payload = told.get("payload") or {}
        event = payload.get("event") or {}
        try:
            inbound = self._parse(told, payload, event)
        except (KeyError, TypeError, ValueError, AttributeError) as error:  # fields of any form
            reason = Sentence("channels.unreadable", kind=type(error).__name__)
            await sink.dead_letter(self.name, str(told["envelope_id"]), json.dumps(told), reason)
            inbound = None
        if inbound is None or inbound.external_id in known:
            await answer()
        else:
            await self._put(inbound, answer)

    def _parse(self, told: Mapping[str, Any], payload: Mapping[str, Any], event: Mapping[str, Any]) -> Inbound | None:
        if told.get("type") == "interactive":
            return read_press(payload)
        if event.get("type") in ("message", "app_mention"):
            return read_message(event, self._me)
        return read_reaction(event, self._me) if event.get("type") == "reaction_added" else None

    async def _put(self, inbound: Inbound, answer: Acknowledge | None = None) -> None:
        """Hand a message to the sink, then acknowledge it and move the bot's place on."""

        async def save_cursor() -> None:
            if inbound.kind == "message":
                self._seen = max(self._seen, inbound.sent_at.timestamp())
                await asyncio.to_thread(self._save)
            if answer is not None:
                await answer()

        await self._intake.put(replace(inbound, user_name=await self._name(inbound.user)), save_cursor)

    async def _take_missed(self, sink: Sink) -> set[str]:
        """Take in what was said since the message that was stored last, oldest first. Returns its ids."""
        since, found = self._seen, list[Inbound]()
        types = {"types": "im,mpim,public_channel,private_channel", "exclude_archived": "true", "limit": _PAGE}
        async for room in self._iterate_pages("users.conversations", types, "channels"):
            asked = {"channel": room["id"], "oldest": f"{since:.6f}", "limit": _PAGE}
            count = 0
            async for message in self._iterate_pages("conversations.history", asked, "messages"):
                try:
                    inbound = read_message({**message, "channel": room["id"]}, self._me)
                except (KeyError, TypeError, ValueError, AttributeError) as error:
                    reason = Sentence("channels.unreadable", kind=type(error).__name__)
                    await sink.dead_letter(self.name, f"{room['id']} {message.get('ts')}", json.dumps(message), reason)
                    continue
                found += [inbound] if inbound is not None else []
                count += 1
                if count >= _MISSED:
                    break
        for inbound in sorted(found, key=lambda each: each.sent_at):
            await self._put(inbound)
        return {inbound.external_id for inbound in found}

    async def _iterate_pages(
        self, method: str, asked: Mapping[str, Any], what: str
    ) -> AsyncIterator[Mapping[str, Any]]:
        cursor = ""
        while True:
            page = await self._call(method, {**asked, **({"cursor": cursor} if cursor else {})})
            for each in page[what]:
                yield each
            cursor = (page.get("response_metadata") or {}).get("next_cursor", "")
            if not cursor:
                return

    async def _name(self, user: str) -> str:
        """Return the name of a person; their id where Slack does not tell."""
        if user not in self._names:
            try:
                profile = (await self._call("users.info", {"user": user}))["user"].get("profile") or {}
            except Rejected:
                profile = {}
            self._names[user] = str(profile.get("display_name") or profile.get("real_name") or user)
            if len(self._names) > _PEOPLE:
                del self._names[next(iter(self._names))]
        return self._names[user]

    def _load(self) -> None:
        """Read the bot's place from the home; at the first start it is now."""
        self._place = self._home / f"slack-{self._me}"
        try:
            self._seen = float(self._place.read_text("utf-8"))
        except (OSError, ValueError):
            self._seen = self._clock.now().timestamp()
            self._save()

    def _save(self) -> None:
        self._home.mkdir(mode=0o700, exist_ok=True)
        disk.replace_text(self._place, f"{self._seen:.6f}")


def _answering(socket: aiohttp.ClientWebSocketResponse, envelope: object) -> Acknowledge:
    """Give what tells Slack that an event was stored."""

    async def answer() -> None:
        if not socket.closed:
            await socket.send_str(json.dumps({"envelope_id": envelope}))

    return answer


def _read_refusal(found: Any) -> RemoteError:
    """Map an error answer, as the library gives it; the bare response where it could not be parsed.

    Slack names an error in each. What names none is the page of a proxy, which says nothing about the request.
    """
    data, status = getattr(found, "data", None), getattr(found, "status_code", None) or found.status
    named = data.get("error") if isinstance(data, dict) else None
    code = str(named or status)[:60]
    if status == 429 or code == "ratelimited":
        after = str(found.headers.get("Retry-After", "5"))
        return RateLimited("slack.too_fast", float(after) if after.isdigit() else 5.0)
    if code in _NOT_LET_IN:
        return Rejected(_REFUSAL)
    if status >= 500 or code in _PASSES:
        return Unavailable("slack.trouble", code=code)
    return Rejected("slack.refused", code=code) if isinstance(named, str) else Unavailable("slack.not_slack")


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Raise RemoteError for what the libraries raise. Texts of the server are not shown: they may name anything."""
    try:
        yield
    except SlackApiError as error:
        raise _read_refusal(error.response) from None
    except (SlackClientError, aiohttp.ClientError, OSError, TimeoutError) as error:
        raise Unavailable("slack.unreachable", kind=type(error).__name__) from None
