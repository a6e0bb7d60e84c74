"""Send what concerns one person of a group so that nobody else in it sees it, where the Bot API server can.

An administrator may do that at any time; any other bot for 15 seconds after that person pressed a button or gave a
command that the others do not see. An older server shows such a message to all without a word, so it is asked first
what it knows, and what is secret goes into the place of a blank one that it showed to its reader alone.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from kenobot.channels.telegram.client import TelegramClient
from kenobot.channels.telegram.sending import Occasion, ShownToAll
from kenobot.channels.telegram.updates import EphemeralId, message_body
from kenobot.ports.clock import Clock
from kenobot.ports.errors import Rejected, RemoteError
from kenobot.ports.messages import Inbound, MessagePart, Outbound

logger = logging.getLogger(__name__)

_OCCASION_SECONDS: Final = 15.0  # by the Bot API
_REFUSED_SECONDS: Final = 3600.0  # without a try, without an occasion, in a group that refused one
_UNKNOWN_SECONDS: Final = 3600.0  # for which a server that knows none is not asked again
_MOST_REFUSALS: Final = 1000  # groups
_BLANK: Final = MessagePart("🔒")


class EphemeralMessages:
    """Messages of groups that one person alone sees."""

    def __init__(self, client: TelegramClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        # bounded: what people did in the last 15 seconds; turn
        self._occasions: dict[tuple[str, str], tuple[Occasion, float]] = {}
        # bounded: 1,000 groups; test_refusals_are_forgotten_in_time
        self._refused: dict[str, float] = {}
        self._unknown_until = float("-inf")
        self._is_known = False
        self._blank = (0, "")  # the last part whose place was made, and that place

    def note_press(self, press: Inbound, query: str) -> None:
        """Note a press of a button, which may be answered to one person alone."""
        self._note(press, Occasion(query=query))

    def note_message(self, message: Inbound, raw: object) -> None:
        """Note a message that the bot alone sees, from its raw update."""
        body = message_body(raw)[1] if isinstance(raw, Mapping) else None
        number: Any = body.get("ephemeral_message_id") if isinstance(body, Mapping) else None
        if isinstance(number, int) and number:
            self._note(message, Occasion(message=number))

    def forget_refusals(self) -> None:
        """Try again in every group: the bot may have become an administrator."""
        self._refused = {}

    async def send(self, outbound: Outbound) -> str | None:
        """Send a part to its reader alone and return its id; None where that cannot be. Raises RemoteError."""
        chat, unseen = self._client.current_id(outbound.chat), EphemeralId.parse(outbound.replaces)
        if outbound.replaces and unseen is None:
            return None
        occasion = self._occasion(chat, outbound.reader)
        hopeless = occasion is None and unseen is None and self._clock.monotonic() < self._refused.get(chat, 0.0)
        if hopeless or not await self._knows(chat, outbound.reader):
            return None
        try:
            return await (self._send_secret if outbound.secret else self._send)(outbound, occasion)
        except ShownToAll as error:
            self._is_known, self._unknown_until = False, self._clock.monotonic() + _UNKNOWN_SECONDS
            return await self._make_good(outbound, error.sent)
        except Rejected as error:
            logger.info("Telegram shows nothing to one person alone for now: %s", error)
            if occasion is None:
                self._note_refusal(chat)
            return None

    async def _send(self, outbound: Outbound, occasion: Occasion | None) -> str:
        to = (outbound.chat, outbound.reader, outbound.part, outbound.thread, outbound.replaces)
        return await self._client.send_to_one(*to, occasion)

    async def _send_secret(self, outbound: Outbound, occasion: Occasion | None) -> str | None:
        """Put a part into the place of a message that its reader alone sees; it is never sent as a new one."""
        if outbound.part.attachments:
            return None
        place = outbound.replaces
        if not place:
            number, place = self._blank
            if number != outbound.id:
                place = await self._send(replace(outbound, part=_BLANK), occasion)
                self._blank = outbound.id, place  # for the next try, where this one breaks off
        await self._client.edit(outbound.chat, place, outbound.part, outbound.thread)
        return place

    async def _make_good(self, outbound: Outbound, sent: str) -> str | None:
        """Return the id of what everybody saw; what is secret, a blank one, is taken away again."""
        logger.info("the Bot API server knows no messages for one person of a group")
        if not outbound.secret:
            return sent
        try:
            await self._client.delete(outbound.chat, sent)
        except RemoteError as error:
            logger.debug("a blank message was not taken away: %s", error)
        return None

    async def _knows(self, chat: str, user: str) -> bool:
        """Return whether the server knows such messages; asked once, and again after an hour where it does not."""
        if not self._is_known and self._clock.monotonic() >= self._unknown_until:
            self._is_known = await self._client.knows_ephemeral(chat, user)
            if not self._is_known:
                self._unknown_until = self._clock.monotonic() + _UNKNOWN_SECONDS
        return self._is_known

    def _note(self, inbound: Inbound, occasion: Occasion) -> None:
        if inbound.private:
            return
        now = self._clock.monotonic()
        fresh = {place: held for place, held in self._occasions.items() if held[1] > now}
        self._occasions = fresh | {(inbound.chat, inbound.user): (occasion, now + _OCCASION_SECONDS)}

    def _occasion(self, chat: str, user: str) -> Occasion | None:
        occasion, until = self._occasions.get((chat, user), (None, 0.0))
        return occasion if self._clock.monotonic() < until else None

    def _note_refusal(self, chat: str) -> None:
        now = self._clock.monotonic()
        current = {known: until for known, until in self._refused.items() if until > now}
        self._refused = dict(list(current.items())[1 - _MOST_REFUSALS :]) | {chat: now + _REFUSED_SECONDS}
