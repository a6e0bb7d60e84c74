"""The Telegram channel: takes messages in, one confirmed step at a time, and sends replies out."""

import hashlib
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from kenobot.channels.telegram.allow import Allowlist
from kenobot.channels.telegram.client import Client, Contested
from kenobot.channels.telegram.markdown import parse
from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.channels.telegram.split import split
from kenobot.channels.telegram.updates import CHANNEL, Denied, Ignored, Malformed, Me, read, update_id
from kenobot.clock import Clock
from kenobot.errors import RateLimited, RemoteError, StoreError, Unavailable
from kenobot.ports import Outbound, Part, Sink

logger = logging.getLogger(__name__)

LONGEST_PAUSE: Final = 30.0  # seconds
_NOTHING_TO_SEE: Final = Part("…")
T = TypeVar("T")


class TelegramChannel:
    """A bot on Telegram.

    An update is confirmed, by asking for later ones, only after the sink has it on disk; what the sink has seen before
    is the sink's to recognise. One update that cannot be understood is set aside and holds up nobody.
    """

    def __init__(self, settings: TelegramSettings, clock: Clock) -> None:
        self._client = Client(settings)
        self._clock = clock
        self._allowlist = Allowlist.from_settings(settings)
        self._contested_pause = max(LONGEST_PAUSE, settings.poll_seconds + 1)
        self._offset: int | None = None
        self._unnumbered: set[str] = set()

    @property
    def name(self) -> str:
        return CHANNEL

    def render(self, text: str) -> Sequence[Part]:
        """Cut a Markdown reply into messages. Telegram takes no blank ones, so such a reply becomes an ellipsis."""
        parts = split(*parse(text))
        return parts or ([_NOTHING_TO_SEE] if text else [])

    async def send(self, outbound: Outbound) -> str:
        """Send one part without link preview. Raises RateLimited, Unavailable (it may have arrived) or Rejected."""
        return await self._client.send(outbound.chat, outbound.part)

    async def typing(self, chat: str) -> None:
        """Show that an answer is on its way. Never raises: nothing depends on it."""
        try:
            await self._client.typing(chat)
        except RemoteError as error:
            logger.debug("typing was not shown: %s", error)

    async def run(self, sink: Sink) -> None:
        """Poll until cancelled. Raises Rejected when Telegram refuses the token or a webhook is in the way."""
        self._offset = None
        async with self._client:
            me = await self._until_answered(self._client.me)
            logger.info("listening on Telegram as @%s", me.username or me.id)
            pauses = _Pauses()
            while True:
                before = self._offset
                batch = await self._until_answered(self._ask)
                stuck = False
                try:
                    await self._take(batch, me, sink)
                except StoreError as error:
                    logger.warning("messages cannot be stored, Telegram keeps them meanwhile: %s", error)
                    stuck = True
                if stuck or (batch and self._offset == before):
                    # The same updates would come again at once.
                    await self._clock.sleep(pauses.longer())
                else:
                    pauses = _Pauses()
                if not batch:
                    # All is confirmed. After a quiet week Telegram goes on from a random, perhaps lower, number.
                    self._offset = None

    async def _ask(self) -> Sequence[object]:
        return await self._client.updates(self._offset)

    async def _until_answered(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What Telegram answers in the end, however long it takes. Raises Rejected."""
        pauses = _Pauses()
        while True:
            try:
                answer = await ask()
            except Contested as error:
                pause = self._contested_pause
                logger.warning("%s; asking again in %g s", error, pause)
            except (RateLimited, Unavailable) as error:
                pause = error.retry_after or pauses.longer()
                logger.log(
                    logging.WARNING if pauses.count <= 1 else logging.DEBUG, "%s; next try in %g s", error, pause
                )
            else:
                if pauses.count:
                    logger.info("Telegram answers again")
                return answer
            await self._clock.sleep(pause)

    async def _take(self, batch: Sequence[object], me: Me, sink: Sink) -> None:
        """Store a batch in order of its numbers, moving the offset along. Raises StoreError at the first failure."""
        numbered = [(update_id(raw), raw) for raw in batch]
        for number, raw in sorted(numbered, key=lambda item: -1 if item[0] is None else item[0]):
            await self._take_one(number, raw, me, sink)
            if number is not None:
                self._offset = number + 1

    async def _take_one(self, number: int | None, raw: object, me: Me, sink: Sink) -> None:
        try:
            match read(raw, me, self._allowlist):
                case Denied(user, chat):
                    logger.info("update %s: user %s may not talk to the bot in chat %s", number, user, chat)
                case Ignored(reason):
                    logger.debug("update %s: %s", number, reason)
                case inbound:
                    await sink(inbound)
        except StoreError:
            raise
        except Malformed as error:
            await self._set_aside(number, raw, str(error), sink)
        except Exception as error:
            # A message that breaks the program costs itself; were it raised, it would come back after each restart.
            logger.exception("update %s could not be taken in", number)
            await self._set_aside(number, raw, f"taking it in failed: {type(error).__name__}", sink)

    async def _set_aside(self, number: int | None, raw: object, reason: str, sink: Sink) -> None:
        text = json.dumps(raw)
        external_id = str(number)
        if number is None:
            # What has no number cannot be confirmed by itself, so it may come again with every batch.
            external_id = f"unnumbered-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
            if external_id in self._unnumbered:
                return
            self._unnumbered = {external_id, *list(self._unnumbered)[:99]}
        await sink.set_aside(CHANNEL, external_id, text, reason)
        logger.warning("update %s was set aside: %s", external_id, reason)


class _Pauses:
    """Waiting times that double: 1, 2, 4 … 30 seconds."""

    def __init__(self) -> None:
        self.count = 0

    def longer(self) -> float:
        self.count += 1
        return min(2.0 ** min(self.count - 1, 10), LONGEST_PAUSE)
