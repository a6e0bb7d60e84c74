"""Set and check the webhook of a Telegram bot, and recognise Telegram's requests by their secret."""

import hmac
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Protocol, TypeVar

from kenobot.ports.clock import Clock
from kenobot.ports.frozen import dataclass
from kenobot.ports.sentences import Sentence

logger = logging.getLogger(__name__)

PATH: Final = "/hooks/telegram"
"""Path of the requests on the bot's HTTP server."""
_HEADER: Final = "x-telegram-bot-api-secret-token"
_CHECK_SECONDS: Final = 300.0
_PURPOSE: Final = b"kenobot webhook"

T = TypeVar("T")
Report = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class WebhookInfo:
    """A webhook as Telegram knows it. url: "" for none. failed_at: Unix time of the last failure; 0 for none."""

    url: str
    failed_at: int = 0
    problem: str = ""


class Ask(Protocol):
    """Makes a request until it is answered. Raises Rejected."""

    async def __call__(self, request: Callable[[], Awaitable[T]], /) -> T: ...


class WebhookClient(Protocol):
    """The methods of the Bot API that a webhook needs. Each raises RemoteError."""

    async def set_webhook(self, url: str, secret: str) -> None: ...

    async def delete_webhook(self) -> None: ...

    async def load_webhook_info(self) -> WebhookInfo: ...


class Webhook:
    """The webhook of one bot. base: where Telegram reaches the bot's HTTP server; "" where the bot polls.

    path: of the requests there.
    """

    def __init__(self, client: WebhookClient, clock: Clock, base: str, token: str, path: str = PATH) -> None:
        self._client = client
        self._clock = clock
        self._url = base.rstrip("/") + path if base else ""
        # Of the token, so that there is no second secret to keep.
        self._secret = hmac.new(token.encode(), _PURPOSE, "sha256").hexdigest()

    @property
    def is_wanted(self) -> bool:
        return bool(self._url)

    def is_genuine(self, headers: Mapping[str, str]) -> bool:
        """Return whether a request is Telegram's: it brings the secret that the webhook was set with."""
        return hmac.compare_digest(headers.get(_HEADER, "").encode("utf-8", "replace"), self._secret.encode())

    async def set(self) -> None:
        """Set the webhook; Telegram posts waiting updates too. Raises RemoteError."""
        await self._client.set_webhook(self._url, self._secret)
        logger.info("Telegram posts updates to %s", self._url)

    async def watch(self, report: Report, ask: Ask) -> None:
        """Check every few minutes, until cancelled, that the webhook stands and Telegram reaches it.

        Raises Rejected where Telegram refuses to set it again.
        """
        while True:
            await self._clock.sleep(_CHECK_SECONDS)
            info = await ask(self._client.load_webhook_info)
            if info.url != self._url:
                await ask(self.set)
                await report(Sentence("telegram.webhook_taken"))
            elif info.failed_at > self._clock.now().timestamp() - _CHECK_SECONDS:
                await report(Sentence("telegram.webhook_unreachable", url=self._url, reason=info.problem[:200]))

    async def remove_own(self) -> bool:
        """Remove a webhook that a KenoBot set, for polling; False where there is another program's.

        What waits at Telegram stays there for the polls. Raises RemoteError.
        """
        info = await self._client.load_webhook_info()
        if info.url and not info.url.endswith(PATH):
            return False
        await self._client.delete_webhook()
        logger.info("Telegram's webhook is removed: this bot polls")
        return True
