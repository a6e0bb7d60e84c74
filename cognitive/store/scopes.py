"""Whose memory a query may see. Every query of records takes a reach, so that none sees everybody's by mistake."""

from enum import Enum
from typing import Final, Literal


class _WholeHome(Enum):
    WHOLE_HOME = "every scope"


WHOLE_HOME: Final = _WholeHome.WHOLE_HOME
"""Every scope there is: for what acts for the home itself and shows nothing to anybody, such as the mirror."""

Reach = tuple[str, ...] | Literal[_WholeHome.WHOLE_HOME]
"""Scopes that may be seen; without any, nothing is."""


def scopes_of(reach: Reach) -> tuple[str, ...] | None:
    """The scopes of a reach by name; None when it is every one."""
    return None if reach is WHOLE_HOME else reach


def within_chats(reach: Reach) -> tuple[str, tuple[str, ...]]:
    """The SQL condition on `session` that keeps a query to the chats within `reach`, and its values."""
    if reach is WHOLE_HOME:
        return "session IS NOT NULL", ()
    chats = tuple(scope.removeprefix("chat:") for scope in reach if scope.startswith("chat:"))
    return f"session IN ({', '.join('?' * len(chats))})", chats


def within(reach: Reach) -> tuple[str, tuple[str, ...]]:
    """The SQL condition on `scope` that keeps a query within `reach`, and its values."""
    if reach is WHOLE_HOME:
        return "scope IS NOT NULL", ()
    return f"scope IN ({', '.join('?' * len(reach))})", reach
