"""Who is speaking, and what of memory they may read and write. Deny by default.

The owner's memory is shown only to the owner, and only where nobody else reads along. In a group everybody reads
and writes the group's own memory; a guest has a memory of their own.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from kenobot.ports import OWNER_SCOPE, Inbound, Principal, Trust, chat_scope, user_scope


class Access:
    """`owners`: for each channel, the ids of the owner's own accounts there."""

    def __init__(self, owners: Mapping[str, Sequence[str]]) -> None:
        self._owners = {channel: frozenset(ids) for channel, ids in owners.items()}

    def is_owner(self, channel: str, user: str) -> bool:
        return user in self._owners.get(channel, frozenset())

    def principal(self, inbound: Inbound) -> Principal:
        """The rights of the sender of `inbound` in the chat it came from."""
        owner = self.is_owner(inbound.channel, inbound.user)
        here = chat_scope(inbound.session)
        trust: Trust = "forward" if inbound.forwarded else "owner" if owner else "guest"
        role: Literal["owner", "guest"] = "owner" if owner else "guest"
        if not inbound.private:
            return Principal(role, (here,), here, trust)
        mine = OWNER_SCOPE if owner else user_scope(inbound.channel, inbound.user)
        return Principal(role, (mine, here), mine, trust)
