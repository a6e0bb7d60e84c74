"""Store which causes of ill health the owner was told of, so that a restart tells none of them twice."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from kenobot.storage.connection import Connection
from kenobot.storage.state import read_json, write_json

_KEY = "health:told"

ToldCauses = Mapping[str, dict[str, Any]]
"""By the name of the cause, such as "channel:telegram"."""


def load(connection: Connection) -> dict[str, dict[str, Any]]:
    """Return what the owner was told of, and not yet that it is over."""
    stored: dict[str, Any] = read_json(connection, _KEY, {})
    return {key: cause for key, cause in stored.items() if isinstance(cause, dict)}


def save(connection: Connection, told: ToldCauses) -> None:
    """Store that, inside the transaction that tells it."""
    write_json(connection, _KEY, told)


def note(connection: Connection, key: str, at: datetime) -> None:
    """Note that an alert in words of its own tells of a cause, inside its transaction; nothing worse is to be told."""
    told = load(connection)
    check, _, subject = key.partition(":")
    fresh = {"check": check, "subject": subject, "level": "unhealthy", "since": at.isoformat(), "values": {}}
    save(connection, told | {key: told.get(key, fresh)})
