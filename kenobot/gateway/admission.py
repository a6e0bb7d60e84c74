"""Admission control: turn strangers away before they cost a model call, memory or much disk.

In a group a stranger gets silence. In private, with pairing on, they get a code for the owner, at most one an hour.
"""

import logging
import secrets
from datetime import datetime

from kenobot.core.bus import Bus
from kenobot.core.i18n import Language, guess_language
from kenobot.gateway import pairing
from kenobot.gateway.access import Access
from kenobot.gateway.bot_messages import HourlyOnce
from kenobot.gateway.buttons import find_button
from kenobot.gateway.delivery import Delivery
from kenobot.gateway.refreshed import RefreshedByCommands
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.ports.messages import Inbound, Outbound
from kenobot.ports.names import sanitize_name
from kenobot.ports.signals import MESSAGE_REFUSED, PAIRING_CLOSED, PAIRING_REQUESTED
from kenobot.storage import approved_people, chat_moves, outbox
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.outbox import Destination

_log = logging.getLogger(__name__)

_NOTICED = 500  # strangers an hour of whom the bot takes any notice; of the rest not even a signal tells


class AdmissionControl(RefreshedByCommands):
    """Decide who may talk. Call `refresh` once before the first message.

    pairing_enabled: whether strangers are given codes. language: of the texts to strangers; None goes by their message.
    """

    def __init__(
        self,
        access: Access,
        database: Database,
        bus: Bus,
        clock: Clock,
        delivery: Delivery,
        *,
        pairing_enabled: bool,
        language: Language | None = None,
        random_below: pairing.RandomBelow | None = None,
    ) -> None:
        super().__init__("people")
        self._access = access
        self._database = database
        self._bus = bus
        self._clock = clock
        self._delivery = delivery
        self._below = random_below or secrets.randbelow
        self._pairs = pairing_enabled
        self._language = language
        self._noticed = HourlyOnce(clock, _NOTICED)
        self._locked: datetime | None = None
        self._refreshed = False
        self.stale = False
        """Whether the latest `refresh` failed, so that another one is due."""

    async def admits(self, inbound: Inbound) -> bool:
        """Return whether `inbound` may come in: a press only of a button that is there, and the sender's to press.

        Raises StoreError when that of a press cannot be looked up.
        """
        await self.wait_refreshed()
        if inbound.kind == "action":
            return await self._database.read(lambda c: find_button(c, inbound, self._access) is not None)
        if self._access.access_level(inbound) != "stranger":
            return True
        if self._noticed.is_news((inbound.channel, inbound.user, inbound.private)):
            await self._turn_away(inbound)
        return False

    async def _turn_away(self, inbound: Inbound) -> None:
        where = {"channel": inbound.channel, "chat": inbound.chat, "user": inbound.user}
        await self._bus.emit(MESSAGE_REFUSED, "door", "", reason="a stranger", **where)
        if not (self._pairs and inbound.private):
            return
        stranger = pairing.Stranger(
            inbound.channel,
            inbound.user,
            inbound.chat,
            sanitize_name(inbound.user_name),
            self._language or guess_language(inbound.text),
        )
        at, fresh = self._clock.now(), pairing.new_code(self._below)
        to, message = (
            Destination(inbound.channel, inbound.chat),
            pairing.code_message(fresh.formatted, stranger.language),
        )

        def ask(connection: Connection) -> list[Outbound]:
            requested = pairing.request_pairing(connection, stranger, fresh, at)
            return outbox.enqueue(connection, to, [message], at) if requested else []

        try:
            waiting = await self._database.write(ask)
        except StoreError as error:  # the disk is no reason to keep a stranger's message on the platform
            _log.warning("a stranger could not be given a code: %s", error)
            return
        if waiting:
            self._delivery.dispatch(waiting)
            asked = {"channel": stranger.channel, "user": stranger.user, "name": stranger.name}
            await self._bus.emit(PAIRING_REQUESTED, "door", "", **asked)

    async def refresh(self) -> None:
        """Load the approved people, and send what they were told about it. Raises StoreError."""
        self.stale = True
        at = self._clock.now()
        # A write comes after the transaction that is under way; a read might see what was before it.
        known, locked, moves = await self._database.write(
            lambda connection: (
                [person.account for person in approved_people.list_people(connection)],
                pairing.find_lock_end(connection, at),
                chat_moves.load_moves(connection),
            )
        )
        self._access.set_moves(moves)
        before, now = self._access.approved, frozenset(known)
        self._access.set_approved(now)
        self.stale = False
        first, self._refreshed = not self._refreshed, True
        newly_locked = locked is not None and locked != self._locked
        self._locked = locked
        if first:
            return
        for channel, user in sorted(before ^ now):
            for private in (True, False):
                self._noticed.forget((channel, user, private))
            reason = "approved" if (channel, user) in now else "revoked"
            await self._bus.emit(PAIRING_CLOSED, "door", "", reason=reason, channel=channel, user=user)
        if newly_locked:
            await self._bus.emit(PAIRING_CLOSED, "door", "", reason="too many wrong codes", channel="", user="")
        await self._delivery.sweep()

    def in_first_chat(self, inbound: Inbound) -> Inbound:
        """Return a message under the id that its chat had first."""
        return self._access.in_first_chat(inbound)

    async def follow_chat(self, channel: str, former: str, current: str) -> bool:
        """Move a chat to another id; return whether that was news. Raises StoreError.

        One in which nothing was said, and that no list names, is nothing to follow.
        """
        listed = self._access.lists_chat(channel, former)

        def follow(connection: Connection) -> dict[chat_moves.ChatId, str] | None:
            if not listed and not chat_moves.has_conversation(connection, channel, former):
                return None
            return chat_moves.add_move(connection, channel, former, current)

        moves = await self._database.write(follow)
        if moves is not None:
            self._access.set_moves(moves)
        return moves is not None
