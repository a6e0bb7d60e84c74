"""Store who looks at the dashboard: links that open it once, and the sessions that they open.

Of each only the SHA-256 is kept, in the table of small things: there are a few of the owner's browsers at most.
"""

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Final, Literal

from kenobot.storage.connection import Connection
from kenobot.storage.state import read_json, write_json

LINK_MINUTES: Final = 10
IDLE: Final = timedelta(hours=8)
LONGEST: Final = timedelta(days=7)
_MOST: Final = 20  # of each kind; the oldest make room
_SEEN_EVERY: Final = timedelta(minutes=5)  # between two writes that tell of use
_BYTES: Final = 32

_Kind = Literal["links", "sessions"]


def make_link(connection: Connection, at: datetime) -> str:
    """Make the secret of a link that opens a session once within some minutes, inside a transaction."""
    return _add(connection, "links", at)


def open_session(connection: Connection, link: str, at: datetime) -> str | None:
    """Open a session by the secret of a link, inside a transaction; None where that opens nothing any more."""
    links = _load(connection, "links", at)
    if links.pop(_digest(link), None) is None:
        return None
    _store(connection, "links", links)
    return _add(connection, "sessions", at)


def has_session(connection: Connection, secret: str, at: datetime) -> bool:
    """Return whether a secret is that of a session which is not over."""
    return bool(secret) and _digest(secret) in _load(connection, "sessions", at)


def needs_note(connection: Connection, secret: str, at: datetime) -> bool:
    """Return whether the last note of a session's use is some minutes old."""
    _, seen = _load(connection, "sessions", at).get(_digest(secret), ("", at.isoformat()))
    return at - datetime.fromisoformat(seen) >= _SEEN_EVERY


def note_use(connection: Connection, secret: str, at: datetime) -> None:
    """Note that a session is in use, inside a transaction."""
    sessions, digest = _load(connection, "sessions", at), _digest(secret)
    if digest in sessions:
        sessions[digest] = (sessions[digest][0], at.isoformat())
        _store(connection, "sessions", sessions)


def end_session(connection: Connection, secret: str, at: datetime) -> None:
    """End a session, inside a transaction."""
    sessions = _load(connection, "sessions", at)
    sessions.pop(_digest(secret), None)
    _store(connection, "sessions", sessions)


def end_all(connection: Connection) -> None:
    """End every session, and void every link, inside a transaction."""
    _store(connection, "sessions", {})
    _store(connection, "links", {})


def _add(connection: Connection, kind: _Kind, at: datetime) -> str:
    secret, stamp = secrets.token_urlsafe(_BYTES), at.isoformat()
    held = [*_load(connection, kind, at).items(), (_digest(secret), (stamp, stamp))]
    _store(connection, kind, dict(held[-_MOST:]))
    return secret


def _load(connection: Connection, kind: _Kind, at: datetime) -> dict[str, tuple[str, str]]:
    """Return what is not over: when each was made and seen last, by digest, in the order of their making."""
    none: dict[str, list[str]] = {}
    stored = read_json(connection, f"dashboard:{kind}", none)
    oldest_made, oldest_seen = (
        (at - timedelta(minutes=LINK_MINUTES),) * 2 if kind == "links" else (at - LONGEST, at - IDLE)
    )
    return {
        digest: (made, seen)
        for digest, (made, seen) in stored.items()
        if datetime.fromisoformat(made) > oldest_made and datetime.fromisoformat(seen) > oldest_seen
    }


def _store(connection: Connection, kind: _Kind, held: dict[str, tuple[str, str]]) -> None:
    write_json(connection, f"dashboard:{kind}", held)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
