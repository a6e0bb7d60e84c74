"""Take messages in by the sync of a Matrix account, and send replies into its rooms."""

import asyncio
import hashlib
import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from kenobot.channels.intake import read_time
from kenobot.channels.markup import as_html, mark_up, plain_marks, render_parts
from kenobot.channels.mention import strip_name
from kenobot.ports.channel import Capabilities, Sink
from kenobot.ports.clock import Clock
from kenobot.ports.errors import Rejected, StoreError
from kenobot.ports.messages import Attachment, Inbound, MessagePart, Outbound
from kenobot.ports.sentences import Sentence
from kenobot.storage import disk
from kenobot_matrix.client import MatrixClient
from kenobot_matrix.events import (
    FILES,
    events_of,
    is_membership_of,
    read_attachment,
    read_body,
    since_invited,
    strip_fallback,
    table,
)
from kenobot_matrix.settings import MatrixSettings

logger = logging.getLogger(__name__)

_LONGEST: Final = 16_000  # UTF-16 units
_MOST_BYTES: Final = 56_000  # of one event there may be 65,536, with all that servers add
_AT_ONCE: Final = 100  # messages of a room in one answer; older ones are asked for
_AGAIN_SECONDS: Final = 1.0
_NOT_LET_IN: Final = "matrix.not_let_in"
_ROOMS: Final = 500
_MOST_QUOTED: Final = 1000
_FILTER: Final = (
    '{"presence":{"types":[]},"account_data":{"types":[]},"room":{"ephemeral":{"types":[]},"account_data":{"types":[]},'
    f'"state":{{"lazy_load_members":true}},"timeline":{{"limit":{_AT_ONCE}}}}}}}'
)


class MatrixChannel:
    """A bot on Matrix. Its place in the account's messages is kept in the home, and moves on once they are stored."""

    name = "matrix"
    capabilities = Capabilities(
        longest=_LONGEST,
        receives=frozenset({"image", "audio", "video", "document"}),
        sends=frozenset({"document"}),
        edits=True,
        reactions=True,
        threads=True,
    )

    def __init__(self, settings: MatrixSettings, clock: Clock, home: Path) -> None:
        self._settings = settings
        self._clock = clock
        self._client = MatrixClient(settings)
        account = hashlib.sha256(f"{settings.homeserver} {settings.user}".encode()).hexdigest()[:16]
        self._position = home / "channels" / f"matrix-{account}"
        # bounded: _ROOMS rooms; test_the_people_of_so_many_rooms_are_kept
        self._members: dict[str, Mapping[str, str]] = {}
        self.last_answer_at: float | None = None
        self.stall_seconds = 2 * settings.poll_seconds + 2 * settings.request_seconds

    def render(self, text: str) -> Sequence[MessagePart]:
        """Cut a Markdown reply into parts that fit an event with their HTML."""
        return render_parts(text, _LONGEST, _fits)

    async def send(self, outbound: Outbound) -> str:
        """Send one part, and return its event id. The server takes the same part once only."""
        room, _, person = outbound.chat.partition(" ")
        if person and set(await self._list_people(room)) - {self._settings.user} != {person}:
            raise Rejected("matrix.others_in_room")
        for number, file in enumerate(outbound.part.attachments):
            content = file.text.encode("utf-8", "replace")
            address = await self._client.upload(content, file.mime or "text/plain", file.name or "file.txt")
            event = {"msgtype": "m.file", "body": file.name or "file.txt", "url": address}
            await self._put(room, event, outbound, f"file{number}")
        content_ = _write(outbound.part)
        if outbound.replaces:
            await self._put(room, _edit(content_, outbound.replaces), outbound, "edit")
            return outbound.replaces
        if outbound.thread:
            content_["m.relates_to"] = {"rel_type": "m.thread", "event_id": outbound.thread}
        elif outbound.reply_to:
            content_["m.relates_to"] = {"m.in_reply_to": {"event_id": outbound.reply_to}}
        return await self._put(room, content_, outbound, "text")

    async def _put(self, room: str, content: Mapping[str, Any], outbound: Outbound, what: str) -> str:
        same = f"{outbound.id} {outbound.chat} {outbound.trace} {outbound.part.text} {what}"
        transaction = hashlib.sha256(same.encode("utf-8", "replace")).hexdigest()[:32]
        path = f"/rooms/{quote(room, safe='')}/send/m.room.message/{transaction}"
        return str((await self._client.call("PUT", path, content)).get("event_id", ""))

    async def react(self, chat: str, target: str, emoji: str) -> None:
        """Put a reaction below a message."""
        room = chat.partition(" ")[0]
        transaction = hashlib.sha256(f"{room} {target} {emoji}".encode()).hexdigest()[:32]
        relation = {"rel_type": "m.annotation", "event_id": target, "key": emoji}
        path = f"/rooms/{quote(room, safe='')}/send/m.reaction/{transaction}"
        await self._client.call("PUT", path, {"m.relates_to": relation})

    async def typing(self, chat: str, thread: str = "") -> None:
        """Show that an answer is on its way."""
        path = f"/rooms/{quote(chat.partition(' ')[0], safe='')}/typing/{quote(self._settings.user, safe='')}"
        await self._client.call("PUT", path, {"typing": True, "timeout": 8000})

    def fetch(self, attachment: Attachment) -> AsyncIterator[bytes]:
        """Yield the file in pieces."""
        return self._client.load(attachment.handle)

    async def check_access(self) -> None:
        """Log in, and ask whose account that is. Raises RemoteError."""
        try:
            await self._client.log_in()
            await self._client.call("GET", "/account/whoami")
        except Rejected:
            raise Rejected(_NOT_LET_IN) from None
        finally:
            await self._client.close()

    async def run(self, sink: Sink) -> None:
        """Take messages in until cancelled. Raises RemoteError."""
        try:
            await self._client.log_in()
        except Rejected:
            await self._client.close()
            await sink.report(self.name, Sentence(_NOT_LET_IN))
            raise Rejected(_NOT_LET_IN) from None
        position = await asyncio.to_thread(self._read_position)
        try:
            while True:
                query = {"since": position} if position else {}
                wait = self._settings.poll_seconds if position else 0
                found = await self._client.call(
                    "GET", "/sync", None, wait, timeout=wait * 1000, filter=_FILTER, **query
                )
                self.last_answer_at = self._clock.monotonic()
                try:
                    await self._take(found, position, sink)
                except StoreError as error:
                    logger.warning("messages of Matrix cannot be stored and are asked for again: %s", error)
                    await self._clock.sleep(_AGAIN_SECONDS)
                    continue
                position = str(found.get("next_batch", position))
                await asyncio.to_thread(self._write_position, position)
        finally:
            await self._client.close()

    def _read_position(self) -> str:
        try:
            return self._position.read_text("utf-8").strip()
        except OSError:
            return ""

    def _write_position(self, position: str) -> None:
        self._position.parent.mkdir(mode=0o700, exist_ok=True)
        disk.replace_text(self._position, position)

    async def _take(self, found: Mapping[str, Any], since: str, sink: Sink) -> None:
        """Hand over what an answer to a sync holds, and join the rooms of people on the lists."""
        rooms = table(found, "rooms")
        for room, invitation in table(rooms, "invite").items():
            await self._answer_invitation(room, invitation)
        for room, news in table(rooms, "join").items():
            timeline = table(news, "timeline")
            events = [*events_of(table(news, "state")), *events_of(timeline)]
            if timeline.get("limited") or any(event.get("type") == "m.room.member" for event in events):
                self._members.pop(room, None)
            if not since:
                continue  # what was said before the first start
            said, invited = since_invited(events_of(timeline), self._settings.user)
            if timeline.get("limited") and not invited:
                said = [*since_invited(await self._load_earlier(room, timeline, since), self._settings.user)[0], *said]
            for event in said:
                try:
                    inbound = await self._parse(room, event, sink)
                except (TypeError, ValueError, AttributeError, KeyError) as error:  # fields of any form
                    raw, reason = json.dumps(event), Sentence("channels.unreadable", kind=type(error).__name__)
                    await sink.dead_letter(self.name, str(event.get("event_id", "")), raw, reason)
                    continue
                if inbound is not None:
                    await sink(inbound)

    async def _answer_invitation(self, room: str, invitation: object) -> None:
        """Join a room into which a person on the lists invites; leave others."""
        events = events_of(table(invitation, "invite_state"))
        mine = [event for event in events if is_membership_of(event, self._settings.user, "invite")]
        invited_by = str(mine[-1].get("sender")) if mine else ""  # the others are what the inviting server says
        wanted = invited_by in self._settings.people or room in self._settings.allowed_chats
        try:
            await self._client.call("POST", f"/rooms/{quote(room, safe='')}/{'join' if wanted else 'leave'}", {})
        except Rejected as error:
            logger.warning("an invitation on Matrix could not be answered: %s", error)

    async def _load_earlier(self, room: str, timeline: Mapping[str, Any], since: str) -> list[Mapping[str, Any]]:
        """Load what a sync left out since `since`, oldest first."""
        found: list[Mapping[str, Any]] = []
        at = str(timeline.get("prev_batch", ""))
        while at and len(found) < 50 * _AT_ONCE:
            path = f"/rooms/{quote(room, safe='')}/messages"
            query: dict[str, Any] = {"dir": "b", "from": at, "to": since, "limit": _AT_ONCE}
            page = await self._client.call("GET", path, **query)
            chunk = page.get("chunk")
            found += [event for event in chunk if isinstance(event, dict)] if isinstance(chunk, list) else []
            at = str(page.get("end", "")) if chunk else ""
        return found[::-1]

    async def _list_people(self, room: str) -> Mapping[str, str]:
        """Return those in a room, and those invited, with their names."""
        if room not in self._members:
            path = f"/rooms/{quote(room, safe='')}/members"
            events = (await self._client.call("GET", path, not_membership="leave")).get("chunk")
            there: dict[str, str] = {}
            for event in events if isinstance(events, list) else ():
                content = table(event, "content")
                if content.get("membership") in ("join", "invite"):
                    there[str(event.get("state_key"))] = str(content.get("displayname") or "")
            self._members[room] = there
            if len(self._members) > _ROOMS:
                del self._members[next(iter(self._members))]
        return self._members[room]

    async def _parse(self, room: str, event: Mapping[str, Any], sink: Sink) -> Inbound | None:
        """Parse an event into a message for the bot; None for one that is not."""
        settings, sender = self._settings, str(event.get("sender", ""))
        if sender == settings.user:
            return None
        if event.get("type") == "m.room.encrypted":
            if sender in settings.people:
                await sink.report(self.name, Sentence("matrix.encrypted"))
            return None
        if event.get("type") not in ("m.room.message", "m.reaction"):
            return None
        content = table(event, "content")
        relation = table(content, "m.relates_to")
        people = await self._list_people(room)
        private = set(people) == {settings.user, sender}
        event_id, related = str(event.get("event_id", "")), str(relation.get("event_id", ""))
        inbound = Inbound(
            channel=self.name,
            external_id=event_id,
            chat=f"{room} {sender}" if private else room,  # once others are there it is another chat
            user=sender,
            text="",
            sent_at=read_time(event.get("origin_server_ts"), self._clock),
            user_name=people.get(sender, "").strip() or sender,
            private=private,
        )
        if event.get("type") == "m.reaction":
            return replace(inbound, kind="reaction", target=related, value=str(relation.get("key", ""))[:64])
        if relation.get("rel_type") == "m.replace":
            content = table(content, "m.new_content")
            inbound = replace(inbound, kind="edit", target=related, platform_id=related)
            # An edit does not say where the message stands, nor what it answers.
            edited = table(await self._load_event(room, related), "content")
            relation = table(edited, "m.relates_to")
        else:
            inbound = replace(inbound, platform_id=event_id)
        if relation.get("rel_type") == "m.thread":
            inbound = replace(inbound, thread=str(relation.get("event_id", "")))
        if content.get("msgtype") == "m.notice":
            return None
        return await self._parse_words(room, content, relation, inbound)

    async def _parse_words(
        self, room: str, content: Mapping[str, Any], relation: Mapping[str, Any], inbound: Inbound
    ) -> Inbound | None:
        """Add what a message says, and what it answers; None for one of a group that is not for the bot."""
        me, people = self._settings.user, await self._list_people(room)
        answered = str(table(relation, "m.in_reply_to").get("event_id", ""))
        replied = await self._load_event(room, answered) if answered and not relation.get("is_falling_back") else {}
        is_file, body = content.get("msgtype") in FILES, str(content.get("body", ""))
        body = strip_fallback(body) if answered else body
        text = "" if is_file and content.get("filename") in (None, body) else body  # of a file, a caption
        named, stripped = strip_name(text, (me, me[1:].partition(":")[0], people.get(me, "")))
        mentioned = me in (table(content, "m.mentions").get("user_ids") or ())
        to_bot = replied.get("sender") == me
        if not (inbound.private or named or mentioned or to_bot):
            return None
        return replace(
            inbound,
            text=text if inbound.private else stripped,
            attachments=(read_attachment(content),) if is_file else (),
            reply_to=str(replied.get("event_id", "")),
            quoted=strip_fallback(read_body(replied))[:_MOST_QUOTED],
            quoted_author="" if to_bot else people.get(str(replied.get("sender")), ""),
        )

    async def _load_event(self, room: str, event_id: str) -> Mapping[str, Any]:
        path = f"/rooms/{quote(room, safe='')}/event/{quote(event_id, safe='')}"
        try:
            return await self._client.call("GET", path)
        except Rejected:
            return {}


def _write(part: MessagePart) -> dict[str, Any]:
    content: dict[str, Any] = {
        "msgtype": "m.notice",  # other bots answer no notices
        "body": mark_up(part, plain_marks({})).encode("utf-8", "replace").decode(),
        "format": "org.matrix.custom.html",
        "formatted_body": as_html(part).encode("utf-8", "replace").decode(),
    }
    if not part.has_previews:
        content["com.beeper.linkpreviews"] = []  # MSC4095; other clients ask the server for previews all the same
    return content


def _edit(content: Mapping[str, Any], replaces: str) -> dict[str, Any]:
    relation = {"rel_type": "m.replace", "event_id": replaces}
    return {**content, "body": f"* {content['body']}", "m.new_content": content, "m.relates_to": relation}


def _fits(part: MessagePart) -> bool:
    """Return whether a part fits an event, also as an edit, which holds it twice."""
    return len(json.dumps(_edit(_write(part), ""), ensure_ascii=False).encode()) < _MOST_BYTES
