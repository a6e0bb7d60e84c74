"""Keys of the REST API, of which only the SHA-256 is kept, and what requests with an idempotency key did."""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime, timedelta

from kenobot.ports.frozen import dataclass
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

_KEEP_DAYS = 7
_COLUMNS = "id, name, user, scopes, created"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key. user: the account on the channel http that it speaks for. created: ISO-8601 text in UTC."""

    id: int
    name: str
    user: str
    scopes: frozenset[str]
    created: str


@dataclass(frozen=True, slots=True)
class StoredReply:
    """Reply to a request with an idempotency key. digest: of the request. body: JSON without anybody's words."""

    digest: str
    status: int
    body: str


def key_digest(secret: str) -> str:
    """Return the form in which a key is kept: it is random and long, so one round of a hash hides it."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def add_key(
    connection: Connection, name: str, secret: str, user: str, scopes: Iterable[str], at: datetime
) -> ApiKey | None:
    """Store a key, inside a transaction; None when there is one of that name."""
    row = (name, key_digest(secret), user, json.dumps(sorted(scopes)), at.isoformat())
    found = connection.execute(
        "INSERT INTO api_key (name, digest, user, scopes, created) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING "
        f"RETURNING {_COLUMNS}",
        row,
    ).fetchone()
    return _key(found) if found else None


def find_key(connection: Connection, secret: str) -> ApiKey | None:
    """Find the key that a request brings; None for a wrong or a revoked one."""
    found = connection.execute(f"SELECT {_COLUMNS} FROM api_key WHERE digest = ?", (key_digest(secret),)).fetchone()
    return _key(found) if found else None


def list_keys(connection: Connection) -> list[ApiKey]:
    """List the keys, the oldest first."""
    return [_key(row) for row in connection.execute(f"SELECT {_COLUMNS} FROM api_key ORDER BY id")]


def revoke_key(connection: Connection, name: str) -> bool:
    """Delete a key, inside a transaction; False when there is none of that name."""
    return connection.execute("DELETE FROM api_key WHERE name = ?", (name,)).rowcount > 0


def load_reply(connection: Connection, key: int, name: str) -> StoredReply | None:
    """Read what a request of this idempotency key did before."""
    row = connection.execute(
        "SELECT digest, status, body FROM idempotent_request WHERE key = ? AND name = ?", (key, name)
    ).fetchone()
    return StoredReply(*row) if row else None


def store_reply(connection: Connection, key: int, name: str, reply: StoredReply, at: datetime) -> None:
    """Note what a request did, inside the transaction that did it."""
    connection.execute(
        "INSERT INTO idempotent_request (key, name, digest, status, body, at) VALUES (?, ?, ?, ?, ?, ?)",
        (key, name, reply.digest, reply.status, reply.body, at.isoformat()),
    )


async def prune(database: Database, now: datetime) -> None:
    """Drop what requests of a week ago did."""
    await database.prune("idempotent_request", "at < ?", (now - timedelta(days=_KEEP_DAYS)).isoformat())


def _key(row: tuple[int, str, str, str, str]) -> ApiKey:
    number, name, user, scopes, created = row
    return ApiKey(number, name, user, frozenset(json.loads(scopes)), created)
