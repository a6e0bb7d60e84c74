"""Pairing: a stranger is given a code, and whoever brings that code to the owner's side is let in.

A code lives for an hour. At most three of a channel are open at a time. Five wrong ones in a row, none more than an
hour after the one before, void all that are open and shut pairing for an hour. The table holds salted digests; the
code itself stands only in the notice to the stranger, in the outbox.

Everything here runs inside a transaction that somebody else commits.
"""

import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, cast

from kenobot.core.i18n import Language, say
from kenobot.ports.messages import Part, Span
from kenobot.storage import approved_people, outbox
from kenobot.storage.approved_people import Person
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state, write_state

ALPHABET = "ACDEFHJKMNPQRTVWXY2346789"  # of 0 O, 1 I L, 2 Z, 5 S, 6 G, 8 B and U V one at most of each
LENGTH = 8
LIFE = timedelta(hours=1)
MOST_OPEN = 3
MOST_WRONG = 5
LOCKED = timedelta(hours=1)

_STATE = "pairing:wrong"
_SLACK = timedelta(hours=1)  # by which a clock may be set back without voiding what is open

Below = Callable[[int], int]
"""A number from 0 up to, not including, its argument, that nobody can foretell: `secrets.randbelow`."""


@dataclass(frozen=True, slots=True)
class Stranger:
    """Somebody who wrote in private and is not known. name: cleaned."""

    channel: str
    user: str
    chat: str
    name: str
    language: Language


@dataclass(frozen=True, slots=True)
class Open:
    """A code that waits for the owner. The code itself is not known."""

    channel: str
    user: str
    name: str
    created: str
    expires: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a code. person: who was let in. left: how many more wrong ones there may be."""

    kind: Literal["approved", "wrong", "locked", "nothing"]
    person: Person | None = None
    left: int = 0


@dataclass(frozen=True, slots=True)
class Ticket:
    """A fresh code, and what is kept of it."""

    code: str
    salt: bytes
    digest: bytes

    @property
    def shown(self) -> str:
        """The code as people pass it on: in two groups of four."""
        return f"{self.code[:4]}-{self.code[4:]}"


def ticket(below: Below) -> Ticket:
    """A new code out of `below`."""
    code = "".join(ALPHABET[below(len(ALPHABET))] for _ in range(LENGTH))
    salt = bytes(below(256) for _ in range(16))
    return Ticket(code, salt, _digest(code, salt))


def notice(shown: str, language: Language) -> Part:
    """What a stranger is told; the code is set apart, so that one touch copies it."""
    text = say("stranger", language, code=shown)
    before = text[: text.index(shown)]
    return Part(text, (Span("code", len(before.encode("utf-16-le")) // 2, len(shown)),))


def ask(connection: Connection, stranger: Stranger, fresh: Ticket, at: datetime) -> bool:
    """Open `fresh` for a stranger; False when they have one, when too many are open, or while pairing is locked."""
    _drop_expired(connection, at)
    if locked_until(connection, at) is not None:
        return False
    users = [row[0] for row in connection.execute("SELECT user FROM pairing WHERE channel = ?", (stranger.channel,))]
    if stranger.user in users or len(users) >= MOST_OPEN:
        return False
    connection.execute(
        "INSERT INTO pairing (channel, user, chat, name, language, salt, digest, created, expires) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            stranger.channel,
            stranger.user,
            stranger.chat,
            stranger.name,
            stranger.language,
            fresh.salt,
            fresh.digest,
            at.isoformat(),
            (at + LIFE).isoformat(),
        ),
    )
    return True


def waiting(connection: Connection, at: datetime) -> list[Open]:
    """The codes that may still be approved, oldest first."""
    rows = connection.execute(
        "SELECT channel, user, name, created, expires FROM pairing WHERE expires > ? AND expires <= ? "
        "ORDER BY created, channel, user",
        _lifetime(at),
    )
    return [Open(*row) for row in rows]


def approve(connection: Connection, code: str, at: datetime, is_owner: Callable[[str, str], bool]) -> Verdict:
    """Let in whoever was given `code`, and tell them so through the outbox. An owner's account is never a guest's.

    Case, blanks and hyphens do not matter. Every open code is compared, in a time that does not tell which one fits.
    """
    if locked_until(connection, at) is not None:
        return Verdict("locked")
    _drop_expired(connection, at)
    rows = connection.execute("SELECT channel, user, chat, name, language, salt, digest FROM pairing").fetchall()
    rows = [row for row in rows if not is_owner(row[0], row[1])]
    if not rows:
        return Verdict("nothing")
    typed = "".join(char for char in code.upper() if char.isalnum())[:64]
    fitting = [row for row in rows if hmac.compare_digest(_digest(typed, row[5]), row[6])]
    if not fitting:
        return _count_wrong(connection, at)
    channel, user, chat, name, language, *_ = fitting[0]
    connection.execute("DELETE FROM pairing WHERE channel = ? AND user = ?", (channel, user))
    connection.execute("DELETE FROM state WHERE key = ?", (_STATE,))
    person = approved_people.let_in(connection, channel, user, name, at)
    letter = outbox.Letter(channel, chat)
    outbox.enqueue(connection, letter, [Part(say("let_in", cast("Language", language)))], at)
    return Verdict("approved", person)


def locked_until(connection: Connection, at: datetime) -> datetime | None:
    """Until when nothing can be asked for or approved, after too many wrong codes; None when it can."""
    wrong, until = _wrong(connection, at)
    return until if wrong >= MOST_WRONG else None


def _count_wrong(connection: Connection, at: datetime) -> Verdict:
    wrong = _wrong(connection, at)[0] + 1
    write_state(connection, _STATE, json.dumps([wrong, (at + LOCKED).isoformat()]))
    if wrong < MOST_WRONG:
        return Verdict("wrong", left=MOST_WRONG - wrong)
    connection.execute("DELETE FROM pairing")
    return Verdict("locked")


def _wrong(connection: Connection, at: datetime) -> tuple[int, datetime]:
    """How many wrong codes count still, and until when."""
    count, until = json.loads(read_state(connection, _STATE) or f'[0, "{at.isoformat()}"]')
    moment = datetime.fromisoformat(until)
    return (count, moment) if at < moment <= at + LOCKED + _SLACK else (0, at)


def _lifetime(at: datetime) -> tuple[str, str]:
    """Between these a code that is good now expires. Later than it could be means that the clock was set back."""
    return at.isoformat(), (at + LIFE + _SLACK).isoformat()


def _drop_expired(connection: Connection, at: datetime) -> None:
    connection.execute("DELETE FROM pairing WHERE expires <= ? OR expires > ?", _lifetime(at))


def _digest(code: str, salt: bytes) -> bytes:
    """Fast on purpose: a guess has an hour and five tries, and who can read the table could write it as well."""
    return hashlib.blake2b(code.encode("utf-8", "replace"), salt=salt, digest_size=32).digest()
