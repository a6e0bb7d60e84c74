"""Who may talk to the bot on Telegram."""

from collections.abc import Iterable
from dataclasses import dataclass

from kenobot.channels.telegram.settings import TelegramSettings


@dataclass(frozen=True, slots=True)
class Allowlist:
    """The people and chats that are let in. Empty, it lets nobody in."""

    users: frozenset[str]
    chats: frozenset[str]

    @classmethod
    def of(cls, users: Iterable[str], chats: Iterable[str]) -> "Allowlist":
        return cls(frozenset(users), frozenset(chats))

    @classmethod
    def from_settings(cls, settings: TelegramSettings) -> "Allowlist":
        return cls.of([*settings.owners, *settings.allowed_users], settings.allowed_chats)

    def allows(self, user: str, chat: str) -> bool:
        """Whether `user` may talk to the bot in `chat`."""
        return user in self.users or chat in self.chats
