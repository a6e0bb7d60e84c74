"""Take in what Meta posts, confirm it once it is stored, and send replies by the Graph API."""

import hmac
import json
import logging
import math
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

from kenobot.channels.intake import read_time
from kenobot.channels.markup import render_parts
from kenobot.core.retry import Backoff
from kenobot.core.worker import TaskSet
from kenobot.ports.channel import Capabilities, HookAnswer, HookRequest, Sink, TakesBack
from kenobot.ports.clock import Clock
from kenobot.ports.errors import Rejected, RemoteError, StoreError
from kenobot.ports.messages import Attachment, Inbound, MessagePart, Outbound
from kenobot.ports.sentences import Sentence
from kenobot_whatsapp.client import GraphClient, NeedsOwner, refusal
from kenobot_whatsapp.events import (
    NAME,
    BotNumber,
    MalformedMessage,
    NewNumber,
    Posted,
    iterate_posted,
    number_of,
    parse,
    user_id_of,
)
from kenobot_whatsapp.outgoing import (
    LONGEST,
    LONGEST_CAPTION,
    button_bodies,
    length,
    recipient,
    text_body,
    write,
)
from kenobot_whatsapp.people import KnownPeople
from kenobot_whatsapp.settings import WhatsAppSettings

logger = logging.getLogger(__name__)

_SIGNATURE: Final = "x-hub-signature-256"
_CHECK_SECONDS: Final = 900.0
_RETRY: Final = Backoff(2.0, 300.0)
_TYPING_SECONDS: Final = 20.0  # of the 25 for which it is shown
_CHATS: Final = 1000
_STAMP_DIGITS: Final = 12
_EARLY: Final = timedelta(minutes=5)  # in which the record of what was sent may still be on its way to the disk


class WhatsAppChannel:
    """A number on WhatsApp.

    Meta posts to the bot's HTTP server, and again what was not confirmed. A message is confirmed once it is stored. One
    that cannot be understood goes to the dead letters and holds up no other.
    """

    name = NAME
    awaits_requests = True
    capabilities = Capabilities(
        longest=LONGEST,
        receives=frozenset({"image", "audio", "voice", "video", "document", "sticker", "location", "contact", "other"}),
        sends=frozenset({"document"}),
        reactions=True,
        buttons=True,
        fails_later=True,
    )

    def __init__(self, settings: WhatsAppSettings, clock: Clock, home: Path) -> None:
        self._settings = settings
        self._clock = clock
        self._client = GraphClient(settings)
        place = home / "channels" / f"whatsapp-{settings.phone_number_id}.json"
        self._people = KnownPeople(place, settings.people)
        self._me = BotNumber()
        self._sink: Sink | None = None
        self._reading = TaskSet("read")
        # bounded: _CHATS chats; test_the_last_messages_of_so_many_chats_are_known
        self._last: dict[str, tuple[str, float]] = {}  # the message, and when the bot was shown typing

    def render(self, text: str) -> Sequence[MessagePart]:
        """Cut a Markdown reply into messages."""
        return render_parts(text, LONGEST, lambda part: length(write(part)) <= LONGEST)

    async def send(self, outbound: Outbound) -> str:
        """Send one message, and return its id. Raises RemoteError; after Unavailable it may have arrived."""
        if self._people.is_left(outbound.chat):
            raise Rejected("whatsapp.number_left")
        to: dict[str, object] = dict(recipient(outbound.chat))
        if outbound.reply_to:
            to["context"] = {"message_id": outbound.reply_to}
        sent = ""
        async with self._tell_owner_of_failure():
            for file in outbound.part.attachments:
                sent = await self._send_file(file, outbound.part, to)
            for body in _bodies(outbound.part):
                sent = await self._client.post(to | body)
        return sent

    async def _send_file(self, file: Attachment, part: MessagePart, to: Mapping[str, object]) -> str:
        name = file.name or "file.txt"
        # Of texts Meta knows this one kind; the ending tells what it is.
        media = await self._client.upload(file.text.encode("utf-8", "replace"), "text/plain", name)
        caption = {"caption": write(part)} if part.text and _is_caption(part) else {}
        return await self._client.post(
            {**to, "type": "document", "document": {"id": media, "filename": name} | caption}
        )

    async def react(self, chat: str, target: str, emoji: str) -> None:
        """Put a reaction on a message."""
        await self._client.post(
            {**recipient(chat), "type": "reaction", "reaction": {"message_id": target, "emoji": emoji}}
        )

    async def typing(self, chat: str, thread: str = "") -> None:
        """Show that an answer to the last message is on its way."""
        (last, shown), now = self._last.get(chat, ("", math.inf)), self._clock.monotonic()
        if now - shown >= _TYPING_SECONDS:
            self._last[chat] = (last, now)
            await self._client.post({"status": "read", "message_id": last, "typing_indicator": {"type": "text"}})

    def fetch(self, attachment: Attachment) -> AsyncIterator[bytes]:
        """Yield a file in pieces. Raises RemoteError."""
        return self._client.load(attachment.handle)

    async def check_access(self) -> None:
        """Ask Meta about the bot's number. Raises RemoteError."""
        try:
            await self._client.describe()
        finally:
            await self._client.close()

    async def run(self, sink: Sink) -> None:
        """Take requests until cancelled, and look now and then whether Meta lets the bot use its number."""
        await self._people.load()
        self._sink = sink
        failures = 0
        try:
            while True:
                try:
                    async with self._tell_owner_of_failure():
                        self._me = BotNumber(*await self._client.describe())
                except RemoteError as error:
                    if isinstance(error, Rejected):
                        await sink.report(NAME, Sentence("whatsapp.no_such_number"))
                    logger.warning("%s", error)
                    await self._clock.sleep(_RETRY.pause(failures))
                    failures += 1
                    continue
                failures = 0
                logger.info("on WhatsApp as +%s", self._me.number)
                await self._clock.sleep(_CHECK_SECONDS)
        finally:
            self._sink = None
            await self._reading.stop()
            await self._client.close()

    @asynccontextmanager
    async def _tell_owner_of_failure(self) -> AsyncIterator[None]:
        """Tell the owner of a failure that only they can mend."""
        try:
            yield
        except NeedsOwner as error:
            if self._sink is not None:
                await self._sink.report(NAME, str(error))
            raise

    # ── what Meta posts ──────────────────────────────────────────────────────────────────────────────────────────

    async def take_request(self, request: HookRequest) -> HookAnswer:
        """Store what a request brings, then confirm it; answer the question by which Meta knows the webhook."""
        if request.method == "GET":
            return self._verify(request.query)
        if not self._is_genuine(request):
            return HookAnswer(403, "forbidden")
        if (sink := self._sink) is None:
            return HookAnswer(503, "not now")
        try:
            body: object = json.loads(request.body)
        except (ValueError, RecursionError):
            return HookAnswer(400, "no JSON")
        is_taken = True
        try:
            for found in iterate_posted(body, self._settings.phone_number_id):
                if found.is_status:
                    is_taken = await self._take_status(found, sink) and is_taken
                else:
                    await self._take(found, sink)
        except StoreError as error:
            logger.warning("what WhatsApp posts cannot be stored, and comes again: %s", error)
            return HookAnswer(503, "not stored")
        return HookAnswer(200) if is_taken else HookAnswer(503, "not yet")

    def _verify(self, query: Mapping[str, str]) -> HookAnswer:
        expected = self._settings.verify_token.get_secret_value().encode()
        is_known = hmac.compare_digest(query.get("hub.verify_token", "").encode("utf-8", "replace"), expected)
        if not is_known or query.get("hub.mode") != "subscribe":
            return HookAnswer(403, "forbidden")
        return HookAnswer(200, query.get("hub.challenge", "")[:200])

    def _is_genuine(self, request: HookRequest) -> bool:
        """Return whether a request is Meta's: it is signed with the app's secret."""
        secret = self._settings.app_secret.get_secret_value().encode()
        expected = f"sha256={hmac.new(secret, request.body, 'sha256').hexdigest()}"
        told = request.headers.get(_SIGNATURE, "")
        return request.method == "POST" and hmac.compare_digest(told.encode("utf-8", "replace"), expected.encode())

    async def _take(self, found: Posted, sink: Sink) -> None:
        """Hand a message to the sink, which stores it."""
        try:
            taken = parse(found, self._me, self._people.identify, self._clock)
        except MalformedMessage as error:
            logger.warning("a message was set aside: %s", error)
            await sink.dead_letter(NAME, found.id, json.dumps(found.raw), str(error))
            return
        if isinstance(taken, NewNumber):
            former, current = f"+{taken.former}", f"+{taken.current}"
            await self._people.retire(taken.former)
            await sink.report(NAME, Sentence("whatsapp.number_moved", former=former, current=current))
        elif taken is not None:
            await self._notice_new_holder(found, sink)
            if await sink(taken):
                self._note(taken)
                await self._people.learn(user_id_of(found), taken.user)

    async def _notice_new_holder(self, found: Posted, sink: Sink) -> None:
        """Note, and tell the owner, that a number by which a person was known belongs to another account."""
        number, user_id = number_of(found), user_id_of(found)
        if self._people.is_taken_over(number, user_id):
            await self._people.retire(number)
            await sink.report(NAME, Sentence("whatsapp.number_taken_over", number=f"+{number}", account=user_id))

    def _note(self, inbound: Inbound) -> None:
        """Show that a message was read, and remember it as the one to which an answer is on its way."""
        if inbound.kind not in ("message", "action"):
            return
        self._last.pop(inbound.chat, None)
        self._last[inbound.chat] = (inbound.external_id, -math.inf)
        while len(self._last) > _CHATS:
            del self._last[next(iter(self._last))]
        if self._sink is not None:
            self._reading.begin(self._mark_read(inbound.external_id))

    async def _mark_read(self, message: str) -> None:
        try:
            await self._client.post({"status": "read", "message_id": message})
        except RemoteError as error:
            logger.debug("a message was not shown as read: %s", error)

    async def _take_status(self, found: Posted, sink: Sink) -> bool:
        """Take back what did not arrive; False where it is not yet known as sent, so that Meta tells it again."""
        if found.raw.get("status") != "failed" or not isinstance(sink, TakesBack):
            return True
        errors = found.raw.get("errors")
        error = refusal(0, errors[0] if isinstance(errors, list) and errors else None)
        if isinstance(error, NeedsOwner):
            await sink.report(NAME, str(error))
        if await sink.take_back(NAME, found.id, error):
            return True
        stamp = str(found.raw.get("timestamp", ""))
        if not stamp.isdecimal() or len(stamp) > _STAMP_DIGITS:
            return True
        return self._clock.now() - read_time(int(stamp) * 1000, self._clock) > _EARLY


def _is_caption(part: MessagePart) -> bool:
    """Return whether the text of a part stands below its file."""
    return len(part.attachments) == 1 and not part.buttons and length(write(part)) <= LONGEST_CAPTION


def _bodies(part: MessagePart) -> Iterator[dict[str, object]]:
    """Yield the messages that say what a part says beside its files."""
    if part.buttons:
        yield from button_bodies(part)
    elif part.text and not _is_caption(part):
        yield text_body(part)
