"""Read new mail of a mailbox, and answer each mail with one, in its conversation."""

import asyncio
import hashlib
import imaplib
import logging
import math
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from email import policy
from email.header import Header
from email.headerregistry import BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import Policy
from email.utils import format_datetime, formataddr
from functools import partial
from typing import Final, TypeVar

from kenobot.channels.markup import as_html, mark_up, plain_marks, render_parts
from kenobot.ports.channel import Capabilities, Sink
from kenobot.ports.clock import Clock
from kenobot.ports.errors import Rejected, RemoteError, StoreError, Unavailable
from kenobot.ports.messages import Attachment, Inbound, MessagePart, Outbound
from kenobot.ports.sentences import Sentence
from kenobot_email.mail import (
    attachments_of,
    conversation_of,
    file_bytes,
    files_of,
    id_of,
    is_automatic,
    is_verified,
    parse_mail,
    read_bounce,
    read_words,
    sender_of,
)
from kenobot_email.mailbox import Mailbox, MailRefused, StoredMail, greet, post
from kenobot_email.settings import EmailSettings

T = TypeVar("T")
logger = logging.getLogger(__name__)

_LONGEST: Final = 200_000  # UTF-16 units: an answer is one mail
_KEPT: Final = 20_000  # bytes of a mail that cannot be read
_LAST_ONES: Final = 500  # conversations
_PASSED_OVER: Final = 2000  # mails
_AGAIN_SECONDS: Final = 600.0  # after which a mail that was passed over is tried again


class _Folded(BaseHeader):
    """A header folded between words: the library's own way encodes an id of 78 characters, which nobody finds then."""

    max_count = 1
    parse = UnstructuredHeader.parse

    def fold(self, *, policy: Policy) -> str:
        folded = Header(str(self), header_name=self.name).encode(linesep=policy.linesep)
        return f"{self.name}: {folded}{policy.linesep}"


_HEADERS: Final = HeaderRegistry()
for _name in ("In-Reply-To", "References", "Subject"):
    _HEADERS.map_to_type(_name, _Folded)
_POLICY: Final = policy.SMTP.clone(header_factory=_HEADERS)


class EmailChannel:
    """A bot with a mailbox. A mail is marked as read once it is stored; answers go to its sender alone."""

    name = "email"
    capabilities = Capabilities(
        longest=_LONGEST,
        receives=frozenset({"image", "audio", "video", "document"}),
        sends=frozenset({"document"}),
        threads=True,
    )

    def __init__(self, settings: EmailSettings, clock: Clock, bot_name: str) -> None:
        self._settings = settings
        self._clock = clock
        self._from = formataddr((bot_name, settings.address))
        # bounded: _LAST_ONES conversations; test_the_last_mail_of_each_conversation_is_known_for_so_many
        self._last: dict[tuple[str, str], str] = {}
        # Until when mails are passed over that the server does not hand over, or mark: they would hold up all others.
        # bounded: _PASSED_OVER mails; test_so_many_mails_are_passed_over
        self._passed_over: dict[str, float] = {}
        self._broke_at = ""  # the mail at which the last connection broke
        self.last_answer_at: float | None = None
        self.stall_seconds = 2 * settings.poll_seconds + 4 * settings.request_seconds

    def render(self, text: str) -> Sequence[MessagePart]:
        """Render a Markdown reply as one mail, unless it is as long as a book."""
        return render_parts(text, _LONGEST)

    async def send(self, outbound: Outbound) -> str:
        """Send one mail. Raises Unavailable (it may have arrived) or Rejected."""
        if any(char.isspace() for char in outbound.chat) or "@" not in outbound.chat:
            raise Rejected("email.no_address")
        message = self._compose(outbound)
        await asyncio.to_thread(post, self._settings, message, outbound.chat)
        return str(message["Message-ID"])

    def _compose(self, outbound: Outbound) -> EmailMessage:
        first, _, subject = outbound.thread.partition(" ")
        text = outbound.part.text.encode("utf-8", "replace").decode()
        local, _, domain = self._settings.address.rpartition("@")
        same = hashlib.sha256(f"{local} {outbound.id} {outbound.chat} {outbound.trace} {text}".encode())
        message = EmailMessage(policy=_POLICY)
        message["From"], message["To"] = self._from, outbound.chat
        message["Subject"] = f"Re: {subject}" if first else " ".join(text.split())[:60]
        message["Date"] = format_datetime(self._clock.now())
        message["Message-ID"] = f"<kenobot.{same.hexdigest()[:32]}@{domain}>"  # the same when it is tried again
        message["Auto-Submitted"] = "auto-replied" if first else "auto-generated"
        if first:
            last = outbound.reply_to or self._last.get((outbound.chat, outbound.thread), first)
            message["In-Reply-To"] = last
            message["References"] = first if last == first else f"{first} {last}"
        message.set_content(mark_up(replace(outbound.part, text=text), plain_marks({})))
        message.add_alternative(as_html(replace(outbound.part, text=text)), subtype="html")
        for file in outbound.part.attachments:
            kind, _, subtype = (file.mime or "text/plain").partition("/")
            content = file.text.encode("utf-8", "replace")
            message.add_attachment(content, kind, subtype, filename=file.name or "file.txt")
        return message

    async def fetch(self, attachment: Attachment) -> AsyncIterator[bytes]:
        """Yield a file of a mail, which is read once more. Raises RemoteError."""
        handle, _, number = attachment.handle.rpartition(".")

        def read() -> bytes:
            mailbox = Mailbox(self._settings)
            try:
                mailbox.open()
                parts = list(files_of(parse_mail(mailbox.load(handle, whole=True).raw)))
            finally:
                mailbox.close()
            return file_bytes(parts[int(number)]) if int(number) < len(parts) else b""

        yield await self._ask(read)

    async def check_access(self) -> None:
        """Open the mailbox, and log in where mail is sent. Raises RemoteError."""
        mailbox = Mailbox(self._settings)
        try:
            await self._ask(mailbox.open)
        finally:
            mailbox.close()
        await asyncio.to_thread(greet, self._settings)

    async def run(self, sink: Sink) -> None:
        """Look for new mail until cancelled. Raises RemoteError when the server cannot be reached."""
        mailbox = Mailbox(self._settings)
        try:
            try:
                await self._ask(mailbox.open)
            except Rejected as error:
                await sink.report(self.name, str(error))
                raise
            while True:
                try:
                    for handle in await self._ask(partial(mailbox.list_unread, self._list_passed_over())):
                        await self._take_from(mailbox, handle, sink)
                except StoreError as error:
                    logger.warning("a mail cannot be stored and stays unread: %s", error)
                await self._clock.sleep(self._settings.poll_seconds)
        finally:
            mailbox.close()

    async def _take_from(self, mailbox: Mailbox, handle: str, sink: Sink) -> None:
        """Hand over an unread mail, then mark it; nothing of one that another program has moved meanwhile.

        One that the server refuses, or at which it ends the connection again, is passed over for a while; one that was
        taken and cannot be marked, for good: weeks later it would pass for one that waited.
        """
        pause = _AGAIN_SECONDS
        try:
            stored = await self._ask(lambda: mailbox.load(handle))
            await self._take(stored, sink)
            pause = math.inf
            await self._ask(lambda: mailbox.mark_read(handle))
        except (Rejected, MailRefused) as error:
            await self._pass_over(handle, error, sink, pause)
        except Unavailable:
            if handle == self._broke_at:
                await self._pass_over(handle, MailRefused(), sink)
            self._broke_at = handle
            raise
        else:
            self._broke_at = ""

    async def _pass_over(self, handle: str, error: RemoteError, sink: Sink, pause: float = _AGAIN_SECONDS) -> None:
        """Leave a mail unread for some seconds. The owner is told of it the first time."""
        logger.info("an unread mail was left alone: %s", error)
        if isinstance(error, MailRefused) and handle not in self._passed_over:
            await sink.report(self.name, str(error))
        self._passed_over.pop(handle, None)
        self._passed_over[handle] = self._clock.monotonic() + pause
        if len(self._passed_over) > _PASSED_OVER:
            del self._passed_over[next(iter(self._passed_over))]

    def _list_passed_over(self) -> frozenset[str]:
        now = self._clock.monotonic()
        return frozenset(handle for handle, until in self._passed_over.items() if until > now)

    async def _ask(self, call: Callable[[], T]) -> T:
        """Call the server in a thread. Raises RemoteError."""
        try:
            result = await asyncio.to_thread(call)
        except RemoteError:
            raise
        except (OSError, imaplib.IMAP4.error, ValueError) as error:
            raise Unavailable("email.unreachable", kind=type(error).__name__) from None
        self.last_answer_at = self._clock.monotonic()
        return result

    async def _take(self, stored: StoredMail, sink: Sink) -> None:
        """Hand a mail over, or what it tells; nothing of one that no person wrote to the bot."""
        try:
            inbound, problem = await asyncio.to_thread(self._parse, stored)
        except Exception as error:  # the library raises anything on hostile mails
            raw = stored.raw[:_KEPT].decode("utf-8", "replace")
            await sink.dead_letter(
                self.name, stored.handle, raw, Sentence("channels.unreadable", kind=type(error).__name__)
            )
            return
        if problem:
            await sink.report(self.name, problem)
        if inbound is not None and await sink(inbound):
            self._last.pop((inbound.chat, inbound.thread), None)
            self._last[inbound.chat, inbound.thread] = inbound.platform_id
            if len(self._last) > _LAST_ONES:
                del self._last[next(iter(self._last))]

    def _parse(self, stored: StoredMail) -> tuple[Inbound | None, str]:
        """Parse a mail into a message, or into what the owner is told of it, or into neither."""
        settings, message = self._settings, parse_mail(stored.raw)
        name, address = sender_of(message)
        bounced = read_bounce(message)
        if bounced is not None:
            ours = bounced[0].startswith("<kenobot.")
            return None, Sentence("email.bounced", status=bounced[1]) if ours else ""
        if not address or address == settings.address or is_automatic(message):
            logger.info("a mail that no person wrote to the bot was left alone")
            return None, ""
        known = address in {*settings.people, *settings.allowed_chats}
        if not known and not settings.strangers:
            logger.info("a mail from a stranger was left alone")
            return None, ""
        if settings.verified_by != "nobody" and not is_verified(message, address, settings.verified_by):
            return None, Sentence("email.forged") if known else ""
        first, subject = conversation_of(message)
        own = id_of(message) or f"<{stored.handle}>"
        words = read_words(message)
        cut = stored.size if stored.size > len(stored.raw) else None
        inbound = Inbound(
            channel=self.name,
            external_id=f"{address} {own}"[:500],
            chat=address,
            user=address,
            text=words.text,
            sent_at=stored.arrived,
            user_name=name,
            forwarded=words.forwarded,
            attachments=attachments_of(message, stored.handle, cut),
            thread=f"{first or own} {subject}",
            platform_id=own,
            quoted=words.quoted,
        )
        return inbound, ""
