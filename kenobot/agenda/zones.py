"""The owner's time zone as it is now: the one of the settings, or of where they are until some day."""

from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kenobot.agenda.jobs import change_zone
from kenobot.ports.names import Role
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_json, write_json

_KEY = "agenda:zone"


def zone_in_force(connection: Connection, home: ZoneInfo, at: datetime, role: Role = "owner") -> ZoneInfo:
    """Return the zone of the owner, wherever that is at a moment, or of a guest: that of the settings.

    home: that of the settings.
    """
    if role != "owner":
        return home
    stored = _load_zones(connection)
    away, until = stored.get("away", ""), stored.get("until", "")
    if not away or (until and datetime.fromisoformat(until) <= at):
        return home
    try:
        return ZoneInfo(away)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return home


def set_zone(
    connection: Connection, away: ZoneInfo | None, home: ZoneInfo, at: datetime, *, until: datetime | None = None
) -> int:
    """Note where the owner is, inside a transaction, and move what is said in local time; None: back at home.

    until: when they are back. Returned is how many jobs moved.
    """
    stored = _load_zones(connection) | {"away": away.key if away is not None else ""}
    write_json(connection, _KEY, stored | {"until": until.isoformat() if until is not None else ""})
    return follow_zone(connection, home, at)


def needs_to_follow(connection: Connection, home: ZoneInfo, at: datetime) -> bool:
    """Return whether jobs are planned by another zone than the owner's."""
    return _load_zones(connection).get("applied") != zone_in_force(connection, home, at).key


def follow_zone(connection: Connection, home: ZoneInfo, at: datetime) -> int:
    """Plan jobs by the owner's zone, if that has changed; return how many moved."""
    if not needs_to_follow(connection, home, at):
        return 0
    zone = zone_in_force(connection, home, at)
    write_json(connection, _KEY, _load_zones(connection) | {"applied": zone.key})
    return change_zone(connection, zone, at)


def _load_zones(connection: Connection) -> dict[str, str]:
    none: dict[str, str] = {}
    stored = read_json(connection, _KEY, none)
    return {name: value for name, value in stored.items() if isinstance(value, str)}
