"""Keep which skills their owner trusts: the hash of the files that they have seen, by the skill's name."""

from collections.abc import Mapping
from datetime import datetime

from kenobot.storage.connection import Connection
from kenobot.storage.state import read_json, write_json

_KEY = "skills.trusted"

Trusted = Mapping[str, str]
"""By the name of a skill, the hash of what was seen."""


def read_trusted(connection: Connection) -> Trusted:
    """Read the hash that is trusted of each skill."""
    rows: dict[str, object] = read_json(connection, _KEY, {})
    return {name: str(row["hash"]) for name, row in rows.items() if isinstance(row, dict) and "hash" in row}


def trust(connection: Connection, name: str, digest: str, at: datetime) -> None:
    """Trust a skill as long as its files have this hash, inside a transaction."""
    rows: dict[str, object] = read_json(connection, _KEY, {})
    write_json(connection, _KEY, {**rows, name: {"hash": digest, "at": at.isoformat()}})


def withdraw(connection: Connection, name: str) -> bool:
    """Trust a skill no longer, inside a transaction; returns whether it was trusted."""
    rows: dict[str, object] = read_json(connection, _KEY, {})
    if name not in rows:
        return False
    write_json(connection, _KEY, {other: row for other, row in rows.items() if other != name})
    return True
