"""Call the Bot API by python-telegram-bot, with deadlines, RemoteErrors, and a token that no log ever sees."""

import asyncio
import json
import logging
import os
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any, Final, Self

import httpx
from telegram import Bot, BotCommand, BotCommandScope
from telegram import error as api
from telegram.constants import ChatAction
from telegram.request import HTTPXRequest

from kenobot.channels.telegram.callbacks import FIELD as PRESS_FIELD
from kenobot.channels.telegram.reactions import FIELD as REACTION_FIELD
from kenobot.channels.telegram.sending import Address, MessageSender, Occasion, topic
from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.channels.telegram.updates import EDITED, BotUser
from kenobot.channels.telegram.webhook import WebhookInfo
from kenobot.core.redaction import Redactor
from kenobot.ports.errors import RateLimited, Rejected, Unavailable
from kenobot.ports.messages import MessagePart

logger = logging.getLogger(__name__)

TOKEN_REFUSED: Final = "telegram.token_refused"  # noqa: S105
# Bot.getUpdates exists and would parse the whole batch at once; this spelling asks for the raw one without a warning.
ALLOWED_UPDATES: Final = ("message", EDITED, "my_chat_member", PRESS_FIELD, REACTION_FIELD)
_RAW_GET_UPDATES: Final = "getUpdates_"
BANNED: Final = "telegram.banned"
_LONGEST_PAUSE: Final = 86_400.0  # seconds
_LONGEST_ERROR: Final = 100_000  # bytes


class TokenRefused(Rejected):
    """Telegram does not know this bot token."""


class PollingConflict(Unavailable):
    """Another program reads this bot's messages with the same token."""


class WebhookInTheWay(Rejected):
    """Telegram posts the updates to a webhook, so they cannot be polled."""


# Once a process: it takes longer than a request, and a megabyte.
_load_certificates = lru_cache(maxsize=1)(httpx.create_ssl_context)


class TelegramClient:
    """The Bot API methods that the channel needs.

    Connections open with the first `async with` and close with the last, so a send that outlives the poll loop still
    goes through. Every method has a deadline and raises RateLimited, Unavailable or Rejected.
    """

    def __init__(self, settings: TelegramSettings, monotonic: Callable[[], float]) -> None:
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
        certificates = self._certificates = _load_certificates()
        # A long poll holds its connection, so it has a pool of its own and never keeps a reply waiting.
        self._requests = (
            _Request(1, self._poll_seconds + self._deadline, certificates),
            _Request(16, self._deadline, certificates),
        )
        self._bot = Bot(
            token,
            base_url=settings.base_url,
            base_file_url=f"{settings.base_url.removesuffix('bot')}file/bot",
            get_updates_request=self._requests[0],
            request=self._requests[1],
        )
        self._downloads: httpx.AsyncClient | None = None
        # bounded: groups that became supergroups; start
        self._moves: dict[str, str] = {}
        self._sender = MessageSender(self._bot, monotonic, self.follow, settings)
        self._users = 0
        self._turning = asyncio.Lock()  # opening and closing take steps, which do not overlap

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

    async def __aexit__(self, *_exception: object) -> None:
        self._users -= 1
        async with self._turning:
            if self._users == 0:
                for request in self._requests:
                    await request.shutdown()
                if self._downloads is not None:
                    await self._downloads.aclose()
                    self._downloads = None

    async def get_me(self) -> BotUser:
        async with self._call(own=True):
            user = await self._bot.get_me()
            if not isinstance(user.id, int) or not isinstance(user.username, str | None):
                raise TypeError("a user whose fields have the wrong kind")
        return BotUser(user.id, user.username or "")

    async def get_updates(self, offset: int | None) -> Sequence[object]:
        """Fetch raw updates from `offset` on and confirm earlier ones; waits up to `poll_seconds` for the first."""
        arguments: dict[str, object] = {
            "timeout": self._poll_seconds,
            "allowed_updates": list(ALLOWED_UPDATES),
        }
        if offset is not None:
            arguments["offset"] = offset
        async with self._call(wait=self._poll_seconds, own=True):
            if self._requests[0].is_busy:
                # A poll that was given up would keep the only connection from this one.
                await self._requests[0].start_anew()
            answer: object = await self._bot.do_api_request(_RAW_GET_UPDATES, arguments)
        if not isinstance(answer, list):
            raise Unavailable("telegram.no_updates")
        return answer

    @property
    def server_time(self) -> datetime | None:
        """The time of Telegram's clock at the latest answer to `get_updates`; None when it told none."""
        return self._requests[0].server_time

    def follow(self, former: str, current: str) -> None:
        """Send to a group under its new id from now on."""
        self._moves = {**self._moves, former: current}

    def current_id(self, chat: str) -> str:
        """Return the newest id of a chat that is known."""
        for _ in self._moves:
            chat = self._moves.get(chat, chat)
        return chat

    async def send(self, chat: str, part: MessagePart, thread: str = "", replaces: str = "", reply_to: str = "") -> str:
        """Send `part` and return its message id; in a lesser form where Telegram refuses the fullest.

        replaces: a message that `part` takes the place of; where that is gone, or cannot be edited, a new one is sent.
        reply_to: the message that it answers, if it is still there.
        thread: a forum topic. Where that is closed or gone, the part goes to the group itself and says so.

        A group that has become a supergroup has a new id, to which the part goes then. A refused token is Unavailable:
        the part waits until the owner has mended it.
        """
        try:
            async with self._call():
                return await self._sender.send(Address(self.current_id(chat), thread, replaces, reply_to), part)
        except TokenRefused as error:
            raise Unavailable(str(error)) from None

    async def send_to_one(
        self, chat: str, reader: str, part: MessagePart, thread: str, replaces: str, occasion: Occasion | None
    ) -> str:
        """Send `part` so that `reader` alone sees it in a group; raises Rejected where Telegram does not let the bot.

        Raises ShownToAll where everybody saw it, because the server is too old.
        """
        try:
            async with self._call():
                return await self._sender.send(
                    Address(self.current_id(chat), thread, replaces, reader=reader, occasion=occasion), part
                )
        except TokenRefused as error:
            raise Unavailable(str(error)) from None

    async def knows_ephemeral(self, chat: str, user: str) -> bool:
        """Return whether the server knows messages that one person of a group alone sees."""
        async with self._call():
            return await self._sender.knows_ephemeral(self.current_id(chat), user)

    async def delete(self, chat: str, message: str) -> None:
        """Take a message of the bot's away."""
        async with self._call():
            await self._bot.delete_message(self.current_id(chat), int(message))

    async def edit(self, chat: str, message: str, part: MessagePart, thread: str = "") -> None:
        """Put `part` into a message, and nowhere else: where that cannot be edited, Telegram's refusal is raised."""
        async with self._call():
            await self._sender.edit(Address(self.current_id(chat), thread, message), part)

    async def draft(self, chat: str, number: int, part: MessagePart, thread: str = "") -> None:
        """Show `part` in a private chat as what there is of a message. number: the same for all of it, not 0."""
        async with self._call():
            await self._sender.draft(Address(chat, thread), number, part)

    async def fetch(self, file_id: str) -> AsyncIterator[bytes]:
        """Yield a file in pieces, each of them within the deadline. Telegram hands over 20 MB at most."""
        async with self._call():
            address = (await self._bot.get_file(file_id)).file_path or ""
        if not address.startswith(("http://", "https://")):
            raise Rejected("telegram.local_server")
        async with self:
            try:
                response = await self._files.send(self._files.build_request("GET", address), stream=True)
                async with aclosing(response):
                    if response.status_code != 200:
                        is_final = response.status_code < 500 and _parse(await _read_start(response)) is not None
                        kind = Rejected if is_final else Unavailable
                        raise kind(f"Telegram did not hand over a file ({response.status_code}): send it again")
                    async for chunk in response.aiter_bytes():
                        yield chunk
            except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
                raise Unavailable("telegram.download_broke", kind=type(error).__name__) from None

    @property
    def _files(self) -> httpx.AsyncClient:
        """The client of downloads, opened with the first one."""
        if self._downloads is None:
            self._downloads = httpx.AsyncClient(timeout=self._deadline, verify=self._certificates)
        return self._downloads

    async def typing(self, chat: str, thread: str = "") -> None:
        async with self._call():
            await self._bot.send_chat_action(self.current_id(chat), ChatAction.TYPING, topic(thread))

    async def answer_press(self, query: str, text: str = "") -> None:
        """End the waiting that Telegram shows on a pressed button. text: shown for a moment."""
        async with self._call():
            await self._bot.answer_callback_query(query, text or None)

    async def set_commands(self, scope: BotCommandScope, language: str, commands: Sequence[BotCommand]) -> None:
        """Put the menu of commands of a scope and language in place of the one there."""
        async with self._call():
            await self._bot.set_my_commands(commands, scope, language_code=language or None)

    async def set_webhook(self, url: str, secret: str) -> None:
        """Ask Telegram to post updates to `url`, with `secret` in a header; those that wait are kept."""
        async with self._call(own=True):
            await self._bot.set_webhook(url, allowed_updates=list(ALLOWED_UPDATES), secret_token=secret)

    async def delete_webhook(self) -> None:
        """Ask Telegram to keep updates for polls again; those that wait are kept."""
        async with self._call(own=True):
            await self._bot.delete_webhook()

    async def load_webhook_info(self) -> WebhookInfo:
        async with self._call(own=True):
            info = await self._bot.get_webhook_info()
            failed = int(info.last_error_date.timestamp()) if info.last_error_date else 0
        return WebhookInfo(info.url, failed, self._redact(info.last_error_message or ""))

    @asynccontextmanager
    async def _call(self, wait: float = 0, *, own: bool = False) -> AsyncIterator[None]:
        """Set a call's deadline and translate the library's errors, never chained: they may quote the token.

        own: the call is about the bot itself, not about a chat.
        """
        try:
            async with self, asyncio.timeout(self._deadline + wait):
                yield
        except api.Forbidden as error:
            raise Rejected(BANNED) if own and not _not_json(error) else self._translate_error(error) from None
        except api.TelegramError as error:
            raise self._translate_error(error) from None
        except TimeoutError:
            raise Unavailable("telegram.silent") from None
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            logger.debug("unexpected form of Telegram's answer: %s", type(error).__name__)
            raise Unavailable("telegram.not_understood") from None

    def _translate_error(self, error: api.TelegramError) -> RateLimited | Unavailable | Rejected:
        reason = self._redact(str(error)).strip(". ")[:200]
        if _not_json(error):
            return Unavailable("telegram.not_telegram")
        match error:
            case api.RetryAfter():
                return RateLimited("telegram.pause", _seconds(error))
            case api.InvalidToken() | api.EndPointNotFound():
                return TokenRefused(TOKEN_REFUSED)
            case api.Conflict() if "webhook" in reason.lower():
                return WebhookInTheWay("telegram.webhook_in_the_way")
            case api.Conflict():
                return PollingConflict("telegram.contested")
            case api.ChatMigrated():
                return Rejected("telegram.group_moved_twice", newest=error.new_chat_id)
            case api.Forbidden():
                return Rejected("telegram.may_not_write", reason=reason)
            case api.BadRequest():
                return Rejected("telegram.refused", reason=reason)
            case api.NetworkError():
                return Unavailable("telegram.unreachable", reason=reason)
            case _:
                return Unavailable("telegram.failed", reason=reason)


class _NotJson(api.TelegramError):
    """The body of an answer is not one of the Bot API's, such as the error page of a proxy."""


class _Request(HTTPXRequest):
    """Requests that run to their end, or twice `seconds`, also when their caller is cancelled.

    httpcore keeps the connection of a request that is cancelled in the moment of its answer as busy for ever, so that
    typing notices that end early would in time leave none for replies.
    """

    def __init__(self, connections: int, seconds: float, certificates: ssl.SSLContext) -> None:
        super().__init__(
            connection_pool_size=connections,
            read_timeout=seconds,
            write_timeout=seconds,
            connect_timeout=seconds,
            pool_timeout=seconds,
            httpx_kwargs={"verify": certificates, "event_hooks": {"response": [self._note_time]}},
        )
        self.server_time: datetime | None = None
        self._longest = 2 * seconds
        self._running: set[asyncio.Task[tuple[int, bytes]]] = set()  # bounded: the pool's connections; start

    async def do_request(self, *arguments: Any, **options: Any) -> tuple[int, bytes]:
        task = asyncio.create_task(self._do_request(*arguments, **options))
        self._running.add(task)
        task.add_done_callback(self._is_done)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if task.cancelled() and caller is not None and not caller.cancelling():
                raise api.NetworkError("the connection was closed") from None  # by `shutdown`: the caller goes on
            raise

    @property
    def is_busy(self) -> bool:
        """Return whether a request is running, be it one whose caller is gone."""
        return bool(self._running)

    async def _note_time(self, response: httpx.Response) -> None:
        try:
            moment = parsedate_to_datetime(response.headers["date"])
        except (LookupError, ValueError):
            self.server_time = None
        else:
            self.server_time = moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    async def start_anew(self) -> None:
        """Cancel what is running and open new connections."""
        await self.shutdown()
        await self.initialize()

    async def _do_request(self, *arguments: Any, **options: Any) -> tuple[int, bytes]:
        try:
            async with asyncio.timeout(self._longest):
                return await super().do_request(*arguments, **options)
        except TimeoutError:
            raise api.TimedOut from None

    def _is_done(self, task: asyncio.Task[tuple[int, bytes]]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, even when its caller is gone

    async def shutdown(self) -> None:
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(self._running)
        await super().shutdown()

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, object]:
        """Parse an answer without logging its body, as the library does: an error page may quote the token."""
        answer = _parse(payload)
        if answer is None:
            raise _NotJson("not an answer of the Bot API")
        return answer


async def _read_start(response: httpx.Response) -> bytes:
    """Read an error answer, no more of it than one of the Bot API's has."""
    start = b""
    async for chunk in response.aiter_bytes():
        start += chunk
        if len(start) > _LONGEST_ERROR:
            break
    return start


def _parse(payload: bytes) -> dict[str, object] | None:
    """Parse an answer of the Bot API, each of which says whether it is `ok`; None for anything else."""
    try:
        answer: object = json.loads(payload.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) and "ok" in answer else None


def _not_json(error: BaseException | None) -> bool:
    return isinstance(error, _NotJson) or (error is not None and _not_json(error.__cause__))


def _seconds(error: api.RetryAfter) -> float | None:
    """Parse the pause that Telegram asks for, a day at most; None when it is no time to wait."""
    pause: object = error.retry_after
    seconds = pause.total_seconds() if isinstance(pause, timedelta) else pause
    return min(float(seconds), _LONGEST_PAUSE) if isinstance(seconds, int | float) and seconds > 0 else None
