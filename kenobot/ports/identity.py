"""Speakers and places: sessions, scopes, principals."""

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Literal, TypeVar

from kenobot.ports.frozen import dataclass
from kenobot.ports.names import Role

D = TypeVar("D")

_SAFE_SESSION = re.compile(r"[A-Za-z0-9_-]{1,128}")


_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


_HASHED = re.compile(r"-[0-9a-f]{16}\Z")


def is_session_id(text: str) -> bool:
    """Return whether `text` can name a session and a file: only `[A-Za-z0-9_-]`, at most 128 of them."""
    return _SAFE_SESSION.fullmatch(text) is not None


@lru_cache(maxsize=1024)
def session_id(channel: str, chat: str, thread: str = "") -> str:
    """Name the session of a chat, or of a thread in it: `telegram-123456789`.

    A chat id unfit for a file name keeps a legible part and a hash.

    So does one that could pass for another's: because it looks hashed, or because its channel's name has a hyphen.
    """
    plain = "-".join(part for part in (channel, chat, thread) if part)
    if not thread and is_session_id(plain) and "-" not in channel and not _HASHED.search(plain):
        return plain
    parts = (channel, chat, thread) if thread else (channel, chat)
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{_UNSAFE.sub('_', plain).strip('_')[:64]}-{digest}"


def name_imported_session(kind: str, conversation: str) -> str:
    """Name the session of a conversation that was held elsewhere and imported. kind: such as "whatsapp"."""
    digest = hashlib.sha256(f"{kind}\0{conversation}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{IMPORT_PREFIX}{kind}-{digest}"


def import_kind(session: str) -> str:
    """Return what kind of export a session was imported from; "" for a chat of this home."""
    found = _IMPORTED.fullmatch(session) if session.startswith(IMPORT_PREFIX) else None
    return found[1] if found else ""


IMPORT_PREFIX = "import-"
_IMPORTED = re.compile(r"import-([a-z]+)-[0-9a-f]{16}")

OWNER_SCOPE = "owner"


def chat_scope(session: str) -> str:
    """Name the scope of one chat."""
    return f"chat:{session}"


def user_scope(channel: str, user: str) -> str:
    """Name the scope of one person who is not the owner."""
    return f"user:{session_id(channel, user)}"


Trust = Literal["owner", "guest", "forward", "model", "tool"]

LEAST_TRUSTED_FIRST: Final[tuple[Trust, ...]] = ("forward", "tool", "model", "guest", "owner")
"""The one order of trust: what draws on several sources is trusted as the least of them."""

QUOTED_TRUST: Final[frozenset[Trust]] = frozenset({"forward", "tool"})
"""Trust of words from outside the chat: they count as quotations, and end nothing that is believed."""


def trust_rank(trust: Trust) -> int:
    """Rank a trust in the one order; a higher rank is trusted more."""
    return LEAST_TRUSTED_FIRST.index(trust)


def least_trusted(trusts: Iterable[str], default: D) -> Trust | D:
    """Return the least of `trusts`; `default` when none of them is a trust."""
    present = frozenset(trusts)
    return next((trust for trust in LEAST_TRUSTED_FIRST if trust in present), default)


def parse_trust(word: str, default: Trust) -> Trust:
    """Return the trust that a stored word names; `default` when it names none."""
    return least_trusted((word,), default)


@dataclass(frozen=True, slots=True)
class Principal:
    """The speaker, and the scopes of memory they may read and write in this chat.

    read_scopes: scopes shown in the prompt. write_scope: scope that a `<memory>` of this turn goes to.
    """

    role: Role
    read_scopes: tuple[str, ...]
    write_scope: str
    trust: Trust


Account = tuple[str, str]
"""A channel's name, and a user's id there."""


def is_scope(text: str) -> bool:
    """Return whether `text` names a memory: the owner's, a chat's or a person's."""
    kind, _, name = text.partition(":")
    return text == "owner" or (kind in ("chat", "user") and is_session_id(name))
