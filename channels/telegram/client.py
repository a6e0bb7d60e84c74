"""The Telegram client: python-telegram-bot with deadlines, our own errors, and a token that no log ever sees."""

import asyncio
import json
import logging
import os
import ssl
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from types import TracebackType
from typing import Any, Final, Self

import httpx
from telegram import Bot, LinkPreviewOptions, MessageEntity
from telegram.constants import ChatAction
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    EndPointNotFound,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)
from telegram.request import HTTPXRequest

from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.channels.telegram.updates import BotUser
from kenobot.core.redaction import Redactor
from kenobot.ports.errors import RateLimited, Rejected, Unavailable
from kenobot.ports.messages import MessagePart, TextEntity

logger = logging.getLogger(__name__)

TOKEN_REFUSED: Final = "The bot token was refused by Telegram: get a new one from @BotFather and run `kenobot setup`"  # noqa: S105
# Telegram formats no more than this in one message.
_MOST_ENTITIES: Final = 100
# Bot.getUpdates exists and would parse the whole batch at once; this spelling asks for the raw one without a warning.
_RAW_GET_UPDATES: Final = "getUpdates_"
_LONGEST_PAUSE: Final = 86_400.0  # seconds


class TokenRefused(Rejected):
    """Telegram does not know this bot token."""


class PollingConflict(Unavailable):
    """Another program reads this bot's messages with the same token."""


class TelegramClient:
    """The Bot API methods that the channel needs.

    Connections open with the first `async with` and close with the last, so a send that outlives the poll loop still
    goes through. Every method has a deadline and raises RateLimited, Unavailable or Rejected.
    """

    def __init__(self, settings: TelegramSettings) -> None:
        token = settings.token.get_secret_value()
        self._redact = Redactor([token])
        self._poll_seconds = settings.poll_seconds
        self._deadline = settings.request_seconds
        # The library warns at each RetryAfter until one opts in to durations as timedelta.
        os.environ.setdefault("PTB_TIMEDELTA", "true")
        # These write the address of each request, and the token is part of it.
        for name in ("httpx", "httpcore", "telegram"):
            chatty = logging.getLogger(name)
            chatty.setLevel(max(chatty.level, logging.WARNING))
        # Read once: it takes longer than a request, and connections may open and close often.
        certificates = httpx.create_ssl_context()
        # A long poll holds its connection, so it has a pool of its own and never keeps a reply waiting.
        self._requests = (
            _request(1, self._poll_seconds + self._deadline, certificates),
            _request(16, self._deadline, certificates),
        )
        self._bot = Bot(
            token, base_url=settings.base_url, get_updates_request=self._requests[0], request=self._requests[1]
        )
        self._preview: LinkPreviewOptions | None = LinkPreviewOptions(is_disabled=True)
        self._users = 0
        self._turning = asyncio.Lock()  # opening and closing take steps: who comes in meanwhile waits for their end

    async def __aenter__(self) -> Self:
        self._users += 1
        try:
            async with self._turning:
                for request in self._requests:
                    await request.initialize()
        except BaseException:
            self._users -= 1
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._users -= 1
        async with self._turning:
            if self._users == 0:
                for request in self._requests:
                    await request.shutdown()

    async def get_me(self) -> BotUser:
        async with self._call():
            user = await self._bot.get_me()
            if not isinstance(user.id, int) or not isinstance(user.username, str | None):
                raise TypeError("a user whose fields have the wrong kind")
        return BotUser(user.id, user.username or "")

    async def get_updates(self, offset: int | None) -> Sequence[object]:
        """Raw updates from `offset` on, all earlier ones confirmed; waits up to `poll_seconds` for the first."""
        arguments: dict[str, object] = {"timeout": self._poll_seconds, "allowed_updates": ["message"]}
        if offset is not None:
            arguments["offset"] = offset
        async with self._call(wait=self._poll_seconds):
            if self._requests[0].is_busy:
                # A poll that nobody waits for any more would keep the only connection from this one.
                await self._requests[0].start_anew()
            answer: object = await self._bot.do_api_request(_RAW_GET_UPDATES, arguments)
        if not isinstance(answer, list):
            raise Unavailable("Telegram's answer was not a list of updates; KenoBot asks again")
        return answer

    async def send(self, chat: str, part: MessagePart) -> str:
        """Send `part` and return its message id. If Telegram dislikes the formatting, the plain text goes instead.

        A group that has become a supergroup has a new id: then it goes there.
        """
        spans, moved = part.entities[:_MOST_ENTITIES], False
        async with self._sending():
            while True:
                preview = self._preview
                try:
                    return await self._send(chat, part.text, spans, preview)
                except ChatMigrated as error:
                    if moved:
                        raise
                    moved, chat = True, str(error.new_chat_id)
                    logger.warning(
                        "a group is a supergroup now: where its old id stands in the settings, write %s", chat
                    )
                except BadRequest as error:
                    complaint = error.message.lower()
                    if spans and "entit" in complaint:
                        logger.warning("Telegram refused the formatting of a reply; it goes out as plain text")
                        spans = ()
                    elif preview is not None and "link_preview_options" in complaint:
                        # A Bot API server of somebody's own may be older than this parameter.
                        self._preview = None
                    else:
                        raise

    async def _send(self, chat: str, text: str, spans: Sequence[TextEntity], preview: LinkPreviewOptions | None) -> str:
        entities = [_entity(span) for span in spans] or None
        message = await self._bot.send_message(chat, text, entities=entities, link_preview_options=preview)
        return str(message.message_id)

    async def typing(self, chat: str) -> None:
        async with self._call():
            await self._bot.send_chat_action(chat, ChatAction.TYPING)

    @asynccontextmanager
    async def _call(self, wait: float = 0) -> AsyncIterator[None]:
        with self._our_errors():
            async with self, asyncio.timeout(self._deadline + wait):
                yield

    @asynccontextmanager
    async def _sending(self) -> AsyncIterator[None]:
        """A call with an answer in it, which had better wait until the owner has mended a refused token."""
        try:
            async with self._call():
                yield
        except TokenRefused as error:
            raise Unavailable(str(error)) from None

    @contextmanager
    def _our_errors(self) -> Iterator[None]:
        """Raise ours for the library's. Never chained: theirs may quote the address, and so the token."""
        try:
            yield
        except TelegramError as error:
            raise self._translated(error) from None
        except TimeoutError:
            raise Unavailable("Telegram did not answer in time; KenoBot tries again") from None
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            logger.debug("unexpected form of Telegram's answer: %s", type(error).__name__)
            raise Unavailable("Telegram's answer could not be understood; KenoBot tries again") from None

    def _translated(self, error: TelegramError) -> RateLimited | Unavailable | Rejected:
        reason = self._redact(str(error)).strip(". ")[:200]
        if _not_json(error):
            return Unavailable("The server at Telegram's address did not speak the Bot API; KenoBot tries again")
        match error:
            case RetryAfter():
                return RateLimited("Telegram asks for a pause; KenoBot waits and tries again", _seconds(error))
            case InvalidToken() | EndPointNotFound():
                return TokenRefused(TOKEN_REFUSED)
            case Conflict() if "webhook" in reason.lower():
                return Rejected(
                    "Telegram gives this bot's messages to a webhook: "
                    "remove it with the Bot API method deleteWebhook and start KenoBot again"
                )
            case Conflict():
                return PollingConflict(
                    "Another program reads this bot's messages with the same token: stop it or get a new token"
                )
            case ChatMigrated():
                return Rejected(
                    f"This group has become a supergroup, and that one another: its newest id is {error.new_chat_id}"
                )
            case Forbidden():
                return Rejected(f"Telegram does not let the bot write there ({reason}): unblock it or invite it again")
            case BadRequest():
                return Rejected(f"Telegram refused the request ({reason}): check the chat and the settings")
            case NetworkError():
                return Unavailable(f"Telegram cannot be reached ({reason}); KenoBot tries again")
            case _:
                return Unavailable(f"Telegram failed ({reason}); KenoBot tries again")


class _NotJson(TelegramError):
    """The body of an answer is not a JSON object, such as the error page of a proxy."""


class _Request(HTTPXRequest):
    """The library's, with requests that are never broken off.

    httpcore takes the connection of a request that is cancelled in the moment of its answer for busy, for ever: after a
    few evenings of typing notices that end early, none was left for replies. So a request whose caller has gone goes
    on by itself, for `longest` seconds at most.
    """

    longest = 60.0
    _going: set[asyncio.Task[tuple[int, bytes]]] | None = None

    async def do_request(self, *arguments: Any, **options: Any) -> tuple[int, bytes]:
        task = asyncio.create_task(self._do_request(*arguments, **options))
        self._going = going = self._going or set()
        going.add(task)
        task.add_done_callback(self._is_done)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if task.cancelled() and caller is not None and not caller.cancelling():
                raise NetworkError("the connection was closed") from None  # by us: nobody wants the caller to end
            raise

    @property
    def is_busy(self) -> bool:
        """Whether a request is going on, be it one whose caller has gone."""
        return bool(self._going)

    async def start_anew(self) -> None:
        """Break off what is going on, and with it the connections that were left in whatever state."""
        await self.shutdown()
        await self.initialize()

    async def _do_request(self, *arguments: Any, **options: Any) -> tuple[int, bytes]:
        try:
            async with asyncio.timeout(self.longest):
                return await super().do_request(*arguments, **options)
        except TimeoutError:
            raise TimedOut from None

    def _is_done(self, task: asyncio.Task[tuple[int, bytes]]) -> None:
        if self._going is not None:
            self._going.discard(task)
        if not task.cancelled():
            task.exception()  # seen, even if nobody waits any more

    async def shutdown(self) -> None:
        for task in self._going or ():
            task.cancel()
        if self._going:
            await asyncio.wait(self._going)
        await super().shutdown()

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, object]:
        """As the library does, but without writing the whole body into the log: an error page may quote the token."""
        try:
            answer: object = json.loads(payload.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise _NotJson("not a JSON object")
        return answer


def _request(connections: int, seconds: float, certificates: ssl.SSLContext) -> _Request:
    request = _Request(
        connection_pool_size=connections,
        read_timeout=seconds,
        write_timeout=seconds,
        connect_timeout=seconds,
        pool_timeout=seconds,
        httpx_kwargs={"verify": certificates},
    )
    request.longest = 2 * seconds
    return request


def _not_json(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, _NotJson):
            return True
        error = error.__cause__
    return False


def _seconds(error: RetryAfter) -> float | None:
    """How long Telegram asks to wait, a day at most; None when what it says is no time to wait."""
    pause: object = error.retry_after
    seconds = pause.total_seconds() if isinstance(pause, timedelta) else pause
    return min(float(seconds), _LONGEST_PAUSE) if isinstance(seconds, int | float) and seconds > 0 else None


def _entity(span: TextEntity) -> MessageEntity:
    return MessageEntity(
        type=span.kind,
        offset=span.offset,
        length=span.length,
        url=span.detail if span.kind == "text_link" else None,
        language=(span.detail or None) if span.kind == "pre" else None,
    )
