"""The scopes of keys, and how a key is made."""

import secrets
from typing import Literal, get_args

Scope = Literal[
    "messages", "memory", "memory:write", "schedule", "sleep", "mail", "cost", "health", "tools", "settings", "access"
]
SCOPES: tuple[Scope, ...] = get_args(Scope)
DEFAULT_SCOPES: tuple[Scope, ...] = ("messages", "memory", "memory:write", "schedule")
OWNER_ONLY: frozenset[Scope] = frozenset({"sleep", "mail", "cost", "health", "tools", "settings", "access"})
"""What concerns the whole home, so that no guest's key opens it."""

_PREFIX = "kb_"
_BYTES = 32


def new_secret() -> str:
    """Make a key: 256 bits of randomness."""
    return _PREFIX + secrets.token_urlsafe(_BYTES)
