"""Pairing: give a stranger a code, and approve the stranger whose code the owner enters.

A code lives for an hour. At most three of a channel are open at a time. Five wrong ones in a row, none more than an
hour after the one before, void all open codes and lock pairing for an hour. The table holds salted digests; the code
itself stands only in the message to the stranger, in the outbox. Everything here runs inside the caller's transaction.
"""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import astuple
from datetime import datetime, timedelta
from typing import Any, Literal

from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import MessagePart, TextEntity
from kenobot.storage import approved_people, outbox
from kenobot.storage.approved_people import ApprovedPerson
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_json, write_json

ALPHABET = "ACDEFHJKMNPQRTVWXY2346789"  # of 0 O, 1 I L, 2 Z, 5 S, 6 G, 8 B and U V one at most of each
CODE_LENGTH = 8
CODE_LIFETIME = timedelta(hours=1)
MAX_OPEN_CODES = 3
MAX_WRONG_CODES = 5
LOCK_DURATION = timedelta(hours=1)

_STATE = "pairing:wrong"
_SLACK = timedelta(hours=1)  # by which a clock may be set back without voiding what is open

RandomBelow = Callable[[int], int]
"""Draws a number from 0 up to, not including, its argument, as unpredictably as `secrets.randbelow`."""


@dataclass(frozen=True, slots=True)
class Stranger:
    """A sender of a private message who may not talk. name: sanitized."""

    channel: str
    user: str
    chat: str
    name: str
    language: Language


@dataclass(frozen=True, slots=True)
class OpenPairing:
    """A code that waits for the owner, without the code itself."""

    channel: str
    user: str
    name: str
    created: str
    expires: str


@dataclass(frozen=True, slots=True)
class PairingResult:
    """The result of a code. person: who was approved. tries_left: wrong codes until pairing is locked."""

    kind: Literal["approved", "wrong", "locked", "nothing"]
    person: ApprovedPerson | None = None
    tries_left: int = 0


@dataclass(frozen=True, slots=True)
class PairingCode:
    """A new code, and its salted digest."""

    code: str
    salt: bytes
    digest: bytes

    @property
    def formatted(self) -> str:
        """The code in two groups of four."""
        return f"{self.code[:4]}-{self.code[4:]}"


def new_code(below: RandomBelow) -> PairingCode:
    """Draw a new code."""
    code = "".join(ALPHABET[below(len(ALPHABET))] for _ in range(CODE_LENGTH))
    salt = bytes(below(256) for _ in range(16))
    return PairingCode(code, salt, _digest(code, salt))


def code_message(shown: str, language: Language) -> MessagePart:
    """Render the message to a stranger; the code is set apart, so that one touch copies it."""
    text = texts.PAIRING_CODE(language, code=shown)
    before = text[: text.index(shown)]
    return MessagePart(text, (TextEntity("code", len(before.encode("utf-16-le")) // 2, len(shown)),))


def request_pairing(connection: Connection, stranger: Stranger, fresh: PairingCode, at: datetime) -> bool:
    """Open `fresh` for a stranger; False when they have one, when too many are open, or while pairing is locked."""
    _drop_expired(connection, at)
    if find_lock_end(connection, at) is not None:
        return False
    users = [row[0] for row in connection.execute("SELECT user FROM pairing WHERE channel = ?", (stranger.channel,))]
    if stranger.user in users or len(users) >= MAX_OPEN_CODES:
        return False
    connection.execute(
        "INSERT INTO pairing (channel, user, chat, name, language, salt, digest, created, expires) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*astuple(stranger), fresh.salt, fresh.digest, at.isoformat(), (at + CODE_LIFETIME).isoformat()),
    )
    return True


def open_pairings(connection: Connection, at: datetime) -> list[OpenPairing]:
    """List the codes that may still be approved, oldest first."""
    rows = connection.execute(
        "SELECT channel, user, name, created, expires FROM pairing WHERE expires > ? AND expires <= ? "
        "ORDER BY created, channel, user",
        _lifetime(at),
    )
    return [OpenPairing(*row) for row in rows]


def approve(connection: Connection, code: str, at: datetime, is_owner: Callable[[str, str], bool]) -> PairingResult:
    """Approve the stranger who was given `code`, and tell them through the outbox. An owner never becomes a guest.

    Case, blanks and hyphens do not matter. Every open code is compared, in a time that does not depend on which fits.
    """
    if find_lock_end(connection, at) is not None:
        return PairingResult("locked")
    _drop_expired(connection, at)
    rows = connection.execute("SELECT channel, user, chat, name, language, salt, digest FROM pairing").fetchall()
    rows = [row for row in rows if not is_owner(row[0], row[1])]
    if not rows:
        return PairingResult("nothing")
    typed = "".join(char for char in code.upper() if char.isalnum())[:64]
    fitting = [row for row in rows if hmac.compare_digest(_digest(typed, row[5]), row[6])]
    if not fitting:
        return _count_wrong(connection, at)
    connection.execute("DELETE FROM key_value WHERE key = ?", (_STATE,))
    return _approve(connection, Stranger(*fitting[0][:5]), at)


def approve_account(
    connection: Connection, channel: str, user: str, at: datetime, is_owner: Callable[[str, str], bool]
) -> PairingResult:
    """Approve the stranger who waits under this account, and tell them. An owner never becomes a guest."""
    _drop_expired(connection, at)
    row = connection.execute(
        "SELECT channel, user, chat, name, language FROM pairing WHERE channel = ? AND user = ?", (channel, user)
    ).fetchone()
    if row is None or is_owner(channel, user) or find_lock_end(connection, at) is not None:
        return PairingResult("nothing")
    return _approve(connection, Stranger(*row), at)


def void_code(connection: Connection, channel: str, user: str) -> None:
    """Close the code of a stranger."""
    connection.execute("DELETE FROM pairing WHERE channel = ? AND user = ?", (channel, user))


def _approve(connection: Connection, stranger: Stranger, at: datetime) -> PairingResult:
    void_code(connection, stranger.channel, stranger.user)
    person = approved_people.approve_person(connection, stranger.channel, stranger.user, stranger.name, at)
    letter = outbox.Destination(stranger.channel, stranger.chat)
    outbox.enqueue(connection, letter, [MessagePart(texts.PAIRED(stranger.language))], at)
    return PairingResult("approved", person)


def find_lock_end(connection: Connection, at: datetime) -> datetime | None:
    """Return until when pairing is locked after too many wrong codes; None when it is not."""
    wrong, until = _load_wrong(connection, at)
    return until if wrong >= MAX_WRONG_CODES else None


def _count_wrong(connection: Connection, at: datetime) -> PairingResult:
    wrong = _load_wrong(connection, at)[0] + 1
    write_json(connection, _STATE, [wrong, (at + LOCK_DURATION).isoformat()])
    if wrong < MAX_WRONG_CODES:
        return PairingResult("wrong", tries_left=MAX_WRONG_CODES - wrong)
    connection.execute("DELETE FROM pairing")
    return PairingResult("locked")


def _load_wrong(connection: Connection, at: datetime) -> tuple[int, datetime]:
    """Return how many wrong codes still count, and until when."""
    none: list[Any] = [0, at.isoformat()]
    count, until = read_json(connection, _STATE, none)
    moment = datetime.fromisoformat(until)
    return (count, moment) if at < moment <= at + LOCK_DURATION + _SLACK else (0, at)


def _lifetime(at: datetime) -> tuple[str, str]:
    """Return the bounds of a valid code's expiry; a later one means that the clock was set back."""
    return at.isoformat(), (at + CODE_LIFETIME + _SLACK).isoformat()


def _drop_expired(connection: Connection, at: datetime) -> None:
    connection.execute("DELETE FROM pairing WHERE expires <= ? OR expires > ?", _lifetime(at))


def _digest(code: str, salt: bytes) -> bytes:
    """Hash fast on purpose: a guess has an hour and five tries, and a reader of the table could write it as well."""
    return hashlib.blake2b(code.encode("utf-8", "replace"), salt=salt, digest_size=32).digest()
