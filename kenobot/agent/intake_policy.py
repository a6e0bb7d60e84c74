"""Admit messages to the loop, and answer chats for those that get no turn."""

from collections.abc import Callable, Coroutine
from typing import Protocol

from kenobot.core import texts
from kenobot.core.i18n import Language, guess_language
from kenobot.gateway.admission import AdmissionControl
from kenobot.gateway.bot_messages import BotMessenger
from kenobot.ports.errors import RemoteError
from kenobot.ports.messages import Inbound, Outbound
from kenobot.storage import outbox
from kenobot.storage.connection import Connection
from kenobot.storage.inbox import Inbox
from kenobot.storage.inbox_rows import PendingMessage
from kenobot.storage.outbox import Destination


class MessageJoiner(Protocol):
    """Join the fragments that a person sends as several messages."""

    def note(self, pending: PendingMessage) -> None:
        """Note that a message came in."""
        ...

    def forget(self, session: str) -> None:
        """Forget a chat without messages."""
        ...

    def stop(self) -> None:
        """Wait for nothing any more."""
        ...

    async def gather(self, head: PendingMessage, has_more: Callable[[], bool]) -> PendingMessage:
        """Join a message with its fragments, once no more is expected. Raises StoreError."""
        ...


def _leave(text: str) -> None:
    """Prepare nothing."""


class IntakePolicy:
    """Decide which messages are stored.

    language: of the bot's own sentences; None goes by the message. backlog: messages waiting in all, above which intake
    waits. chat_backlog: messages of one chat that may wait. fragments: joins messages that belong together; None joins
    none. prepare_to_read: returns what is to be done before the words of a message are looked at, while it is stored.
    """

    def __init__(
        self,
        admission: AdmissionControl,
        messenger: BotMessenger,
        language: Language | None = None,
        *,
        backlog: int = 1000,
        chat_backlog: int = 100,
        fragments: MessageJoiner | None = None,
        prepare_to_read: Callable[[str], Coroutine[None, None, None] | None] = _leave,
    ) -> None:
        self._admission = admission
        self._messenger = messenger
        self._language = language
        self.backlog = backlog
        self.chat_backlog = chat_backlog
        self.fragments = fragments
        self.prepare_to_read = prepare_to_read

    def in_first_chat(self, inbound: Inbound) -> Inbound:
        """Return a message under the id that its chat had first."""
        return self._admission.in_first_chat(inbound)

    async def follow_chat(self, channel: str, former: str, current: str) -> bool:
        """Move a chat to another id; returns whether that was news. Raises StoreError."""
        return await self._admission.follow_chat(channel, former, current)

    async def admits(self, inbound: Inbound) -> bool:
        """Return whether the sender may talk here."""
        return await self._admission.admits(inbound)

    async def take_back(self, channel: str, message: str, error: RemoteError) -> bool:
        """Retry or drop a part that counted as sent; returns whether there is one. Raises StoreError."""
        return await self._messenger.delivery.take_back(channel, message, error)

    async def reject_flood(self, inbound: Inbound) -> None:
        """Tell a chat that messages come faster than they can be answered."""
        text = texts.TOO_MANY(self._language or guess_language(inbound.text))
        await self._messenger.send(inbound.channel, inbound.chat, text, inbound.thread)

    async def end_stopped(self, inbox: Inbox, pending: PendingMessage) -> None:
        """End a message that its sender takes back; a beginning of its answer that the chat sees then says so."""
        to = pending.inbound
        text = texts.ANSWER_STOPPED(self._language or guess_language(to.text))
        letter = Destination(to.channel, to.chat, pending.trace, pending.id, thread=to.thread, previewed=True)

        def tell(connection: Connection) -> list[Outbound]:
            is_shown = outbox.preview_of(connection, pending.id)
            return self._messenger.enqueue(connection, letter, text) if is_shown else []

        self._messenger.dispatch(await inbox.end_stopped(pending.id, tell))
