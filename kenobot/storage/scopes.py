"""Scopes that a query may see. Every query of records takes them."""

from enum import Enum
from typing import Final, Literal


class _AllScopes(Enum):
    WHOLE_HOME = "every scope"


ALL_SCOPES: Final = _AllScopes.WHOLE_HOME
"""Every scope there is: for what acts for the home itself and shows nothing to anybody, such as the mirror."""

Scopes = tuple[str, ...] | Literal[_AllScopes.WHOLE_HOME]
"""Scopes that may be seen; without any, nothing is."""


def scope_names(reach: Scopes) -> tuple[str, ...] | None:
    """Return the scopes of a reach by name; None when it is every one."""
    return None if reach is ALL_SCOPES else reach


def chats_within(reach: Scopes) -> tuple[str, ...] | None:
    """Return the sessions of the chats within a reach; None when it is every one."""
    if reach is ALL_SCOPES:
        return None
    return tuple(scope.removeprefix("chat:") for scope in reach if scope.startswith("chat:"))


def scope_filter(reach: Scopes) -> tuple[str, tuple[str, ...]]:
    """Return the SQL condition on `scope` that keeps a query within `reach`, and its values."""
    if reach is ALL_SCOPES:
        return "scope IS NOT NULL", ()
    return f"scope IN ({', '.join('?' * len(reach))})", reach
