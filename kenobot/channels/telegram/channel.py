"""Poll Telegram for updates, confirm them once they are stored, and send replies."""

import asyncio
import errno
import hashlib
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, Protocol, TypeVar

from kenobot.channels.telegram.albums import find_confirmable, join_albums, open_albums
from kenobot.channels.telegram.callbacks import FIELD as PRESS_FIELD
from kenobot.channels.telegram.callbacks import ButtonPress, parse_press
from kenobot.channels.telegram.client import PollingConflict, TelegramClient, WebhookInTheWay
from kenobot.channels.telegram.clock_offset import clock_ahead, clock_problem, correct_sent_at
from kenobot.channels.telegram.ephemeral import EphemeralMessages
from kenobot.channels.telegram.markdown import parse_markdown
from kenobot.channels.telegram.media import RECEIVED_KINDS
from kenobot.channels.telegram.membership import membership_problem
from kenobot.channels.telegram.menus import menu_commands, menu_scope
from kenobot.channels.telegram.migration import chat_move
from kenobot.channels.telegram.reactions import FIELD as REACTION_FIELD
from kenobot.channels.telegram.reactions import parse_reaction
from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.channels.telegram.split import MAX_UNITS, split_message
from kenobot.channels.telegram.unfinished import UnfinishedReplies
from kenobot.channels.telegram.updates import (
    CHANNEL,
    BotUser,
    EphemeralId,
    IgnoredUpdate,
    MalformedUpdate,
    list_undecided_fields,
    message_body,
    parse_update,
)
from kenobot.channels.telegram.webhook import Webhook
from kenobot.core import texts
from kenobot.core.i18n import guess_language
from kenobot.core.retry import Backoff
from kenobot.core.worker import TaskSet
from kenobot.ports.channel import Capabilities, CommandMenu, FollowsChats, HookAnswer, HookRequest, Sink
from kenobot.ports.clock import Clock
from kenobot.ports.errors import RateLimited, Rejected, RemoteError, StoreError, Unavailable
from kenobot.ports.messages import Attachment, MessagePart, Outbound

logger = logging.getLogger(__name__)

MAX_PAUSE_SECONDS: Final = 30.0  # seconds
_RETRY: Final = Backoff(1.0, MAX_PAUSE_SECONDS)
_NOTHING_TO_SEE: Final = MessagePart("…")
_MARGIN: Final = 10.0  # seconds that the client's own deadline gets before the channel counts as stalled
_MOST_NEW_FIELDS: Final = 50
_REPORT_EVERY: Final = 3600.0  # seconds
_MOST_REPORTS: Final = 20  # in that time
_ALBUM_PAUSE: Final = 0.5  # seconds in which the next item of an album comes
_SHORTAGES: Final = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.ENOSPC, errno.EIO)
T = TypeVar("T")


class UpdateSource(Protocol):
    """Hands a channel its raw updates: Telegram, or a host that took them in. Each method raises RemoteError."""

    @property
    def server_time(self) -> datetime | None:
        """Return the time of Telegram's clock at the latest answer; None when it told none."""
        ...

    async def get_me(self) -> BotUser:
        """Return the bot's own account."""
        ...

    async def get_updates(self, offset: int | None) -> Sequence[object]:
        """Return raw updates in their order, after some waiting for the first; those below `offset` are stored."""
        ...


class TelegramChannel:
    """A bot on Telegram.

    An update is confirmed, by asking for later ones, only after the sink has it on disk. One that cannot be understood
    goes to the dead letters and holds up no other.
    """

    name = CHANNEL

    def __init__(self, settings: TelegramSettings, clock: Clock, updates: UpdateSource | None = None) -> None:
        """Make a channel that is not running yet. updates: where they come from, if not from Telegram itself."""
        self._client = TelegramClient(settings, clock.monotonic)
        self._updates: UpdateSource = updates or self._client
        self._webhook = Webhook(self._client, clock, settings.webhook_url, settings.token.get_secret_value())
        self._me: BotUser | None = None
        self._fragment_seconds = settings.fragment_seconds
        self.account = settings.token.get_secret_value().partition(":")[0]
        self._clock = clock
        self._contested_pause = max(MAX_PAUSE_SECONDS, settings.poll_seconds + 1)
        self.stall_seconds = settings.poll_seconds + settings.request_seconds + _MARGIN
        self._asking = False
        self._answered_at: float | None = None
        self.failing_since: float | None = None
        self._reported: dict[str, float] = {}  # bounded: 20 problems an hour; turn
        self._ahead = timedelta()
        self._offset: int | None = None
        self._sink: Sink | None = None
        # bounded: 100 updates; test_updates_without_a_number_are_remembered_up_to_a_hundred
        self._unnumbered: set[str] = set()
        # bounded: 50 names; test_every_new_field_is_warned_of_once_and_a_flood_of_them_is_not
        self._new_fields: set[str] = set()
        self._unfinished = UnfinishedReplies(self._client, clock, self.render)
        self._ephemeral = EphemeralMessages(self._client, clock)
        self._answering = TaskSet("press")

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            longest=MAX_UNITS,
            receives=RECEIVED_KINDS,
            sends=frozenset({"document"}),
            edits=True,
            buttons=True,
            drafts=self._unfinished.has_drafts,
            previews=True,
            fragment_seconds=self._fragment_seconds,
            one_reader=True,
        )

    def fetch(self, attachment: Attachment) -> AsyncIterator[bytes]:
        """Yield a file in pieces. Raises RateLimited, Unavailable or Rejected."""
        return self._client.fetch(attachment.handle)

    @property
    def last_answer_at(self) -> float | None:
        """Return when Telegram last answered, good or bad; the present between requests, None before the first."""
        return self._answered_at if self._asking or self._answered_at is None else self._clock.monotonic()

    def render(self, text: str) -> Sequence[MessagePart]:
        """Cut a Markdown reply into messages. Telegram takes no blank ones, so such a reply becomes an ellipsis."""
        parts = split_message(*parse_markdown(text))
        return parts or ([_NOTHING_TO_SEE] if text else [])

    async def send(self, outbound: Outbound) -> str:
        """Send one part without link preview. Raises RateLimited, Unavailable (it may have arrived) or Rejected.

        One that concerns a single person of a group goes to that person alone where Telegram lets the bot. Where it
        does not, a secret one goes to the person's private chat, any other to the group. Where the person never opened
        that chat, the group reads how to, and the secret goes nowhere.
        """
        await self._unfinished.settle(outbound.chat, replaced=outbound.replaces != "")
        if outbound.chat.startswith("-"):
            self._unfinished.note(outbound.chat)
        before = self._client.current_id(outbound.chat)
        is_person = outbound.reader and not outbound.reader.startswith("-")  # no anonymous administrator of a group
        sent = await self._ephemeral.send(outbound) if is_person else None
        if sent is None and outbound.secret:
            sent = await self._send_in_private(outbound)
        elif sent is None:
            replaces = "" if EphemeralId.parse(outbound.replaces) is not None else outbound.replaces
            answered = outbound.reply_to if outbound.reply_to.isdecimal() else ""
            sent = await self._client.send(outbound.chat, outbound.part, outbound.thread, replaces, answered)
        if (now := self._client.current_id(outbound.chat)) != before and self._sink is not None:
            try:
                await self._follow(outbound.chat, now, self._sink)
            except StoreError as error:  # what was sent is sent; the next one to the old id tells again
                logger.warning("the new id of a group was not stored: %s", error)
        return sent

    async def _send_in_private(self, outbound: Outbound) -> str:
        """Send what its reader alone may see to their private chat, which has the number of their account.

        Its buttons belong to the group; the words give the same commands. Returns "": in the group the message's number
        is another's.
        """
        try:
            if outbound.reader.startswith("-"):
                raise Rejected("telegram.anonymous")
            await self._client.send(outbound.reader, replace(outbound.part, buttons=()))
        except Rejected as error:
            logger.warning("the private chat of an owner took no answer: %s", error)
            hint = texts.PRIVATE_FIRST(guess_language(outbound.part.text))
            await self._client.send(outbound.chat, MessagePart(hint), outbound.thread)
        return ""

    async def draft(self, chat: str, draft: str, text: str, thread: str = "") -> None:
        """Show the last message of what there is of a reply, in its turn; leave it out where too many wait for theirs.

        Telegram takes it away by itself: when a message comes, or after half a minute. Raises RemoteError, also where
        it lately refused one.
        """
        await self._unfinished.draft(chat, draft, text, thread)

    async def preview(self, chat: str, message: str, text: str, thread: str = "") -> None:
        """Show what there is of a reply in a message of a group; leave it out for a slower pace. Raises RemoteError."""
        await self._unfinished.preview(chat, message, text, thread)

    async def typing(self, chat: str, thread: str = "") -> None:
        """Show that an answer is on its way. Never raises."""
        try:
            await self._client.typing(chat, thread)
        except RemoteError as error:
            logger.debug("typing was not shown: %s", error)

    async def set_menu(self, menu: CommandMenu) -> None:
        """Set the menu behind the button of commands. Raises RemoteError."""
        await self._client.set_commands(menu_scope(menu), menu.language, menu_commands(menu))

    async def run(self, sink: Sink) -> None:
        """Poll, or have updates posted, until cancelled.

        Raises Rejected when Telegram refuses the token, or another program's webhook is in the way of polls.
        """
        self._offset, self._sink = None, sink
        try:
            async with self._client:
                me = await self._retry_until_answered(self._updates.get_me, sink)
                logger.info("listening on Telegram as @%s", me.username or me.id)
                await (self._be_posted(me, sink) if self._webhook.is_wanted else self._poll(me, sink))
        finally:
            self._me = None
            await self._answering.stop()

    @property
    def awaits_requests(self) -> bool:
        """Return whether Telegram is to post updates instead of being polled."""
        return self._webhook.is_wanted

    async def take_request(self, request: HookRequest) -> HookAnswer:
        """Store the update that Telegram posts, then confirm it."""
        if request.method != "POST" or not self._webhook.is_genuine(request.headers):
            return HookAnswer(403, "forbidden")
        if self._me is None or self._sink is None:
            return HookAnswer(503, "not now")
        try:
            raw: object = json.loads(request.body)
        except ValueError:
            return HookAnswer(400, "no update")
        failure = await self._take([raw], self._me, self._sink)
        return HookAnswer(503, "not stored") if failure is not None else HookAnswer(200)

    async def _be_posted(self, me: BotUser, sink: Sink) -> None:
        """Take updates from the bot's HTTP server until cancelled."""

        async def report(problem: str) -> None:
            await self._report("webhook", problem, sink)

        async def ask(request: Callable[[], Awaitable[T]]) -> T:
            return await self._retry_until_answered(request, sink)

        self._me = me
        await ask(self._webhook.set)
        await self._webhook.watch(report, ask)

    async def _poll(self, me: BotUser, sink: Sink) -> None:
        failures = 0
        while True:
            before = self._offset
            batch = await self._fetch_batch(sink)
            self._ahead = clock_ahead(self._clock.now(), self._updates.server_time)
            failure = await self._take(batch, me, sink)
            if batch and (problem := clock_problem(self._ahead)):  # the owner's chat may be new with this batch
                await self._report("clock", problem, sink)
            if failure is not None:
                logger.warning("messages cannot be stored, Telegram keeps them meanwhile: %s", failure)
            if failure is not None or (batch and self._offset == before):
                # The same updates would come again at once.
                await self._clock.sleep(_RETRY.pause(failures))
                failures += 1
            else:
                failures = 0
            if not batch:
                # All is confirmed. After a quiet week Telegram goes on from a random, perhaps lower, number.
                self._offset = None

    async def _fetch_batch(self, sink: Sink) -> Sequence[object]:
        """Ask for updates; again, without confirming them, while an album among them grows."""

        async def ask() -> Sequence[object]:
            return await self._retry_until_answered(lambda: self._updates.get_updates(self._offset), sink)

        batch, items = await ask(), 0
        while (found := open_albums(batch)) > items:
            items = found
            await self._clock.sleep(_ALBUM_PAUSE)
            batch = await ask()
        return batch

    async def _request(self, request: Callable[[], Awaitable[T]]) -> T:
        self._answered_at, self._asking = self.last_answer_at, True
        try:
            return await request()
        finally:
            self._asking, self._answered_at = False, self._clock.monotonic()

    async def _try_request(self, request: Callable[[], Awaitable[T]]) -> T:
        """Make a request, and note since when none was answered well."""
        try:
            answer = await self._request(request)
        except RemoteError:
            if self.failing_since is None:
                self.failing_since = self._clock.monotonic()
            raise
        self.failing_since = None
        return answer

    async def _retry_until_answered(self, request: Callable[[], Awaitable[T]], sink: Sink) -> T:
        """Retry a request until Telegram answers it. Raises Rejected."""
        failures = 0
        while True:
            try:
                answer = await self._try_request(request)
            except WebhookInTheWay:
                if not await self._webhook.remove_own():
                    raise
                pause = _RETRY.pause(failures)
                failures += 1
            except PollingConflict as error:
                pause = self._contested_pause
                logger.warning("%s; asking again in %g s", error, pause)
                await self._report("conflict", str(error), sink)
            except (RateLimited, Unavailable) as error:
                pause = error.retry_after or _RETRY.pause(failures)
                failures += 0 if error.retry_after else 1
                logger.log(logging.WARNING if failures <= 1 else logging.DEBUG, "%s; next try in %g s", error, pause)
            else:
                if failures:
                    logger.info("Telegram answers again")
                return answer
            await self._clock.sleep(pause)

    async def _take(self, batch: Sequence[object], me: BotUser, sink: Sink) -> StoreError | None:
        """Store a batch, chats side by side, each in order of its numbers; then move the offset past what is stored.

        Returns the error when some of it cannot be stored: then the offset stops short of the first such number.
        """
        updates = join_albums(batch)
        chats: dict[object, list[tuple[int, object]]] = {}
        for place, update in enumerate(updates):
            chats.setdefault(find_chat(update.raw) or place, []).append((update.numbers[0], update.raw))
        failures: list[tuple[int, StoreError]] = []

        async def take_chat(updates: Sequence[tuple[int, object]]) -> None:
            for number, raw in updates:
                try:
                    await self._take_one(None if number < 0 else number, raw, me, sink)
                except StoreError as error:
                    failures.append((number, error))
                    return

        for end in await asyncio.gather(*map(take_chat, chats.values()), return_exceptions=True):
            if end is not None:
                raise end
        first = find_confirmable(updates, min(number for number, _ in failures)) if failures else None
        numbers = (number for update in updates for number in update.numbers)
        stored = [number for number in numbers if number >= 0 and (first is None or number < first)]
        if stored:
            self._offset = max(stored) + 1
        return failures[0][1] if failures else None

    async def _take_one(self, number: int | None, raw: object, me: BotUser, sink: Sink) -> None:
        try:
            if (press := parse_press(raw, self._clock.now())) is not None:
                self._ephemeral.note_press(press.inbound, press.query)
                is_taken = await sink(press.inbound)
                self._answering.begin(self._answer_press(press, is_taken=is_taken))
                return
            match parse_reaction(raw) or parse_update(raw, me):
                case IgnoredUpdate(reason):
                    logger.debug("update %s: %s", number, reason)
                    if problem := membership_problem(raw):
                        self._ephemeral.forget_refusals()
                        await self._report(problem, problem, sink)
                    if (move := chat_move(raw)) is not None:
                        await self._follow(*move, sink)
                case inbound:
                    self._warn_of_new(list_undecided_fields(raw))
                    self._ephemeral.note_message(inbound, raw)
                    await sink(correct_sent_at(inbound, self._ahead, self._clock.now()))
        except StoreError:
            raise
        except MalformedUpdate as error:
            await self._set_aside(number, raw, str(error), sink)
        except Exception as error:
            if _is_shortage(error):
                raise StoreError("telegram.ran_out", reason=error) from error
            # Were this raised, the message would come back after each restart.
            logger.exception("update %s could not be taken in", number)
            await self._set_aside(number, raw, f"taking it in failed: {type(error).__name__}", sink)

    async def _answer_press(self, press: ButtonPress, *, is_taken: bool) -> None:
        """Tell Telegram that a press arrived; what comes of it is sent as any other answer. Never raises."""
        try:
            async with self._client:
                await self._client.answer_press(press.query, "" if is_taken else texts.PRESS_REFUSED(press.language))
        except RemoteError as error:
            logger.debug("a press of a button was not answered: %s", error)

    async def _follow(self, former: str, current: str, sink: Sink) -> None:
        """Follow a group that has become a supergroup."""
        self._client.follow(former, current)
        if isinstance(sink, FollowsChats):
            await sink.follow_chat(CHANNEL, former, current)

    def _warn_of_new(self, fields: Sequence[str]) -> None:
        """Log, once each, the fields that are the reason for which words count as somebody else's."""
        for field in set(fields[:_MOST_NEW_FIELDS]) - self._new_fields:
            if len(self._new_fields) < _MOST_NEW_FIELDS:
                self._new_fields.add(field)
                logger.warning(
                    "messages with the field %r, which is new, are read as forwarded and give no commands: "
                    "a newer version of KenoBot may know it",
                    field[:64],
                )

    async def _set_aside(self, number: int | None, raw: object, reason: str, sink: Sink) -> None:
        text = json.dumps(raw)
        external_id = str(number)
        if number is None:
            # What has no number cannot be confirmed by itself, so it may come again with every batch.
            external_id = f"unnumbered-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
            if external_id in self._unnumbered:
                return
        await sink.dead_letter(CHANNEL, external_id, text, reason)
        if number is None:
            self._unnumbered = {external_id, *list(self._unnumbered)[:99]}
        logger.warning("update %s was set aside: %s", external_id, reason)

    async def _report(self, kind: str, problem: str, sink: Sink) -> None:
        """Tell the owner, of each kind of problem at most once an hour."""
        now = self._clock.monotonic()
        if now - self._reported.get(kind, -_REPORT_EVERY) >= _REPORT_EVERY:
            recent = {known: at for known, at in self._reported.items() if now - at < _REPORT_EVERY}
            if len(recent) >= _MOST_REPORTS:
                return
            self._reported = recent | {kind: now}
            await sink.report(CHANNEL, problem)


def _is_shortage(error: Exception) -> bool:
    """Return whether the machine lacks something, so that the message may be taken in when it comes again."""
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _SHORTAGES)


def find_chat(raw: object) -> str:
    """Return the chat of a raw update, of whatever form; "" when it names none."""
    raw = raw.get(PRESS_FIELD, raw) if isinstance(raw, dict) else {}
    raw = raw.get(REACTION_FIELD) or message_body(raw)[1] if isinstance(raw, dict) else None
    for name in ("chat", "id"):
        raw = raw.get(name) if isinstance(raw, dict) else None
    return "" if raw is None else str(raw)
