"""Keep one connection of an XMPP account: take messages in, and send replies."""

import asyncio
import hashlib
import itertools
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, Literal

import slixmpp
from slixmpp.exceptions import IqError, IqTimeout

from kenobot.channels.intake import Intake, read_time
from kenobot.channels.markup import mark_up, plain_marks, render_parts
from kenobot.channels.mention import strip_name
from kenobot.core import lazy
from kenobot.core.worker import run_until_first
from kenobot.ports.channel import Capabilities, Sink, TakesBack
from kenobot.ports.clock import Clock
from kenobot.ports.errors import Rejected, RemoteError, StoreError, Unavailable
from kenobot.ports.messages import Inbound, MessagePart, Outbound
from kenobot.ports.sentences import Sentence
from kenobot_xmpp.settings import XmppSettings

logger = logging.getLogger(__name__)
logging.getLogger("slixmpp").setLevel(logging.CRITICAL)  # at errors it logs what people write

_LONGEST: Final = 8000  # UTF-16 units
_CLOSE_SECONDS: Final = 1.0
_MARKS: Final = plain_marks({"bold": "*", "italic": "_", "strikethrough": "~", "code": "`", "pre": "\n```\n"})
_NOT_XML = lazy.regex("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONGEST_ID: Final = 200
_LONGEST_EXTERNAL_ID: Final = 600
_COMPLAINTS: Final = 100
_RECORDED_WITHIN: Final = (0.0, 1.0, 5.0)  # seconds, each after the one before
_OURS: Final = "kenobot-"  # begins the ids of the bot's messages; those of edits begin with the whole first id
_DIGITS: Final = 24
_PASSES: Final = frozenset({"wait"})  # types of errors that a later try may mend


class XmppChannel:
    """A bot on XMPP.

    What came in is acknowledged to the server once it is stored (XEP-0198): what is not, comes again. A message counts
    as sent once the server has answered a ping behind it without a complaint. That of another server, or that there is
    no such server, comes later: then it is taken back.
    """

    name = "xmpp"
    capabilities = Capabilities(longest=_LONGEST, edits=True, fails_later=True)

    def __init__(self, settings: XmppSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._intake = Intake(clock)
        self._run_id = f"{clock.now().timestamp():.6f}"
        self._count = itertools.count(1)
        self._client: slixmpp.ClientXMPP | None = None
        self._ready = False
        self._sending = asyncio.Lock()
        self._sent: tuple[str, RemoteError | None] = ("", None)
        # bounded: _COMPLAINTS of them; test_what_fails_behind_the_own_server_is_taken_back
        self._complaints: asyncio.Queue[tuple[str, RemoteError]] = asyncio.Queue(_COMPLAINTS)
        self._rooms = frozenset((*settings.join, *settings.allowed_chats))
        self.last_answer_at: float | None = None
        self.stall_seconds = 2 * settings.ping_seconds + settings.request_seconds

    def render(self, text: str) -> Sequence[MessagePart]:
        """Cut a Markdown reply into messages."""
        return render_parts(text, _LONGEST)

    async def send(self, outbound: Outbound) -> str:
        """Send one message. Raises Unavailable (it may have arrived) or Rejected."""
        try:
            to = slixmpp.JID(outbound.chat)
        except slixmpp.InvalidJID:
            raise Rejected("xmpp.no_such_address") from None
        text = _NOT_XML.sub("\ufffd", mark_up(outbound.part, _MARKS)).strip("\n")
        same = f"{outbound.id} {outbound.chat} {outbound.trace} {text}".encode("utf-8", "replace")
        number = f"{outbound.replaces or _OURS}{hashlib.sha256(same).hexdigest()[:_DIGITS]}"
        kind: Literal["groupchat", "chat"] = "groupchat" if to.bare in self._rooms else "chat"
        async with self._sending:
            client = self._require_client()
            message = client.make_message(mto=to, mbody=text, mtype=kind)
            message["id"] = number
            if outbound.replaces:
                message["replace"]["id"] = outbound.replaces
            self._sent = (number, None)
            message.send()
            try:
                await self._ping(client)
            finally:
                (_, error), self._sent = self._sent, ("", None)
            if error is not None:
                raise error
        return outbound.replaces or number

    async def typing(self, chat: str, thread: str = "") -> None:
        """Show that an answer is on its way."""
        client = self._require_client()
        message = client.make_message(mto=chat, mtype="groupchat" if chat in self._rooms else "chat")
        message["chat_state"] = "composing"
        message.send()

    def _require_client(self) -> slixmpp.ClientXMPP:
        if self._client is None or not self._ready:
            raise Unavailable("xmpp.unconnected")
        return self._client

    async def _ping(self, client: slixmpp.ClientXMPP) -> None:
        """Wait until the server has dealt with all that was sent before."""
        try:
            plugin: Any = client.plugin["xep_0199"]
            await plugin.send_ping(slixmpp.JID(client.boundjid.domain), timeout=self._settings.request_seconds)
        except IqError:
            pass  # an answer too
        except (IqTimeout, TimeoutError, slixmpp.xmlstream.xmlstream.NotConnectedError):
            raise Unavailable("xmpp.silent") from None
        self.last_answer_at = self._clock.monotonic()

    async def run(self, sink: Sink) -> None:
        """Connect, join rooms, and take messages in until cancelled. Raises RemoteError when the connection ends."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        begun = asyncio.Event()
        client = self._build(over, begun, sink)
        settings = self._settings
        try:
            client.connect(*((settings.server, settings.port) if settings.server else ()))
            async with asyncio.timeout(settings.request_seconds):
                await run_until_first(begun.wait(), _await(over))
            await self._begin(client, sink)
            await run_until_first(self._intake.run(sink), self._keep_alive(client), self._take_back(sink), _await(over))
        except TimeoutError:
            raise Unavailable("xmpp.unreachable") from None
        except Rejected as error:
            await sink.report(self.name, str(error))
            raise
        finally:
            self._ready = False
            self._client = None
            over.cancel()
            if client.plugin["xep_0198"].enabled_in:
                self._intake.forget()
            client.cancel_connection_attempt()
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await client.disconnect(wait=_CLOSE_SECONDS / 2, ignore_send_queue=True)
            client.abort()
            sender = client._run_out_filters  # the library leaves that task running
            if sender is not None:
                sender.cancel()
                await asyncio.gather(sender, return_exceptions=True)

    def _build(self, over: asyncio.Future[None], begun: asyncio.Event, sink: Sink) -> slixmpp.ClientXMPP:
        """Build a client. over: gets the error that ends its connection. begun: set once it is logged in."""
        settings = self._settings
        plain = settings.security == "none"
        login = {"feature_mechanisms": {"unencrypted_plain": plain, "unencrypted_scram": plain}}
        client = slixmpp.ClientXMPP(settings.account, settings.password.get_secret_value(), plugin_config=login)
        client.enable_plaintext = plain
        client.enable_starttls = settings.security == "starttls"
        client.enable_direct_tls = settings.security == "tls"
        client.auto_authorize = None
        for plugin in ("xep_0045", "xep_0085", "xep_0199", "xep_0308"):
            client.register_plugin(plugin)
        client.register_plugin("xep_0198", {"allow_resume": False})  # then what is not acknowledged comes again at once
        acknowledging: Any = client.plugin["xep_0198"]
        acknowledge = acknowledging.send_ack

        async def confirm_empty() -> None:
            if self._intake.is_empty:
                acknowledge()

        def end(error: RemoteError) -> None:
            if not over.done():
                over.set_exception(error)

        def take(message: slixmpp.Message) -> None:
            inbound = self._parse(client, message)
            if inbound is not None and not self._intake.put_now(inbound, confirm_empty):
                end(Unavailable("xmpp.flood"))

        acknowledging.send_ack = lambda: acknowledge() if self._intake.is_empty else None
        client.add_event_handler("message", take)
        client.add_event_handler("message_error", self._note_complaint)
        client.add_event_handler("session_start", lambda _: begun.set())
        client.add_event_handler("presence_subscribe", lambda presence: self._let_see(client, presence))
        client.add_event_handler("disconnected", lambda _: end(Unavailable("xmpp.ended")))
        no = Rejected("xmpp.not_let_in")
        client.add_event_handler("failed_all_auth", lambda _: end(no))
        client.add_event_handler("connection_failed", lambda _: end(Unavailable("xmpp.unreachable")))
        return client

    async def _begin(self, client: slixmpp.ClientXMPP, sink: Sink) -> None:
        self._client = client
        rooms: Any = client.plugin["xep_0045"]
        for room in sorted(self._rooms):
            try:
                await rooms.join_muc_wait(
                    slixmpp.JID(room), self._settings.nick, maxstanzas=0, timeout=self._settings.request_seconds
                )
            except (slixmpp.exceptions.PresenceError, TimeoutError):
                await sink.report(self.name, Sentence("xmpp.room_refused", room=room))
        self._ready = True
        client.send_presence()
        await self._ping(client)

    async def _keep_alive(self, client: slixmpp.ClientXMPP) -> None:
        while True:
            await self._clock.sleep(self._settings.ping_seconds)
            await self._ping(client)

    def _let_see(self, client: slixmpp.ClientXMPP, presence: slixmpp.Presence) -> None:
        """Let people on the lists see that the bot is there."""
        if presence["from"].bare in self._settings.people:
            client.send_presence_subscription(presence["from"].bare, ptype="subscribed")

    def _note_complaint(self, message: slixmpp.Message) -> None:
        """Note that a message was not taken: the one being sent, or an earlier one."""
        number, problem = message["id"], f"XMPP does not take the message ({message['error']['condition']})"
        error = (Unavailable if message["error"]["type"] in _PASSES else Rejected)(problem)
        if number == self._sent[0]:
            self._sent = (number, error)
        elif number.startswith(_OURS) and not self._complaints.full():
            self._complaints.put_nowait((number[: len(_OURS) + _DIGITS], error))

    async def _take_back(self, sink: Sink) -> None:
        """Take back messages that counted as sent before their complaint came, once that is on disk."""
        while isinstance(sink, TakesBack):
            number, error = await self._complaints.get()
            for pause in _RECORDED_WITHIN:
                await self._clock.sleep(pause)
                with suppress(StoreError):
                    if await sink.take_back(self.name, number, error):
                        break
        await asyncio.Event().wait()

    def _parse(self, client: slixmpp.ClientXMPP, message: slixmpp.Message) -> Inbound | None:
        """Parse a message for the bot; None for one that is not."""
        sender, text, room = message["from"], str(message["body"]), message["type"] == "groupchat"
        stamp = _find_stamp(message)
        if not text or message["type"] not in ("chat", "normal", "groupchat") or sender.bare == client.boundjid.bare:
            return None
        user, name = sender.bare, sender.user
        if room and sender.bare not in self._rooms:
            return None
        if room:
            named, text = strip_name(text, (self._settings.nick,))
            if not named or stamp or sender.resource == self._settings.nick:
                return None
            rooms: Any = client.plugin["xep_0045"]
            known = rooms.get_jid_property(slixmpp.JID(sender.bare), sender.resource, "jid")
            user, name = (slixmpp.JID(known).bare if known else sender.full), sender.resource
        elif sender.bare in self._rooms:
            return None  # whispered in a room: there nobody is certainly who they seem
        edited = str(message["replace"]["id"])
        archived = _find_archive_id(message, sender.bare if room else client.boundjid.bare)
        words = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
        mark = archived or (f"{stamp} {words}" if stamp else f"{self._run_id}-{next(self._count)}")
        return Inbound(
            channel=self.name,
            external_id=f"{mark} {message['id'][:_LONGEST_ID]} {sender}"[:_LONGEST_EXTERNAL_ID],
            chat=sender.bare,
            user=str(user),
            text=text,
            sent_at=read_time(stamp, self._clock),
            user_name=str(name),
            private=not room,
            kind="edit" if edited else "message",
            target=edited,
            platform_id=edited or str(message["id"]),
            may_repeat=bool(stamp) and not archived,
        )


def _find_stamp(message: slixmpp.Message) -> str:
    """Return since when a server has kept a message; "" for one that it brings at once.

    Prosody puts another delay (XEP-0203) behind the first each time that it could not bring it.
    """
    return min((each.get("stamp", "") for each in message.xml.iterfind("{urn:xmpp:delay}delay")), default="")


def _find_archive_id(message: slixmpp.Message, archive: str) -> str:
    """Return the id under which a server keeps a message (XEP-0359); "" where it gives none.

    That of the message itself is the sender's, whose program may begin anew with each session (RFC 6120, 8.1.3).
    """
    ids = message.xml.iterfind("{urn:xmpp:sid:0}stanza-id")
    return next((each.get("id", "")[:_LONGEST_ID] for each in ids if each.get("by") == archive), "")


async def _await(future: asyncio.Future[None]) -> None:
    await asyncio.shield(future)
