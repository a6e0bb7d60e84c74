"""Find the memories that may have taken the place of another, which their person has not said yet."""

from collections.abc import Iterable

from kenobot.cognitive.store import events, records
from kenobot.ports.memory_changes import ASKED, BOTH_STAND, NOT_ASKED
from kenobot.ports.records import EventRow, Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes


def list_rivals(connection: Connection, record: int, reach: Scopes) -> list[Record]:
    """List the live memories that may have replaced one, by its events: asked about, and not denied.

    One that was itself replaced is listed as its successor.
    """
    found: dict[int, Record] = {}
    for new in list_asked(connection, record):
        rival = records.get(connection, new, reach)
        if rival is not None and rival.status == "superseded":
            rival = records.successor(connection, rival.id, reach)
        if rival is not None and rival.status == "active" and rival.id != record:
            found[rival.id] = rival
    return [found[number] for number in sorted(found)]


def list_asked(connection: Connection, record: int) -> set[int]:
    """List the memories that may have replaced one, of any status, by its events: asked about, and not denied."""
    told = events.record_events(connection, record)
    return _select_named(told, ASKED, NOT_ASKED) - _select_named(told, BOTH_STAND)


def list_denied(connection: Connection, record: int) -> set[int]:
    """List the memories of which the person said that they hold beside one."""
    return _select_named(events.record_events(connection, record), BOTH_STAND)


def _select_named(told: Iterable[EventRow], *kinds: str) -> set[int]:
    """Select the newer memories that events of these kinds name."""
    return {int(str(new)) for each in told if each.kind in kinds and (new := each.data.get("new")) is not None}
