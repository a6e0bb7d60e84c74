"""Find out whose bot this is: by a code that its owner sends to it.

The bot does not run meanwhile. Nothing is confirmed to Telegram, so what others write waits there for the bot.
"""

import hmac
from collections.abc import Sequence
from typing import Final

from kenobot.channels.telegram.client import PollingConflict, TelegramClient
from kenobot.channels.telegram.updates import BotUser, IgnoredUpdate, MalformedUpdate, parse_update
from kenobot.ports.clock import Clock
from kenobot.ports.errors import KenobotError, RateLimited, Unavailable
from kenobot.ports.messages import Inbound

MOST_WRONG: Final = 5  # codes, by whomever: the right one has 37 bits
_FULL: Final = 100  # updates, the most that Telegram hands out; it shows those behind only once these are confirmed
_PAUSE: Final = 1.0  # seconds, while unconfirmed messages keep a poll from waiting
_START: Final = "/start"
_LENGTHS: Final = range(4, 17)  # signs of what was meant to be a code


class OwnerUnknown(KenobotError):
    """Nobody sent the code."""


class OwnerCode:
    """Waits for one message with `code`, of letters and digits, once."""

    def __init__(self, client: TelegramClient, me: BotUser, code: str, clock: Clock) -> None:
        self._client = client
        self._me = me
        self._code = code.upper().replace("-", "")
        self._clock = clock
        self._wrong = 0
        # bounded: 100 updates, more end the wait; test_a_full_mailbox_is_said
        self._seen: set[str] = set()

    async def look(self) -> None:
        """See what waits already: the code, which nobody knows yet, is not in there. Raises as `wait` does."""
        self._find(await self._client.get_updates(None), counting=False)

    async def wait(self, seconds: float) -> Inbound:
        """Return the private message that holds the code.

        Raises OwnerUnknown when none has come within `seconds`, after MOST_WRONG wrong ones, and when others have sent
        so much that Telegram shows no more. Raises Rejected, and PollingConflict.
        """
        until = self._clock.monotonic() + seconds
        while self._clock.monotonic() < until:
            try:
                batch = await self._client.get_updates(None)
            except PollingConflict:
                raise
            except (RateLimited, Unavailable) as error:
                await self._clock.sleep(error.retry_after or _PAUSE)
                continue
            if (found := self._find(batch, counting=True)) is not None:
                return found
            if batch:
                await self._clock.sleep(_PAUSE)
        raise OwnerUnknown("telegram.code_late")

    def _find(self, batch: Sequence[object], *, counting: bool) -> Inbound | None:
        for raw in batch:
            try:
                message = parse_update(raw, self._me)
            except MalformedUpdate:
                continue
            if isinstance(message, IgnoredUpdate) or message.external_id in self._seen:
                continue
            self._seen.add(message.external_id)
            if not counting or not message.private or message.forwarded or message.kind != "message":
                continue
            typed = _code_in(message.text)
            if hmac.compare_digest(typed, self._code.encode()):
                return message
            self._wrong += bool(typed)
        if self._wrong >= MOST_WRONG:
            raise OwnerUnknown("telegram.wrong_codes")
        if len(batch) >= _FULL:
            raise OwnerUnknown("telegram.too_many_others")
        return None


def _code_in(text: str) -> bytes:
    """Return the code that a message holds, behind `/start` or alone; empty when it holds none."""
    words = text.removeprefix(_START).upper().split()
    code = "".join(char for char in "".join(words) if char != "-")
    return code.encode() if len(words) <= 2 and code.isascii() and code.isalnum() and len(code) in _LENGTHS else b""
