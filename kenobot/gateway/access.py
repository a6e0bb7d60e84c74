"""Access: map a sender to a principal and its memory scopes. Deny by default.

The owner's memory is shown only to the owner, and only where nobody else reads along. In a group everybody reads
and writes the group's own memory; a guest has a memory of their own; a stranger gets nowhere.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal

from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import OWNER_SCOPE, Account, Principal, Trust, chat_scope, user_scope
from kenobot.ports.messages import Inbound
from kenobot.ports.names import Role

AccessLevel = Literal["owner", "guest", "stranger"]
RosterKind = Literal["owner", "guest", "chat"]


@dataclass(frozen=True, slots=True)
class Roster:
    """The accounts that one channel's configuration lets in. chats: ids of chats in which everybody may talk."""

    owners: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    chats: frozenset[str] = frozenset()

    @classmethod
    def of(cls, owners: Iterable[str] = (), users: Iterable[str] = (), chats: Iterable[str] = ()) -> "Roster":
        return cls(frozenset(owners), frozenset(users), frozenset(chats))

    @classmethod
    def from_settings(cls, settings: object) -> "Roster":
        """Read the roster from a channel plugin's settings; a list that these do not have is empty."""
        return cls.of(*(getattr(settings, name, ()) for name in ("owners", "allowed_users", "allowed_chats")))

    def by_kind(self) -> tuple[tuple[RosterKind, frozenset[str]], ...]:
        """Return the ids of each kind, an owner once."""
        return (("owner", self.owners), ("guest", self.users - self.owners), ("chat", self.chats))

    def allows(self, user: str, chat: str) -> bool:
        """Return whether `user` may talk to the bot in `chat`."""
        return user in self.owners or user in self.users or chat in self.chats


_NOBODY = Roster()


class Access:
    """Decide rights from the rosters of the channels and the people whom the owner approved."""

    def __init__(self, rosters: Mapping[str, Roster]) -> None:
        self._rosters = dict(rosters)  # bounded: the channels of the configuration; start
        self._people: frozenset[Account] = frozenset()
        # bounded: groups that became supergroups; start
        self._moves: Mapping[tuple[str, str], str] = {}

    @property
    def approved(self) -> frozenset[Account]:
        """The approved people."""
        return self._people

    def list_configured(self) -> list[tuple[str, RosterKind, str]]:
        """List whom the configuration lets in: channel, kind and id of each account or chat."""
        rows: list[tuple[str, RosterKind, str]] = []
        for channel, roster in sorted(self._rosters.items()):
            rows += [(channel, kind, number) for kind, ids in roster.by_kind() for number in sorted(ids)]
        return rows

    def set_roster(self, channel: str, roster: Roster) -> None:
        """Replace whom one channel's configuration lets in."""
        self._rosters[channel] = roster

    def set_approved(self, people: Iterable[Account]) -> None:
        """Replace the approved people."""
        self._people = frozenset(people)

    def set_moves(self, moves: Mapping[tuple[str, str], str]) -> None:
        """Replace the chats that have another id than at first; see `kenobot.storage.chat_moves`."""
        self._moves = moves

    def in_first_chat(self, inbound: Inbound) -> Inbound:
        """Return a message under the id that its chat had first."""
        first = self._moves.get((inbound.channel, inbound.chat))
        return inbound if first is None else replace(inbound, chat=first)

    def lists_chat(self, channel: str, chat: str) -> bool:
        """Return whether the configuration names a chat, by any of its ids."""
        chats = self._rosters.get(channel, _NOBODY).chats
        return chat in chats or any(
            now in chats for (where, now), first in self._moves.items() if (where, first) == (channel, chat)
        )

    def is_owner(self, channel: str, user: str) -> bool:
        return user in self._rosters.get(channel, _NOBODY).owners

    def lets_in(self, channel: str, user: str, chat: str = "") -> bool:
        """Return whether an account may talk to the bot; without a chat, in private."""
        return self._rosters.get(channel, _NOBODY).allows(user, chat) or (channel, user) in self._people

    def access_level(self, inbound: Inbound) -> AccessLevel:
        """Classify the sender of `inbound` in its chat."""
        if self.is_owner(inbound.channel, inbound.user):
            return "owner"
        if self._rosters.get(inbound.channel, _NOBODY).allows(inbound.user, inbound.chat):
            return "guest"
        if self._moves and self.lists_chat(inbound.channel, inbound.chat):
            return "guest"
        return "guest" if (inbound.channel, inbound.user) in self._people else "stranger"

    def principal(self, inbound: Inbound) -> Principal:
        """Return the rights of an admitted sender in the chat of `inbound`."""
        owner = self.is_owner(inbound.channel, inbound.user)
        here = chat_scope(inbound.session)
        trust: Trust = "forward" if inbound.forwarded else "owner" if owner else "guest"
        role: Role = "owner" if owner else "guest"
        if not inbound.private:
            return Principal(role, (here,), here, trust)
        mine = OWNER_SCOPE if owner else user_scope(inbound.channel, inbound.user)
        return Principal(role, (mine, here), mine, trust)
